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

static inline void put_unaligned_be16(u16 value, void *to)
{
	u8 *at = to;

	at[0] = value >> 8;
	at[1] = value;
}

static inline void put_unaligned_be32(u32 value, void *to)
{
	put_unaligned_be16(value >> 16, to);
	put_unaligned_be16(value, (u8 *)to + 2);
}

static inline void put_unaligned_be64(u64 value, void *to)
{
	put_unaligned_be32(value >> 32, to);
	put_unaligned_be32(value, (u8 *)to + 4);
}

#endif /* SHIM_LINUX_UNALIGNED_H */
