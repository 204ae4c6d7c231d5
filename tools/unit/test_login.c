// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* srpt_parse_login(): every field on both sides of its bound, in both layouts. */
#include "unit.h"

enum field { NOTHING, OPCODE, IU_LEN, BUF_FMT, FLAGS, IMM_OFFSET, T_PORT_HIGH, T_PORT_LOW };

/* Where the fields are and how wide, written out here so that the structures are tested too. */
static const struct {
	u8	at[2];
	u8	width;
} fields[] = {
	[NOTHING]	= { { 0, 0 }, 0 },
	[OPCODE]	= { { 0, 11 }, 1 },
	[IU_LEN]	= { { 16, 12 }, 4 },
	[BUF_FMT]	= { { 24, 8 }, 2 },
	[FLAGS]		= { { 26, 10 }, 1 },
	[IMM_OFFSET]	= { { 28, 48 }, 2 },
	[T_PORT_HIGH]	= { { 48, 32 }, 8 },
	[T_PORT_LOW]	= { { 56, 40 }, 8 },
};

#define REFUSE(code)	.reason = SRP_LOGIN_REJ_##code

/* What one field set to one value leads to: a reason, or the values expected. */
struct login_row {
	const char	*name;
	enum field	field;
	u64		value;
	u32		reason;
	u32		iu_len;
	u16		imm_offset;
	bool		single;
};

static const struct login_row rows[] = {
	{ "login as it is", NOTHING, 0, 0, 8260, 68, false },
	{ "login opcode SRP_CMD", OPCODE, 2, REFUSE(UNABLE_ESTABLISH_CHANNEL) },
	{ "login opcode 0xff", OPCODE, 0xff, REFUSE(UNABLE_ESTABLISH_CHANNEL) },
	{ "login IU length 0", IU_LEN, 0, REFUSE(REQ_IT_IU_LENGTH_TOO_LARGE) },
	{ "login IU length 63", IU_LEN, 63, REFUSE(REQ_IT_IU_LENGTH_TOO_LARGE) },
	{ "login IU length 64", IU_LEN, 64, 0, 64, 0, false },
	{ "login IU length 68", IU_LEN, 68, 0, 68, 0, false },
	{ "login IU length 69", IU_LEN, 69, 0, 69, 68, false },
	{ "login IU length 580", IU_LEN, 580, 0, 580, 68, false },
	{ "login IU length 2116", IU_LEN, 2116, 0, 2116, 68, false },
	{ "login IU length at the limit", IU_LEN, 8276, 0, 8276, 68, false },
	{ "login IU length above it", IU_LEN, 8277, REFUSE(REQ_IT_IU_LENGTH_TOO_LARGE) },
	{ "login IU length 2^31", IU_LEN, 1U << 31, REFUSE(REQ_IT_IU_LENGTH_TOO_LARGE) },
	{ "login IU length 2^32-1", IU_LEN, ~0U, REFUSE(REQ_IT_IU_LENGTH_TOO_LARGE) },
	{ "login no formats", BUF_FMT, 0, 0, 8260, 68, false },
	{ "login format direct", BUF_FMT, 2, 0, 8260, 68, false },
	{ "login format indirect", BUF_FMT, 4, 0, 8260, 68, false },
	{ "login format bit 0", BUF_FMT, 1, REFUSE(UNSUPPORTED_DESCRIPTOR_FMT) },
	{ "login format bit 3", BUF_FMT, 8 | 6, REFUSE(UNSUPPORTED_DESCRIPTOR_FMT) },
	{ "login format bit 15", BUF_FMT, 0x8006, REFUSE(UNSUPPORTED_DESCRIPTOR_FMT) },
	{ "login single channel, no immediate data", FLAGS, 0, 0, 8260, 0, true },
	{ "login single channel, immediate data", FLAGS, 0x80, 0, 8260, 68, true },
	{ "login multichannel", FLAGS, 1, 0, 8260, 0, false },
	{ "login multichannel code 2", FLAGS, 2, REFUSE(MULTI_CHANNEL_UNSUPPORTED) },
	{ "login multichannel code 3", FLAGS, 0x83, REFUSE(MULTI_CHANNEL_UNSUPPORTED) },
	{ "login unknown flags", FLAGS, 0x4d, 0, 8260, 0, false },
	{ "login solicited logout", FLAGS, 0x11, 0, 8260, 0, false },
	{ "login solicited credit", FLAGS, 0x21, 0, 8260, 0, false },
	{ "login immediate offset 0", IMM_OFFSET, 0, 0, 8260, 0, false },
	{ "login immediate offset 4", IMM_OFFSET, 4, 0, 8260, 0, false },
	{ "login immediate offset 48", IMM_OFFSET, 48, 0, 8260, 0, false },
	{ "login immediate offset 52", IMM_OFFSET, 52, 0, 8260, 52, false },
	{ "login immediate offset 53", IMM_OFFSET, 53, 0, 8260, 0, false },
	{ "login immediate offset 66", IMM_OFFSET, 66, 0, 8260, 0, false },
	{ "login immediate offset 67", IMM_OFFSET, 67, 0, 8260, 0, false },
	{ "login immediate offset last", IMM_OFFSET, 8256, 0, 8260, 8256, false },
	{ "login immediate offset at the end", IMM_OFFSET, 8260, 0, 8260, 0, false },
	{ "login immediate offset 65535", IMM_OFFSET, 65535, 0, 8260, 0, false },
	{ "login immediate offset 65532", IMM_OFFSET, 65532, 0, 8260, 0, false },
	{ "login other ID extension", T_PORT_HIGH, SAMPLE_GUID + 1,
	  REFUSE(UNABLE_ASSOCIATE_CHANNEL) },
	{ "login other IOC GUID", T_PORT_LOW, SAMPLE_GUID ^ 1ULL << 63,
	  REFUSE(UNABLE_ASSOCIATE_CHANNEL) },
};

static void set_field(u8 *bytes, enum field field, enum srpt_login_layout layout, u64 value)
{
	u8 *at = bytes + fields[field].at[layout];
	int i;

	for (i = fields[field].width - 1; i >= 0; i--, value >>= 8)
		at[i] = value;
}

static void expect_accepted(const struct srpt_login *login, const struct login_row *row,
			    const u8 *i_port_id)
{
	assert_int_equal(login->iu_len, row->iu_len);
	assert_int_equal(login->imm_offset, row->imm_offset);
	assert_int_equal(login->multichannel, !row->single);
	assert_int_equal(login->sol_logout, row->field == FLAGS && row->value & 0x10);
	assert_int_equal(login->sol_credit, row->field == FLAGS && row->value & 0x20);
	assert_memory_equal(login->i_port_id, i_port_id, 16);
	assert_memory_equal(login->t_port_id, i_port_id + 16, 16);
}

static void login_row_in(const struct login_row *row, enum srpt_login_layout layout)
{
	bool ib = layout == SRPT_LOGIN_IB;
	struct srpt_login login;
	struct image image;
	u8 *bytes;
	u32 reason;

	make_login(&image, layout);
	set_field(image.bytes, row->field, layout, row->value);
	bytes = exact_copy(image.bytes, image.len);
	memset(&login, 0xee, sizeof(login));
	reason = srpt_parse_login(bytes, image.len, layout, &sample_login_rules, &login);
	assert_int_equal(reason, row->reason);
	assert_memory_equal(&login.tag, bytes + (ib ? 8 : 0), 8);
	if (!reason)
		expect_accepted(&login, row, bytes + (ib ? 32 : 16));
	free(bytes);
}

static void login_row(void **state)
{
	login_row_in(*state, SRPT_LOGIN_IB);
	login_row_in(*state, SRPT_LOGIN_RDMA);
}

static void login_cut(const struct image *image, enum srpt_login_layout layout, u32 len)
{
	u32 tag_at = layout == SRPT_LOGIN_IB ? 8 : 0;
	u8 *bytes = exact_copy(image->bytes, len);
	struct srpt_login login;
	u64 tag = 0;

	memset(&login, 0xee, sizeof(login));
	assert_int_equal(srpt_parse_login(bytes, len, layout, &sample_login_rules, &login),
			 SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL);
	if (len >= tag_at + 8)
		memcpy(&tag, bytes + tag_at, 8);
	assert_true(login.tag == tag);
	free(bytes);
}

static void every_cut(void **state)
{
	enum srpt_login_layout layout;
	struct image image;
	u32 len;

	(void)state;
	for (layout = SRPT_LOGIN_IB; layout <= SRPT_LOGIN_RDMA; layout++) {
		make_login(&image, layout);
		for (len = 0; len < image.len; len++)
			login_cut(&image, layout, len);
	}
}

/* A CM hands on all the private data that its message has room for. */
static void padding(void **state)
{
	struct srpt_login login;
	struct image image;

	(void)state;
	make_login(&image, SRPT_LOGIN_IB);
	memset(image.bytes + image.len, 0xff, 28);
	assert_int_equal(srpt_parse_login(image.bytes, 92, SRPT_LOGIN_IB, &sample_login_rules,
					  &login), 0);
	make_login(&image, SRPT_LOGIN_RDMA);
	memset(image.bytes + image.len, 0xff, 140);
	assert_int_equal(srpt_parse_login(image.bytes, 196, SRPT_LOGIN_RDMA, &sample_login_rules,
					  &login), 0);
}

/* Private data stands at odd places in some CM messages. */
static void unaligned_login(void **state)
{
	u8 room[80];
	struct srpt_login login;
	struct image image;
	u32 shift;

	(void)state;
	make_login(&image, SRPT_LOGIN_RDMA);
	for (shift = 0; shift < 8; shift++) {
		memcpy(room + shift, image.bytes, image.len);
		assert_int_equal(srpt_parse_login(room + shift, image.len, SRPT_LOGIN_RDMA,
						  &sample_login_rules, &login), 0);
		assert_int_equal(login.iu_len, 8260);
	}
}

static void reasons_differ(void **state)
{
	u32 a, b;

	(void)state;
	for (a = 0x10000; a <= 0x10007; a++) {
		assert_true(*srpt_login_reason(a));
		for (b = 0x10000; b < a; b++)
			assert_string_not_equal(srpt_login_reason(a), srpt_login_reason(b));
	}
	assert_string_equal(srpt_login_reason(0), srpt_login_reason(0x10007));
}

void add_login_tests(struct test_list *list)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		add_test(list, rows[i].name, login_row, &rows[i]);
	add_test(list, "login cut at every length", every_cut, NULL);
	add_test(list, "login with padding", padding, NULL);
	add_test(list, "login at every alignment", unaligned_login, NULL);
	add_test(list, "login reasons have different texts", reasons_differ, NULL);
}
