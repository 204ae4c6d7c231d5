// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of ports and initiators, brought to one form before they are compared.
 *
 * Copyright the ib_srpt authors
 *
 * One port or initiator has many spellings: upper and lower case, an IPv6 address with its
 * zeros or without, a GID as an address or as one long number. Strings are therefore never
 * compared. A name is parsed once into a kind and its bytes.
 *
 * What is parsed here are names of configfs directories and a module parameter: text that
 * ends where its NUL byte stands, without blanks around it.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "names.h"

#define SRPT_GUID_AT		8	/* where in a name's bytes, and in a GID's */
#define SRPT_GUID_LEN		8
#define SRPT_GUID_TEXT_LEN	19	/* four groups and three colons */
#define SRPT_GUID_DIGITS	16
#define SRPT_IPV4_AT		12

/* The top byte of a service ID says who assigns it; values there are not free to be used. */
#define SRPT_SERVICE_AGN_MASK	0xff00000000000000ULL
#define SRPT_SERVICE_AGN_SHIFT	56

/* What stands before an IPv4 address when it is written as an IPv6 address. */
static const u8 srpt_v4_prefix[SRPT_IPV4_AT] = { [10] = 0xff, [11] = 0xff };

typedef int (*srpt_name_parser)(struct srpt_name *name, const char *text);

static const char *srpt_skip_0x(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 2 : text;
}

static int srpt_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -EINVAL;
}

/* Reads @count pairs of digits. Stops at a NUL byte like at anything else that is no digit. */
static int srpt_read_bytes(u8 *to, const char *text, unsigned int count)
{
	for (; count; count--, text += 2, to++) {
		int high = srpt_digit(text[0]);
		int low = high < 0 ? high : srpt_digit(text[1]);

		if (low < 0)
			return -EINVAL;
		*to = high << 4 | low;
	}
	return 0;
}

/* Four groups of four digits, all of them full, and nothing else. */
static int srpt_parse_guid(struct srpt_name *name, const char *text)
{
	u8 *to = name->id + SRPT_GUID_AT;
	int group;

	if (strlen(text) != SRPT_GUID_TEXT_LEN)
		return -EINVAL;
	for (group = 0; group < 4; group++, text += 5, to += 2) {
		if (text[4] != (group < 3 ? ':' : '\0') || srpt_read_bytes(to, text, 2))
			return -EINVAL;
	}
	name->kind = SRPT_NAME_GUID;
	return 0;
}

/* 128 bits as one number, without a prefix. */
static int srpt_parse_digits(struct srpt_name *name, const char *text)
{
	if (strlen(text) != 2 * sizeof(name->id) ||
	    srpt_read_bytes(name->id, text, sizeof(name->id)))
		return -EINVAL;
	name->kind = SRPT_NAME_ID;
	return 0;
}

static int srpt_parse_number(struct srpt_name *name, const char *text)
{
	const char *digits = srpt_skip_0x(text);

	return digits == text ? -EINVAL : srpt_parse_digits(name, digits);
}

/* The kernel's parser allows zeros before a number, which some read as octal; refused here. */
static int srpt_parse_ipv4(struct srpt_name *name, const char *text)
{
	char again[SRPT_NAME_LEN];
	const char *end;
	u8 addr[4];

	if (!in4_pton(text, -1, addr, '\0', &end) || *end)
		return -EINVAL;
	srpt_ipv4_name(name, addr);
	srpt_print_name(again, sizeof(again), name);
	return strcmp(again, text) ? -EINVAL : 0;
}

/* A fifth digit in a group is a slip of the pen, though the kernel's parser forgives a zero. */
static bool srpt_groups_are_short(const char *text)
{
	unsigned int digits = 0;

	for (; *text; text++) {
		digits = srpt_digit(*text) < 0 ? 0 : digits + 1;
		if (digits > 4)
			return false;
	}
	return true;
}

/* Also a GID with colons, which is written like an address. */
static int srpt_parse_ipv6(struct srpt_name *name, const char *text)
{
	const char *last = strrchr(text, ':');
	const char *end;

	if (!last || !srpt_groups_are_short(text))
		return -EINVAL;
	if (strchr(last, '.') && srpt_parse_ipv4(name, last + 1))
		return -EINVAL;
	if (!in6_pton(text, -1, name->id, '\0', &end) || *end)
		return -EINVAL;
	name->kind = SRPT_NAME_ID;
	return 0;
}

/* Asks one parser after the other; what those that failed left behind is cleared. */
static int srpt_parse_any(struct srpt_name *name, const char *text,
			  const srpt_name_parser *parsers)
{
	bool fits = strlen(text) < SRPT_NAME_LEN;

	memset(name, 0, sizeof(*name));
	for (; fits && *parsers; parsers++) {
		if (!(*parsers)(name, text))
			return 0;
		memset(name, 0, sizeof(*name));
	}
	return -EINVAL;
}

/**
 * srpt_parse_i_port_id - read an initiator port ID
 * @name: filled in, of the kind %SRPT_NAME_ID; %SRPT_NAME_NONE after a failure
 * @text: 32 hexadecimal digits of either case, with ``0x`` before them or without
 *
 * SRP r16a clause 6.2 makes an initiator port identifier 16 bytes; annex B fills it with an
 * identifier extension and a GUID.
 *
 * Context: Any; takes no lock and does not sleep.
 * Return: 0, or -EINVAL if @text is anything else, also with something behind the digits.
 */
int srpt_parse_i_port_id(struct srpt_name *name, const char *text)
{
	static const srpt_name_parser parsers[] = { srpt_parse_number, srpt_parse_digits, NULL };

	return srpt_parse_any(name, text, parsers);
}

/**
 * srpt_parse_acl_name - read the name that an ACL gives to an initiator
 * @name: filled in; %SRPT_NAME_NONE after a failure
 * @text: a GUID of four full groups; a GID as a number or with colons; an address of IP
 *	version 4 or 6; or an initiator port ID. Digits may be of either case.
 *
 * An address with a zone (``%eth0``), a prefix length or a port is refused: no initiator
 * could ever be equal to it. So are decimal numbers with zeros before them and groups of more
 * than four digits, because what the writer meant is not certain.
 *
 * Context: Any; takes no lock and does not sleep.
 * Return: 0, or -EINVAL if no initiator can have such a name.
 */
int srpt_parse_acl_name(struct srpt_name *name, const char *text)
{
	static const srpt_name_parser parsers[] = {
		srpt_parse_guid, srpt_parse_number, srpt_parse_digits,
		srpt_parse_ipv4, srpt_parse_ipv6, NULL
	};

	return srpt_parse_any(name, text, parsers);
}

/**
 * srpt_parse_port_name - read the name of a target port
 * @name: filled in; %SRPT_NAME_NONE after a failure
 * @text: the port GUID as four full groups, or ``0x`` and the 32 digits of GID index 0
 *
 * Context: Any; takes no lock and does not sleep.
 * Return: 0, or -EINVAL if no port can have such a name.
 */
int srpt_parse_port_name(struct srpt_name *name, const char *text)
{
	static const srpt_name_parser parsers[] = { srpt_parse_guid, srpt_parse_number, NULL };

	return srpt_parse_any(name, text, parsers);
}

/**
 * srpt_same_name - whether two names are equal
 * @a: one
 * @b: the other
 *
 * A GUID is not equal to a GID that ends in it. Who wants that compares with
 * srpt_guid_name() of the GID as well.
 *
 * Context: Any.
 * Return: true if both are of one kind and have the same bytes. Names of the kind
 * %SRPT_NAME_NONE are equal to nothing.
 */
bool srpt_same_name(const struct srpt_name *a, const struct srpt_name *b)
{
	return a->kind != SRPT_NAME_NONE && a->kind == b->kind &&
	       !memcmp(a->id, b->id, sizeof(a->id));
}

/**
 * srpt_guid_name - make the name of the GUID in a GID
 * @name: filled in
 * @gid: the 16 bytes of the GID, of which the last eight are the GUID
 *
 * Context: Any.
 */
void srpt_guid_name(struct srpt_name *name, const u8 *gid)
{
	memset(name, 0, sizeof(*name));
	name->kind = SRPT_NAME_GUID;
	memcpy(name->id + SRPT_GUID_AT, gid + SRPT_GUID_AT, SRPT_GUID_LEN);
}

/**
 * srpt_id_name - make a name of 128 bits
 * @name: filled in
 * @id: 16 bytes of a GID, an IPv6 address or an initiator port ID
 *
 * Context: Any.
 */
void srpt_id_name(struct srpt_name *name, const u8 *id)
{
	name->kind = SRPT_NAME_ID;
	memcpy(name->id, id, sizeof(name->id));
}

/**
 * srpt_ipv4_name - make the name of an IPv4 address
 * @name: filled in with ``::ffff:a.b.c.d``, which is how RoCE makes a GID of such an address
 * @addr: the four bytes of the address in network order
 *
 * Context: Any.
 */
void srpt_ipv4_name(struct srpt_name *name, const u8 *addr)
{
	name->kind = SRPT_NAME_ID;
	memcpy(name->id, srpt_v4_prefix, sizeof(srpt_v4_prefix));
	memcpy(name->id + SRPT_IPV4_AT, addr, sizeof(name->id) - SRPT_IPV4_AT);
}

/**
 * srpt_print_name - write a name as text that the parsers above read again
 * @buf: where to; %SRPT_NAME_LEN bytes are enough for every name
 * @size: room at @buf, bytes; what does not fit is cut, with a NUL byte at the end
 * @name: the name
 *
 * A GUID becomes four groups, an IPv4 address four decimal numbers, everything else of 128
 * bits ``0x`` and 32 digits, in lower case. %SRPT_NAME_NONE is written as nothing.
 *
 * Context: Any.
 * Return: Characters written, without the NUL byte, like scnprintf(); so a caller may add it up.
 */
int srpt_print_name(char *buf, size_t size, const struct srpt_name *name)
{
	const u8 *id = name->id;
	u64 high = get_unaligned_be64(id);
	u64 low = get_unaligned_be64(id + SRPT_GUID_AT);

	if (name->kind == SRPT_NAME_NONE)
		return scnprintf(buf, size, "%s", "");
	if (name->kind == SRPT_NAME_GUID)
		return scnprintf(buf, size, "%04x:%04x:%04x:%04x",
				 get_unaligned_be16(id + 8), get_unaligned_be16(id + 10),
				 get_unaligned_be16(id + 12), get_unaligned_be16(id + 14));
	if (!memcmp(id, srpt_v4_prefix, sizeof(srpt_v4_prefix)))
		return scnprintf(buf, size, "%u.%u.%u.%u", id[12], id[13], id[14], id[15]);
	return scnprintf(buf, size, "0x%016llx%016llx", high, low);
}

/**
 * srpt_legal_service_id - make a service ID that a listener may use of a GUID
 * @guid: the GUID, host byte order
 *
 * The InfiniBand connection manager divides service IDs by their top byte and refuses, or
 * hands out itself, those with certain values there. The vendor part of a GUID may be one of
 * them, so the byte is cleared. If nothing else is left, it goes to the other end.
 *
 * Context: Any.
 * Return: A service ID with a top byte of 0 in host byte order; never 0.
 */
u64 srpt_legal_service_id(u64 guid)
{
	u64 rest = guid & ~SRPT_SERVICE_AGN_MASK;

	if (!rest)
		rest = guid >> SRPT_SERVICE_AGN_SHIFT;
	return rest ? rest : 1;
}

/**
 * srpt_parse_service_guid - read the GUID that a module parameter gives
 * @guid: set to it, host byte order, as it stands in @text; not touched after a failure
 * @text: one to 16 hexadecimal digits of either case, with ``0x`` or without; one newline may
 *	follow, as echo writes it
 *
 * Context: Any; takes no lock and does not sleep.
 * Return: 0, or -EINVAL if @text is anything else, or zero.
 */
int srpt_parse_service_guid(u64 *guid, const char *text)
{
	const char *digits = srpt_skip_0x(text);
	unsigned int count;
	u64 value = 0;

	for (count = 0; srpt_digit(digits[count]) >= 0; count++) {
		if (count == SRPT_GUID_DIGITS)
			return -EINVAL;
		value = value << 4 | srpt_digit(digits[count]);
	}
	if (digits[count] == '\n')
		count++;
	if (digits[count] || !value)
		return -EINVAL;
	*guid = value;
	return 0;
}
