// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands and task management functions, and what became of them.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <string.h>

#include "srpconf.h"

/*
 * Memory and descriptors
 */

/* Memory for the target to read and write, full of GUARD bytes. */
struct region *get_region(struct session *s, size_t len, int access)
{
	struct region *r = link_region(&s->l, len, access);

	if (!r)
		fail(s->t, "%zu bytes of memory cannot be registered", len);
	fill_guard(r);
	return r;
}

void fill_guard(struct region *r)
{
	memset(r->at, GUARD, r->len);
}

bool guard_intact(const struct region *r, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		if (r->at[i] != GUARD)
			return false;
	return true;
}

/* How many descriptors of a table an IU of the usual length has room for. */
uint32_t most_in_iu(void)
{
	return opt.iu_len < CMD_LEN + TABLE_LEN ? 0 : (opt.iu_len - CMD_LEN - TABLE_LEN) / DESC_LEN;
}

struct desc desc_of(const struct region *r, size_t off, uint32_t len)
{
	return (struct desc){ (uintptr_t)r->at + off, r->mr ? r->mr->rkey : 0, len };
}

static void direct(struct buf *b, struct desc *one, const struct region *r, uint32_t len)
{
	*one = desc_of(r, 0, len);
	*b = (struct buf){ .fmt = FMT_DIRECT, .desc = one, .count = 1, .in_iu = 1, .total = len };
}

void in_direct(struct cmd *c, const struct region *r, uint32_t len)
{
	direct(&c->in, &c->one, r, len);
}

void out_direct(struct cmd *c, const struct region *r, uint32_t len)
{
	direct(&c->out, &c->one, r, len);
}

/* An indirect table that is in the IU as a whole. */
void use_table(struct buf *b, const struct desc *d, uint32_t count)
{
	uint32_t i;

	*b = (struct buf){ .fmt = FMT_INDIRECT, .desc = d, .count = count, .in_iu = count };
	for (i = 0; i < count; i++)
		b->total += d[i].len;
}

/* An indirect table in our memory, of which the first @in_iu descriptors are in the IU too. */
void use_ext_table(struct session *s, struct buf *b, const struct desc *d, uint32_t count,
		   uint32_t in_iu)
{
	struct region *r = get_region(s, count * DESC_LEN, REMOTE);
	uint32_t i;

	use_table(b, d, count);
	b->in_iu = in_iu;
	b->table = desc_of(r, 0, count * DESC_LEN);
	for (i = 0; i < count; i++)
		put_desc(r->at + i * DESC_LEN, &d[i]);
}

void set_imm(struct buf *b, const void *data, uint32_t len)
{
	*b = (struct buf){ .fmt = FMT_IMM, .imm = data, .imm_len = len, .total = len };
}

/*
 * CDBs
 */

static void new_cmd(struct cmd *c, const uint8_t *lun)
{
	memset(c, 0, sizeof(*c));
	memcpy(c->lun, lun, 8);
	c->cdb_len = 16;
}

void cmd_tur(struct cmd *c)
{
	new_cmd(c, opt.lun);
}

void cmd_inquiry(struct cmd *c, uint16_t alloc)
{
	new_cmd(c, opt.lun);
	c->cdb[0] = 0x12;
	put16(c->cdb + 3, alloc);
}

static void cmd_rw16(struct cmd *c, uint8_t opcode, uint64_t lba, uint32_t blocks)
{
	new_cmd(c, opt.scratch);
	c->cdb[0] = opcode;
	put64(c->cdb + 2, lba);
	put32(c->cdb + 10, blocks);
}

void cmd_read(struct cmd *c, uint64_t lba, uint32_t blocks) { cmd_rw16(c, 0x88, lba, blocks); }
void cmd_write(struct cmd *c, uint64_t lba, uint32_t blocks) { cmd_rw16(c, 0x8a, lba, blocks); }

/*
 * Carrying out
 */

/* A tag of its own is given to a command that has none. 0: the connection is gone. */
uint64_t submit(struct session *s, struct cmd *c)
{
	static __thread struct iu iu;

	if (!c->tag)
		c->tag = take_tag(s);
	iu_cmd(&iu, c, s->imm);
	return post(s, &iu) ? c->tag : 0;
}

bool execute(struct session *s, struct cmd *c, struct reply *r)
{
	uint64_t tag;

	c->tag = 0;
	tag = submit(s, c);
	return tag && wait_reply(s, tag, r);
}

const char *reply_text(const struct reply *r)
{
	static __thread char text[200];
	int n = snprintf(text, sizeof(text), "status %#x", r->status);

	if (r->sense_len)
		n += snprintf(text + n, sizeof(text) - n, ", sense %x/%02x/%02x", r->key, r->asc,
			      r->ascq);
	if (r->has_code)
		n += snprintf(text + n, sizeof(text) - n, ", response code %u", r->code);
	if (r->flags & (DOOVER | DOUNDER))
		n += snprintf(text + n, sizeof(text) - n, ", data-out %s by %u",
			      r->flags & DOOVER ? "over" : "under", r->out_resid);
	if (r->flags & (DIOVER | DIUNDER))
		snprintf(text + n, sizeof(text) - n, ", data-in %s by %u",
			 r->flags & DIOVER ? "over" : "under", r->in_resid);
	return text;
}

/* The command must get a response, of whatever status. */
void must(struct session *s, struct cmd *c, struct reply *r)
{
	if (!execute(s, c, r))
		fail(s->t, "the connection ended instead of a response: %s", s->l.why);
}

void must_be_good(struct session *s, struct cmd *c)
{
	struct reply r;
	int i;

	for (i = 0; i < 10; i++) {
		must(s, c, &r);
		if (r.status != CHECK_CONDITION || r.key != UNIT_ATTENTION)
			break;
	}
	if (r.status != GOOD || r.has_code)
		fail(s->t, "CDB opcode %#x: %s", c->cdb[0], reply_text(&r));
	check_model(s);
}

uint64_t submit_task(struct session *s, const uint8_t *lun, uint8_t function, uint64_t task)
{
	static __thread struct iu iu;
	uint64_t tag = take_tag(s);

	iu_task(&iu, tag, lun, function, task);
	return post(s, &iu) ? tag : 0;
}

void task(struct session *s, const uint8_t *lun, uint8_t function, uint64_t managed,
	  struct reply *r)
{
	uint64_t tag = submit_task(s, lun, function, managed);

	if (!tag || !wait_reply(s, tag, r))
		fail(s->t, "the connection ended instead of a response: %s", s->l.why);
	if (!r->has_code)
		fail(s->t, "task management was answered without response data: %s", reply_text(r));
}

/* A new nexus has unit attentions; they are not what a case is about. */
void clear_attention(struct session *s)
{
	struct cmd c;

	cmd_tur(&c);
	must_be_good(s, &c);
	if (!opt.has_scratch)
		return;
	memcpy(c.lun, opt.scratch, 8);
	must_be_good(s, &c);
}

/* The session still does what it is there for. */
void works(struct session *s)
{
	struct region *r = get_region(s, 64, REMOTE);
	struct cmd c;

	cmd_inquiry(&c, 36);
	in_direct(&c, r, 36);
	must_be_good(s, &c);
	check(s->t, r->at[4] != GUARD && guard_intact(r, 36, 64), "an INQUIRY moved wrong data");
}

/* The target still serves: a new login works. */
void serves(struct test *t)
{
	struct session *s = log_in(t);

	works(s);
	close_session(s);
}

/* The same without ending the sessions of the nexus. */
void serves_others(struct test *t)
{
	struct session *s;
	struct login l;

	default_login(&l);
	l.flags |= LOGIN_MULTI;
	if (opt.has_other)
		memcpy(l.i_port_id, opt.other_id, 16);
	else if (!target.multi)
		return;
	s = log_in_with(t, &l);
	works(s);
	close_session(s);
}

/*
 * Ends of messages that are wrong
 */

static bool refused(const struct reply *r)
{
	return r->has_code ? r->code == CODE_FIELDS : r->status == CHECK_CONDITION;
}

/* What became of a request: a response, the end of the connection, or neither. */
enum end end_of(struct session *s, uint64_t tag, struct reply *r)
{
	if (poll_reply(s, tag, r, opt.timeout_ms)) {
		if (r->has_code && r->code)
			return END_CODE;
		return r->status == GOOD ? END_GOOD : END_STATUS;
	}
	return s->l.gone ? END_GONE : END_SILENT;
}

const char *end_text(enum end e, const struct reply *r)
{
	switch (e) {
	case END_GONE:
		return "disconnected";
	case END_SILENT:
		return "nothing";
	default:
		return reply_text(r);
	}
}

static void after_refusal(struct session *s, enum end e)
{
	check_model(s);
	if (e == END_GONE)
		serves(s->t);
	else
		works(s);
}

/* Must be answered with an error, or end the connection; and nothing else must suffer. */
void must_refuse(struct session *s, const struct iu *iu, uint64_t tag)
{
	struct reply r = {};
	enum end e;

	post(s, iu);
	e = end_of(s, tag, &r);
	saw(s->t, "%s", end_text(e, &r));
	check(s->t, e != END_SILENT, "neither a response nor a disconnect");
	check(s->t, e == END_GONE || refused(&r), "not refused: %s", end_text(e, &r));
	after_refusal(s, e);
}

/* Must be answered somehow, or end the connection; and nothing else must suffer. */
void must_end(struct session *s, const struct iu *iu, uint64_t tag)
{
	struct reply r = {};
	enum end e;

	post(s, iu);
	e = end_of(s, tag, &r);
	saw(s->t, "%s", end_text(e, &r));
	check(s->t, e != END_SILENT, "neither a response nor a disconnect");
	after_refusal(s, e);
}

/*
 * What there is to test
 */

static bool find_iu_len(struct test *t, struct login *l)
{
	static const uint32_t sizes[] = { 8260, 2116, 580, 64 };
	struct session *s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		l->iu_len = opt.iu_len ? opt.iu_len : sizes[i];
		s = new_session(t);
		if (try_login(s, l) == ACCEPTED) {
			opt.iu_len = l->iu_len;
			target.max_iu = s->max_it;
			close_session(s);
			return true;
		}
		saw(t, "IU length %u: %s; ", l->iu_len, answer_text(s));
		close_session(s);
		if (s->reason != REJ_IU_LENGTH)
			return false;
	}
	return false;
}

static void find_imm(struct test *t)
{
	struct session *s = new_session(t);
	struct login l;

	default_login(&l);
	l.flags |= LOGIN_IMM;
	l.imm = CMD_LEN + 16 + 4;
	target.imm = try_login(s, &l) == ACCEPTED && s->imm;
	close_session(s);
}

static void find_multi(struct test *t)
{
	struct session *first = log_in(t), *second = new_session(t);
	struct login l;

	default_login(&l);
	l.flags |= LOGIN_MULTI;
	target.multi = try_login(second, &l) == ACCEPTED && !first->l.gone;
	close_session(second);
	close_session(first);
}

static void find_capacity(struct test *t)
{
	struct session *s = log_in(t);
	struct region *r = get_region(s, 32, REMOTE);
	struct cmd c;

	clear_attention(s);
	new_cmd(&c, opt.scratch);
	c.cdb[0] = 0x9e;
	c.cdb[1] = 0x10;
	c.cdb[13] = 32;
	in_direct(&c, r, 32);
	must_be_good(s, &c);
	target.blocks = get64(r->at) + 1;
	target.block = get32(r->at + 8);
	check(t, target.block >= 512 && target.blocks >= 8192,
	      "the scratch unit has %llu blocks of %u bytes; 8192 of 512 are the least",
	      (unsigned long long)target.blocks, target.block);
	close_session(s);
}

/* Before the first case: what the target can do. */
void probe_target(struct test *t, const void *arg)
{
	struct login l;

	(void)arg;
	default_login(&l);
	check(t, find_iu_len(t, &l), "no login is accepted");
	find_imm(t);
	find_multi(t);
	if (opt.has_scratch)
		find_capacity(t);
	saw(t, "IUs up to %u bytes, %simmediate data, %sseveral channels", target.max_iu,
	    target.imm ? "" : "no ", target.multi ? "" : "not ");
}
