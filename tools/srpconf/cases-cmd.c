// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands: descriptor forms, additional CDB bytes, immediate data, residuals, and units that are
 * wrong in every way that the format allows.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

#define IMM_OFFSET	(CMD_LEN + 16 + 4)

static struct session *ready(struct test *t)
{
	struct session *s = log_in(t);

	clear_attention(s);
	return s;
}

static struct session *ready_imm(struct test *t)
{
	struct session *s = log_in_imm(t);

	clear_attention(s);
	return s;
}

/*
 * Descriptor forms: an INQUIRY of 36 bytes, in pieces
 */

/**
 * struct form - how an INQUIRY's buffer is described
 * @pieces: number of descriptors; 0: one direct descriptor
 * @in_iu: of an indirect table, in the IU; the rest is only in our memory
 * @ext: the table is in our memory too
 */
struct form {
	unsigned int	pieces;
	unsigned int	in_iu;
	bool		ext;
};

/* 36 bytes in @n pieces, which lie backwards in memory with a gap behind each. */
static void cut_up(const struct region *r, struct desc *d, unsigned int n)
{
	unsigned int i, left = 36, len;

	for (i = 0; i < n; i++) {
		len = i + 1 < n ? 36 / n : left;
		d[i] = desc_of(r, (n - 1 - i) * 64, len);
		left -= len;
	}
}

static void check_pieces(struct test *t, const struct region *r, const struct desc *d,
			 unsigned int n)
{
	uint8_t whole[36], *to = whole;
	unsigned int i;

	for (i = 0; i < n; i++) {
		size_t off = d[i].va - (uintptr_t)r->at;

		memcpy(to, r->at + off, d[i].len);
		to += d[i].len;
		check(t, guard_intact(r, off + d[i].len, off + 64), "bytes between pieces changed");
	}
	check(t, whole[4] != GUARD && whole[3] != GUARD, "no INQUIRY data");
	check(t, (whole[3] & 0x0f) == 2, "INQUIRY data in the wrong order");
}

static void run_form(struct test *t, const void *arg)
{
	const struct form *f = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 64 * 36, REMOTE);
	struct desc d[36];
	struct cmd c;

	if (most_in_iu() < (f->ext ? f->in_iu : f->pieces))
		skip(t, "the table does not fit an IU");
	cmd_inquiry(&c, 36);
	cut_up(r, d, f->pieces ? f->pieces : 1);
	if (!f->pieces)
		in_direct(&c, r, 36);
	else if (f->ext)
		use_ext_table(s, &c.in, d, f->pieces, f->in_iu);
	else
		use_table(&c.in, d, f->pieces);
	must_be_good(s, &c);
	check_pieces(t, r, d, f->pieces ? f->pieces : 1);
	works(s);
}

static void run_no_data(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct cmd c;

	(void)arg;
	cmd_tur(&c);
	must_be_good(s, &c);
}

/* Buffers for both directions, of which the command uses one. */
static void run_both(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, 4096, REMOTE), *w = get_region(s, 512, REMOTE);
	struct reply rep;
	struct desc d;
	struct cmd c;

	(void)arg;
	cmd_inquiry(&c, 36);
	in_direct(&c, r, 64);
	d = desc_of(w, 0, 512);
	c.out = (struct buf){ .fmt = FMT_DIRECT, .desc = &d, .count = 1, .total = 512 };
	must(s, &c, &rep);
	saw(t, "%s", reply_text(&rep));
	check(t, guard_intact(w, 0, 512), "the data-out buffer was written to");
	if (rep.status == GOOD) {
		check(t, rep.flags & DIUNDER && rep.in_resid == 28, "wrong data-in residual");
		check(t, rep.flags & DOUNDER && rep.out_resid == 512, "wrong data-out residual");
	} else {
		check(t, rep.status == CHECK_CONDITION, "an odd status");
	}
	works(s);
}

/*
 * Additional CDB bytes
 */

struct cdb {
	unsigned int	extra;
	uint8_t		low_bits;
};

/* An INQUIRY with more CDB bytes than it needs: they are not read, or refused. */
static void run_long_cdb(struct test *t, const void *arg)
{
	const struct cdb *a = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 64, REMOTE);
	struct reply rep;
	struct cmd c;
	struct iu iu;
	enum end e;

	cmd_inquiry(&c, 36);
	c.cdb_len = 16 + a->extra > 255 ? 255 : 16 + a->extra;
	in_direct(&c, r, 36);
	c.tag = take_tag(s);
	iu_cmd(&iu, &c, 0);
	iu.b[31] |= a->low_bits;
	post(s, &iu);
	e = end_of(s, c.tag, &rep);
	saw(t, "%s", end_text(e, &rep));
	check(t, e == END_GOOD || e == END_STATUS, "no response");
	check(t, e == END_STATUS || r->at[4] != GUARD, "GOOD without data");
	works(s);
}

/* READ (32), a CDB that is longer than 16 bytes. */
static void run_read32(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, target.block, REMOTE);
	struct reply rep;
	struct cmd c;

	(void)arg;
	cmd_read(&c, 0, 1);
	memset(c.cdb, 0, sizeof(c.cdb));
	c.cdb_len = 32;
	c.cdb[0] = 0x7f;
	c.cdb[7] = 0x18;
	put16(c.cdb + 8, 0x0009);
	put32(c.cdb + 28, 1);
	in_direct(&c, r, target.block);
	must(s, &c, &rep);
	saw(t, "%s", reply_text(&rep));
	check(t, rep.status == GOOD || (rep.status == CHECK_CONDITION && rep.key == ILLEGAL_REQUEST),
	      "neither GOOD nor ILLEGAL REQUEST");
	check(t, rep.status == GOOD || guard_intact(r, 0, r->len), "refused, but data moved");
	works(s);
}

/*
 * Units that are wrong
 */

/* Makes a sound command wrong: @at of the IU is set to @value, of so many bytes. */
struct poke {
	unsigned int	at;
	unsigned int	bytes;
	uint64_t	value;
};

/**
 * struct wrong - a command that is made wrong
 * @indirect: it starts as one with an indirect table of two descriptors, else with a direct one
 * @imm: it starts as a write with immediate data of one block
 * @out: it is a WRITE, else a READ; of one block
 * @poke: what is changed
 * @len: length of the IU instead of the right one; 0: the right one
 * @any: any response will do, a disconnect as well
 * @still: the same, but no data may move
 */
struct wrong {
	bool		indirect;
	bool		imm;
	bool		out;
	bool		any;
	bool		still;
	unsigned int	len;
	struct poke	poke[3];
};

static void poke(struct iu *iu, const struct poke *p)
{
	switch (p->bytes) {
	case 1: iu->b[p->at] = p->value; break;
	case 2: put16(iu->b + p->at, p->value); break;
	case 4: put32(iu->b + p->at, p->value); break;
	case 8: put64(iu->b + p->at, p->value); break;
	default: break;
	}
}

static void rw_block(struct session *s, struct cmd *c, const struct wrong *w, struct region *r)
{
	static __thread struct desc d[2];
	struct buf *b = w->out || w->imm ? &c->out : &c->in;

	if (w->out || w->imm)
		cmd_write(c, 0, 1);
	else
		cmd_read(c, 0, 1);
	d[0] = desc_of(r, 0, w->indirect ? target.block / 2 : target.block);
	d[1] = desc_of(r, target.block / 2, target.block / 2);
	use_table(b, d, w->indirect ? 2 : 1);
	if (w->imm)
		set_imm(b, r->at, target.block);
	else if (!w->indirect)
		b->fmt = FMT_DIRECT;
	c->tag = take_tag(s);
}

static void run_wrong(struct test *t, const void *arg)
{
	const struct wrong *w = arg;
	struct session *s = w->imm ? ready_imm(t) : ready(t);
	struct region *r = get_region(s, target.block, REMOTE);
	struct cmd c;
	struct iu iu;
	size_t i;

	rw_block(s, &c, w, r);
	iu_cmd(&iu, &c, s->imm);
	for (i = 0; i < ARRAY_SIZE(w->poke); i++)
		poke(&iu, &w->poke[i]);
	if (w->len)
		iu.len = w->len;
	if (w->any || w->still)
		must_end(s, &iu, c.tag);
	else
		must_refuse(s, &iu, c.tag);
	check(t, w->any || guard_intact(r, 0, r->len), "data moved");
}

/* A table that claims more descriptors than a byte can count, or than there are. */
struct table {
	uint32_t	bytes;
	uint8_t		count;
	uint32_t	total;
};

static void run_table(struct test *t, const void *arg)
{
	const struct table *a = arg;
	const struct wrong w = { .indirect = true };
	struct session *s = ready(t);
	struct region *r = get_region(s, target.block, REMOTE);
	struct cmd c;
	struct iu iu;

	rw_block(s, &c, &w, r);
	c.in.table = desc_of(r, 0, 0);
	iu_cmd(&iu, &c, 0);
	iu.b[7] = a->count;
	put32(iu.b + CMD_LEN + 12, a->bytes);
	put32(iu.b + CMD_LEN + 16, a->total ? a->total : target.block);
	must_refuse(s, &iu, c.tag);
}

/* Lengths whose sum in 32 bits is that of one block. */
static void run_sum_wraps(struct test *t, const void *arg)
{
	const struct wrong w = { .indirect = true };
	struct session *s = ready(t);
	struct region *r = get_region(s, target.block, REMOTE);
	struct cmd c;
	struct iu iu;

	(void)arg;
	rw_block(s, &c, &w, r);
	iu_cmd(&iu, &c, 0);
	put32(iu.b + CMD_LEN + TABLE_LEN + 12, 0xffffffff - 511);
	put32(iu.b + CMD_LEN + TABLE_LEN + DESC_LEN + 12, 512 + target.block);
	must_refuse(s, &iu, c.tag);
}

/**
 * struct raw - a message of some length
 * @opcode: its first byte
 * @len: its length; more than the target's limit by @over if that is not 0
 */
struct raw {
	uint8_t		opcode;
	unsigned int	len;
	unsigned int	over;
};

/* A message that is no request may be ignored; one without a tag cannot be answered. */
static enum end barrier(struct session *s)
{
	struct reply r;
	struct cmd c;

	cmd_tur(&c);
	return execute(s, &c, &r) ? END_SILENT : END_GONE;
}

static void run_raw(struct test *t, const void *arg)
{
	const struct raw *a = arg;
	struct session *s = ready(t);
	struct reply rep = {};
	struct iu iu = {};
	bool request;
	enum end e;

	iu.len = a->over ? s->max_it + a->over : a->len;
	check(t, iu.len <= IU_ROOM, "the target's limit is beyond what srpconf can send");
	request = iu.len >= 16 && !(a->opcode & 0xc0);
	iu.b[0] = a->opcode;
	put64(iu.b + 8, take_tag(s));
	s->wild = true;
	post(s, &iu);
	e = request ? end_of(s, get64(iu.b + 8), &rep) : barrier(s);
	saw(t, "%s", e == END_SILENT && !request ? "ignored" : end_text(e, &rep));
	check(t, e != END_SILENT || !request, "neither a response nor a disconnect");
	check(t, e != END_GOOD, "GOOD");
	if (e != END_GONE)
		works(s);
	serves(t);
}

/* A sound command with junk behind it, up to the longest IU. */
static void run_padded(struct test *t, const void *arg)
{
	const unsigned int *less = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 64, REMOTE);
	struct reply rep;
	struct cmd c;
	struct iu iu;
	uint32_t want = s->max_it < opt.iu_len ? s->max_it : opt.iu_len;

	cmd_inquiry(&c, 36);
	in_direct(&c, r, 36);
	c.tag = take_tag(s);
	iu_cmd(&iu, &c, 0);
	memset(iu.b + iu.len, 0xee, want - iu.len);
	iu.len = want - *less;
	post(s, &iu);
	check(t, wait_reply(s, c.tag, &rep), "disconnected");
	saw(t, "%u bytes: %s", iu.len, reply_text(&rep));
	check(t, rep.status == GOOD, "not GOOD");
	works(s);
}

/* An answer that nobody asked for is no request: it costs no credit and may not do harm. */
static void run_unasked(struct test *t, const void *arg)
{
	const uint8_t *opcode = arg;
	struct session *s = ready(t);
	struct iu iu;
	int i;

	for (i = 0; i < 3; i++) {
		iu_short(&iu, *opcode, 0xdead0000 + i);
		post(s, &iu);
		if (s->l.gone)
			break;
		if (!s->l.gone)
			link_pump(s, 0);
	}
	wait_gone_ms(s, 200);
	saw(t, "%s", s->l.gone ? "disconnected" : "ignored");
	if (!s->l.gone)
		works(s);
	serves(t);
}

/*
 * Immediate data
 */

/**
 * struct imm - a write of one block with immediate data
 * @more: bytes that come in addition to those stated
 * @good: it is sound
 */
struct imm {
	int	more;
	bool	good;
};

static void read_back(struct session *s, uint64_t lba, const uint8_t *want)
{
	struct region *r = get_region(s, target.block, REMOTE);
	struct cmd c;

	cmd_read(&c, lba, 1);
	in_direct(&c, r, target.block);
	must_be_good(s, &c);
	check(s->t, !memcmp(r->at, want, target.block), "other data was written");
}

static void run_imm(struct test *t, const void *arg)
{
	const struct imm *a = arg;
	struct session *s = ready_imm(t);
	uint8_t data[8192];
	struct cmd c;
	struct iu iu;

	check(t, target.block + IMM_OFFSET <= opt.iu_len && target.block <= 4096,
	      "a block does not fit an IU");
	rnd_bytes(t, data, sizeof(data));
	cmd_write(&c, 1, 1);
	set_imm(&c.out, data, target.block);
	c.out.imm_len += a->more;
	if (!a->good) {
		c.tag = take_tag(s);
		iu_cmd(&iu, &c, s->imm);
		must_refuse(s, &iu, c.tag);
		return;
	}
	must_be_good(s, &c);
	read_back(s, 1, data);
}

/* As much as an IU can carry. */
static void run_imm_full(struct test *t, const void *arg)
{
	struct session *s = ready_imm(t);
	uint32_t blocks = (opt.iu_len - IMM_OFFSET) / target.block, i;
	static uint8_t data[IU_ROOM];
	struct cmd c;

	(void)arg;
	check(t, blocks, "a block does not fit an IU");
	rnd_bytes(t, data, blocks * target.block);
	cmd_write(&c, 3, blocks);
	set_imm(&c.out, data, blocks * target.block);
	must_be_good(s, &c);
	saw(t, "%u blocks", blocks);
	for (i = 0; i < blocks; i++)
		read_back(s, 3 + i, data + i * target.block);
}

/* Immediate data and a descriptor that agree in nothing else with what the login said. */
static void run_imm_not_agreed(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	uint8_t data[4096] = {};
	struct cmd c;
	struct iu iu;

	(void)arg;
	cmd_write(&c, 1, 1);
	set_imm(&c.out, data, 512);
	c.tag = take_tag(s);
	iu_cmd(&iu, &c, IMM_OFFSET);
	must_refuse(s, &iu, c.tag);
}

/*
 * Residuals
 */

/**
 * struct resid - a transfer that does not suit the buffer
 * @need: bytes that the command moves: INQUIRY's allocation length, or blocks
 * @have: bytes of the buffer, or with @rw blocks
 * @rw: READ or WRITE
 * @none: TEST UNIT READY with such a buffer
 */
struct resid {
	enum { R_INQUIRY, R_READ, R_WRITE, R_TUR_IN, R_TUR_OUT }	what;
	unsigned int	need;
	unsigned int	have;
	bool		indirect;
};

static void resid_cmd(const struct resid *a, struct cmd *c)
{
	switch (a->what) {
	case R_INQUIRY:
		cmd_inquiry(c, a->need);
		break;
	case R_READ:
		cmd_read(c, 8, a->need);
		break;
	case R_WRITE:
		cmd_write(c, 8, a->need);
		break;
	default:
		cmd_tur(c);
	}
}

static bool resid_is_out(const struct resid *a)
{
	return a->what == R_WRITE || a->what == R_TUR_OUT;
}

/* Bytes that were moved, as the residual tells; -1: it tells nonsense. */
static long moved(const struct resid *a, const struct reply *r, uint32_t have)
{
	bool out = resid_is_out(a);
	uint32_t resid = out ? r->out_resid : r->in_resid;
	uint8_t under = out ? DOUNDER : DIUNDER, over = out ? DOOVER : DIOVER;

	if (r->flags & (out ? DIOVER | DIUNDER : DOOVER | DOUNDER))
		return -1;
	if (r->flags & under)
		return resid <= have ? (long)(have - resid) : -1;
	return r->flags & over && !resid ? -1 : (long)have;
}

static void check_good_resid(struct test *t, const struct resid *a, const struct reply *r,
			     uint32_t need, uint32_t have)
{
	bool out = resid_is_out(a);
	uint32_t resid = out ? r->out_resid : r->in_resid;
	uint8_t flag = r->flags & (out ? DOOVER | DOUNDER : DIOVER | DIUNDER);

	if (need < have)
		check(t, flag == (out ? DOUNDER : DIUNDER) && resid == have - need,
		      "should be under by %u", have - need);
	else if (need > have)
		check(t, flag == (out ? DOOVER : DIOVER) && resid == need - have,
		      "should be over by %u", need - have);
	else
		check(t, !flag, "has a residual without reason");
}

static void run_resid(struct test *t, const void *arg)
{
	const struct resid *a = arg;
	struct session *s = ready(t);
	uint32_t unit = a->what == R_READ || a->what == R_WRITE ? target.block : 1;
	uint32_t need = a->need * unit, have = a->have * unit;
	struct region *r = get_region(s, have + 4096, REMOTE);
	struct reply rep;
	struct desc d[2];
	struct cmd c;
	long n;

	resid_cmd(a, &c);
	d[0] = desc_of(r, 0, a->indirect ? have / 2 : have);
	d[1] = desc_of(r, have / 2, have - have / 2);
	use_table(resid_is_out(a) ? &c.out : &c.in, d, a->indirect ? 2 : 1);
	must(s, &c, &rep);
	saw(t, "buffer %u, transfer %u: %s", have, need, reply_text(&rep));
	n = moved(a, &rep, have);
	check(t, n >= 0, "the residual makes no sense");
	if (rep.status == GOOD)
		check_good_resid(t, a, &rep, need, have);
	else
		check(t, rep.status == CHECK_CONDITION && need != have, "not GOOD");
	if (!resid_is_out(a))
		check(t, guard_intact(r, rep.status == GOOD ? n : 0, r->len) ||
		      (rep.status != GOOD && guard_intact(r, n, r->len)),
		      "bytes behind the %ld that were moved have changed", n);
	works(s);
}

/* A command that fails with a buffer of its own: nothing was moved, and that is said. */
static void run_resid_failed(struct test *t, const void *arg)
{
	const bool *out = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 4096, REMOTE);
	struct reply rep;
	struct cmd c;

	if (*out) {
		cmd_write(&c, target.blocks + 10, 1);
		out_direct(&c, r, target.block);
	} else {
		cmd_read(&c, target.blocks + 10, 1);
		in_direct(&c, r, target.block);
	}
	must(s, &c, &rep);
	saw(t, "%s", reply_text(&rep));
	check(t, rep.status == CHECK_CONDITION && rep.key == ILLEGAL_REQUEST, "not ILLEGAL REQUEST");
	check(t, guard_intact(r, 0, r->len), "data moved");
	works(s);
}

/*
 * Logical units, attributes, reserved bytes, tags
 */

static void run_unknown_lun(struct test *t, const void *arg)
{
	const uint64_t *lun = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 64, REMOTE);
	struct reply rep;
	struct cmd c;

	cmd_inquiry(&c, 36);
	put64(c.lun, *lun);
	in_direct(&c, r, 36);
	must(s, &c, &rep);
	saw(t, "%s, first byte %#x", reply_text(&rep), r->at[0]);
	check(t, rep.status != GOOD || r->at[0] >> 5, "an INQUIRY of no logical unit is answered");
	works(s);
}

static void run_report_luns(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, 4096, REMOTE);
	struct cmd c;

	(void)arg;
	cmd_tur(&c);
	c.cdb[0] = 0xa0;
	memset(c.lun, 0, 8);
	put32(c.cdb + 6, 4096);
	in_direct(&c, r, 4096);
	must_be_good(s, &c);
	saw(t, "%u logical units", get32(r->at) / 8);
	check(t, get32(r->at) >= 8 && get32(r->at) % 8 == 0, "a bad list");
	check(t, guard_intact(r, 8 + get32(r->at), 4096) || get32(r->at) > 4088,
	      "bytes behind the list changed");
}

static void run_attr(struct test *t, const void *arg)
{
	const uint8_t *attr = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 64, REMOTE);
	struct reply rep;
	struct cmd c;

	cmd_inquiry(&c, 36);
	in_direct(&c, r, 36);
	c.attr = *attr;
	must(s, &c, &rep);
	saw(t, "%s", reply_text(&rep));
	check(t, rep.status == GOOD || (*attr > 2 && rep.status == CHECK_CONDITION), "not GOOD");
	works(s);
}

static void run_reserved(struct test *t, const void *arg)
{
	static const uint8_t at[] = { 2, 3, 4, 16, 17, 18, 19, 28, 30 };
	struct session *s = ready(t);
	struct region *r = get_region(s, 64, REMOTE);
	struct reply rep;
	struct cmd c;
	struct iu iu;
	size_t i;

	(void)arg;
	cmd_inquiry(&c, 36);
	in_direct(&c, r, 36);
	c.tag = take_tag(s);
	iu_cmd(&iu, &c, 0);
	for (i = 0; i < sizeof(at); i++)
		iu.b[at[i]] = 0xff;
	iu.b[29] |= 0xf8;
	post(s, &iu);
	check(t, wait_reply(s, c.tag, &rep), "disconnected");
	saw(t, "%s", reply_text(&rep));
	check(t, rep.status == GOOD, "not GOOD");
	works(s);
}

static void run_tag(struct test *t, const void *arg)
{
	const uint64_t *tag = arg;
	struct session *s = ready(t);
	struct reply rep;
	struct cmd c;
	struct iu iu;

	cmd_tur(&c);
	c.tag = *tag;
	iu_cmd(&iu, &c, 0);
	post(s, &iu);
	check(t, wait_reply(s, *tag, &rep), "disconnected");
	check(t, rep.status == GOOD, "%s", reply_text(&rep));
}

/* As many at a time as the limit allows; each gets its own data. */
static void run_many(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, 200 * 64, REMOTE);
	uint64_t tag[200];
	struct reply rep;
	struct desc d;
	struct cmd c;
	int i, n = s->limit < 200 ? s->limit : 200;

	(void)arg;
	for (i = 0; i < n; i++) {
		cmd_inquiry(&c, 36);
		d = desc_of(r, i * 64, 36);
		c.in = (struct buf){ .fmt = FMT_DIRECT, .desc = &d, .count = 1, .total = 36 };
		tag[i] = submit(s, &c);
	}
	for (i = 0; i < n; i++) {
		check(t, tag[i] && wait_reply(s, tag[i], &rep), "disconnected");
		check(t, rep.status == GOOD, "%s", reply_text(&rep));
		check(t, r->at[i * 64 + 4] != GUARD && guard_intact(r, i * 64 + 36, i * 64 + 64),
		      "wrong data of command %d", i);
	}
	saw(t, "%d commands", n);
}

#define FORM(_name, _clause, ...) \
	CASE("command/form/" _name, _clause, "GOOD, all data in its place", run_form, \
	     ARG(struct form, __VA_ARGS__))
#define REFUSED_TEXT "CHECK CONDITION, response code 2, or disconnected"
#define WRONG(_name, _clause, ...) \
	CASE("command/wrong/" _name, _clause, REFUSED_TEXT, run_wrong, \
	     ARG(struct wrong, __VA_ARGS__), NEEDS(NEED_SCRATCH))
#define WRONG_IMM(_name, ...) \
	CASE("command/immediate/" _name, S_IMM, REFUSED_TEXT, run_wrong, \
	     ARG(struct wrong, .imm = true, __VA_ARGS__), NEEDS(NEED_SCRATCH | NEED_IMM))
#define DEFINED(_name, _clause, ...) \
	CASE("command/odd/" _name, _clause, "any response, or disconnected", run_wrong, \
	     ARG(struct wrong, .any = true, __VA_ARGS__), NEEDS(NEED_SCRATCH))
#define NOTHING(_name, _clause, ...) \
	CASE("command/nothing/" _name, _clause, "any response, or disconnected; no data moves", \
	     run_wrong, ARG(struct wrong, .still = true, __VA_ARGS__), NEEDS(NEED_SCRATCH))
#define TABLE(_name, ...) \
	CASE("command/table/" _name, S_INDIRECT, REFUSED_TEXT, run_table, \
	     ARG(struct table, __VA_ARGS__), NEEDS(NEED_SCRATCH))
#define RAW(_name, _opcode, _len, ...) \
	CASE("command/length/" _name, S_IU, \
	     "not GOOD: refused, disconnected, or ignored if no request", run_raw, \
	     ARG(struct raw, .opcode = _opcode, .len = _len, __VA_ARGS__))
#define RESID(_name, _what, _need, _have, ...) \
	CASE("command/residual/" _name, S_RSP, "the exact residual, bytes behind it untouched", \
	     run_resid, ARG(struct resid, .what = _what, .need = _need, .have = _have), __VA_ARGS__)
#define RESID_TABLE(_name, _what, _need, _have) \
	CASE("command/residual/" _name, S_RSP, "the exact residual, bytes behind it untouched", \
	     run_resid, ARG(struct resid, .what = _what, .need = _need, .have = _have, \
	     .indirect = true), NEEDS(NEED_SCRATCH))

static const struct test_case command_group_cases[] = {
	CASE("command/form/no-data", S_CMD, "GOOD", run_no_data),
	FORM("direct", S_DIRECT, 0),
	FORM("table-of-1", S_INDIRECT, .pieces = 1),
	FORM("table-of-2", S_INDIRECT, .pieces = 2),
	FORM("table-of-12", S_INDIRECT, .pieces = 12),
	FORM("table-of-36", S_INDIRECT, .pieces = 36),
	FORM("memory-table-of-1", S_INDIRECT, .pieces = 1, .ext = true),
	FORM("memory-table-of-12", S_INDIRECT, .pieces = 12, .ext = true),
	FORM("memory-table-of-36", S_INDIRECT, .pieces = 36, .ext = true),
	FORM("split-table-1-of-2", S_INDIRECT, .pieces = 2, .in_iu = 1, .ext = true),
	FORM("split-table-1-of-36", S_INDIRECT, .pieces = 36, .in_iu = 1, .ext = true),
	FORM("split-table-35-of-36", S_INDIRECT, .pieces = 36, .in_iu = 35, .ext = true),
	FORM("whole-table-twice", S_INDIRECT, .pieces = 12, .in_iu = 12, .ext = true),
	CASE("command/form/both-directions", S_CMD, "GOOD with residuals, or CHECK CONDITION",
	     run_both),
	CASE("command/cdb/4-more", S_CMD, "GOOD or CHECK CONDITION", run_long_cdb,
	     ARG(struct cdb, .extra = 4)),
	CASE("command/cdb/16-more", S_CMD, "GOOD or CHECK CONDITION", run_long_cdb,
	     ARG(struct cdb, .extra = 16)),
	CASE("command/cdb/236-more", S_CMD, "GOOD or CHECK CONDITION", run_long_cdb,
	     ARG(struct cdb, .extra = 236)),
	CASE("command/cdb/reserved-bits", S_CMD, "GOOD or CHECK CONDITION", run_long_cdb,
	     ARG(struct cdb, .low_bits = 3)),
	CASE("command/cdb/32-bytes", S_CMD, "GOOD, or ILLEGAL REQUEST", run_read32,
	     NEEDS(NEED_SCRATCH)),
	WRONG("cdb-past-the-end", S_CMD, .poke = { { 31, 1, 252 } }),
	WRONG("cdb-over-descriptor", S_CMD, .poke = { { 31, 1, 16 } }),
	WRONG("format-in-3", S_CMD, .poke = { { 5, 1, 0x03 } }),
	WRONG("format-in-4", S_CMD, .poke = { { 5, 1, 0x04 } }),
	WRONG("format-in-15", S_CMD, .poke = { { 5, 1, 0x0f } }),
	WRONG("format-out-4", S_CMD, .out = true, .poke = { { 5, 1, 0x40 } }),
	WRONG("format-out-15", S_CMD, .out = true, .poke = { { 5, 1, 0xf0 } }),
	NOTHING("direct-length-0", S_DIRECT, .poke = { { CMD_LEN + 12, 4, 0 } }),
	NOTHING("direct-out-length-0", S_DIRECT, .out = true, .poke = { { CMD_LEN + 12, 4, 0 } }),
	WRONG("direct-length-2^32-1", S_DIRECT, .poke = { { CMD_LEN + 12, 4, 0xffffffff } }),
	WRONG("direct-wraps", S_DIRECT, .poke = { { CMD_LEN, 8, 0xffffffffffffff00 } }),
	WRONG("direct-cut", S_CMD, .len = CMD_LEN + 15),
	WRONG("direct-missing", S_CMD, .len = CMD_LEN),
	WRONG("direct-out-cut", S_CMD, .out = true, .len = CMD_LEN + 15),
	WRONG("both-but-one-there", S_CMD, .poke = { { 5, 1, 0x11 } }),
	WRONG("table-head-cut", S_INDIRECT, .indirect = true, .len = CMD_LEN + 19),
	WRONG("table-cut", S_INDIRECT, .indirect = true, .len = CMD_LEN + TABLE_LEN + 31),
	WRONG("table-all-missing", S_INDIRECT, .indirect = true, .len = CMD_LEN + TABLE_LEN),
	WRONG("table-desc-0", S_INDIRECT, .indirect = true,
	      .poke = { { CMD_LEN + TABLE_LEN + 12, 4, 0 } }),
	WRONG("table-sum-less", S_INDIRECT, .indirect = true,
	      .poke = { { CMD_LEN + TABLE_LEN + 12, 4, 1 } }),
	WRONG("table-sum-more", S_INDIRECT, .indirect = true,
	      .poke = { { CMD_LEN + TABLE_LEN + 12, 4, 0x10000 } }),
	NOTHING("table-total-0", S_INDIRECT, .indirect = true,
	      .poke = { { CMD_LEN + 16, 4, 0 } }),
	WRONG("table-total-2^32-1", S_INDIRECT, .indirect = true,
	      .poke = { { CMD_LEN + 16, 4, 0xffffffff } }),
	WRONG("table-out-sum-more", S_INDIRECT, .indirect = true, .out = true,
	      .poke = { { CMD_LEN + TABLE_LEN + 12, 4, 0x10000 } }),
	CASE("command/wrong/sum-wraps-32-bits", S_INDIRECT, REFUSED_TEXT, run_sum_wraps,
	     NEEDS(NEED_SCRATCH)),
	TABLE("empty", .bytes = 0, .count = 0),
	TABLE("empty-with-count", .bytes = 0, .count = 2),
	TABLE("half-descriptor", .bytes = 24, .count = 2),
	TABLE("less-than-count", .bytes = 16, .count = 2),
	TABLE("count-past-the-iu", .bytes = 255 * 16, .count = 255),
	TABLE("count-wraps-8-bits", .bytes = 258 * 16, .count = 2),
	TABLE("2^32-16-bytes", .bytes = 0xfffffff0, .count = 2),
	TABLE("memory-2^31-bytes", .bytes = 0x80000000, .count = 0),
	DEFINED("direct-with-counts", S_CMD, .poke = { { 6, 1, 9 }, { 7, 1, 9 } }),
	DEFINED("no-format-with-desc", S_CMD, .poke = { { 5, 1, 0 } }),
	DEFINED("wrong-direction", S_CMD, .poke = { { 5, 1, 0x10 } }),
	DEFINED("unknown-cdb", S_CMD, .poke = { { 32, 1, 0xff } }),
	DEFINED("read-of-nothing", S_CMD, .poke = { { 42, 4, 0 } }),
	RAW("0", SRP_CMD, 0),
	RAW("1", SRP_CMD, 1),
	RAW("7", SRP_CMD, 7),
	RAW("8", SRP_CMD, 8),
	RAW("15", SRP_CMD, 15),
	RAW("command-16", SRP_CMD, 16),
	RAW("command-47", SRP_CMD, 47),
	RAW("task-16", SRP_TSK_MGMT, 16),
	RAW("task-47", SRP_TSK_MGMT, 47),
	RAW("opcode-4", 4, 64),
	RAW("opcode-63", 63, 64),
	RAW("opcode-127", 127, 64),
	RAW("opcode-SRP_RSP", SRP_RSP, 64),
	RAW("opcode-SRP_CRED_REQ", SRP_CRED_REQ, 64),
	RAW("opcode-255", 255, 64),
	RAW("limit+1", SRP_CMD, 0, .over = 1),
	RAW("limit+256", SRP_CMD, 0, .over = 256),
	CASE("command/length/longest", S_IU, "GOOD", run_padded, ARG(unsigned int, 0)),
	CASE("command/length/longest-1", S_IU, "GOOD", run_padded, ARG(unsigned int, 1)),
	CASE("command/unasked/SRP_CRED_RSP", S_CRED, "ignored, or disconnected", run_unasked,
	     ARG(uint8_t, SRP_CRED_RSP)),
	CASE("command/unasked/SRP_AER_RSP", S_AER, "ignored, or disconnected", run_unasked,
	     ARG(uint8_t, SRP_AER_RSP)),
	CASE("command/immediate/exact", S_IMM, "GOOD, the data is there", run_imm,
	     ARG(struct imm, .good = true), NEEDS(NEED_SCRATCH | NEED_IMM)),
	CASE("command/immediate/one-more", S_IMM, "GOOD, the data is there", run_imm,
	     ARG(struct imm, .more = 1, .good = true), NEEDS(NEED_SCRATCH | NEED_IMM)),
	CASE("command/immediate/one-less", S_IMM, REFUSED_TEXT, run_imm,
	     ARG(struct imm, .more = -1), NEEDS(NEED_SCRATCH | NEED_IMM)),
	CASE("command/immediate/full", S_IMM, "GOOD, the data is there", run_imm_full,
	     NEEDS(NEED_SCRATCH | NEED_IMM)),
	WRONG_IMM("none", .len = IMM_OFFSET),
	WRONG_IMM("none-nor-offset", .len = CMD_LEN + 4),
	WRONG_IMM("no-length", .len = CMD_LEN),
	WRONG_IMM("length-0", .still = true, .poke = { { CMD_LEN, 4, 0 } }),
	WRONG_IMM("length-2^32-1", .poke = { { CMD_LEN, 4, 0xffffffff } }),
	WRONG_IMM("length-wraps", .poke = { { CMD_LEN, 4, 0xffffffff - IMM_OFFSET + 1 } }),
	WRONG_IMM("length-wraps-2", .poke = { { CMD_LEN, 4, 0xffffffff - IMM_OFFSET + 0x201 } }),
	WRONG_IMM("length-2^31", .poke = { { CMD_LEN, 4, 0x80000000 } }),
	WRONG_IMM("cdb-over-it", .poke = { { 31, 1, 20 } }),
	WRONG_IMM("for-data-in", .poke = { { 5, 1, 0x03 } }),
	CASE("command/immediate/not-agreed", S_IMM, REFUSED_TEXT, run_imm_not_agreed,
	     NEEDS(NEED_SCRATCH)),
	RESID("exact", R_INQUIRY, 36, 36),
	RESID("inquiry-under", R_INQUIRY, 36, 4096),
	RESID("inquiry-under-by-1", R_INQUIRY, 36, 37),
	RESID("inquiry-over-by-1", R_INQUIRY, 36, 35),
	RESID("inquiry-into-1", R_INQUIRY, 36, 1),
	RESID("nothing-to-read", R_TUR_IN, 0, 512),
	RESID("nothing-to-write", R_TUR_OUT, 0, 512),
	RESID("read-exact", R_READ, 4, 4, NEEDS(NEED_SCRATCH)),
	RESID("read-under", R_READ, 2, 8, NEEDS(NEED_SCRATCH)),
	RESID("read-over", R_READ, 8, 2, NEEDS(NEED_SCRATCH)),
	RESID("write-exact", R_WRITE, 4, 4, NEEDS(NEED_SCRATCH)),
	RESID("write-under", R_WRITE, 2, 8, NEEDS(NEED_SCRATCH)),
	RESID("write-over", R_WRITE, 8, 2, NEEDS(NEED_SCRATCH)),
	RESID_TABLE("table-read-under", R_READ, 2, 8),
	RESID_TABLE("table-read-over", R_READ, 8, 2),
	RESID_TABLE("table-write-under", R_WRITE, 2, 8),
	RESID_TABLE("table-write-over", R_WRITE, 8, 2),
	CASE("command/residual/read-failed", S_RSP, "ILLEGAL REQUEST, no data moved",
	     run_resid_failed, ARG(bool, false), NEEDS(NEED_SCRATCH)),
	CASE("command/residual/write-failed", S_RSP, "ILLEGAL REQUEST, no data moved",
	     run_resid_failed, ARG(bool, true), NEEDS(NEED_SCRATCH)),
	CASE("command/lun/unknown", S_CMD, "not a logical unit", run_unknown_lun,
	     ARG(uint64_t, 0x00fe000000000000)),
	CASE("command/lun/flat-unknown", S_CMD, "not a logical unit", run_unknown_lun,
	     ARG(uint64_t, 0x7ffe000000000000)),
	CASE("command/lun/reserved-method", S_CMD, "not a logical unit", run_unknown_lun,
	     ARG(uint64_t, 0xffffffffffffffff)),
	CASE("command/lun/report", S_CMD, "a list of logical units", run_report_luns),
	CASE("command/attribute/head-of-queue", S_CMD, "GOOD", run_attr, ARG(uint8_t, 1)),
	CASE("command/attribute/ordered", S_CMD, "GOOD", run_attr, ARG(uint8_t, 2)),
	CASE("command/attribute/aca", S_CMD, "GOOD or CHECK CONDITION", run_attr, ARG(uint8_t, 4)),
	CASE("command/attribute/reserved", S_CMD, "GOOD or CHECK CONDITION", run_attr,
	     ARG(uint8_t, 7)),
	CASE("command/reserved-bytes", S_CMD, "ignored", run_reserved),
	CASE("command/tag/zero", S_CMD, "GOOD", run_tag, ARG(uint64_t, 0)),
	CASE("command/tag/ones", S_CMD, "GOOD", run_tag, ARG(uint64_t, ~0ULL)),
	CASE("command/many-at-once", S_LIMIT, "each gets its own data", run_many),
};

GROUP(command_group, "command", "SRP_CMD and what may be wrong with it");
