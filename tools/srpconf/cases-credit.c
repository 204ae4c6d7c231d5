// SPDX-License-Identifier: GPL-2.0-only
/*
 * The request limit, to the unit: whatever happens to requests, their credits come back, and no
 * more than that.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

enum kind { NOTHING, READS, ERRORS, REFUSED_IUS, TASKS, ABORTS, MIX, KINDS };

/**
 * struct load - requests that come to an end in some way
 * @kind: which
 * @count: how many; 0: as the command line says
 * @depth: at a time; 0: as the limit allows
 * @mute: SRP_CRED_REQ and SRP_AER_REQ are not answered
 */
struct load {
	enum kind	kind;
	unsigned int	count;
	unsigned int	depth;
	bool		mute;
};

static struct session *ready(struct test *t)
{
	struct session *s = log_in(t);

	clear_attention(s);
	return s;
}

static void send_cmd(struct session *s, struct region *r, enum kind kind)
{
	struct cmd c;

	if (kind == READS) {
		cmd_inquiry(&c, 36);
		in_direct(&c, r, 64);
	} else {
		cmd_tur(&c);
		if (kind == ERRORS)
			c.cdb[0] = 0xff;
	}
	submit(s, &c);
}

/* A unit that is answered with an error: its table says other than its count. */
static void send_refused(struct session *s, struct region *r)
{
	static __thread struct iu iu;
	struct desc d = desc_of(r, 0, 36);
	struct cmd c;

	cmd_inquiry(&c, 36);
	use_table(&c.in, &d, 1);
	c.tag = take_tag(s);
	iu_cmd(&iu, &c, 0);
	put32(iu.b + CMD_LEN + TABLE_LEN + 12, 35);
	post(s, &iu);
}

static void send_abort(struct session *s, struct region *r)
{
	struct cmd c;

	cmd_inquiry(&c, 36);
	in_direct(&c, r, 64);
	if (!submit(s, &c))
		return;
	submit_task(s, opt.lun, TMF_ABORT_TASK, c.tag);
}

static void send_one(struct session *s, struct region *r, enum kind kind)
{
	switch (kind == MIX ? (enum kind)rnd(s->t, MIX) : kind) {
	case REFUSED_IUS:
		send_refused(s, r);
		break;
	case TASKS:
		submit_task(s, opt.lun, TMF_ABORT_TASK, 0x5555);
		break;
	case ABORTS:
		send_abort(s, r);
		break;
	case NOTHING:
	case READS:
	case ERRORS:
		send_cmd(s, r, kind == MIX ? READS : kind);
		break;
	default:
		break;
	}
}

/* Takes note of the answers that are there. */
static void collect(struct session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_pending; i++)
		if (s->pending[i].busy && s->pending[i].answered)
			s->pending[i].busy = false;
	while (s->nr_pending && !s->pending[s->nr_pending - 1].busy)
		s->nr_pending--;
}

static void wait_some(struct session *s)
{
	long end = now_ms() + opt.timeout_ms;
	unsigned int before = s->waiting;

	while (s->waiting == before && !s->l.gone && now_ms() < end)
		link_pump(s, end - now_ms());
	check(s->t, s->waiting != before || s->l.gone, "%u requests are not answered", before);
}

/* Until all is answered but what an abort may have taken away. */
static void settle(struct session *s, bool aborts)
{
	long end = now_ms() + opt.timeout_ms;
	struct reply r;
	struct cmd c;

	if (!aborts && !wait_all(s))
		fail(s->t, "%u requests are not answered, %s", s->waiting,
		     s->l.gone ? s->l.why : "still connected");
	/* Commands and functions may overtake each other; a last one of each does not. */
	cmd_tur(&c);
	must_be_good(s, &c);
	if (!aborts)
		return;
	task(s, opt.lun, TMF_ABORT_TASK, 0x5555, &r);
	while (s->limit < s->initial && !s->l.gone && now_ms() < end)
		link_pump(s, 200);
	forget_all(s);
	s->wild = true;
}

static void run_through(struct session *s, const struct load *a, unsigned int count)
{
	bool aborts = a->kind == ABORTS || a->kind == MIX;
	struct region *r = get_region(s, 64, REMOTE);
	unsigned int i;

	for (i = 0; i < count && !s->l.gone; i++) {
		/* What an abort took away is never answered. */
		if (a->depth && s->waiting >= a->depth && aborts)
			settle(s, true);
		while (a->depth && s->waiting >= a->depth && !s->l.gone)
			wait_some(s);
		send_one(s, r, a->kind);
		link_pump(s, 0);
		collect(s);
		check_model(s);
	}
	check(s->t, !s->l.gone, "disconnected: %s", s->l.why);
	settle(s, aborts);
}

/* A target may vary its limit; what goes the same way each time is a leak. */
static void check_limit(struct session *s, const struct load *a, unsigned int count)
{
	int64_t first, second, before = s->limit;

	run_through(s, a, count);
	first = s->limit;
	saw(s->t, "%u requests, limit %lld before and %lld after", count, (long long)before,
	    (long long)first);
	check_model(s);
	if (first == before)
		return;
	run_through(s, a, count);
	second = s->limit;
	saw(s->t, ", %lld after as many again", (long long)second);
	check(s->t, (first < before) != (second < first) || second == first, "the limit drifts");
}

static void run_load(struct test *t, const void *arg)
{
	const struct load *a = arg;
	struct session *s = ready(t);

	s->mute = a->mute;
	check_limit(s, a, a->count ? a->count : opt.count);
	saw(t, ", %u SRP_CRED_REQ", s->cred_reqs);
	works(s);
}

static void run_initial(struct test *t, const void *arg)
{
	struct session *s = log_in(t);

	(void)arg;
	saw(t, "%lld", (long long)s->initial);
	check(t, s->initial >= 1, "not even one request");
	works(s);
}

/* As many as the limit says, at once, again and again. */
static void run_all(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, 64, REMOTE);
	int64_t before = s->limit;
	int i;

	(void)arg;
	if (before > 4000)
		skip(t, "the request limit is above 4000");
	for (i = 0; i < 10; i++) {
		while (s->limit > 0 && s->waiting < 4000 && !s->l.gone)
			send_cmd(s, r, READS);
		check(t, !s->l.gone, "disconnected");
		check(t, wait_all(s), s->l.gone ? "disconnected" : "%u requests are not answered",
		      s->waiting);
		forget_all(s);
	}
	saw(t, "%lld at a time, limit %lld afterwards", (long long)before, (long long)s->limit);
	check(t, s->limit == before, "the limit has drifted");
	works(s);
}

/* More than the limit allows: the target ends the connection, or takes them all the same. */
static void run_over(struct test *t, const void *arg)
{
	const unsigned int *more = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, target.block, REMOTE);
	unsigned int i, n = s->limit + *more;
	struct cmd c;

	if (n > 4000)
		skip(t, "the request limit is above 4000");
	hold(t);
	s->overrun = true;
	for (i = 0; i < n && !s->l.gone; i++) {
		cmd_read(&c, i, 1);
		in_direct(&c, r, target.block);
		submit(s, &c);
	}
	wait_gone_ms(s, 1000);
	release(t);
	wait_all(s);
	saw(t, "%u sent, %u of them not answered, %s", i, s->waiting,
	    s->l.gone ? s->l.why : "still connected");
	s->overrun = false;
	if (!s->l.gone) {
		check(t, s->limit >= 0, "all are answered, but the limit is %lld",
		      (long long)s->limit);
		works(s);
	}
	close_session(s);
	serves(t);
}

/* Sessions that end with requests out leave nothing behind: the next one has the same limit. */
static void run_disconnects(struct test *t, const void *arg)
{
	const bool *breaks = arg;
	struct session *s = ready(t);
	int64_t limit = s->initial;
	struct region *r;
	int i, j;

	for (i = 0; i < 10; i++) {
		r = get_region(s, 64, REMOTE);
		for (j = 0; j < 20 && s->limit > 0; j++)
			send_cmd(s, r, READS);
		if (*breaks)
			link_break(&s->l);
		close_session(s);
		s = ready(t);
		check(t, s->initial == limit, "login %d: a limit of %lld instead of %lld", i,
		      (long long)s->initial, (long long)limit);
	}
	saw(t, "limit %lld each time", (long long)limit);
}

/* Each channel has a limit of its own. */
static void run_channels(struct test *t, const void *arg)
{
	struct session *s[2];
	struct login l;
	struct region *r;
	int64_t before;
	int i;

	(void)arg;
	default_login(&l);
	l.flags |= LOGIN_MULTI;
	for (i = 0; i < 2; i++)
		s[i] = log_in_with(t, &l);
	clear_attention(s[0]);
	before = s[1]->limit;
	r = get_region(s[0], 64, REMOTE);
	for (i = 0; i < 500; i++)
		send_cmd(s[0], r, READS);
	settle(s[0], false);
	link_pump(s[1], 0);
	check(t, s[1]->limit == before, "requests of one channel move the limit of the other");
	works(s[1]);
	saw(t, "limits %lld and %lld", (long long)s[0]->limit, (long long)s[1]->limit);
}

/* Answers to requests that the target never sent neither cost nor give; it may take offence. */
static void run_unasked(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	int64_t before = s->limit;
	struct reply r;
	struct cmd c;
	struct iu iu;
	int i;

	(void)arg;
	for (i = 0; i < 50 && !s->l.gone; i++) {
		iu_short(&iu, i & 1 ? SRP_CRED_RSP : SRP_AER_RSP, i);
		post(s, &iu);
		cmd_tur(&c);
		if (!execute(s, &c, &r))
			break;
	}
	if (s->l.gone) {
		saw(t, "%s", s->l.why);
		close_session(s);
		serves(t);
		return;
	}
	saw(t, "limit %lld before and %lld after", (long long)before, (long long)s->limit);
	check(t, s->limit == before, "the limit has changed");
}

#define LOAD(_name, _clause, ...) \
	CASE("credit/" _name, _clause, "the limit is as before", run_load, \
	     ARG(struct load, __VA_ARGS__))

static const struct test_case credit_group_cases[] = {
	CASE("credit/initial", S_LOGIN_RSP, "at least one request", run_initial),
	LOAD("one-at-a-time", S_LIMIT, .kind = READS, .count = 500, .depth = 1),
	LOAD("sixteen-at-a-time", S_LIMIT, .kind = READS, .count = 2000, .depth = 16),
	LOAD("no-data", S_LIMIT, .kind = NOTHING, .count = 2000),
	LOAD("failed-commands", S_LIMIT, .kind = ERRORS, .count = 1000),
	LOAD("refused-units", S_LIMIT, .kind = REFUSED_IUS, .count = 500, .depth = 8),
	LOAD("task-management", S_LIMIT, .kind = TASKS, .count = 500),
	LOAD("aborts", S_LIMIT, .kind = ABORTS, .count = 500, .depth = 8),
	LOAD("cred-req-ignored", S_CRED, .kind = READS, .count = 2000, .mute = true),
	LOAD("long", S_LIMIT, .kind = READS),
	LOAD("long-mix", S_LIMIT, .kind = MIX, .depth = 32),
	CASE("credit/all-at-once", S_LIMIT, "all are answered, the limit is as before", run_all),
	CASE("credit/limit+1", S_LIMIT, "disconnected, or all are answered", run_over,
	     ARG(unsigned int, 1), NEEDS(NEED_SCRATCH | NEED_HOOK)),
	CASE("credit/limit+64", S_LIMIT, "disconnected, or all are answered", run_over,
	     ARG(unsigned int, 64), NEEDS(NEED_SCRATCH | NEED_HOOK)),
	CASE("credit/disconnects", S_LIMIT, "each login gets the same limit", run_disconnects,
	     ARG(bool, false)),
	CASE("credit/queue-pair-dies", S_LIMIT, "each login gets the same limit", run_disconnects,
	     ARG(bool, true)),
	CASE("credit/channels", S_LIMIT, "each channel has its own limit", run_channels,
	     NEEDS(NEED_MULTI)),
	CASE("credit/unasked-answers", S_CRED, "the limit does not change; or disconnected", run_unasked),
};

GROUP(credit_group, "credit", "the request limit");
