// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* srpt_parse_iu(): what valid messages give, and what one wrong field leads to. */
#include <errno.h>

#include "unit.h"

#define TOO_SHORT	SRPT_ASC_IU_TOO_SHORT
#define INVALID		SRPT_ASC_IU_INVALID_FIELD
#define NOTE		"descriptor"

/* One field of one valid message set to one value; an asc of 0 and no text: still valid. */
struct iu_row {
	const char	*name;
	enum sample	sample;
	u16		field;
	u64		value;
	u16		asc;
	const char	*text;
};

/* Offset and width, bytes. */
#define FIELD(at, width)	((at) << 4 | (width))
#define CMD_FMT		FIELD(5, 1)
#define OUT_COUNT	FIELD(6, 1)
#define IN_COUNT	FIELD(7, 1)
#define ADD_CDB		FIELD(31, 1)
#define DIRECT_VA	FIELD(48, 8)
#define DIRECT_LEN	FIELD(60, 4)
#define TABLE_VA	FIELD(48, 8)
#define TABLE_LEN	FIELD(60, 4)
#define TOTAL_LEN	FIELD(64, 4)
#define ENTRY_VA(n)	FIELD(68 + 16 * (n), 8)
#define ENTRY_LEN(n)	FIELD(80 + 16 * (n), 4)
#define IMM_LEN		FIELD(48, 4)

static const struct iu_row rows[] = {
	/* additional CDB; S_PLAIN has 48 bytes, S_LONG_CDB 64, the others more behind */
	{ "CDB length, reserved bits", S_PLAIN, ADD_CDB, 3, 0, NULL },
	{ "CDB one word, none there", S_PLAIN, ADD_CDB, 4, TOO_SHORT, "additional CDB" },
	{ "CDB longest, none there", S_PLAIN, ADD_CDB, 0xff, TOO_SHORT, "additional CDB" },
	{ "CDB one word of four", S_LONG_CDB, ADD_CDB, 4, 0, NULL },
	{ "CDB at the end", S_LONG_CDB, ADD_CDB, 16 | 3, 0, NULL },
	{ "CDB a word past the end", S_LONG_CDB, ADD_CDB, 20, TOO_SHORT, "additional CDB" },
	{ "CDB at the core's limit", S_INDIRECT_OUT, ADD_CDB, 16, TOO_SHORT, NOTE },
	{ "CDB over the core's limit", S_INDIRECT_OUT, ADD_CDB, 20, INVALID, "CDB too long" },
	/* formats */
	{ "format 3 in", S_DIRECT_IN, CMD_FMT, 0x03, INVALID, "format" },
	{ "format 4 in", S_DIRECT_IN, CMD_FMT, 0x04, INVALID, "format" },
	{ "format 15 in", S_DIRECT_IN, CMD_FMT, 0x0f, INVALID, "format" },
	{ "format 4 out", S_DIRECT_IN, CMD_FMT, 0x40, INVALID, "format" },
	{ "format 15 out", S_DIRECT_IN, CMD_FMT, 0xf0, INVALID, "format" },
	{ "format 4 out, direct in", S_BOTH_DIRECT, CMD_FMT, 0x41, INVALID, "format" },
	{ "direct out, format 8 in", S_BOTH_DIRECT, CMD_FMT, 0x18, INVALID, "format" },
	{ "no data, descriptors ignored", S_BOTH_DIRECT, CMD_FMT, 0x00, 0, NULL },
	{ "direct in only, rest ignored", S_BOTH_DIRECT, CMD_FMT, 0x01, 0, NULL },
	{ "direct, nothing there", S_PLAIN, CMD_FMT, 0x10, TOO_SHORT, NOTE },
	{ "second direct, nothing there", S_DIRECT_IN, CMD_FMT, 0x11, TOO_SHORT, NOTE },
	{ "indirect, nothing there", S_PLAIN, CMD_FMT, 0x02, TOO_SHORT, NOTE },
	{ "no data, counts ignored", S_PLAIN, OUT_COUNT, 9, 0, NULL },
	{ "direct, count ignored", S_DIRECT_OUT, OUT_COUNT, 9, 0, NULL },
	/* direct */
	{ "direct length 0", S_DIRECT_OUT, DIRECT_LEN, 0, INVALID, "length 0" },
	{ "direct length 1", S_DIRECT_OUT, DIRECT_LEN, 1, 0, NULL },
	{ "direct length at the limit", S_DIRECT_IN, DIRECT_LEN, SAMPLE_MAX_DATA, 0, NULL },
	{ "direct length above it", S_DIRECT_IN, DIRECT_LEN, SAMPLE_MAX_DATA + 1, INVALID,
	  "too large" },
	{ "direct length 2^32-1", S_DIRECT_IN, DIRECT_LEN, ~0U, INVALID, "too large" },
	{ "direct ends below the last byte", S_DIRECT_IN, DIRECT_VA, ~0ULL - 4096, 0, NULL },
	{ "direct ends at 2^64", S_DIRECT_IN, DIRECT_VA, ~0ULL - 4095, INVALID, "wraps" },
	{ "direct begins at the last byte", S_DIRECT_OUT, DIRECT_VA, ~0ULL, INVALID, "wraps" },
	{ "second direct length 0", S_BOTH_DIRECT, FIELD(76, 4), 0, INVALID, "length 0" },
	/* indirect: S_INDIRECT_OUT has three entries of 512 bytes */
	{ "table length 0", S_INDIRECT_OUT, TABLE_LEN, 0, INVALID, "table length" },
	{ "table length 15", S_INDIRECT_OUT, TABLE_LEN, 15, INVALID, "table length" },
	{ "table length 47", S_INDIRECT_OUT, TABLE_LEN, 47, INVALID, "table length" },
	{ "table length 49", S_INDIRECT_OUT, TABLE_LEN, 49, INVALID, "table length" },
	{ "table one shorter than the count", S_INDIRECT_OUT, TABLE_LEN, 32, INVALID, "count" },
	{ "table one longer than the count", S_INDIRECT_OUT, TABLE_LEN, 64, INVALID, "count" },
	{ "table length 2^32-16", S_INDIRECT_OUT, TABLE_LEN, 0xfffffff0, INVALID,
	  "table length" },
	{ "table address anything", S_INDIRECT_OUT, TABLE_VA, ~0ULL, 0, NULL },
	{ "count 0", S_INDIRECT_OUT, OUT_COUNT, 0, INVALID, "count" },
	{ "count one less", S_INDIRECT_OUT, OUT_COUNT, 2, INVALID, "count" },
	{ "count one more than there is", S_INDIRECT_OUT, OUT_COUNT, 4, TOO_SHORT, NOTE },
	{ "count 255", S_INDIRECT_OUT, OUT_COUNT, 255, TOO_SHORT, NOTE },
	{ "count of in one less", S_INDIRECT_IN, IN_COUNT, 1, INVALID, "count" },
	{ "count of in one more", S_INDIRECT_IN, IN_COUNT, 3, TOO_SHORT, NOTE },
	{ "count of out is not that of in", S_INDIRECT_IN, OUT_COUNT, 200, 0, NULL },
	{ "total 0", S_INDIRECT_OUT, TOTAL_LEN, 0, INVALID, "length 0" },
	{ "total one less", S_INDIRECT_OUT, TOTAL_LEN, 1535, INVALID, "add up" },
	{ "total one more", S_INDIRECT_OUT, TOTAL_LEN, 1537, INVALID, "add up" },
	{ "total above the limit", S_INDIRECT_OUT, TOTAL_LEN, SAMPLE_MAX_DATA + 1, INVALID,
	  "too large" },
	{ "first entry one less", S_INDIRECT_OUT, ENTRY_LEN(0), 511, INVALID, "add up" },
	{ "last entry one more", S_INDIRECT_OUT, ENTRY_LEN(2), 513, INVALID, "add up" },
	{ "entry of length 0", S_INDIRECT_OUT, ENTRY_LEN(1), 0, INVALID, "add up" },
	{ "entry of length 2^32-1", S_INDIRECT_OUT, ENTRY_LEN(1), ~0U, INVALID, "add up" },
	{ "entry ends below the last byte", S_INDIRECT_OUT, ENTRY_VA(1), ~0ULL - 512, 0, NULL },
	{ "entry ends at 2^64", S_INDIRECT_OUT, ENTRY_VA(2), ~0ULL - 511, INVALID, "add up" },
	{ "in entry one less", S_INDIRECT_IN, ENTRY_LEN(1), 4095, INVALID, "add up" },
	/* table in initiator memory: eight entries of 512 bytes */
	{ "table in memory, most entries", S_EXT_TABLE, TABLE_LEN, 4096 * 16, 0, NULL },
	{ "table in memory, one too many", S_EXT_TABLE, TABLE_LEN, 4097 * 16, INVALID,
	  "table length" },
	{ "table in memory, half an entry", S_EXT_TABLE, TABLE_LEN, 8 * 16 + 8, INVALID,
	  "table length" },
	{ "table in memory, no entry", S_EXT_TABLE_ONLY, TABLE_LEN, 0, INVALID, "table length" },
	{ "table in memory, total 0", S_EXT_TABLE, TOTAL_LEN, 0, INVALID, "length 0" },
	{ "table in memory, total at the limit", S_EXT_TABLE, TOTAL_LEN, SAMPLE_MAX_DATA, 0,
	  NULL },
	{ "table in memory, total above it", S_EXT_TABLE, TOTAL_LEN, SAMPLE_MAX_DATA + 1,
	  INVALID, "too large" },
	{ "table in memory ends below the last byte", S_EXT_TABLE, TABLE_VA, ~0ULL - 128, 0,
	  NULL },
	{ "table in memory ends at 2^64", S_EXT_TABLE, TABLE_VA, ~0ULL - 127, INVALID, "wraps" },
	{ "whole table in the IU is summed", S_EXT_TABLE, TABLE_LEN, 16, INVALID, "add up" },
	/* immediate data: 100 bytes at 68 */
	{ "immediate length 0", S_IMM, IMM_LEN, 0, INVALID, "length 0" },
	{ "immediate length 1", S_IMM, IMM_LEN, 1, 0, NULL },
	{ "immediate length one less", S_IMM, IMM_LEN, 99, 0, NULL },
	{ "immediate length one more", S_IMM, IMM_LEN, 101, TOO_SHORT, "immediate data" },
	{ "immediate length at the limit", S_IMM, IMM_LEN, SAMPLE_MAX_DATA, TOO_SHORT,
	  "immediate data" },
	{ "immediate length above it", S_IMM, IMM_LEN, SAMPLE_MAX_DATA + 1, INVALID,
	  "too large" },
	{ "immediate length 2^32-1", S_IMM, IMM_LEN, ~0U, INVALID, "too large" },
	{ "immediate counts ignored", S_IMM, OUT_COUNT, 255, 0, NULL },
	{ "immediate with indirect in", S_IMM_AND_DIRECT, CMD_FMT, 0x32, TOO_SHORT, NOTE },
	{ "immediate, length beyond its offset", S_IMM_LONG_CDB, ADD_CDB, 20, INVALID,
	  "CDB too long" },
	/* task management, and the rest */
	{ "task management, undefined function", S_TSK_MGMT, FIELD(30, 1), 0xee, 0, NULL },
	{ "opcode of a login", S_PLAIN, FIELD(0, 1), 0x00, 0, "login" },
	{ "opcode 4", S_PLAIN, FIELD(0, 1), 0x04, 0, "opcode" },
	{ "opcode of a response", S_PLAIN, FIELD(0, 1), 0xc1, 0, "opcode" },
	{ "opcode of a target's logout", S_PLAIN, FIELD(0, 1), 0x80, 0, "opcode" },
	{ "opcode 0x40", S_PLAIN, FIELD(0, 1), 0x40, 0, "opcode" },
	{ "opcode 0x43", S_PLAIN, FIELD(0, 1), 0x43, 0, "opcode" },
	{ "opcode 0xff", S_PLAIN, FIELD(0, 1), 0xff, 0, "opcode" },
};

static void set_bytes(u8 *at, u8 width, u64 value)
{
	for (at += width; width; width--, value >>= 8)
		*--at = value;
}

static void expect_end(const struct srpt_iu *iu, enum srpt_iu_end end, u16 asc, const char *text)
{
	if (!text) {
		assert_int_equal(end, SRPT_IU_OK);
		return;
	}
	assert_int_equal(end, asc ? SRPT_IU_SENSE : SRPT_IU_DISCONNECT);
	assert_int_equal(iu->asc, asc);
	/* that one of another type was expected can be said in an SRP_T_LOGOUT */
	if (!asc)
		assert_int_equal(iu->logout, iu->opcode == SRP_CMD || iu->opcode == SRP_TSK_MGMT ?
				 SRPT_LOGOUT_NO_REASON : SRPT_LOGOUT_IU_TYPE);
	assert_non_null(strstr(iu->error, text));
	assert_int_equal(iu->out.kind, SRPT_BUF_NONE);
	assert_int_equal(iu->in.kind, SRPT_BUF_NONE);
}

/* Parses a copy that ends where its allocation does. To be freed. */
static u8 *parse(const struct image *image, const struct srpt_iu_rules *rules,
		 struct srpt_iu *iu, enum srpt_iu_end *end)
{
	u8 *bytes = exact_copy(image->bytes, image->len);

	memset(iu, 0xee, sizeof(*iu));
	*end = srpt_parse_iu(bytes, image->len, rules, iu);
	return bytes;
}

static void iu_row(void **state)
{
	const struct iu_row *row = *state;
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	make_sample(&image, row->sample);
	set_bytes(image.bytes + (row->field >> 4), row->field & 15, row->value);
	free(parse(&image, rules_of_sample(row->sample), &iu, &end));
	expect_end(&iu, end, row->asc, row->text);
	assert_int_equal(iu.opcode, image.bytes[0]);
	assert_memory_equal(&iu.tag, image.bytes + 8, 8);
}

/* What each sample has to give. */
struct want {
	enum srpt_buf_kind	kind;
	u32			len;
	u32			count;
	u32			at;	/* offset in the message */
};

struct good_row {
	enum sample	sample;
	u8		cdb_len;
	struct want	out;
	struct want	in;
};

#define NONE	.kind = SRPT_BUF_NONE
#define DIRECT	SRPT_BUF_DIRECT
#define TABLE	SRPT_BUF_INDIRECT
#define IMM	SRPT_BUF_IMM

static const struct good_row good[] = {
	{ S_PLAIN, 16, { NONE }, { NONE } },
	{ S_LONG_CDB, 32, { NONE }, { NONE } },
	{ S_DIRECT_OUT, 16, { DIRECT, 4096, 1, 48 }, { NONE } },
	{ S_DIRECT_IN, 16, { NONE }, { DIRECT, 4096, 1, 48 } },
	{ S_DIRECT_IN_LONG_CDB, 32, { NONE }, { DIRECT, 4096, 1, 64 } },
	{ S_INDIRECT_OUT, 16, { TABLE, 1536, 3, 68 }, { NONE } },
	{ S_INDIRECT_IN, 16, { NONE }, { TABLE, 8192, 2, 68 } },
	{ S_INDIRECT_AND_DIRECT, 16, { TABLE, 1024, 2, 68 }, { DIRECT, 36, 1, 100 } },
	{ S_DIRECT_AND_INDIRECT, 16, { DIRECT, 36, 1, 48 }, { TABLE, 1024, 2, 84 } },
	{ S_BOTH_DIRECT, 16, { DIRECT, 512, 1, 48 }, { DIRECT, 36, 1, 64 } },
	{ S_IMM, 16, { IMM, 100, 0, 68 }, { NONE } },
	{ S_IMM_LONG_CDB, 32, { IMM, 100, 0, 68 }, { NONE } },
	{ S_IMM_AND_DIRECT, 16, { IMM, 100, 0, 68 }, { DIRECT, 36, 1, 52 } },
	/* what came of a table that has to be fetched is not used */
	{ S_EXT_TABLE, 16, { NONE }, { TABLE, 4096, 0, 68 } },
	{ S_EXT_TABLE_ONLY, 16, { NONE }, { TABLE, 4096, 0, 68 } },
};

static void expect_cmd(const u8 *bytes, const struct srpt_iu *iu, u8 cdb_len)
{
	assert_int_equal(iu->opcode, SRP_CMD);
	assert_true(load_be64((const u8 *)&iu->tag) == SAMPLE_TAG);
	assert_memory_equal(&iu->lun, "01234567", 8);
	assert_int_equal(iu->task_attr, 2);
	assert_ptr_equal(iu->cdb, bytes + 32);
	assert_int_equal(iu->cdb_len, cdb_len);
	assert_false(iu->sol_success);
	assert_false(iu->sol_failure);
}

static void expect_data(const struct srpt_buf *data, const struct want *want, const u8 *bytes,
			u32 entries)
{
	assert_int_equal(data->kind, want->kind);
	assert_int_equal(data->len, want->len);
	assert_int_equal(data->count, want->count);
	assert_ptr_equal(data->desc, want->at && (want->count || want->kind == IMM) ?
			 bytes + want->at : NULL);
	assert_int_equal(data->table_count, entries);
	if (want->kind == TABLE)
		assert_memory_equal(&data->table, bytes + want->at - 20, 16);
}

static void good_row(void **state)
{
	const struct good_row *row = *state;
	bool ext = rules_of_sample(row->sample)->ext_table;
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;
	u8 *bytes;

	make_sample(&image, row->sample);
	bytes = parse(&image, rules_of_sample(row->sample), &iu, &end);
	assert_int_equal(end, SRPT_IU_OK);
	expect_cmd(bytes, &iu, row->cdb_len);
	expect_data(&iu.out, &row->out, bytes, row->out.count);
	expect_data(&iu.in, &row->in, bytes, ext ? 8 : row->in.count);
	free(bytes);
}

/* What a message cut at @len bytes must end in; nothing may be read beyond. */
static void expect_cut(const struct image *whole, enum sample sample, u32 len)
{
	struct image image = *whole;
	bool cmd = image.bytes[0] == SRP_CMD;
	enum srpt_iu_end end;
	struct srpt_iu iu;
	u64 tag = 0;

	image.len = len;
	free(parse(&image, rules_of_sample(sample), &iu, &end));
	assert_int_equal(end, cmd && len >= 48 ? SRPT_IU_SENSE : SRPT_IU_DISCONNECT);
	assert_int_equal(iu.asc, end == SRPT_IU_SENSE ? TOO_SHORT : 0);
	assert_non_null(strstr(iu.error, len < 48 ? "short" : "beyond"));
	if (len >= 16)
		memcpy(&tag, image.bytes + 8, 8);
	assert_true(iu.tag == tag);
	assert_int_equal(iu.opcode, len ? image.bytes[0] : 0xff);
}

static void every_cut(void **state)
{
	enum sample sample = (enum sample)(uintptr_t)*state;
	struct image image;
	u32 len;

	make_sample(&image, sample);
	for (len = 0; len < image.len; len++)
		expect_cut(&image, sample, len);
}

static void trailing_bytes(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;
	int sample;

	(void)state;
	for (sample = 0; sample < SAMPLE_COUNT; sample++) {
		make_sample(&image, sample);
		memset(image.bytes + image.len, 0xff, 64);
		image.len += 64;
		free(parse(&image, rules_of_sample(sample), &iu, &end));
		assert_int_equal(end, SRPT_IU_OK);
	}
}

static void every_alignment(void **state)
{
	struct srpt_iu iu;
	struct image image;
	u8 room[SAMPLE_ROOM + 8];
	int sample, shift;

	(void)state;
	for (sample = 0; sample < SAMPLE_COUNT; sample++) {
		for (shift = 0; shift < 8; shift++) {
			make_sample(&image, sample);
			memcpy(room + shift, image.bytes, image.len);
			assert_int_equal(srpt_parse_iu(room + shift, image.len,
						       rules_of_sample(sample), &iu), SRPT_IU_OK);
		}
	}
}

static void every_opcode(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;
	int opcode;

	(void)state;
	for (opcode = 0; opcode < 256; opcode++) {
		bool known = (opcode >= 1 && opcode <= 3) || opcode == 0x41 || opcode == 0x42;

		make_sample(&image, opcode == SRP_TSK_MGMT ? S_TSK_MGMT : S_PLAIN);
		image.bytes[0] = opcode;
		free(parse(&image, &sample_rules, &iu, &end));
		assert_int_equal(end, known ? SRPT_IU_OK : SRPT_IU_DISCONNECT);
	}
}

static void solicited_bits(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;
	int bits;

	(void)state;
	for (bits = 0; bits < 512; bits++) {
		make_sample(&image, bits & 256 ? S_TSK_MGMT : S_DIRECT_IN);
		image.bytes[1] = bits;
		free(parse(&image, &sample_rules, &iu, &end));
		assert_int_equal(end, SRPT_IU_OK);
		assert_int_equal(iu.sol_success, !!(bits & 2));
		assert_int_equal(iu.sol_failure, !!(bits & 4));
	}
}

/* The answer to a refused command needs these as well. */
static void refused_cmd_is_known(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;
	u8 *bytes;

	(void)state;
	make_sample(&image, S_DIRECT_IN);
	image.bytes[1] = 4;
	image.bytes[5] = 0x0f;
	bytes = parse(&image, &sample_rules, &iu, &end);
	assert_int_equal(end, SRPT_IU_SENSE);
	assert_true(iu.sol_failure);
	assert_false(iu.sol_success);
	assert_memory_equal(&iu.lun, "01234567", 8);
	assert_ptr_equal(iu.cdb, bytes + 32);
	assert_int_equal(iu.cdb_len, 16);
	free(bytes);
}

static void task_management(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	(void)state;
	make_sample(&image, S_TSK_MGMT);
	free(parse(&image, &sample_rules, &iu, &end));
	assert_int_equal(end, SRPT_IU_OK);
	assert_int_equal(iu.tsk_mgmt_func, SRP_TSK_LUN_RESET);
	assert_true(load_be64((const u8 *)&iu.task_tag) == SAMPLE_TASK_TAG);
	assert_memory_equal(&iu.lun, "01234567", 8);
}

static void imm_end(u16 offset, u32 value, u16 asc, const char *text)
{
	struct srpt_iu_rules rules = { .max_data = ~0U, .imm_offset = offset, .max_add_cdb = 16 };
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	make_sample(&image, S_IMM);
	put_be32(image.bytes + 48, value);
	free(parse(&image, &rules, &iu, &end));
	expect_end(&iu, end, asc, text);
}

/* S_IMM has 168 bytes. No limit on the data, so that only the bounds are left to refuse it. */
static void immediate_bounds(void **state)
{
	(void)state;
	imm_end(0, 100, INVALID, "format");
	imm_end(68, 100, 0, NULL);
	imm_end(68, 101, TOO_SHORT, "immediate data");
	imm_end(68, ~0U, TOO_SHORT, "immediate data");
	imm_end(68, ~0U - 68, TOO_SHORT, "immediate data");
	imm_end(68, 0U - 68, TOO_SHORT, "immediate data");
	imm_end(68, 0U - 68 + 1, TOO_SHORT, "immediate data");
	imm_end(68, 0U - 68 + 67, TOO_SHORT, "immediate data");
	imm_end(52, 116, 0, NULL);
	imm_end(52, 117, TOO_SHORT, "immediate data");
	imm_end(51, 1, TOO_SHORT, "descriptors");
	imm_end(48, 1, TOO_SHORT, "descriptors");
	imm_end(4, 1, TOO_SHORT, "descriptors");
	imm_end(167, 1, 0, NULL);
	imm_end(168, 1, TOO_SHORT, "immediate data");
	imm_end(169, 1, TOO_SHORT, "immediate data");
	imm_end(65535, 1, TOO_SHORT, "immediate data");
}

static void cdb_limit(u8 limit, u8 words, u16 asc, const char *text)
{
	struct srpt_iu_rules rules = { .max_data = 4096, .max_add_cdb = limit };
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	make_sample(&image, S_PLAIN);
	image.bytes[31] = words << 2;
	image.len = 48 + 252;
	free(parse(&image, &rules, &iu, &end));
	expect_end(&iu, end, asc, text);
	assert_int_equal(iu.cdb_len, text ? 16 : 16 + 4 * words);
}

static void cdb_limits(void **state)
{
	(void)state;
	cdb_limit(252, 63, 0, NULL);
	cdb_limit(251, 63, INVALID, "CDB");
	cdb_limit(0, 0, 0, NULL);
	cdb_limit(0, 1, INVALID, "CDB");
	cdb_limit(3, 1, INVALID, "CDB");
	cdb_limit(4, 1, 0, NULL);
}

/* Immediate data may not begin where a longer CDB still is. */
static void imm_inside_cdb(void **state)
{
	struct srpt_iu_rules rules = { .max_data = 4096, .imm_offset = 60, .max_add_cdb = 16 };
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	(void)state;
	make_sample(&image, S_IMM_LONG_CDB);
	free(parse(&image, &rules, &iu, &end));
	expect_end(&iu, end, TOO_SHORT, "descriptors");
}

static void ext_table_needs_consent(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	(void)state;
	make_sample(&image, S_EXT_TABLE);
	free(parse(&image, &sample_rules, &iu, &end));
	expect_end(&iu, end, INVALID, "count");
	make_sample(&image, S_EXT_TABLE_ONLY);
	free(parse(&image, &sample_rules, &iu, &end));
	expect_end(&iu, end, INVALID, "count");
}

static void count_above_table(void **state)
{
	enum srpt_iu_end end;
	struct image image;
	struct srpt_iu iu;

	(void)state;
	make_sample(&image, S_INDIRECT_OUT);
	put_be32(image.bytes + 60, 2 * 16);
	put_be32(image.bytes + 64, 2 * 512);
	free(parse(&image, &sample_ext_rules, &iu, &end));
	expect_end(&iu, end, INVALID, "count");
}

static void check_table(void **state)
{
	u8 *table = malloc(3 * 16);
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		put_be64(table + 16 * i, 0x1000);
		put_be32(table + 16 * i + 12, 100);
	}
	assert_int_equal(srpt_check_table(table, 3, 300), 0);
	assert_int_equal(srpt_check_table(table, 3, 299), -EINVAL);
	assert_int_equal(srpt_check_table(table, 3, 301), -EINVAL);
	assert_int_equal(srpt_check_table(table, 2, 200), 0);
	assert_int_equal(srpt_check_table(table, 0, 0), 0);
	assert_int_equal(srpt_check_table(table, 0, 1), -EINVAL);
	put_be32(table + 12, 0x80000000);
	put_be32(table + 28, 0x80000000);
	assert_int_equal(srpt_check_table(table, 3, 100), -EINVAL);
	put_be32(table + 28, 0x7fffff9b);
	assert_int_equal(srpt_check_table(table, 3, 0xffffffff), 0);
	put_be32(table + 28, 0);
	assert_int_equal(srpt_check_table(table, 3, 0x80000064), -EINVAL);
	put_be32(table + 28, 1);
	assert_int_equal(srpt_check_table(table, 3, 0x80000065), 0);
	put_be64(table + 16, ~0ULL);
	assert_int_equal(srpt_check_table(table, 3, 0x80000065), -EINVAL);
	free(table);
}

void add_iu_tests(struct test_list *list)
{
	uintptr_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		add_test(list, sample_names[good[i].sample], good_row, &good[i]);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		add_test(list, rows[i].name, iu_row, &rows[i]);
	for (i = 0; i < SAMPLE_COUNT; i++)
		add_test(list, "cut at every length", every_cut, (void *)i);
	add_test(list, "task management", task_management, NULL);
	add_test(list, "trailing bytes are ignored", trailing_bytes, NULL);
	add_test(list, "every alignment", every_alignment, NULL);
	add_test(list, "every opcode", every_opcode, NULL);
	add_test(list, "every solicited bit", solicited_bits, NULL);
	add_test(list, "a refused command can be answered", refused_cmd_is_known, NULL);
	add_test(list, "bounds of immediate data", immediate_bounds, NULL);
	add_test(list, "limits of the additional CDB", cdb_limits, NULL);
	add_test(list, "immediate data inside the CDB", imm_inside_cdb, NULL);
	add_test(list, "table in memory without consent", ext_table_needs_consent, NULL);
	add_test(list, "more descriptors than the table has", count_above_table, NULL);
	add_test(list, "srpt_check_table", check_table, NULL);
}
