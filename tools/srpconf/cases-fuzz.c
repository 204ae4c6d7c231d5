// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing: sound logins and units in which a few fields are changed to what is likely to hurt, for
 * --time seconds, while another initiator moves verified data and must never notice.
 *
 * Copyright the ib_srpt authors
 *
 * The honest initiator keeps to the upper half of the scratch unit. So that it is not the disk that
 * is fuzzed, CDBs are brought back to a few that do no harm there, and functions that may end other
 * initiators' tasks are sent to no logical unit.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

#define HONEST_BLOCKS	16

/*
 * The honest initiator
 */

/**
 * struct honest - the other initiator
 * @stop: it is to end
 * @rounds: writes and reads so far
 * @t: its case, so to say
 */
struct honest {
	pthread_t	thread;
	bool		stop;
	unsigned int	rounds;
	struct test	t;
	uint64_t	seed;
};

static void honest_round(struct session *s, struct region *w, struct region *r)
{
	uint64_t half = target.blocks / 2;
	uint64_t lba = half + rnd(s->t, half - HONEST_BLOCKS);
	struct cmd c;

	rnd_bytes(s->t, w->at, w->len);
	cmd_write(&c, lba, HONEST_BLOCKS);
	out_direct(&c, w, w->len);
	must_be_good(s, &c);
	fill_guard(r);
	cmd_read(&c, lba, HONEST_BLOCKS);
	in_direct(&c, r, r->len);
	must_be_good(s, &c);
	check(s->t, !memcmp(w->at, r->at, w->len), "wrong data at block %llu",
	      (unsigned long long)lba);
}

static void run_honest(struct test *t, const void *arg)
{
	struct honest *h = (struct honest *)arg;
	struct region *w, *r;
	struct session *s;
	struct login l;

	default_login(&l);
	memcpy(l.i_port_id, opt.other_id, 16);
	s = log_in_with(t, &l);
	clear_attention(s);
	w = get_region(s, (size_t)HONEST_BLOCKS * target.block, REMOTE);
	r = get_region(s, (size_t)HONEST_BLOCKS * target.block, REMOTE);
	while (!__atomic_load_n(&h->stop, __ATOMIC_RELAXED)) {
		honest_round(s, w, r);
		h->rounds++;
		link_pump(s, 10);
		check(t, !s->l.gone, "disconnected");
	}
}

static void *honest_thread(void *arg)
{
	static struct test_case c = { .name = "honest", .run = run_honest };
	struct honest *h = arg;

	c.arg = h;
	run_case(&h->t, &c, h->seed);
	return NULL;
}

static struct honest *start_honest(struct test *t)
{
	static struct honest h;

	memset(&h, 0, sizeof(h));
	h.seed = opt.seed;
	if (pthread_create(&h.thread, NULL, honest_thread, &h))
		fail(t, "no thread");
	return &h;
}

static void end_honest(struct test *t, struct honest *h)
{
	__atomic_store_n(&h->stop, true, __ATOMIC_RELAXED);
	pthread_join(h->thread, NULL);
	saw(t, "; the honest initiator wrote and read %u times", h->rounds);
	check(t, h->t.result == PASSED, "the honest initiator: %s", h->t.why);
	check(t, h->rounds, "the honest initiator moved nothing");
}

/*
 * Mutations
 */

static const uint32_t numbers[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 20, 31, 32, 47, 48, 51, 52, 63, 64, 65, 68, 127, 128, 255,
	256, 511, 512, 513, 4095, 4096, 8192, 8259, 8260, 8276, 8277, 32767, 32768, 65535, 65536,
	0x7fffffff, 0x80000000, 0xffffff00, 0xfffffff0, 0xffffffff,
};

static uint32_t nasty(struct test *t)
{
	return rnd(t, 4) ? numbers[rnd(t, ARRAY_SIZE(numbers))] : rnd(t, 1ULL << 32);
}

/* One field of @width bytes at @at, if it is there. */
static void mutate_field(struct test *t, uint8_t *b, uint32_t len, uint32_t at, uint32_t width)
{
	if (at + width > len)
		return;
	switch (width) {
	case 1: b[at] = rnd(t, 3) ? nasty(t) : b[at] ^ 1U << rnd(t, 8); break;
	case 2: put16(b + at, nasty(t)); break;
	case 4: put32(b + at, nasty(t)); break;
	default: put64(b + at, (uint64_t)nasty(t) << 32 | nasty(t)); break;
	}
}

struct place {
	uint16_t	at;
	uint8_t		width;
};

static const struct place cmd_places[] = {
	{ 0, 1 }, { 1, 1 }, { 5, 1 }, { 5, 1 }, { 6, 1 }, { 7, 1 }, { 7, 1 }, { 20, 8 }, { 29, 1 },
	{ 31, 1 }, { 31, 1 }, { 32, 1 }, { 48, 8 }, { 56, 4 }, { 60, 4 }, { 60, 4 }, { 64, 4 },
	{ 64, 4 }, { 68, 8 }, { 76, 4 }, { 80, 4 }, { 80, 4 }, { 96, 4 }, { 48, 4 },
};

static const struct place task_places[] = { { 0, 1 }, { 1, 1 }, { 20, 8 }, { 30, 1 }, { 32, 8 } };

static const struct place login_places[] = {
	{ 0, 8 }, { 8, 2 }, { 8, 2 }, { 10, 1 }, { 10, 1 }, { 11, 1 }, { 12, 4 }, { 12, 4 }, { 16, 8 },
	{ 32, 8 }, { 40, 8 }, { 48, 2 }, { 48, 2 }, { 50, 4 },
};

static const struct place ib_login_places[] = {
	{ 0, 1 }, { 1, 1 }, { 8, 8 }, { 16, 4 }, { 16, 4 }, { 24, 2 }, { 26, 1 }, { 26, 1 }, { 28, 2 },
	{ 28, 2 }, { 32, 8 }, { 48, 8 }, { 56, 8 },
};

static void mutate(struct test *t, uint8_t *b, uint32_t len, const struct place *p, size_t count)
{
	unsigned int n = 1 + rnd(t, 3);
	const struct place *one;

	while (n--) {
		if (!rnd(t, 8)) {
			mutate_field(t, b, len, rnd(t, len ? len : 1), 1);
			continue;
		}
		one = &p[rnd(t, count)];
		mutate_field(t, b, len, one->at, one->width);
	}
}

/*
 * Logins
 */

static void fuzz_one_login(struct test *t, unsigned int *accepted, unsigned int *refused)
{
	struct session *s = new_session(t);
	long end = now_ms() + opt.timeout_ms;
	uint8_t priv[256] = {};
	struct login l;
	uint32_t len;

	default_login(&l);
	l.flags = rnd(t, 2) ? LOGIN_IMM : 0;
	l.imm = 68;
	len = iu_login(priv, &l);
	if (opt.ib)
		mutate(t, priv, len, ib_login_places, ARRAY_SIZE(ib_login_places));
	else
		mutate(t, priv, len, login_places, ARRAY_SIZE(login_places));
	if (!rnd(t, 8))
		len = rnd(t, len + 1);
	check(t, link_open(&s->l, 4) && link_request(&s->l, priv, len), "no connection");
	while (s->l.answer == NO_ANSWER && now_ms() < end)
		link_event(&s->l, end - now_ms());
	check(t, s->l.answer == ACCEPTED || s->l.answer == REFUSED, "%s", answer_text(s));
	*accepted += s->l.answer == ACCEPTED;
	*refused += s->l.answer == REFUSED;
	if (s->l.answer == ACCEPTED && rnd(t, 2) && link_established(&s->l))
		link_confirm(&s->l);
	if (rnd(t, 2))
		s->l.answer = NO_ANSWER;	/* so that nobody is told of the end */
	t->sessions = s->next;
	close_session(s);
	free(s);
}

static void fuzz_logins(struct test *t, struct honest *h, long end)
{
	unsigned int accepted = 0, refused = 0;

	while (now_ms() < end && h->t.result == PASSED)
		fuzz_one_login(t, &accepted, &refused);
	saw(t, "%u accepted, %u refused", accepted, refused);
}

/*
 * Units
 */

/* A table in the second half of the session's memory. */
static void memory_table(struct buf *b, const struct desc *d, uint32_t n, uint32_t in_iu,
			 const struct region *r)
{
	uint32_t i;

	use_table(b, d, n);
	b->in_iu = in_iu;
	b->table = desc_of(r, r->len / 2, n * DESC_LEN);
	for (i = 0; i < n; i++)
		put_desc(r->at + r->len / 2 + i * DESC_LEN, &d[i]);
}

/* The base that a unit is mutated from. */
static void base_cmd(struct session *s, struct region *r, struct iu *iu)
{
	static __thread struct desc d[4];
	struct test *t = s->t;
	struct cmd c;
	uint32_t i, n = 1 + rnd(t, 4), kind = rnd(t, 6);

	cmd_inquiry(&c, 255);
	for (i = 0; i < n; i++)
		d[i] = desc_of(r, i * 1024, 1 + rnd(t, 1000));
	if (kind == 1) {
		cmd_read(&c, rnd(t, target.blocks / 4), 2);
	} else if (kind == 2) {
		cmd_write(&c, rnd(t, target.blocks / 4), 2);
	} else if (kind == 3) {
		cmd_tur(&c);
	}
	if (kind == 2 && s->imm)
		set_imm(&c.out, r->at, 2 * target.block);
	else if (kind == 2)
		use_table(&c.out, d, n);
	else if (kind == 4)
		memory_table(&c.in, d, n, rnd(t, n + 1), r);
	else if (kind != 3)
		use_table(&c.in, d, n);
	if (c.in.fmt == FMT_INDIRECT && n == 1 && rnd(t, 2))
		c.in.fmt = FMT_DIRECT;
	c.tag = take_tag(s);
	iu_cmd(iu, &c, s->imm);
}

/* CDBs that write, or reserve, or format, are not what this is about. */
static void tame_cmd(struct iu *iu)
{
	static const uint8_t harmless[] = { 0x00, 0x03, 0x12, 0x25, 0x88, 0xa0, 0xff };
	uint8_t *cdb = iu->b + 32;

	if (iu->len < 48 || memchr(harmless, cdb[0], sizeof(harmless)))
		return;
	if (cdb[0] == 0x8a && get64(cdb + 2) < target.blocks / 4 && get32(cdb + 10) < 1024)
		return;
	cdb[0] = 0x12;
}

static void tame_task(struct iu *iu)
{
	if (iu->len < 31)
		return;
	if (iu->b[30] == TMF_LUN_RESET || iu->b[30] == TMF_CLEAR_TASK_SET)
		put64(iu->b + 20, 0x00fe000000000000);
}

static void make_unit(struct session *s, struct region *r, struct iu *iu)
{
	struct test *t = s->t;
	uint32_t kind = rnd(t, 16);

	if (kind == 0) {
		iu_short(iu, rnd(t, 2) ? SRP_CRED_RSP : SRP_AER_RSP, take_tag(s));
		mutate(t, iu->b, iu->len, task_places, 2);
	} else if (kind < 4) {
		iu_task(iu, take_tag(s), opt.scratch, TMF_ABORT_TASK, s->next_tag - 2);
		mutate(t, iu->b, iu->len, task_places, ARRAY_SIZE(task_places));
	} else {
		base_cmd(s, r, iu);
		mutate(t, iu->b, iu->len, cmd_places, ARRAY_SIZE(cmd_places));
	}
	if (!rnd(t, 10))
		iu->len = rnd(t, iu->len + 1);
	if (!rnd(t, 50))
		iu->len = s->max_it;
	/* The target may take the type from any first byte. */
	tame_cmd(iu);
	if (iu->len && iu->b[0] == SRP_TSK_MGMT)
		tame_task(iu);
}

static struct session *fuzz_session(struct test *t)
{
	struct session *s;
	struct login l;

	close_sessions(t);
	default_login(&l);
	l.flags = target.imm && rnd(t, 4) ? LOGIN_IMM : 0;
	l.imm = 68;
	s = log_in_with(t, &l);
	clear_attention(s);
	s->wild = true;
	return s;
}

struct score {
	unsigned int	units;
	unsigned int	sessions;
};

/* Units on one session, until it is ended, or has been used enough. */
static void fuzz_one_session(struct test *t, struct score *score)
{
	static struct iu iu;
	struct session *s = fuzz_session(t);
	struct region *r = get_region(s, 16384, REMOTE);
	unsigned int i;
	struct cmd c;
	struct reply rep;

	score->sessions++;
	for (i = 0; i < 100 && !s->l.gone && s->limit > 8; i++) {
		make_unit(s, r, &iu);
		score->units++;
		if (!post(s, &iu))
			break;
		if (s->limit <= 16 || !rnd(t, 8))
			link_pump(s, 20);
	}
	/* Whatever it was, the session is not stuck. */
	cmd_tur(&c);
	if (!s->l.gone && s->limit > 0)
		execute(s, &c, &rep);
	check_model(s);
}

static void fuzz_units(struct test *t, struct honest *h, long end)
{
	struct score score = {};

	while (now_ms() < end && h->t.result == PASSED)
		fuzz_one_session(t, &score);
	saw(t, "%u units in %u sessions", score.units, score.sessions);
}

/**
 * struct fuzzer - what is done beside the honest initiator
 * @run: until the time @end
 */
struct fuzzer {
	void	(*run)(struct test *t, struct honest *h, long end);
};

/* The honest initiator is ended before the case is, also when that fails. */
static void run_beside(struct test *t, const void *arg)
{
	const struct fuzzer *f = arg;
	struct honest *h = start_honest(t);
	jmp_buf out;

	memcpy(&out, &t->out, sizeof(out));
	if (!setjmp(t->out))
		f->run(t, h, now_ms() + opt.seconds * 1000L);
	memcpy(&t->out, &out, sizeof(out));
	end_honest(t, h);
	if (t->result != PASSED)
		longjmp(t->out, 1);
	close_sessions(t);
	serves(t);
}

static const struct test_case fuzz_group_cases[] = {
	CASE("fuzz/logins", S_LOGIN_REQ, "each is answered; another initiator never notices",
	     run_beside, ARG(struct fuzzer, fuzz_logins), NEEDS(NEED_SCRATCH | NEED_OTHER)),
	CASE("fuzz/units", S_IU, "no session is stuck; another initiator never notices",
	     run_beside, ARG(struct fuzzer, fuzz_units), NEEDS(NEED_SCRATCH | NEED_OTHER)),
};

GROUP(fuzz_group, "fuzz", "mutated logins and units beside an honest initiator");
