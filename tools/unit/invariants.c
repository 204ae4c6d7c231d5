// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* What must be true of every answer of a parser, whatever the peer sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"

#define HOLD(what) do {								\
	if (!(what)) {								\
		fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);	\
		abort();							\
	}									\
} while (0)

/* The bytes that a parser was given; what it points to has to lie in them. */
struct given {
	const u8			*buf;
	u32				len;
	const struct srpt_iu_rules	*rules;
};

static void hold_inside(const struct given *given, const void *at, u64 len)
{
	const u8 *first = at;

	HOLD(first >= given->buf && first <= given->buf + given->len);
	HOLD(len <= (u64)(given->buf + given->len - first));
}

static u64 add_up(const u8 *desc, u32 count)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < count; i++, desc += 16) {
		u32 part = load_be32(desc + 12);

		HOLD(part > 0);
		HOLD(load_be64(desc) + part > load_be64(desc));
		sum += part;
	}
	return sum;
}

static void hold_indirect(const struct given *given, const struct srpt_buf *data)
{
	HOLD(data->table_count >= 1 && data->table_count <= SRPT_MAX_DESCS);
	HOLD(load_be32((const u8 *)&data->table.len) == data->table_count * 16);
	if (!data->count) {
		HOLD(given->rules->ext_table && !data->desc);
		return;
	}
	HOLD(data->count == data->table_count);
	hold_inside(given, data->desc, data->count * 16ULL);
	HOLD(add_up(data->desc, data->count) == data->len);
}

static void hold_data(const struct given *given, const struct srpt_buf *data)
{
	HOLD(data->kind == SRPT_BUF_NONE || (data->len && data->len <= given->rules->max_data));
	switch (data->kind) {
	case SRPT_BUF_NONE:
		HOLD(!data->len && !data->count && !data->table_count && !data->desc);
		return;
	case SRPT_BUF_DIRECT:
		hold_inside(given, data->desc, 16);
		HOLD(data->count == 1 && data->table_count == 1);
		HOLD(add_up(data->desc, 1) == data->len);
		return;
	case SRPT_BUF_INDIRECT:
		hold_indirect(given, data);
		return;
	case SRPT_BUF_IMM:
		hold_inside(given, data->desc, data->len);
		HOLD(data->desc == given->buf + given->rules->imm_offset);
		HOLD(!data->count && !data->table_count);
		return;
	}
	HOLD(!"a known kind");
}

/* Descriptors of one direction end where those of the other or the immediate data begin. */
static void hold_order(const struct srpt_iu *iu)
{
	const u8 *cdb_end = iu->cdb + iu->cdb_len;
	const u8 *out = iu->out.desc;
	const u8 *in = iu->in.desc;

	if (out)
		HOLD(out >= cdb_end);
	if (in)
		HOLD(in >= cdb_end);
	if (out && in && iu->out.kind != SRPT_BUF_IMM)
		HOLD(in >= out + 16 * iu->out.count);
	if (out && in && iu->out.kind == SRPT_BUF_IMM)
		HOLD(in + 16 * iu->in.count <= out);
}

static void hold_cmd(const struct given *given, const struct srpt_iu *iu)
{
	HOLD(iu->cdb == given->buf + 32);
	HOLD(iu->cdb_len >= 16 && iu->cdb_len % 4 == 0);
	HOLD(iu->cdb_len - 16 <= given->rules->max_add_cdb);
	HOLD(iu->task_attr <= 7);
	hold_inside(given, iu->cdb, iu->cdb_len);
	HOLD(iu->in.kind != SRPT_BUF_IMM);
	hold_data(given, &iu->out);
	hold_data(given, &iu->in);
	hold_order(iu);
}

static void hold_refusal(const struct given *given, const struct srpt_iu *iu,
			 enum srpt_iu_end end)
{
	HOLD(iu->error && *iu->error);
	HOLD(iu->out.kind == SRPT_BUF_NONE && iu->in.kind == SRPT_BUF_NONE);
	HOLD((end == SRPT_IU_SENSE) == (iu->asc != 0));
	if (end == SRPT_IU_SENSE)
		HOLD(given->len >= 48 && given->buf[0] == SRP_CMD && iu->cdb == given->buf + 32);
}

void hold_iu(const u8 *buf, u32 len, const struct srpt_iu_rules *rules)
{
	struct given given = { buf, len, rules };
	struct srpt_iu iu;
	enum srpt_iu_end end;

	memset(&iu, 0xee, sizeof(iu));
	end = srpt_parse_iu(buf, len, rules, &iu);
	HOLD(end == SRPT_IU_OK || end == SRPT_IU_SENSE || end == SRPT_IU_DISCONNECT);
	if (len >= 16)
		HOLD(iu.opcode == buf[0] && !memcmp(&iu.tag, buf + 8, 8));
	if (end != SRPT_IU_OK)
		hold_refusal(&given, &iu, end);
	else if (iu.opcode == SRP_CMD)
		hold_cmd(&given, &iu);
	else
		HOLD(len >= (iu.opcode == SRP_TSK_MGMT ? 48 : 16));
}

void hold_login(const u8 *buf, u32 len, enum srpt_login_layout layout)
{
	struct srpt_login login;
	u32 reason;

	memset(&login, 0xee, sizeof(login));
	reason = srpt_parse_login(buf, len, layout, &sample_login_rules, &login);
	if (reason) {
		HOLD(strcmp(srpt_login_reason(reason), srpt_login_reason(0)));
		return;
	}
	HOLD(len >= (layout == SRPT_LOGIN_IB ? 64 : 56));
	HOLD(login.iu_len >= 64 && login.iu_len <= sample_login_rules.max_iu_len);
	HOLD(!login.imm_offset || login.imm_offset >= 52);
	HOLD(login.imm_offset % 4 == 0 && login.imm_offset < login.iu_len);
	HOLD(load_be64(login.t_port_id) == SAMPLE_GUID);
	HOLD(load_be64(login.t_port_id + 8) == SAMPLE_GUID);
}

/* Whatever is read is read the same way again after it was printed. */
static void hold_round_trip(const struct srpt_name *name)
{
	char text[SRPT_NAME_LEN];
	struct srpt_name again;
	int len = srpt_print_name(text, sizeof(text), name);

	HOLD(len > 0 && len < SRPT_NAME_LEN);
	HOLD(!srpt_parse_acl_name(&again, text));
	HOLD(srpt_same_name(name, &again));
}

void hold_names(const char *text)
{
	struct srpt_name acl, port, id;
	u64 guid;

	if (!srpt_parse_acl_name(&acl, text))
		hold_round_trip(&acl);
	else
		HOLD(acl.kind == SRPT_NAME_NONE);
	if (!srpt_parse_port_name(&port, text))
		HOLD(srpt_same_name(&acl, &port));
	if (!srpt_parse_i_port_id(&id, text))
		HOLD(srpt_same_name(&acl, &id));
	if (!srpt_parse_service_guid(&guid, text))
		HOLD(guid && srpt_legal_service_id(guid) && !(srpt_legal_service_id(guid) >> 56));
}
