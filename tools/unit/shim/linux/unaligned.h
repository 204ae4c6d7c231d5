/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef SHIM_LINUX_UNALIGNED_H
#define SHIM_LINUX_UNALIGNED_H

#include <string.h>
#include <linux/types.h>

#define get_unaligned(from) ({					\
	__typeof__(*(from) + 0) shim_value;			\
								\
	memcpy(&shim_value, (from), sizeof(shim_value));	\
	shim_value;						\
})

static inline u16 get_unaligned_be16(const void *from)
{
	const u8 *at = from;

	return at[0] << 8 | at[1];
}

static inline u32 get_unaligned_be32(const void *from)
{
	const u8 *at = from;

	return (u32)get_unaligned_be16(at) << 16 | get_unaligned_be16(at + 2);
}

static inline u64 get_unaligned_be64(const void *from)
{
	const u8 *at = from;

	return (u64)get_unaligned_be32(at) << 32 | get_unaligned_be32(at + 4);
}

#endif /* SHIM_LINUX_UNALIGNED_H */
