// SPDX-License-Identifier: GPL-2.0-only
/*
 * SRP information units and device management attributes: from bytes to structures and back.
 *
 * Copyright the ib_srpt authors
 *
 * How it is made: each parser takes the fields that every form of its message has, then the
 * variable part piece by piece. A piece is read only after its length was compared with what
 * is left of the message, and lengths that a peer chose are only ever subtracted from, or
 * compared in 64 bits. What is wrong is a fault, an index into one table that knows the text,
 * the sense code and whether the peer can be answered at all.
 *
 * Buffers are four byte aligned at best and the structures of <scsi/srp.h> ask for eight, so
 * fields are loaded by offset and never through a pointer to such a structure.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "wire.h"

/* Every information unit of an initiator has its tag at bytes 8 to 15. */
#define SRPT_SHORTEST_IU	sizeof(struct srp_i_logout)

/* Byte 1 of an SRP_CMD and an SRP_TSK_MGMT, and of what the target sends. */
#define SRPT_SCSOLNT		BIT(1)
#define SRPT_UCSOLNT		BIT(2)
#define SRPT_SOLNT		BIT(0)

/* Byte "request flags" of an SRP_LOGIN_REQ. */
#define SRPT_MULTICHAN_MASK	0x03
#define SRPT_LOSOLNT		BIT(4)
#define SRPT_CRSOLNT		BIT(5)

#define SRPT_BUF_FMTS		(SRP_BUF_FORMAT_DIRECT | SRP_BUF_FORMAT_INDIRECT)
#define SRPT_DESC_LEN		((u32)sizeof(struct srp_direct_buf))
#define SRPT_RSP_DATA_LEN	4U

/* The address of a field in a buffer of unknown alignment. */
#define srpt_field(buf, type, member)	((const u8 *)(buf) + offsetof(type, member))
/* A tag, which nobody but the initiator understands, stays in the byte order it came in. */
#define srpt_load_tag(at)		get_unaligned((const u64 *)(at))

/**
 * enum srpt_fault - what can be wrong with an information unit
 * @SRPT_FAULT_NONE: nothing
 * @SRPT_FAULT_NO_TAG: ends before its tag does
 * @SRPT_FAULT_LOGIN: an SRP_LOGIN_REQ on a channel that is logged in
 * @SRPT_FAULT_OPCODE: not an opcode that an initiator may send
 * @SRPT_FAULT_CUT_CMD: ends inside the fixed part of an SRP_CMD
 * @SRPT_FAULT_CUT_TSK_MGMT: ends inside an SRP_TSK_MGMT
 * @SRPT_FAULT_CUT_CDB: ends inside the additional CDB
 * @SRPT_FAULT_CUT_DESC: ends inside a descriptor, or the immediate data begins there
 * @SRPT_FAULT_CUT_IMM: ends inside the immediate data
 * @SRPT_FAULT_LONG_CDB: more additional CDB than the target core takes
 * @SRPT_FAULT_FORMAT: unknown descriptor format, or one not agreed on
 * @SRPT_FAULT_EMPTY: a data length of zero
 * @SRPT_FAULT_TOO_MUCH: more data than one command may move
 * @SRPT_FAULT_WRAP: a buffer that goes past the end of the address space
 * @SRPT_FAULT_TABLE_LEN: an indirect table that is empty, too large or holds part descriptors
 * @SRPT_FAULT_COUNT: number of descriptors in the IU does not suit the table
 * @SRPT_FAULT_SUM: descriptors do not add up to the length stated, or one cannot be used
 */
enum srpt_fault {
	SRPT_FAULT_NONE,
	SRPT_FAULT_NO_TAG,
	SRPT_FAULT_LOGIN,
	SRPT_FAULT_OPCODE,
	SRPT_FAULT_CUT_CMD,
	SRPT_FAULT_CUT_TSK_MGMT,
	SRPT_FAULT_CUT_CDB,
	SRPT_FAULT_CUT_DESC,
	SRPT_FAULT_CUT_IMM,
	SRPT_FAULT_LONG_CDB,
	SRPT_FAULT_FORMAT,
	SRPT_FAULT_EMPTY,
	SRPT_FAULT_TOO_MUCH,
	SRPT_FAULT_WRAP,
	SRPT_FAULT_TABLE_LEN,
	SRPT_FAULT_COUNT,
	SRPT_FAULT_SUM,
};

/* A fault without a sense code has nobody to tell it to: the channel is closed. */
static const struct {
	u16		asc;
	const char	*text;
	u8		logout;
} srpt_faults[] = {
	[SRPT_FAULT_NONE]	  = { 0, NULL },
	[SRPT_FAULT_NO_TAG]	  = { 0, "too short for a tag" },
	[SRPT_FAULT_LOGIN]	  = { 0, "second login on one channel", SRPT_LOGOUT_IU_TYPE },
	[SRPT_FAULT_OPCODE]	  = { 0, "unknown opcode", SRPT_LOGOUT_IU_TYPE },
	[SRPT_FAULT_CUT_CMD]	  = { 0, "SRP_CMD too short" },
	[SRPT_FAULT_CUT_TSK_MGMT] = { 0, "SRP_TSK_MGMT too short" },
	[SRPT_FAULT_CUT_CDB]	  = { SRPT_ASC_IU_TOO_SHORT, "additional CDB beyond the end" },
	[SRPT_FAULT_CUT_DESC]	  = { SRPT_ASC_IU_TOO_SHORT, "descriptors beyond the end" },
	[SRPT_FAULT_CUT_IMM]	  = { SRPT_ASC_IU_TOO_SHORT, "immediate data beyond the end" },
	[SRPT_FAULT_LONG_CDB]	  = { SRPT_ASC_IU_INVALID_FIELD, "additional CDB too long" },
	[SRPT_FAULT_FORMAT]	  = { SRPT_ASC_IU_INVALID_FIELD,
				      "descriptor format not supported" },
	[SRPT_FAULT_EMPTY]	  = { SRPT_ASC_IU_INVALID_FIELD, "data buffer of length 0" },
	[SRPT_FAULT_TOO_MUCH]	  = { SRPT_ASC_IU_INVALID_FIELD, "data buffer too large" },
	[SRPT_FAULT_WRAP]	  = { SRPT_ASC_IU_INVALID_FIELD, "buffer address wraps" },
	[SRPT_FAULT_TABLE_LEN]	  = { SRPT_ASC_IU_INVALID_FIELD, "bad descriptor table length" },
	[SRPT_FAULT_COUNT]	  = { SRPT_ASC_IU_INVALID_FIELD, "bad descriptor count" },
	[SRPT_FAULT_SUM]	  = { SRPT_ASC_IU_INVALID_FIELD, "descriptors do not add up" },
};

/**
 * struct srpt_span - the part of an SRP_CMD where descriptors may stand
 * @rules: what was agreed on at login
 * @buf: the information unit
 * @len: its length, bytes
 * @at: offset of the first byte that is not used yet
 * @end: offset behind the last byte that may be used; never above @len, never below @at
 */
struct srpt_span {
	const struct srpt_iu_rules	*rules;
	const u8			*buf;
	u32				len;
	u32				at;
	u32				end;
};

/*
 * The two layouts of a login request
 */

/**
 * struct srpt_raw_login - what both layouts of a login request carry, in host byte order
 * @opcode: should be SRP_LOGIN_REQ
 * @flags: multichannel code and SRP_IMMED_REQUESTED
 * @buf_fmt: buffer formats the initiator wants to use
 * @imm_offset: offset of immediate data, bytes
 */
struct srpt_raw_login {
	u8	opcode;
	u8	flags;
	u16	buf_fmt;
	u16	imm_offset;
};

static void srpt_load_ib_login(const void *priv, struct srpt_raw_login *raw,
			       struct srpt_login *login)
{
	raw->opcode = *srpt_field(priv, struct srp_login_req, opcode);
	raw->flags = *srpt_field(priv, struct srp_login_req, req_flags);
	raw->buf_fmt = get_unaligned_be16(srpt_field(priv, struct srp_login_req, req_buf_fmt));
	raw->imm_offset = get_unaligned_be16(srpt_field(priv, struct srp_login_req,
							imm_data_offset));
	login->iu_len = get_unaligned_be32(srpt_field(priv, struct srp_login_req, req_it_iu_len));
	memcpy(login->i_port_id, srpt_field(priv, struct srp_login_req, initiator_port_id),
	       sizeof(login->i_port_id));
	memcpy(login->t_port_id, srpt_field(priv, struct srp_login_req, target_port_id),
	       sizeof(login->t_port_id));
}

static void srpt_load_rdma_login(const void *priv, struct srpt_raw_login *raw,
				 struct srpt_login *login)
{
	raw->opcode = *srpt_field(priv, struct srp_login_req_rdma, opcode);
	raw->flags = *srpt_field(priv, struct srp_login_req_rdma, req_flags);
	raw->buf_fmt = get_unaligned_be16(srpt_field(priv, struct srp_login_req_rdma,
						     req_buf_fmt));
	raw->imm_offset = get_unaligned_be16(srpt_field(priv, struct srp_login_req_rdma,
							imm_data_offset));
	login->iu_len = get_unaligned_be32(srpt_field(priv, struct srp_login_req_rdma,
						      req_it_iu_len));
	memcpy(login->i_port_id, srpt_field(priv, struct srp_login_req_rdma, initiator_port_id),
	       sizeof(login->i_port_id));
	memcpy(login->t_port_id, srpt_field(priv, struct srp_login_req_rdma, target_port_id),
	       sizeof(login->t_port_id));
}

static const struct {
	u32	len;
	u32	tag_at;
	void	(*load)(const void *priv, struct srpt_raw_login *raw, struct srpt_login *login);
} srpt_layouts[] = {
	[SRPT_LOGIN_IB] = {
		sizeof(struct srp_login_req),
		offsetof(struct srp_login_req, tag),
		srpt_load_ib_login,
	},
	[SRPT_LOGIN_RDMA] = {
		sizeof(struct srp_login_req_rdma),
		offsetof(struct srp_login_req_rdma, tag),
		srpt_load_rdma_login,
	},
};

/* Immediate data must leave room for the shortest SRP_CMD that has any, and begin in the IU. */
static bool srpt_imm_offset_fits(u16 offset, u32 iu_len)
{
	return offset >= sizeof(struct srp_cmd) + sizeof(struct srp_imm_buf) &&
	       offset % 4 == 0 && offset < iu_len;
}

static bool srpt_is_this_target(const u8 *t_port_id, u64 service_guid)
{
	return get_unaligned_be64(t_port_id) == service_guid &&
	       get_unaligned_be64(t_port_id + 8) == service_guid;
}

static u32 srpt_check_login(const struct srpt_raw_login *raw,
			    const struct srpt_login_rules *rules, const struct srpt_login *login)
{
	if (raw->opcode != SRP_LOGIN_REQ)
		return SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL;
	if (login->iu_len < SRPT_MIN_IU_LEN || login->iu_len > rules->max_iu_len)
		return SRP_LOGIN_REJ_REQ_IT_IU_LENGTH_TOO_LARGE;
	if (raw->buf_fmt & ~SRPT_BUF_FMTS)
		return SRP_LOGIN_REJ_UNSUPPORTED_DESCRIPTOR_FMT;
	if ((raw->flags & SRPT_MULTICHAN_MASK) > SRP_MULTICHAN_MULTI)
		return SRP_LOGIN_REJ_MULTI_CHANNEL_UNSUPPORTED;
	if (!srpt_is_this_target(login->t_port_id, rules->service_guid))
		return SRP_LOGIN_REJ_UNABLE_ASSOCIATE_CHANNEL;
	return 0;
}

/**
 * srpt_parse_login - check a login request and take it apart
 * @priv: private data of the connection request, any alignment
 * @len: bytes at @priv; more than the layout has is allowed, since a CM pads
 * @layout: how @priv is laid out
 * @rules: what this target accepts
 * @login: filled in. After a refusal only &srpt_login.tag is sure to be set, to 0 when @priv
 *	is too short to have one; the other members hold what could be read, or zeros.
 *
 * Nothing here depends on configuration: whether the port is enabled and who may log in is
 * the caller's question. A request that names no buffer format is accepted, because commands
 * without data and commands with immediate data need none. Bits of the flags that the
 * standard reserves are ignored. An offset for immediate data that cannot be used does not
 * refuse the login; the caller sees an &srpt_login.imm_offset of 0 and does not offer it.
 *
 * An information unit length below 64 is answered like one that is too large: the standard
 * has no reason of its own for it, and this is the one which names the field.
 *
 * SRP r16a clause 6.2 for the request and 6.4 for the reasons; SRP-2 for immediate data.
 *
 * Context: Any; takes no lock and does not sleep.
 * Return: 0, or the reason for an SRP_LOGIN_REJ in host byte order.
 */
u32 srpt_parse_login(const void *priv, u32 len, enum srpt_login_layout layout,
		     const struct srpt_login_rules *rules, struct srpt_login *login)
{
	u32 tag_at = srpt_layouts[layout].tag_at;
	struct srpt_raw_login raw;
	u32 reason;

	memset(login, 0, sizeof(*login));
	if (len >= tag_at + sizeof(login->tag))
		login->tag = srpt_load_tag((const u8 *)priv + tag_at);
	if (len < srpt_layouts[layout].len)
		return SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL;

	srpt_layouts[layout].load(priv, &raw, login);
	reason = srpt_check_login(&raw, rules, login);
	if (reason)
		return reason;

	login->multichannel = (raw.flags & SRPT_MULTICHAN_MASK) == SRP_MULTICHAN_MULTI;
	login->sol_logout = raw.flags & SRPT_LOSOLNT;
	login->sol_credit = raw.flags & SRPT_CRSOLNT;
	if ((raw.flags & SRP_IMMED_REQUESTED) &&
	    srpt_imm_offset_fits(raw.imm_offset, login->iu_len))
		login->imm_offset = raw.imm_offset;
	return 0;
}

/**
 * srpt_login_reason - the reason of an SRP_LOGIN_REJ in words
 * @reason: as in the reject, host byte order
 *
 * SRP r16a clause 6.4.
 *
 * Context: Any.
 * Return: Static text for the log, also for a reason that the standard does not know.
 */
const char *srpt_login_reason(u32 reason)
{
	switch (reason) {
	case SRP_LOGIN_REJ_UNABLE_ESTABLISH_CHANNEL:
		return "unable to establish the channel";
	case SRP_LOGIN_REJ_INSUFFICIENT_RESOURCES:
		return "insufficient resources";
	case SRP_LOGIN_REJ_REQ_IT_IU_LENGTH_TOO_LARGE:
		return "requested IU length not supported";
	case SRP_LOGIN_REJ_UNABLE_ASSOCIATE_CHANNEL:
		return "no such target port, or no access to it";
	case SRP_LOGIN_REJ_UNSUPPORTED_DESCRIPTOR_FMT:
		return "buffer format not supported";
	case SRP_LOGIN_REJ_MULTI_CHANNEL_UNSUPPORTED:
		return "multichannel code not supported";
	case SRP_LOGIN_REJ_CHANNEL_LIMIT_REACHED:
		return "channel limit reached";
	default:
		return "unknown reason";
	}
}

/*
 * Data buffers of an SRP_CMD
 */

static enum srpt_fault srpt_check_len(u32 len, const struct srpt_iu_rules *rules)
{
	if (!len)
		return SRPT_FAULT_EMPTY;
	if (len > rules->max_data)
		return SRPT_FAULT_TOO_MUCH;
	return SRPT_FAULT_NONE;
}

static bool srpt_desc_wraps(const void *desc)
{
	u64 va = get_unaligned_be64(srpt_field(desc, struct srp_direct_buf, va));
	u32 len = get_unaligned_be32(srpt_field(desc, struct srp_direct_buf, len));

	return va + len < va;
}

/**
 * srpt_check_table - check that memory descriptors can be used and add up
 * @desc: the descriptors as they came from the initiator, any alignment
 * @count: how many there are; at most %SRPT_MAX_DESCS keeps this short
 * @len: what their lengths must add up to, bytes
 *
 * For tables that came inside an information unit srpt_parse_iu() has done it. A table that
 * was fetched from initiator memory has to be passed through here before it is used.
 *
 * SRP r16a clause 6.8 and the indirect format that it names.
 *
 * Context: Any; takes no lock and does not sleep.
 * Return: 0, or -EINVAL if a descriptor is empty or wraps around the end of the address
 * space, or if the lengths do not add up to @len.
 */
int srpt_check_table(const void *desc, u32 count, u32 len)
{
	const u8 *at = desc;
	u64 sum = 0;

	for (; count; count--, at += SRPT_DESC_LEN) {
		u32 part = get_unaligned_be32(srpt_field(at, struct srp_direct_buf, len));

		if (!part || srpt_desc_wraps(at))
			return -EINVAL;
		sum += part;
	}
	return sum == len ? 0 : -EINVAL;
}

static enum srpt_fault srpt_take_direct(struct srpt_span *span, struct srpt_buf *data)
{
	const u8 *desc = span->buf + span->at;
	enum srpt_fault fault;

	if (span->end - span->at < SRPT_DESC_LEN)
		return SRPT_FAULT_CUT_DESC;

	data->len = get_unaligned_be32(srpt_field(desc, struct srp_direct_buf, len));
	fault = srpt_check_len(data->len, span->rules);
	if (fault)
		return fault;
	if (srpt_desc_wraps(desc))
		return SRPT_FAULT_WRAP;

	data->kind = SRPT_BUF_DIRECT;
	data->count = 1;
	data->table_count = 1;
	data->desc = desc;
	span->at += SRPT_DESC_LEN;
	return SRPT_FAULT_NONE;
}

/* The table by itself: its length, and how much of it may be left out of the IU. */
static enum srpt_fault srpt_check_table_desc(const struct srpt_buf *data, bool ext_table)
{
	u32 bytes = be32_to_cpu(data->table.len);

	if (!bytes || bytes % SRPT_DESC_LEN || data->table_count > SRPT_MAX_DESCS)
		return SRPT_FAULT_TABLE_LEN;
	if (data->count == data->table_count)
		return SRPT_FAULT_NONE;
	if (data->count > data->table_count || !ext_table)
		return SRPT_FAULT_COUNT;
	return srpt_desc_wraps(&data->table) ? SRPT_FAULT_WRAP : SRPT_FAULT_NONE;
}

static enum srpt_fault srpt_take_indirect(struct srpt_span *span, u8 count, struct srpt_buf *data)
{
	const u8 *head = span->buf + span->at;
	enum srpt_fault fault;
	u32 used = sizeof(struct srp_indirect_buf) + count * SRPT_DESC_LEN;

	if (span->end - span->at < used)
		return SRPT_FAULT_CUT_DESC;

	memcpy(&data->table, head, sizeof(data->table));
	data->table_count = be32_to_cpu(data->table.len) / SRPT_DESC_LEN;
	data->count = count;
	fault = srpt_check_table_desc(data, span->rules->ext_table);
	if (fault)
		return fault;

	data->len = get_unaligned_be32(srpt_field(head, struct srp_indirect_buf, len));
	fault = srpt_check_len(data->len, span->rules);
	if (fault)
		return fault;

	data->kind = SRPT_BUF_INDIRECT;
	data->desc = head + sizeof(struct srp_indirect_buf);
	span->at += used;
	if (count == data->table_count)
		return srpt_check_table(data->desc, count, data->len) ? SRPT_FAULT_SUM :
									SRPT_FAULT_NONE;
	data->count = 0;
	data->desc = NULL;
	return SRPT_FAULT_NONE;
}

/* The data begins at a fixed offset, so descriptors of the other direction end before that. */
static enum srpt_fault srpt_take_imm(struct srpt_span *span, struct srpt_buf *data)
{
	u32 offset = span->rules->imm_offset;
	enum srpt_fault fault;

	if (!offset)
		return SRPT_FAULT_FORMAT;
	span->end = min(span->len, offset);
	if (span->end < span->at || span->end - span->at < sizeof(struct srp_imm_buf))
		return SRPT_FAULT_CUT_DESC;

	data->len = get_unaligned_be32(span->buf + span->at);
	fault = srpt_check_len(data->len, span->rules);
	if (fault)
		return fault;
	if ((u64)offset + data->len > span->len)
		return SRPT_FAULT_CUT_IMM;

	data->kind = SRPT_BUF_IMM;
	data->count = 0;
	data->table_count = 0;
	data->desc = span->buf + offset;
	span->at += sizeof(struct srp_imm_buf);
	return SRPT_FAULT_NONE;
}

static void srpt_no_data(struct srpt_buf *data)
{
	data->kind = SRPT_BUF_NONE;
	data->len = 0;
	data->count = 0;
	data->table_count = 0;
	data->desc = NULL;
}

static enum srpt_fault srpt_take_buf(struct srpt_span *span, u8 format, u8 count,
				     struct srpt_buf *data)
{
	switch (format) {
	case SRP_NO_DATA_DESC:
		srpt_no_data(data);
		return SRPT_FAULT_NONE;
	case SRP_DATA_DESC_DIRECT:
		return srpt_take_direct(span, data);
	case SRP_DATA_DESC_INDIRECT:
		return srpt_take_indirect(span, count, data);
	default:
		return SRPT_FAULT_FORMAT;
	}
}

/* Data-out first, as on the wire. Only this direction knows immediate data. */
static enum srpt_fault srpt_take_both(struct srpt_span *span, struct srpt_iu *iu)
{
	u8 format = *srpt_field(span->buf, struct srp_cmd, buf_fmt);
	u8 out = *srpt_field(span->buf, struct srp_cmd, data_out_desc_cnt);
	u8 in = *srpt_field(span->buf, struct srp_cmd, data_in_desc_cnt);
	enum srpt_fault fault;

	if (format >> 4 == SRP_DATA_DESC_IMM)
		fault = srpt_take_imm(span, &iu->out);
	else
		fault = srpt_take_buf(span, format >> 4, out, &iu->out);
	if (fault)
		return fault;
	return srpt_take_buf(span, format & 0x0f, in, &iu->in);
}

/*
 * Information units
 */

static void srpt_load_solicited(const u8 *buf, struct srpt_iu *iu)
{
	iu->sol_success = buf[1] & SRPT_SCSOLNT;
	iu->sol_failure = buf[1] & SRPT_UCSOLNT;
}

/* The low two bits of the additional length are reserved; the rest counts words, so bytes. */
static enum srpt_fault srpt_take_cmd(const u8 *buf, u32 len, const struct srpt_iu_rules *rules,
				     struct srpt_iu *iu)
{
	struct srpt_span span = { .rules = rules, .buf = buf, .len = len, .end = len };
	u32 more;

	if (len < sizeof(struct srp_cmd))
		return SRPT_FAULT_CUT_CMD;

	srpt_load_solicited(buf, iu);
	memcpy(&iu->lun, srpt_field(buf, struct srp_cmd, lun), sizeof(iu->lun));
	iu->task_attr = *srpt_field(buf, struct srp_cmd, task_attr) & 0x07;
	iu->cdb = srpt_field(buf, struct srp_cmd, cdb);
	iu->cdb_len = sizeof_field(struct srp_cmd, cdb);

	more = *srpt_field(buf, struct srp_cmd, add_cdb_len) & ~3U;
	if (more > len - sizeof(struct srp_cmd))
		return SRPT_FAULT_CUT_CDB;
	if (more > rules->max_add_cdb)
		return SRPT_FAULT_LONG_CDB;
	iu->cdb_len += more;
	span.at = sizeof(struct srp_cmd) + more;
	return srpt_take_both(&span, iu);
}

static enum srpt_fault srpt_take_tsk_mgmt(const u8 *buf, u32 len, struct srpt_iu *iu)
{
	if (len < sizeof(struct srp_tsk_mgmt))
		return SRPT_FAULT_CUT_TSK_MGMT;

	srpt_load_solicited(buf, iu);
	memcpy(&iu->lun, srpt_field(buf, struct srp_tsk_mgmt, lun), sizeof(iu->lun));
	iu->tsk_mgmt_func = *srpt_field(buf, struct srp_tsk_mgmt, tsk_mgmt_func);
	iu->task_tag = srpt_load_tag(srpt_field(buf, struct srp_tsk_mgmt, task_tag));
	return SRPT_FAULT_NONE;
}

static enum srpt_fault srpt_take_iu(const u8 *buf, u32 len, const struct srpt_iu_rules *rules,
				    struct srpt_iu *iu)
{
	iu->opcode = len ? buf[0] : 0xff;
	iu->tag = 0;
	if (len < SRPT_SHORTEST_IU)
		return SRPT_FAULT_NO_TAG;
	iu->tag = srpt_load_tag(srpt_field(buf, struct srp_i_logout, tag));

	switch (iu->opcode) {
	case SRP_CMD:
		return srpt_take_cmd(buf, len, rules, iu);
	case SRP_TSK_MGMT:
		return srpt_take_tsk_mgmt(buf, len, iu);
	case SRP_I_LOGOUT:
	case SRP_CRED_RSP:
	case SRP_AER_RSP:
		return SRPT_FAULT_NONE;
	case SRP_LOGIN_REQ:
		return SRPT_FAULT_LOGIN;
	default:
		return SRPT_FAULT_OPCODE;
	}
}

/**
 * srpt_parse_iu - check an information unit from the initiator and take it apart
 * @buf: what was received; four byte aligned or not at all
 * @len: bytes received; more than the information unit needs is allowed
 * @rules: what was agreed on at login
 * @iu: filled in as far as the opcode has the fields
 *
 * This runs for every command, so it clears nothing that is not looked at. With
 * %SRPT_IU_OK these members are set:
 *
 * * always &srpt_iu.opcode and &srpt_iu.tag;
 * * SRP_CMD: the solicited bits, task_attr, lun, cdb, cdb_len, out and in. In a &struct
 *   srpt_buf, &srpt_buf.table is set for %SRPT_BUF_INDIRECT only, all else for every kind;
 * * SRP_TSK_MGMT: the solicited bits, lun, tsk_mgmt_func (not judged here) and task_tag.
 *
 * With %SRPT_IU_SENSE, what an SRP_CMD has except the buffers, which are both of
 * %SRPT_BUF_NONE, and asc and error. With %SRPT_IU_DISCONNECT opcode, tag, logout and error; the
 * tag is 0 and the opcode perhaps 0xff when the bytes end before them.
 *
 * Descriptors of a table that reaches into initiator memory are not checked here, see
 * srpt_check_table(). Reserved bits and descriptor counts of formats that do not use them are
 * ignored.
 *
 * SRP r16a clauses 6.5, 6.7, 6.8, 6.11 and 6.13; SRP-2 for immediate data.
 *
 * Context: Any; takes no lock and does not sleep. @buf is not written to, and @iu points into
 * it, so it must stay until the command is done with its CDB, descriptors and immediate data.
 * Return: What is to become of it, see &enum srpt_iu_end.
 */
enum srpt_iu_end srpt_parse_iu(const void *buf, u32 len, const struct srpt_iu_rules *rules,
			       struct srpt_iu *iu)
{
	enum srpt_fault fault = srpt_take_iu(buf, len, rules, iu);

	if (likely(!fault))
		return SRPT_IU_OK;

	iu->error = srpt_faults[fault].text;
	iu->asc = srpt_faults[fault].asc;
	iu->logout = srpt_faults[fault].logout;
	srpt_no_data(&iu->out);
	srpt_no_data(&iu->in);
	return iu->asc ? SRPT_IU_SENSE : SRPT_IU_DISCONNECT;
}

/*
 * What the target sends. Every byte is written, so that none of an earlier use of the buffer
 * goes out: rare messages are made on the stack and copied as a whole, the one that ends every
 * command is cleared and filled where it is sent from.
 */

/**
 * srpt_build_login_rsp - build an SRP_LOGIN_RSP
 * @buf: where to, room for &struct srp_login_rsp, any alignment
 * @answer: what it says
 *
 * Both descriptor formats are offered. SRP r16a clause 6.3.
 *
 * Context: Any.
 * Return: Its length, bytes.
 */
u32 srpt_build_login_rsp(void *buf, const struct srpt_login_answer *answer)
{
	struct srp_login_rsp rsp = {
		.opcode		= SRP_LOGIN_RSP,
		.req_lim_delta	= cpu_to_be32(answer->req_lim),
		.tag		= answer->tag,
		.max_it_iu_len	= cpu_to_be32(answer->max_it_iu_len),
		.max_ti_iu_len	= cpu_to_be32(answer->max_ti_iu_len),
		.buf_fmt	= cpu_to_be16(SRPT_BUF_FMTS),
		.rsp_flags	= answer->rsp_flags,
	};

	memcpy(buf, &rsp, sizeof(rsp));
	return sizeof(rsp);
}

/**
 * srpt_build_login_rej - build an SRP_LOGIN_REJ
 * @buf: where to, room for &struct srp_login_rej, any alignment
 * @tag: tag of the request in its own byte order, or 0 if it had none
 * @reason: why, host byte order
 *
 * It lists the descriptor formats that would do. SRP r16a clause 6.4.
 *
 * Context: Any.
 * Return: Its length, bytes.
 */
u32 srpt_build_login_rej(void *buf, u64 tag, u32 reason)
{
	struct srp_login_rej rej = {
		.opcode		= SRP_LOGIN_REJ,
		.reason		= cpu_to_be32(reason),
		.tag		= tag,
		.buf_fmt	= cpu_to_be16(SRPT_BUF_FMTS),
	};

	memcpy(buf, &rej, sizeof(rej));
	return sizeof(rej);
}

static u8 srpt_resid_flags(const struct srpt_rsp *rsp)
{
	return (rsp->out.over ? SRP_RSP_FLAG_DOOVER : 0) |
	       (rsp->out.under ? SRP_RSP_FLAG_DOUNDER : 0) |
	       (rsp->in.over ? SRP_RSP_FLAG_DIOVER : 0) |
	       (rsp->in.under ? SRP_RSP_FLAG_DIUNDER : 0);
}

static __be32 srpt_resid_count(const struct srpt_resid *resid)
{
	return resid->over || resid->under ? cpu_to_be32(resid->count) : 0;
}

static u32 srpt_put_rsp_code(struct srp_rsp *head, const struct srpt_rsp *rsp)
{
	u8 code[SRPT_RSP_DATA_LEN] = { [SRPT_RSP_DATA_LEN - 1] = rsp->rsp_code };

	memcpy((u8 *)head + sizeof(*head), code, sizeof(code));
	head->resp_data_len = cpu_to_be32(sizeof(code));
	head->flags |= SRP_RSP_FLAG_RSPVALID;
	return sizeof(code);
}

/*
 * In whole words, the last one filled up with zeros, and not more than there is @room for. Out of
 * line, because commands that succeed do not come here.
 */
static noinline u32 srpt_put_sense(struct srp_rsp *head, u32 at, u32 room,
				   const struct srpt_rsp *rsp)
{
	u32 len = min(rsp->sense_len, round_down(room, 4));
	u32 filled = round_up(len, 4);
	u8 *to = (u8 *)head + at;

	if (!len)
		return 0;
	memcpy(to, rsp->sense, len);
	memset(to + len, 0, filled - len);
	head->sense_data_len = cpu_to_be32(filled);
	head->flags |= SRP_RSP_FLAG_SNSVALID;
	return filled;
}

/**
 * srpt_build_rsp - build an SRP_RSP
 * @buf: where to, four byte aligned
 * @size: room at @buf, bytes; 36, and 40 when there is a response code, is the least
 * @rsp: what it says
 *
 * Sense data is filled up with zeros to whole words of four bytes, and cut when there is no
 * room for all of it. A residual count without a flag is not sent. SRP r16a clause 6.9.
 *
 * Context: Any.
 * Return: Its length, bytes; 0 if @size is below the least, then @buf is as it was.
 */
u32 srpt_build_rsp(void *buf, u32 size, const struct srpt_rsp *rsp)
{
	struct srp_rsp *head = buf;
	u32 len = sizeof(*head);

	if (size < len + (rsp->has_rsp_code ? SRPT_RSP_DATA_LEN : 0))
		return 0;

	memset(head, 0, sizeof(*head));
	head->opcode = SRP_RSP;
	head->sol_not = rsp->solicited ? SRPT_SOLNT : 0;
	head->req_lim_delta = cpu_to_be32(rsp->req_lim_delta);
	head->tag = rsp->tag;
	head->status = rsp->status;
	head->flags = srpt_resid_flags(rsp);
	if (head->flags) {
		head->data_out_res_cnt = srpt_resid_count(&rsp->out);
		head->data_in_res_cnt = srpt_resid_count(&rsp->in);
	}
	if (rsp->has_rsp_code)
		len += srpt_put_rsp_code(head, rsp);
	if (rsp->sense)
		len += srpt_put_sense(head, len, size - len, rsp);
	return len;
}

/**
 * srpt_build_cred_req - build an SRP_CRED_REQ
 * @buf: where to, room for &struct srp_cred_req, any alignment
 * @tag: a tag of the target's own
 * @req_lim_delta: credits given, host byte order
 * @solicited: sets SOLNT
 *
 * SRP r16a clause 6.10.
 *
 * Context: Any.
 * Return: Its length, bytes.
 */
u32 srpt_build_cred_req(void *buf, u64 tag, u32 req_lim_delta, bool solicited)
{
	struct srp_cred_req req = {
		.opcode		= SRP_CRED_REQ,
		.sol_not	= solicited ? SRPT_SOLNT : 0,
		.req_lim_delta	= cpu_to_be32(req_lim_delta),
		.tag		= tag,
	};

	memcpy(buf, &req, sizeof(req));
	return sizeof(req);
}

/**
 * srpt_build_t_logout - build an SRP_T_LOGOUT
 * @buf: where to, room for &struct srp_t_logout, any alignment
 * @tag: a tag of the target's own
 * @reason: why the target closes the channel, SRPT_LOGOUT_*
 * @solicited: sets SOLNT
 *
 * SRP r16a clause 6.6.
 *
 * Context: Any.
 * Return: Its length, bytes.
 */
u32 srpt_build_t_logout(void *buf, u64 tag, u32 reason, bool solicited)
{
	struct srp_t_logout logout = {
		.opcode		= SRP_T_LOGOUT,
		.sol_not	= solicited ? SRPT_SOLNT : 0,
		.reason		= cpu_to_be32(reason),
		.tag		= tag,
	};

	memcpy(buf, &logout, sizeof(logout));
	return sizeof(logout);
}

/*
 * Device management: the attributes, as they stand in the 192 bytes of data of a datagram
 */

/* ClassPortInfo, IBA 13.4.8.1. Everything that is not set is zero: no redirection, no traps. */
enum {
	SRPT_CPI_BASE_VERSION	= 0,
	SRPT_CPI_CLASS_VERSION	= 1,
	SRPT_CPI_RESP_TIME	= 4,
};

/* An answer comes within 4.096 us * 2^20, 4.3 s, however busy the host is. */
#define SRPT_DM_RESP_TIME	20U

/* IOUnitInfo, IBA 16.3.3.3. */
enum {
	SRPT_IOU_CHANGE_ID	= 0,
	SRPT_IOU_MAX_CONTROLLERS = 2,
	SRPT_IOU_LIST		= 4,
	SRPT_IOU_LIST_SLOTS	= 256,
};

/* IOControllerProfile, IBA 16.3.3.4. */
enum {
	SRPT_IOC_GUID		= 0,
	SRPT_IOC_VENDOR_ID	= 8,
	SRPT_IOC_DEVICE_ID	= 12,
	SRPT_IOC_DEVICE_VERSION	= 16,
	SRPT_IOC_SUB_VENDOR_ID	= 20,
	SRPT_IOC_SUB_DEVICE_ID	= 24,
	SRPT_IOC_CLASS		= 28,
	SRPT_IOC_SUBCLASS	= 30,
	SRPT_IOC_PROTOCOL	= 32,
	SRPT_IOC_PROTOCOL_VER	= 34,
	SRPT_IOC_QUEUE_DEPTH	= 40,
	SRPT_IOC_READ_DEPTH	= 43,
	SRPT_IOC_SEND_SIZE	= 44,
	SRPT_IOC_RDMA_SIZE	= 48,
	SRPT_IOC_CAPS		= 52,
	SRPT_IOC_ENTRIES	= 54,
	SRPT_IOC_ID		= 64,
	SRPT_IOC_ID_LEN		= 64,
};

/* Operations: sends to and from the controller, RDMA reads and writes from it. */
#define SRPT_IOC_OPS		(BIT(0) | BIT(1) | BIT(3) | BIT(5))

/* ServiceEntries, IBA 16.3.3.5: up to four, of a name and a service ID each. */
enum {
	SRPT_SVC_NAME		= 0,
	SRPT_SVC_NAME_LEN	= 40,
	SRPT_SVC_ID		= 40,
	SRPT_SVC_PER_MAD	= 4,
	SRPT_SVC_COUNT		= 1,
};

/* What makes the controller an SRP target, SRP r16a annex B. */
#define SRPT_SRP_CLASS		0x0100U
#define SRPT_SRP_SUBCLASS	0x609eU
#define SRPT_SRP_PROTOCOL	0x0108U
#define SRPT_SRP_VERSION	1U

/**
 * srpt_set_ioc - set a slot's nibble in the controller list of an IOUnitInfo
 * @list: the list, 128 bytes
 * @slot: number of the slot, 1 to 256
 * @value: what is in the slot
 *
 * The first slot of two is in the upper half of their byte. IBA 16.3.3.3.
 *
 * Context: Any.
 */
void srpt_set_ioc(u8 *list, u32 slot, enum srpt_ioc_slot value)
{
	u32 shift = slot % 2 ? 4 : 0;
	u8 *at = list + (slot - 1) / 2;

	*at = (*at & ~(0xf << shift)) | value << shift;
}

/**
 * srpt_get_class_port_info - build a ClassPortInfo
 * @data: where to, %SRPT_DM_DATA_LEN bytes that are zero, any alignment
 *
 * Context: Any.
 */
void srpt_get_class_port_info(void *data)
{
	u8 *to = data;

	to[SRPT_CPI_BASE_VERSION] = 1;
	to[SRPT_CPI_CLASS_VERSION] = SRPT_DM_CLASS_VERSION;
	put_unaligned_be32(SRPT_DM_RESP_TIME, to + SRPT_CPI_RESP_TIME);
}

/**
 * srpt_get_iou - build an IOUnitInfo
 * @data: where to, %SRPT_DM_DATA_LEN bytes that are zero, any alignment
 * @offer: what is offered
 *
 * Context: Any.
 */
void srpt_get_iou(void *data, const struct srpt_dm_offer *offer)
{
	u8 *to = data;
	u32 slot;

	put_unaligned_be16(offer->change_id, to + SRPT_IOU_CHANGE_ID);
	to[SRPT_IOU_MAX_CONTROLLERS] = SRPT_DM_SLOTS;
	for (slot = SRPT_DM_SLOTS + 1; slot <= SRPT_IOU_LIST_SLOTS; slot++)
		srpt_set_ioc(to + SRPT_IOU_LIST, slot, SRPT_IOC_NO_SLOT);
	if (offer->present)
		srpt_set_ioc(to + SRPT_IOU_LIST, SRPT_DM_SLOT, SRPT_IOC_PRESENT);
}

static u16 srpt_check_slot(u32 slot, const struct srpt_dm_offer *offer)
{
	if (slot < 1 || slot > SRPT_DM_SLOTS)
		return SRPT_DM_BAD_VALUE;
	return slot == SRPT_DM_SLOT && offer->present ? SRPT_DM_OK : SRPT_DM_NO_IOC;
}

static void srpt_put_profile(u8 *to, const struct srpt_dm_offer *offer)
{
	put_unaligned_be64(offer->guid, to + SRPT_IOC_GUID);
	put_unaligned_be32(offer->vendor_id << 8, to + SRPT_IOC_VENDOR_ID);
	put_unaligned_be32(offer->device_id, to + SRPT_IOC_DEVICE_ID);
	put_unaligned_be16(offer->device_version, to + SRPT_IOC_DEVICE_VERSION);
	put_unaligned_be32(offer->vendor_id << 8, to + SRPT_IOC_SUB_VENDOR_ID);
	put_unaligned_be32(offer->device_id, to + SRPT_IOC_SUB_DEVICE_ID);
	put_unaligned_be16(SRPT_SRP_CLASS, to + SRPT_IOC_CLASS);
	put_unaligned_be16(SRPT_SRP_SUBCLASS, to + SRPT_IOC_SUBCLASS);
	put_unaligned_be16(SRPT_SRP_PROTOCOL, to + SRPT_IOC_PROTOCOL);
	put_unaligned_be16(SRPT_SRP_VERSION, to + SRPT_IOC_PROTOCOL_VER);
	put_unaligned_be16(offer->queue_depth, to + SRPT_IOC_QUEUE_DEPTH);
	to[SRPT_IOC_READ_DEPTH] = offer->read_depth;
	put_unaligned_be32(offer->max_iu_len, to + SRPT_IOC_SEND_SIZE);
	put_unaligned_be32(offer->max_rdma_size, to + SRPT_IOC_RDMA_SIZE);
	to[SRPT_IOC_CAPS] = SRPT_IOC_OPS;
	to[SRPT_IOC_ENTRIES] = SRPT_SVC_COUNT;
	scnprintf((char *)to + SRPT_IOC_ID, SRPT_IOC_ID_LEN, "SRP target of ib_srpt");
}

/**
 * srpt_get_ioc - build the IOControllerProfile of a slot
 * @data: where to, %SRPT_DM_DATA_LEN bytes that are zero, any alignment
 * @slot: number of the slot, as asked for
 * @offer: what is offered
 *
 * What an SRP target states there is said in SRP r16a annex B.
 *
 * Context: Any.
 * Return: An enum srpt_dm_status; @data is left alone unless it is %SRPT_DM_OK.
 */
u16 srpt_get_ioc(void *data, u32 slot, const struct srpt_dm_offer *offer)
{
	u16 status = srpt_check_slot(slot, offer);

	if (status == SRPT_DM_OK)
		srpt_put_profile(data, offer);
	return status;
}

/**
 * srpt_get_svc_entries - build the ServiceEntries of a slot
 * @data: where to, %SRPT_DM_DATA_LEN bytes that are zero, any alignment
 * @modifier: as asked for: slot << 16 | last entry << 8 | first entry; entries count from 0
 * @offer: what is offered
 *
 * A target has one entry. Its name has the identifier extension of the target port in it (SRP
 * r16a annex B), which here is the same as the service ID.
 *
 * Context: Any.
 * Return: An enum srpt_dm_status; @data is left alone unless it is %SRPT_DM_OK.
 */
u16 srpt_get_svc_entries(void *data, u32 modifier, const struct srpt_dm_offer *offer)
{
	u16 status = srpt_check_slot(modifier >> 16, offer);
	u32 last = modifier >> 8 & 0xff, first = modifier & 0xff;
	u8 *to = data;

	if (status != SRPT_DM_OK)
		return status;
	if (first > last || last - first >= SRPT_SVC_PER_MAD)
		return SRPT_DM_BAD_VALUE;
	if (last >= SRPT_SVC_COUNT)
		return SRPT_DM_NO_ENTRIES;
	scnprintf((char *)to + SRPT_SVC_NAME, SRPT_SVC_NAME_LEN, "SRP.T10:%016llx",
		  (unsigned long long)offer->guid);
	put_unaligned_be64(offer->guid, to + SRPT_SVC_ID);
	return SRPT_DM_OK;
}

/**
 * srpt_mgmt_method_get - answer a device management Get
 * @attr: the attribute, an enum srpt_dm_attr, or anything else
 * @modifier: the attribute modifier
 * @offer: what is offered
 * @data: where to, %SRPT_DM_DATA_LEN bytes that are zero, any alignment
 *
 * Context: Any.
 * Return: An enum srpt_dm_status; @data is left alone unless it is %SRPT_DM_OK.
 */
u16 srpt_mgmt_method_get(u16 attr, u32 modifier, const struct srpt_dm_offer *offer, void *data)
{
	switch (attr) {
	case SRPT_DM_CLASS_PORT_INFO:
		if (modifier)
			return SRPT_DM_BAD_VALUE;
		srpt_get_class_port_info(data);
		return SRPT_DM_OK;
	case SRPT_DM_IOU_INFO:
		if (modifier)
			return SRPT_DM_BAD_VALUE;
		srpt_get_iou(data, offer);
		return SRPT_DM_OK;
	case SRPT_DM_IOC_PROFILE:
		return srpt_get_ioc(data, modifier, offer);
	case SRPT_DM_SVC_ENTRIES:
		return srpt_get_svc_entries(data, modifier, offer);
	default:
		return SRPT_DM_BAD_ATTR;
	}
}
