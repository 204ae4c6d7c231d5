/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

/* The system's own header has the __u8 and __be32 families. */
#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define __packed	__attribute__((__packed__))
#define __aligned(x)	__attribute__((__aligned__(x)))

#endif /* SHIM_LINUX_TYPES_H */
