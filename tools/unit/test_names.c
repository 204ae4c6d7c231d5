// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* Names in all spellings. */
#include <errno.h>
#include <stdio.h>

#include "unit.h"

#define GUID	"0000000000000000505400fffe123456"
#define GID	"fe80000000000000505400fffe123456"
#define V4	"00000000000000000000ffff0a00020f"

/* Which parsers take a text, and what they make of it. */
enum { PORT = 1, ACL = 2, I_PORT = 4 };

struct name_row {
	const char		*text;
	u8			taken_by;
	enum srpt_name_kind	kind;
	const char		*digits;
	const char		*printed;
};

static const struct name_row rows[] = {
	{ "5054:00ff:fe12:3456", PORT | ACL, SRPT_NAME_GUID, GUID, "5054:00ff:fe12:3456" },
	{ "5054:00FF:Fe12:3456", PORT | ACL, SRPT_NAME_GUID, GUID, "5054:00ff:fe12:3456" },
	{ "0000:0000:0000:0000", PORT | ACL, SRPT_NAME_GUID,
	  "00000000000000000000000000000000", "0000:0000:0000:0000" },
	{ "0xfe80000000000000505400fffe123456", PORT | ACL | I_PORT, SRPT_NAME_ID, GID, "0x" GID },
	{ "0XFE80000000000000505400FFFE123456", PORT | ACL | I_PORT, SRPT_NAME_ID, GID, "0x" GID },
	{ "fe80000000000000505400fffe123456", ACL | I_PORT, SRPT_NAME_ID, GID, "0x" GID },
	{ "FE80000000000000505400FFFE123456", ACL | I_PORT, SRPT_NAME_ID, GID, "0x" GID },
	{ "fe80::5054:ff:fe12:3456", ACL, SRPT_NAME_ID, GID, "0x" GID },
	{ "FE80::5054:FF:FE12:3456", ACL, SRPT_NAME_ID, GID, "0x" GID },
	{ "fe80:0:0:0:5054:ff:fe12:3456", ACL, SRPT_NAME_ID, GID, "0x" GID },
	{ "fe80:0000:0000:0000:5054:00ff:fe12:3456", ACL, SRPT_NAME_ID, GID, "0x" GID },
	{ "::5054:ff:fe12:3456", ACL, SRPT_NAME_ID, GUID, "0x" GUID },
	{ "10.0.2.15", ACL, SRPT_NAME_ID, V4, "10.0.2.15" },
	{ "::ffff:10.0.2.15", ACL, SRPT_NAME_ID, V4, "10.0.2.15" },
	{ "::ffff:0a00:020f", ACL, SRPT_NAME_ID, V4, "10.0.2.15" },
	{ "0000:0000:0000:0000:0000:ffff:0a00:020f", ACL, SRPT_NAME_ID, V4, "10.0.2.15" },
	{ "0000:0000:0000:0000:0000:ffff:10.0.2.15", ACL, SRPT_NAME_ID, V4, "10.0.2.15" },
	{ "0x00000000000000000000ffff0a00020f", PORT | ACL | I_PORT, SRPT_NAME_ID, V4,
	  "10.0.2.15" },
	{ "0.0.0.0", ACL, SRPT_NAME_ID, "00000000000000000000ffff00000000", "0.0.0.0" },
	{ "::10.0.2.15", ACL, SRPT_NAME_ID, "0000000000000000000000000a00020f",
	  "0x0000000000000000000000000a00020f" },
	{ "1:2:3:4:5:6:1.2.3.4", ACL, SRPT_NAME_ID, "00010002000300040005000601020304",
	  "0x00010002000300040005000601020304" },
	{ "255.255.255.255", ACL, SRPT_NAME_ID, "00000000000000000000ffffffffffff",
	  "255.255.255.255" },
	{ "2001:db8::1", ACL, SRPT_NAME_ID, "20010db8000000000000000000000001",
	  "0x20010db8000000000000000000000001" },
	{ "2001:db8::", ACL, SRPT_NAME_ID, "20010db8000000000000000000000000",
	  "0x20010db8000000000000000000000000" },
	{ "::1", ACL, SRPT_NAME_ID, "00000000000000000000000000000001",
	  "0x00000000000000000000000000000001" },
};

static const char *const refused[] = {
	"", " ", "\n", "0x", "x", ":", "...", "tpg1",
	/* GUIDs */
	"5054:ff:fe12:3456", "5054:00ff:fe12:345", "5054:00ff:fe12:34567", "5054:00ff:fe12",
	"5054:00ff:fe12:3456:", ":5054:00ff:fe12:3456", "5054:00ff:fe12:3456\n",
	" 5054:00ff:fe12:3456", "5054:00ff:fe12:345g", "5054-00ff-fe12-3456",
	"5054:00ff:fe1:23456", "505400fffe123456", "0x505400fffe123456",
	"505:400ff:fe12:3456", "5054:00ff:fe12: 456", "0x54:00ff:fe12:3456",
	/* numbers */
	"0xfe80000000000000505400fffe12345", "0xfe80000000000000505400fffe1234567",
	"fe80000000000000505400fffe12345", "fe80000000000000505400fffe1234567",
	"0xfe80000000000000505400fffe12345g", "gfe80000000000000505400fffe12345",
	"0x0xfe80000000000000505400fffe1234", "ib.fe80000000000000505400fffe123456",
	"eui.505400fffe123456", "0xfe80000000000000505400fffe123456 ",
	"0xfe80000000000000505400fffe123456\n", "0xfe80000000000000 05400fffe123456",
	"-xfe80000000000000505400fffe123456", "\xff\x80zfe80000000000000505400fffe12",
	/* addresses */
	"10.0.2", "10.0.2.", ".10.0.2.15", "10.0.2.15.", "10.0.2.15.1", "10.0.2.256", "10.0..15",
	"10.0.2.15 ", " 10.0.2.15", "10.0.2.15\n", "10.0.2.15/24", "10.0.2.15:5555", "10.0.2.a",
	"10.0.2.-1", "fe80::1%eth0", "fe80::1/64", "fe80::1 ", "fe80::1\n", "fe80:::1",
	"fe80::1::2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:", "12345::1",
	"::g", "[::1]", "::ffff:10.0.2.256", "::ffff:10.0.2", "::ffff:10.0.2.15:",
	"fe80:0000:0000:0000:5054:00ff:fe12:34567", "fe80:0000:0000:0000:5054:00fff:fe12:3456",
	"0fe80::1", "fe80::00001", "010.0.2.15", "10.03.2.15", "10.0.2.00", "::ffff:10.0.2.015",
	"::ffff:10.00.2.15", "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4",
	/* longer than any name */
	"0000000000000000000000000000000000000000000000000000000000000000",
	"::0000000000000000000000000000000000000000000000000000000000000000000000000000001",
};

static int parse_by(u8 who, struct srpt_name *name, const char *text)
{
	char *copy = (char *)exact_copy((const u8 *)text, strlen(text) + 1);
	int ret;

	memset(name, 0xee, sizeof(*name));
	if (who == PORT)
		ret = srpt_parse_port_name(name, copy);
	else if (who == ACL)
		ret = srpt_parse_acl_name(name, copy);
	else
		ret = srpt_parse_i_port_id(name, copy);
	free(copy);
	return ret;
}

static void expect_name(const struct srpt_name *name, const struct name_row *row)
{
	char text[SRPT_NAME_LEN];
	char digits[33];
	int i;

	assert_int_equal(name->kind, row->kind);
	for (i = 0; i < 16; i++)
		snprintf(digits + 2 * i, 3, "%02x", name->id[i]);
	assert_string_equal(digits, row->digits);
	assert_int_equal(srpt_print_name(text, sizeof(text), name), strlen(row->printed));
	assert_string_equal(text, row->printed);
}

static void expect_none(const struct srpt_name *name)
{
	static const u8 zeros[16];

	assert_int_equal(name->kind, SRPT_NAME_NONE);
	assert_memory_equal(name->id, zeros, 16);
}

static void name_row(void **state)
{
	const struct name_row *row = *state;
	struct srpt_name name;
	u8 who;

	for (who = PORT; who <= I_PORT; who <<= 1) {
		int ret = parse_by(who, &name, row->text);

		assert_int_equal(ret, row->taken_by & who ? 0 : -EINVAL);
		if (ret)
			expect_none(&name);
		else
			expect_name(&name, row);
	}
}

static void refused_row(void **state)
{
	struct srpt_name name;
	u8 who;

	for (who = PORT; who <= I_PORT; who <<= 1) {
		assert_int_equal(parse_by(who, &name, *state), -EINVAL);
		expect_none(&name);
	}
}

/* Rows are equal exactly when they are of one kind with the same digits. */
static void same_name(void **state)
{
	struct srpt_name a, b;
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(rows); j++) {
			bool same = rows[i].kind == rows[j].kind &&
				    !strcmp(rows[i].digits, rows[j].digits);

			assert_int_equal(parse_by(ACL, &a, rows[i].text), 0);
			assert_int_equal(parse_by(ACL, &b, rows[j].text), 0);
			assert_int_equal(srpt_same_name(&a, &b), same);
		}
}

static void none_is_never_same(void **state)
{
	struct srpt_name a = { SRPT_NAME_NONE, { 0 } };
	struct srpt_name b = a;
	char text[8] = "stale";

	(void)state;
	assert_false(srpt_same_name(&a, &b));
	assert_int_equal(srpt_print_name(text, sizeof(text), &a), 0);
	assert_string_equal(text, "");
}

/* From the bytes that a device or a CM gives to the names that an administrator wrote. */
static void names_of_bytes(void **state)
{
	static const u8 gid[16] = {
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0x00, 0xff, 0xfe, 0x12, 0x34, 0x56,
	};
	static const u8 addr[4] = { 10, 0, 2, 15 };
	struct srpt_name made, read;

	(void)state;
	memset(&made, 0xee, sizeof(made));
	srpt_guid_name(&made, gid);
	assert_int_equal(srpt_parse_acl_name(&read, "5054:00ff:fe12:3456"), 0);
	assert_true(srpt_same_name(&made, &read));

	memset(&made, 0xee, sizeof(made));
	srpt_id_name(&made, gid);
	assert_false(srpt_same_name(&made, &read));
	assert_int_equal(srpt_parse_acl_name(&read, "fe80::5054:ff:fe12:3456"), 0);
	assert_true(srpt_same_name(&made, &read));

	memset(&made, 0xee, sizeof(made));
	srpt_ipv4_name(&made, addr);
	assert_int_equal(srpt_parse_acl_name(&read, "10.0.2.15"), 0);
	assert_true(srpt_same_name(&made, &read));
}

static void print_without_room(void **state)
{
	struct srpt_name name;
	size_t i, size;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(srpt_parse_acl_name(&name, rows[i].text), 0);
		for (size = 0; size < 36; size++) {
			char *buf = malloc(size ? size : 1);
			int len = srpt_print_name(buf, size, &name);

			assert_int_equal(len, size ? strlen(buf) : 0);
			if (size)
				assert_memory_equal(buf, rows[i].printed, strlen(buf));
			free(buf);
		}
	}
}

static void legal_service_id(void **state)
{
	u64 top;

	(void)state;
	for (top = 0; top < 256; top++) {
		u64 id = srpt_legal_service_id(top << 56 | 0x5400fffe123456ULL);

		assert_true(id == 0x5400fffe123456ULL);
		id = srpt_legal_service_id(top << 56);
		assert_true(id == (top ? top : 1));
		id = srpt_legal_service_id(top << 56 | 1);
		assert_true(id == 1);
	}
	assert_true(srpt_legal_service_id(~0ULL) == ~0ULL >> 8);
}

static const struct {
	const char	*text;
	u64		guid;	/* 0: to be refused */
} guids[] = {
	{ "0x505400fffe123456", 0x505400fffe123456ULL },
	{ "505400fffe123456", 0x505400fffe123456ULL },
	{ "505400FFFE123456\n", 0x505400fffe123456ULL },
	{ "0X505400FFFE123456\n", 0x505400fffe123456ULL },
	{ "ffffffffffffffff", ~0ULL },
	{ "0000000000000001", 1 },
	{ "1", 1 },
	{ "0x1", 1 },
	{ "00", 0 },
	{ "0", 0 },
	{ "0x0", 0 },
	{ "0\n", 0 },
	{ "0x0000000000000000", 0 },
	{ "", 0 },
	{ "\n", 0 },
	{ "0x", 0 },
	{ "0x\n", 0 },
	{ "x1", 0 },
	{ "0x0x1", 0 },
	{ "1\n\n", 0 },
	{ "1 ", 0 },
	{ " 1", 0 },
	{ "+1", 0 },
	{ "-1", 0 },
	{ "1g", 0 },
	{ "5054:00ff:fe12:3456", 0 },
	{ "10000000000000000", 0 },
	{ "00000000000000001", 0 },
	{ "0x10000000000000000", 0 },
	{ "505400fffe123456505400fffe123456", 0 },
};

static void service_guid(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(guids); i++) {
		char *copy = (char *)exact_copy((const u8 *)guids[i].text,
						strlen(guids[i].text) + 1);
		u64 guid = 0xdead;
		int ret = srpt_parse_service_guid(&guid, copy);

		assert_int_equal(ret, guids[i].guid ? 0 : -EINVAL);
		assert_true(guid == (guids[i].guid ? guids[i].guid : 0xdead));
		free(copy);
	}
}

void add_name_tests(struct test_list *list)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		add_test(list, rows[i].text, name_row, &rows[i]);
	for (i = 0; i < ARRAY_SIZE(refused); i++)
		add_test(list, "refused name", refused_row, refused[i]);
	add_test(list, "equal names", same_name, NULL);
	add_test(list, "no name is equal to nothing", none_is_never_same, NULL);
	add_test(list, "names of bytes", names_of_bytes, NULL);
	add_test(list, "a name printed without room", print_without_room, NULL);
	add_test(list, "legal service IDs", legal_service_id, NULL);
	add_test(list, "service GUID parameter", service_guid, NULL);
}
