/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of ports and initiators, brought to one form before they are compared.
 *
 * Copyright the ib_srpt authors
 *
 * Pure like wire.c: text in, a structure out.
 */
#ifndef SRPT_NAMES_H
#define SRPT_NAMES_H

#include <linux/types.h>

/* Room for the longest spelling of a name, with its NUL byte. */
#define SRPT_NAME_LEN	64

/**
 * enum srpt_name_kind - how much of a name is known
 * @SRPT_NAME_NONE: no name
 * @SRPT_NAME_GUID: a 64-bit GUID, in the last eight bytes
 * @SRPT_NAME_ID: 128 bits: a GID, an IP address (version 4 as ::ffff:a.b.c.d) or an initiator
 *	port ID; their spellings do not tell them apart, so neither does this
 */
enum srpt_name_kind {
	SRPT_NAME_NONE,
	SRPT_NAME_GUID,
	SRPT_NAME_ID,
};

/**
 * struct srpt_name - a name in the one form in which names are compared
 * @kind: what @id holds
 * @id: the bytes, in network order; unused ones are zero
 */
struct srpt_name {
	enum srpt_name_kind	kind;
	u8			id[16];
};

int srpt_parse_i_port_id(struct srpt_name *name, const char *text);
int srpt_parse_acl_name(struct srpt_name *name, const char *text);
int srpt_parse_port_name(struct srpt_name *name, const char *text);
bool srpt_same_name(const struct srpt_name *a, const struct srpt_name *b);
void srpt_guid_name(struct srpt_name *name, const u8 *gid);
void srpt_id_name(struct srpt_name *name, const u8 *id);
void srpt_ipv4_name(struct srpt_name *name, const u8 *addr);
int srpt_print_name(char *buf, size_t size, const struct srpt_name *name);
u64 srpt_legal_service_id(u64 guid);
int srpt_parse_service_guid(u64 *guid, const char *text);

#endif /* SRPT_NAMES_H */
