// SPDX-License-Identifier: GPL-2.0-only
/*
 * Information units: from structures to bytes, and an SRP_RSP back.
 *
 * Copyright the ib_srpt authors
 *
 * Units are built as told, also when that makes no sense: cases change single bytes afterwards.
 */
#include <endian.h>
#include <string.h>

#include "srpconf.h"

void put16(void *at, uint16_t v) { v = htobe16(v); memcpy(at, &v, sizeof(v)); }
void put32(void *at, uint32_t v) { v = htobe32(v); memcpy(at, &v, sizeof(v)); }
void put64(void *at, uint64_t v) { v = htobe64(v); memcpy(at, &v, sizeof(v)); }
uint16_t get16(const void *at) { uint16_t v; memcpy(&v, at, sizeof(v)); return be16toh(v); }
uint32_t get32(const void *at) { uint32_t v; memcpy(&v, at, sizeof(v)); return be32toh(v); }
uint64_t get64(const void *at) { uint64_t v; memcpy(&v, at, sizeof(v)); return be64toh(v); }

static uint32_t login_ib(uint8_t *to, const struct login *l)
{
	memset(to, l->junk, 64);
	to[0] = l->opcode;
	put64(to + 8, l->tag);
	put32(to + 16, l->iu_len);
	put16(to + 24, l->fmt);
	to[26] = l->flags;
	put16(to + 28, l->imm);
	memcpy(to + 32, l->i_port_id, 16);
	memcpy(to + 48, l->t_port_id, 16);
	return 64;
}

static uint32_t login_rdma(uint8_t *to, const struct login *l)
{
	memset(to, l->junk, 56);
	put64(to, l->tag);
	put16(to + 8, l->fmt);
	to[10] = l->flags;
	to[11] = l->opcode;
	put32(to + 12, l->iu_len);
	memcpy(to + 16, l->i_port_id, 16);
	memcpy(to + 32, l->t_port_id, 16);
	put16(to + 48, l->imm);
	return 56;
}

/* In the layout that the connection manager in use has room for. */
uint32_t iu_login(uint8_t *to, const struct login *l)
{
	uint32_t len = opt.ib ? login_ib(to, l) : login_rdma(to, l);

	return l->cut ? (uint32_t)l->priv_len : len;
}

void put_desc(uint8_t *to, const struct desc *d)
{
	put64(to, d->va);
	put32(to + 8, d->key);
	put32(to + 12, d->len);
}

static void add_desc(struct iu *iu, const struct desc *d)
{
	put_desc(iu->b + iu->len, d);
	iu->len += DESC_LEN;
}

static void add_indirect(struct iu *iu, const struct buf *b)
{
	struct desc table = b->table;
	uint32_t i;

	table.len = b->count * DESC_LEN;
	add_desc(iu, &table);
	put32(iu->b + iu->len, b->total);
	iu->len += 4;
	for (i = 0; i < b->in_iu; i++)
		add_desc(iu, &b->desc[i]);
}

static void add_buf(struct iu *iu, const struct buf *b)
{
	if (b->fmt == FMT_DIRECT) {
		add_desc(iu, b->desc);
	} else if (b->fmt == FMT_INDIRECT) {
		add_indirect(iu, b);
	} else if (b->fmt == FMT_IMM) {
		put32(iu->b + iu->len, b->total);
		iu->len += 4;
	}
}

static void add_imm(struct iu *iu, const struct buf *b, uint32_t offset)
{
	if (iu->len < offset)
		iu->len = offset;
	if (b->imm_len)
		memcpy(iu->b + iu->len, b->imm, b->imm_len);
	iu->len += b->imm_len;
}

/* Immediate data goes to @imm_offset, or behind the rest if that is further. */
void iu_cmd(struct iu *iu, const struct cmd *c, uint32_t imm_offset)
{
	uint32_t more = c->cdb_len > 16 ? (c->cdb_len - 16U + 3) & ~3U : 0;

	memset(iu->b, 0, CMD_LEN + more + 128 + imm_offset);
	iu->b[0] = SRP_CMD;
	iu->b[1] = c->sol;
	iu->b[5] = c->out.fmt << 4 | c->in.fmt;
	iu->b[6] = c->out.fmt == FMT_INDIRECT ? c->out.in_iu : 0;
	iu->b[7] = c->in.fmt == FMT_INDIRECT ? c->in.in_iu : 0;
	put64(iu->b + 8, c->tag);
	memcpy(iu->b + 20, c->lun, 8);
	iu->b[29] = c->attr;
	iu->b[31] = more;
	memcpy(iu->b + 32, c->cdb, 16 + more);
	iu->len = CMD_LEN + more;
	add_buf(iu, &c->out);
	add_buf(iu, &c->in);
	if (c->out.fmt == FMT_IMM)
		add_imm(iu, &c->out, imm_offset);
}

void iu_task(struct iu *iu, uint64_t tag, const uint8_t *lun, uint8_t function, uint64_t task)
{
	memset(iu->b, 0, TSK_LEN);
	iu->b[0] = SRP_TSK_MGMT;
	put64(iu->b + 8, tag);
	memcpy(iu->b + 20, lun, 8);
	iu->b[30] = function;
	put64(iu->b + 32, task);
	iu->len = TSK_LEN;
}

/* Those that are an opcode and a tag: SRP_I_LOGOUT, SRP_CRED_RSP, SRP_AER_RSP. */
void iu_short(struct iu *iu, uint8_t opcode, uint64_t tag)
{
	memset(iu->b, 0, 16);
	iu->b[0] = opcode;
	put64(iu->b + 8, tag);
	iu->len = 16;
}

static void read_sense(struct reply *r)
{
	uint8_t format = r->sense[0] & 0x7f;

	if (r->sense_len >= 14 && (format == 0x70 || format == 0x71)) {
		r->key = r->sense[2] & 0x0f;
		r->asc = r->sense[12];
		r->ascq = r->sense[13];
	} else if (r->sense_len >= 4 && (format == 0x72 || format == 0x73)) {
		r->key = r->sense[1] & 0x0f;
		r->asc = r->sense[2];
		r->ascq = r->sense[3];
	}
}

/* The parts behind the fixed one: response data, then sense data. Lengths count when valid. */
static const char *read_rest(struct reply *r, const uint8_t *b, uint32_t len)
{
	uint32_t sense = r->flags & SNSVALID ? get32(b + 28) : 0;
	uint32_t data = r->flags & RSPVALID ? get32(b + 32) : 0;

	if ((uint64_t)RSP_LEN + sense + data > len)
		return "lengths of an SRP_RSP go beyond its end";
	if (r->flags & RSPVALID) {
		if (data < 4)
			return "RSPVALID with fewer than 4 bytes of response data";
		r->has_code = true;
		r->code = b[RSP_LEN + 3];
	}
	r->sense_len = sense < MAX_SENSE ? sense : MAX_SENSE;
	memcpy(r->sense, b + RSP_LEN + data, r->sense_len);
	read_sense(r);
	return NULL;
}

static const char *check_flags(const struct reply *r)
{
	if ((r->flags & (DOOVER | DOUNDER)) == (DOOVER | DOUNDER))
		return "an SRP_RSP has DOOVER and DOUNDER";
	if ((r->flags & (DIOVER | DIUNDER)) == (DIOVER | DIUNDER))
		return "an SRP_RSP has DIOVER and DIUNDER";
	return NULL;
}

/* Takes an SRP_RSP apart. Returns what is wrong with its form, or NULL. */
const char *iu_read_rsp(struct reply *r, const uint8_t *b, uint32_t len)
{
	const char *wrong;

	memset(r, 0, sizeof(*r));
	if (len < RSP_LEN)
		return "an SRP_RSP is shorter than 36 bytes";
	r->sol = b[1];
	r->delta = get32(b + 4);
	r->flags = b[18];
	r->status = b[19];
	r->out_resid = get32(b + 20);
	r->in_resid = get32(b + 24);
	wrong = read_rest(r, b, len);
	return wrong ? wrong : check_flags(r);
}
