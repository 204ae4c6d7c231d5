/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <endian.h>
#include <stdio.h>
#include <linux/types.h>

#define BIT(n)			(1UL << (n))
#define noinline		__attribute__((__noinline__))
#define likely(x)		__builtin_expect(!!(x), 1)
#define ARRAY_SIZE(x)		(sizeof(x) / sizeof((x)[0]))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define round_down(x, unit)	((x) & ~((__typeof__(x))(unit) - 1))
#define round_up(x, unit)	round_down((x) + (unit) - 1, unit)

#define cpu_to_be16(x)		htobe16(x)
#define cpu_to_be32(x)		htobe32(x)
#define be32_to_cpu(x)		be32toh(x)

#define scnprintf(buf, size, ...) ({					\
	int shim_len = snprintf(buf, size, __VA_ARGS__);		\
									\
	shim_len < (int)(size) ? shim_len : (size) ? (int)(size) - 1 : 0;	\
})

#endif /* SHIM_LINUX_KERNEL_H */
