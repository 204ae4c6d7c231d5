// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* What the target sends, byte for byte. */
#include "unit.h"

#define STALE	0x5a

static const u8 tag_bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static u64 tag(void)
{
	u64 value;

	memcpy(&value, tag_bytes, sizeof(value));
	return value;
}

static void build_login_rsp(void **state)
{
	static const u8 want[52] = {
		0xc0, 0, 0, 0, 0x00, 0x00, 0x01, 0x02, 1, 2, 3, 4, 5, 6, 7, 8,
		0x00, 0x00, 0x20, 0x54, 0x00, 0x01, 0x02, 0x03, 0x00, 0x06, 0x82,
	};
	struct srpt_login_answer answer = {
		.tag = tag(), .req_lim = 0x102, .max_it_iu_len = 0x2054, .max_ti_iu_len = 0x10203,
		.rsp_flags = 0x82,
	};
	u8 *buf = malloc(52);

	(void)state;
	memset(buf, STALE, 52);
	assert_int_equal(srpt_build_login_rsp(buf, &answer), 52);
	assert_memory_equal(buf, want, 52);
	free(buf);
}

static void build_login_rej(void **state)
{
	static const u8 want[32] = {
		0xc2, 0, 0, 0, 0x00, 0x01, 0x00, 0x02, 1, 2, 3, 4, 5, 6, 7, 8,
		0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x06,
	};
	u8 *buf = malloc(32);

	(void)state;
	memset(buf, STALE, 32);
	assert_int_equal(srpt_build_login_rej(buf, tag(), 0x10002), 32);
	assert_memory_equal(buf, want, 32);
	free(buf);
}

static void build_cred_req(void **state)
{
	static const u8 want[16] = { 0x81, 0, 0, 0, 0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4, 5, 6, 7, 8 };
	u8 *buf = malloc(16);

	(void)state;
	memset(buf, STALE, 16);
	assert_int_equal(srpt_build_cred_req(buf, tag(), 0xa0b0c0d, false), 16);
	assert_memory_equal(buf, want, 16);
	assert_int_equal(srpt_build_cred_req(buf, tag(), 0xa0b0c0d, true), 16);
	assert_int_equal(buf[1], 1);
	free(buf);
}

static void build_t_logout(void **state)
{
	static const u8 want[16] = { 0x80, 0, 0, 0, 0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4, 5, 6, 7, 8 };
	u8 *buf = malloc(16);

	(void)state;
	memset(buf, STALE, 16);
	assert_int_equal(srpt_build_t_logout(buf, tag(), 0xa0b0c0d, false), 16);
	assert_memory_equal(buf, want, 16);
	assert_int_equal(srpt_build_t_logout(buf, tag(), 0xa0b0c0d, true), 16);
	assert_int_equal(buf[1], 1);
	free(buf);
}

/* Builds into exactly @size bytes, and looks at the head; to be freed. */
static u8 *build(u32 size, const struct srpt_rsp *rsp, u32 *len)
{
	u8 *buf = malloc(size ? size : 1);

	memset(buf, STALE, size ? size : 1);
	*len = srpt_build_rsp(buf, size, rsp);
	return buf;
}

static void rsp_success(void **state)
{
	static const u8 want[36] = { 0xc1, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct srpt_rsp rsp = { .tag = tag(), .req_lim_delta = 3 };
	u8 *buf;
	u32 len;

	(void)state;
	buf = build(36, &rsp, &len);
	assert_int_equal(len, 36);
	assert_memory_equal(buf, want, 36);
	free(buf);
}

static void rsp_everything(void **state)
{
	static const u8 want[48] = {
		0xc1, 1, 0, 0, 0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8,
		0, 0, 0x27, 0x02, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 5,
		0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0, 0,
	};
	static const u8 sense[6] = { 0x70, 0x71, 0x72, 0x73, 0x74, 0x75 };
	struct srpt_rsp rsp = {
		.tag = tag(), .req_lim_delta = 0xfffffffe, .status = 2, .solicited = true,
		.out = { .count = 0x01020304, .over = true },
		.in = { .count = 0x05060708, .under = true },
		.sense = exact_copy(sense, 6), .sense_len = 6,
		.has_rsp_code = true, .rsp_code = 5,
	};
	u8 *buf;
	u32 len;

	(void)state;
	buf = build(48, &rsp, &len);
	assert_int_equal(len, 48);
	assert_memory_equal(buf, want, 48);
	free(buf);
	free((void *)rsp.sense);
}

static void rsp_residual(void **state)
{
	struct srpt_rsp rsp = { .tag = 0 };
	u32 len, bits;
	u8 *buf;

	(void)state;
	for (bits = 0; bits < 16; bits++) {
		rsp.out = (struct srpt_resid){ 7, bits & 1, bits & 2 };
		rsp.in = (struct srpt_resid){ 9, bits & 4, bits & 8 };
		buf = build(36, &rsp, &len);
		assert_int_equal(buf[18], bits << 2);
		assert_int_equal(load_be32(buf + 20), bits & 3 ? 7 : 0);
		assert_int_equal(load_be32(buf + 24), bits & 12 ? 9 : 0);
		free(buf);
	}
}

/* The sense data on the wire: as much as there is room for, in words, zeros behind it. */
static void expect_sense(u32 size, u32 sense_len, bool code)
{
	u8 sense[96];
	struct srpt_rsp rsp = { .sense = sense, .sense_len = sense_len, .has_rsp_code = code };
	u32 at = code ? 40 : 36;
	u32 room = (size - at) / 4 * 4;
	u32 whole = (sense_len + 3) / 4 * 4;
	u32 want = whole < room ? whole : room;
	u32 len, i;
	u8 *buf;

	for (i = 0; i < sizeof(sense); i++)
		sense[i] = 0x80 | i;
	buf = build(size, &rsp, &len);
	assert_int_equal(len, at + want);
	assert_int_equal(load_be32(buf + 28), want);
	assert_int_equal(load_be32(buf + 32), code ? 4 : 0);
	assert_int_equal(buf[18], (code ? 1 : 0) | (want ? 2 : 0));
	for (i = 0; i < want; i++)
		assert_int_equal(buf[at + i], i < sense_len ? 0x80 | i : 0);
	for (i = len; i < size; i++)
		assert_int_equal(buf[i], STALE);
	free(buf);
}

static void rsp_sense(void **state)
{
	u32 size, sense_len;

	(void)state;
	for (size = 40; size <= 140; size++)
		for (sense_len = 0; sense_len <= 96; sense_len++) {
			expect_sense(size, sense_len, false);
			expect_sense(size, sense_len, true);
		}
}

static void rsp_without_room(void **state)
{
	struct srpt_rsp rsp = { .tag = 0, .rsp_code = 1 };
	u32 size, len;
	u8 *buf;

	(void)state;
	for (size = 0; size < 40; size++) {
		rsp.has_rsp_code = size >= 36;
		buf = build(size, &rsp, &len);
		assert_int_equal(len, 0);
		assert_int_equal(buf[0], STALE);
		free(buf);
	}
}

/* A length without data is the caller's slip; nothing must be read for it. */
static void rsp_no_sense(void **state)
{
	struct srpt_rsp rsp = { .sense = NULL, .sense_len = 18 };
	u32 len;

	(void)state;
	free(build(100, &rsp, &len));
	assert_int_equal(len, 36);
}

static void rsp_codes(void **state)
{
	struct srpt_rsp rsp = { .has_rsp_code = true };
	u32 code, len;
	u8 *buf;

	(void)state;
	for (code = 0; code < 256; code++) {
		rsp.rsp_code = code;
		buf = build(40, &rsp, &len);
		assert_int_equal(len, 40);
		assert_int_equal(buf[18], 1);
		assert_int_equal(load_be32(buf + 32), 4);
		assert_int_equal(load_be32(buf + 36), code);
		free(buf);
	}
}

void add_build_tests(struct test_list *list)
{
	add_test(list, "SRP_LOGIN_RSP", build_login_rsp, NULL);
	add_test(list, "SRP_LOGIN_REJ", build_login_rej, NULL);
	add_test(list, "SRP_CRED_REQ", build_cred_req, NULL);
	add_test(list, "SRP_T_LOGOUT", build_t_logout, NULL);
	add_test(list, "SRP_RSP, success", rsp_success, NULL);
	add_test(list, "SRP_RSP, everything", rsp_everything, NULL);
	add_test(list, "SRP_RSP, residual flags", rsp_residual, NULL);
	add_test(list, "SRP_RSP, sense data of every length", rsp_sense, NULL);
	add_test(list, "SRP_RSP, no room", rsp_without_room, NULL);
	add_test(list, "SRP_RSP, sense length without sense", rsp_no_sense, NULL);
	add_test(list, "SRP_RSP, response codes", rsp_codes, NULL);
}
