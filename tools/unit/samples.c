// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
#include <string.h>

#include "samples.h"

const char *const sample_names[SAMPLE_COUNT] = {
	[S_PLAIN]		= "no data",
	[S_LONG_CDB]		= "32 byte CDB",
	[S_DIRECT_OUT]		= "direct out",
	[S_DIRECT_IN]		= "direct in",
	[S_DIRECT_IN_LONG_CDB]	= "direct in, 32 byte CDB",
	[S_INDIRECT_OUT]	= "indirect out",
	[S_INDIRECT_IN]		= "indirect in",
	[S_INDIRECT_AND_DIRECT]	= "indirect out, direct in",
	[S_DIRECT_AND_INDIRECT]	= "direct out, indirect in",
	[S_BOTH_DIRECT]		= "direct out and in",
	[S_IMM]			= "immediate data",
	[S_IMM_LONG_CDB]	= "immediate data, 32 byte CDB",
	[S_IMM_AND_DIRECT]	= "immediate data out, direct in",
	[S_EXT_TABLE]		= "table partly in memory",
	[S_EXT_TABLE_ONLY]	= "table wholly in memory",
	[S_TSK_MGMT]		= "task management",
	[S_I_LOGOUT]		= "logout",
	[S_CRED_RSP]		= "credit response",
	[S_AER_RSP]		= "event response",
};

const struct srpt_iu_rules sample_rules = {
	.max_data	= SAMPLE_MAX_DATA,
	.imm_offset	= 68,
	.max_add_cdb	= 16,
};

const struct srpt_iu_rules sample_ext_rules = {
	.max_data	= SAMPLE_MAX_DATA,
	.imm_offset	= 68,
	.max_add_cdb	= 16,
	.ext_table	= true,
};

const struct srpt_login_rules sample_login_rules = {
	.max_iu_len	= 8276,
	.service_guid	= SAMPLE_GUID,
};

void put_be16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

void put_be32(u8 *at, u32 value)
{
	put_be16(at, value >> 16);
	put_be16(at + 2, value);
}

void put_be64(u8 *at, u64 value)
{
	put_be32(at, value >> 32);
	put_be32(at + 4, value);
}

u16 load_be16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

u32 load_be32(const u8 *at)
{
	return (u32)load_be16(at) << 16 | load_be16(at + 2);
}

u64 load_be64(const u8 *at)
{
	return (u64)load_be32(at) << 32 | load_be32(at + 4);
}

/* Fields that this has not are 0xa5, so that reserved ones are looked at by nobody. */
static void start(struct image *image, u8 opcode, u32 len)
{
	memset(image, 0, sizeof(*image));
	memset(image->bytes, 0xa5, len);
	image->bytes[0] = opcode;
	put_be64(image->bytes + 8, SAMPLE_TAG);
	image->len = len;
}

static void start_cmd(struct image *image, u8 buf_fmt, u8 add_cdb)
{
	u32 i;

	start(image, 0x02, 48 + add_cdb);
	image->bytes[1] = 0;
	image->bytes[5] = buf_fmt;
	image->bytes[6] = 0;
	image->bytes[7] = 0;
	for (i = 0; i < 8; i++)
		image->bytes[20 + i] = 0x30 + i;
	image->bytes[29] = 2;
	image->bytes[31] = add_cdb | 1;	/* the low bits are reserved */
	for (i = 0; i < 16U + add_cdb; i++)
		image->bytes[32 + i] = 0x40 + i;
}

static void add_desc(struct image *image, u64 va, u32 key, u32 len)
{
	u8 *at = image->bytes + image->len;

	put_be64(at, va);
	put_be32(at + 8, key);
	put_be32(at + 12, len);
	image->len += 16;
}

static void add_table(struct image *image, u32 entries, u32 present, u32 len)
{
	u32 i;

	add_desc(image, 0x7000, 0x77, entries * 16);
	put_be32(image->bytes + image->len, len);
	image->len += 4;
	for (i = 0; i < present; i++)
		add_desc(image, 0x10000 * (i + 1), 0x100 + i, len / entries);
}

static void add_imm(struct image *image, u32 len)
{
	put_be32(image->bytes + image->len, len);
	image->len += 4;
}

/* Moves the end to where immediate data stands and puts it there. */
static void add_imm_data(struct image *image, u32 len)
{
	memset(image->bytes + 68, 0xda, len);
	image->len = 68 + len;
}

static void make_one_way(struct image *image, enum sample sample)
{
	switch (sample) {
	case S_DIRECT_OUT:
		start_cmd(image, 0x10, 0);
		add_desc(image, 0x1000, 0x55, 4096);
		return;
	case S_DIRECT_IN:
	case S_DIRECT_IN_LONG_CDB:
		start_cmd(image, 0x01, sample == S_DIRECT_IN ? 0 : 16);
		add_desc(image, 0x1000, 0x55, 4096);
		return;
	case S_INDIRECT_OUT:
		start_cmd(image, 0x20, 0);
		image->bytes[6] = 3;
		add_table(image, 3, 3, 3 * 512);
		return;
	case S_INDIRECT_IN:
		start_cmd(image, 0x02, 0);
		image->bytes[7] = 2;
		add_table(image, 2, 2, 8192);
		return;
	case S_EXT_TABLE:
	case S_EXT_TABLE_ONLY:
	default:
		start_cmd(image, 0x02, 0);
		image->bytes[7] = sample == S_EXT_TABLE;
		add_table(image, 8, sample == S_EXT_TABLE, 8 * 512);
		return;
	}
}

static void make_two_ways(struct image *image, enum sample sample)
{
	switch (sample) {
	case S_INDIRECT_AND_DIRECT:
		start_cmd(image, 0x21, 0);
		image->bytes[6] = 2;
		add_table(image, 2, 2, 1024);
		add_desc(image, 0x2000, 0x66, 36);
		return;
	case S_DIRECT_AND_INDIRECT:
		start_cmd(image, 0x12, 0);
		image->bytes[7] = 2;
		add_desc(image, 0x2000, 0x66, 36);
		add_table(image, 2, 2, 1024);
		return;
	case S_BOTH_DIRECT:
	default:
		start_cmd(image, 0x11, 0);
		add_desc(image, 0x1000, 0x55, 512);
		add_desc(image, 0x2000, 0x66, 36);
		return;
	}
}

static void make_imm(struct image *image, enum sample sample)
{
	start_cmd(image, sample == S_IMM_AND_DIRECT ? 0x31 : 0x30,
		  sample == S_IMM_LONG_CDB ? 16 : 0);
	add_imm(image, 100);
	if (sample == S_IMM_AND_DIRECT)
		add_desc(image, 0x2000, 0x66, 36);
	add_imm_data(image, 100);
}

static void make_tsk_mgmt(struct image *image)
{
	u32 i;

	start(image, 0x01, 48);
	image->bytes[1] = 0;
	for (i = 0; i < 8; i++)
		image->bytes[20 + i] = 0x30 + i;
	image->bytes[30] = 0x08;
	put_be64(image->bytes + 32, SAMPLE_TASK_TAG);
}

void make_sample(struct image *image, enum sample sample)
{
	static const u8 shortest[] = {
		[S_I_LOGOUT] = 0x03, [S_CRED_RSP] = 0x41, [S_AER_RSP] = 0x42,
	};

	if (sample == S_PLAIN || sample == S_LONG_CDB)
		start_cmd(image, 0, sample == S_PLAIN ? 0 : 16);
	else if (sample == S_TSK_MGMT)
		make_tsk_mgmt(image);
	else if (sample > S_TSK_MGMT)
		start(image, shortest[sample], 16);
	else if (sample >= S_IMM && sample <= S_IMM_AND_DIRECT)
		make_imm(image, sample);
	else if (sample >= S_INDIRECT_AND_DIRECT && sample <= S_BOTH_DIRECT)
		make_two_ways(image, sample);
	else
		make_one_way(image, sample);
}

const struct srpt_iu_rules *rules_of_sample(enum sample sample)
{
	return sample == S_EXT_TABLE || sample == S_EXT_TABLE_ONLY ? &sample_ext_rules :
								     &sample_rules;
}

static void put_port_ids(u8 *at)
{
	u32 i;

	for (i = 0; i < 16; i++)
		at[i] = 0xc0 + i;
	put_be64(at + 16, SAMPLE_GUID);
	put_be64(at + 24, SAMPLE_GUID);
}

/* What the kernel's initiator asks for by default, with the private data that a CM hands on. */
void make_login(struct image *image, enum srpt_login_layout layout)
{
	bool ib = layout == SRPT_LOGIN_IB;
	u8 *bytes = image->bytes;

	memset(image, 0, sizeof(*image));
	image->len = ib ? 64 : 56;
	bytes[ib ? 0 : 11] = 0x00;
	put_be64(bytes + (ib ? 8 : 0), SAMPLE_TAG);
	put_be32(bytes + (ib ? 16 : 12), 8260);
	put_be16(bytes + (ib ? 24 : 8), 0x0006);
	bytes[ib ? 26 : 10] = 0x80 | 0x01;
	put_be16(bytes + (ib ? 28 : 48), 68);
	put_port_ids(bytes + (ib ? 32 : 16));
}
