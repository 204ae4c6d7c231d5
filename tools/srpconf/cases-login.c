// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logins: every field on each side of each bound, channels, and connections that end at every step.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

/* What may become of a login. */
enum may {
	MAY_ACCEPT	= 1,	/* and then it has to work */
	MAY_REFUSE	= 2,	/* by an SRP_LOGIN_REJ */
	EITHER		= 3,
};

enum { KEEP = -1 };

/**
 * struct field - a login with one field changed
 * @may: what may become of it
 * @reason: the only reason that a refusal may have; 0: any
 */
struct field {
	enum {
		TAG, IU_LEN, OVER_MAX, UNDER_MAX, FORMAT, FLAGS, OPCODE, JUNK, CUT, T_PORT, T_EXT, T_IOC,
		I_PORT,
	}		what;
	uint64_t	value;
	enum may	may;
	uint32_t	reason;
};

static void set_field(struct login *l, const struct field *f)
{
	switch (f->what) {
	case TAG: l->tag = f->value; break;
	case IU_LEN: l->iu_len = f->value; break;
	case OVER_MAX: l->iu_len = target.max_iu + f->value; break;
	case UNDER_MAX: l->iu_len = target.max_iu - f->value; break;
	case FORMAT: l->fmt = f->value; break;
	case FLAGS: l->flags = f->value; break;
	case OPCODE: l->opcode = f->value; break;
	case JUNK: l->junk = f->value; break;
	case CUT: l->cut = true; l->priv_len = f->value; break;
	case T_PORT: memset(l->t_port_id, f->value, 16); break;
	case T_EXT: l->t_port_id[7] ^= f->value; break;
	case T_IOC: l->t_port_id[15] ^= f->value; break;
	case I_PORT: memset(l->i_port_id, f->value, 16); break;
	}
}

static void check_answer(struct session *s, enum may may, uint32_t reason)
{
	struct test *t = s->t;

	saw(t, "%s", answer_text(s));
	check_model(s);
	if (s->l.answer == ACCEPTED) {
		check(t, may & MAY_ACCEPT, "accepted");
		check(t, !s->l.gone, "accepted, then disconnected at once");
		return;
	}
	check(t, s->l.answer == REFUSED, "no SRP_LOGIN_REJ");
	check(t, may & MAY_REFUSE, "refused");
	check(t, !reason || s->reason == reason, "another reason than %#x", reason);
}

static void run_field(struct test *t, const void *arg)
{
	const struct field *f = arg;
	struct session *s = new_session(t);
	struct login l;

	/* With AF_IB addresses the kernel's RDMA/CM puts its version, 0, into the first byte. */
	if (opt.ib && f->what == OPCODE)
		skip(t, "the opcode of a login cannot be chosen with --ib");
	default_login(&l);
	set_field(&l, f);
	try_login(s, &l);
	check_answer(s, f->may, f->reason);
	if (s->l.answer == ACCEPTED) {
		check(t, s->max_it >= l.iu_len || f->what != OVER_MAX,
		      "accepted IUs of %u bytes, but takes %u", l.iu_len, s->max_it);
		/* An initiator of another name may have no logical unit. */
		if (f->what != I_PORT)
			works(s);
	}
	close_session(s);
	serves(t);
}

static void run_response_form(struct test *t, const void *arg)
{
	struct session *s = log_in(t);
	const uint8_t *b = s->l.priv;
	unsigned int i, junk = b[1] | b[2] | b[3];

	(void)arg;
	for (i = 27; i < 52; i++)
		junk |= b[i];
	saw(t, "%s, IUs %u to and %u from the target, formats %#x", answer_text(s), s->max_it,
	    s->max_ti, s->fmt);
	check(t, s->initial > 0, "a request limit of %lld", (long long)s->initial);
	check(t, s->max_it >= opt.iu_len, "takes smaller IUs than were asked for");
	check(t, s->max_ti >= RSP_LEN + 4, "IUs from the target have no room for an SRP_RSP");
	check(t, s->fmt & LOGIN_FMT_DIRECT, "direct descriptors are not supported");
	check(t, !junk, "reserved bytes are not zero");
	works(s);
}

static void run_refusal_form(struct test *t, const void *arg)
{
	struct session *s = new_session(t);
	const uint8_t *b = s->l.priv;
	struct login l;

	(void)arg;
	default_login(&l);
	memset(l.t_port_id, 0xee, 16);
	l.tag = 0x0123456789abcdef;
	try_login(s, &l);
	check_answer(s, MAY_REFUSE, 0);
	saw(t, ", formats %#x", get16(b + 24));
	check(t, s->rej_tag == l.tag, "the tag is not that of the request");
	check(t, get16(b + 24) & LOGIN_FMT_DIRECT, "it lists no direct descriptors");
	check(t, !(b[1] | b[2] | b[3]), "reserved bytes are not zero");
}

/*
 * Channels
 */

/**
 * struct channels - a login while others of its nexus live
 * @existing: how many
 * @flags: multichannel code of the new one
 */
struct channels {
	unsigned int	existing;
	uint8_t		flags;
};

static struct session *add_channel(struct test *t)
{
	struct login l;

	default_login(&l);
	l.flags |= LOGIN_MULTI;
	return log_in_with(t, &l);
}

static void must_live(struct session *s, const char *which)
{
	struct cmd c;
	struct reply r;

	cmd_tur(&c);
	if (!execute(s, &c, &r))
		fail(s->t, "%s is gone", which);
}

static void check_single(struct test *t, struct session **old, unsigned int n, struct session *s)
{
	unsigned int i;

	check(t, (s->rsp_flags & 3) == (n ? RSP_TERMINATED : RSP_NO_CHANNEL),
	      "multichannel result %u", s->rsp_flags & 3);
	for (i = 0; i < n; i++)
		check(t, wait_gone(old[i]), "an earlier channel was not ended");
	works(s);
}

/* Several channels are an option: a target may refuse them, or end the others like for one. */
static void check_multi(struct test *t, struct session **old, unsigned int n, struct session *s)
{
	unsigned int i;

	if ((s->rsp_flags & 3) == RSP_TERMINATED) {
		saw(t, "; the target ends earlier channels");
		check_single(t, old, n, s);
		return;
	}
	check(t, (s->rsp_flags & 3) == (n ? RSP_MAINTAINED : RSP_NO_CHANNEL),
	      "multichannel result %u", s->rsp_flags & 3);
	for (i = 0; i < n; i++)
		must_live(old[i], "an earlier channel");
	works(s);
}

static void run_channels(struct test *t, const void *arg)
{
	const struct channels *a = arg;
	struct session *old[4], *s;
	struct login l;
	unsigned int i;

	for (i = 0; i < a->existing; i++)
		old[i] = add_channel(t);
	s = new_session(t);
	default_login(&l);
	l.flags = a->flags;
	try_login(s, &l);
	if (a->flags > LOGIN_MULTI) {
		check_answer(s, MAY_REFUSE, REJ_MULTICHANNEL);
		for (i = 0; i < a->existing; i++)
			must_live(old[i], "an earlier channel");
		return;
	}
	check_answer(s, a->flags ? EITHER : MAY_ACCEPT, a->flags ? REJ_MULTICHANNEL : 0);
	if (s->l.answer != ACCEPTED)
		return;
	if (a->flags)
		check_multi(t, old, a->existing, s);
	else
		check_single(t, old, a->existing, s);
}

/* A login of one nexus is nothing to another. */
static void run_other_nexus(struct test *t, const void *arg)
{
	struct session *other, *s;
	struct login l;

	(void)arg;
	default_login(&l);
	memcpy(l.i_port_id, opt.other_id, 16);
	other = log_in_with(t, &l);
	s = log_in(t);
	check(t, (s->rsp_flags & 3) == RSP_NO_CHANNEL, "multichannel result %u", s->rsp_flags & 3);
	must_live(other, "the channel of another initiator");
	works(s);
}

static void run_many_channels(struct test *t, const void *arg)
{
	const unsigned int *count = arg;
	struct session *s[64] = {};
	struct login l;
	unsigned int n;

	default_login(&l);
	l.flags |= LOGIN_MULTI;
	for (n = 0; n < *count; n++) {
		s[n] = new_session(t);
		if (try_login(s[n], &l) != ACCEPTED)
			break;
	}
	saw(t, "%u channels", n);
	if (n < *count) {
		saw(t, ", then %s", answer_text(s[n]));
		check(t, n, "not a single channel");
		check(t, s[n]->l.answer == REFUSED, "no SRP_LOGIN_REJ");
		check(t, s[n]->reason == REJ_RESOURCES || s[n]->reason == REJ_CHANNEL_LIMIT,
		      "neither 'insufficient resources' nor 'channel limit reached'");
	}
	while (n)
		works(s[--n]);
}

static void run_relogin(struct test *t, const void *arg)
{
	struct session *s = NULL, *old;
	unsigned int i;

	(void)arg;
	for (i = 0; i < 20; i++) {
		old = s;
		s = log_in(t);
		check(t, (s->rsp_flags & 3) == (old ? RSP_TERMINATED : RSP_NO_CHANNEL),
		      "login %u: multichannel result %u", i, s->rsp_flags & 3);
		if (!old)
			continue;
		check(t, wait_gone(old), "login %u: the earlier channel was not ended", i);
		close_session(old);
	}
	works(s);
}

/* A login ends a channel that has commands out; their data must not move after it. */
static void run_relogin_busy(struct test *t, const void *arg)
{
	struct session *old = log_in(t), *s;
	struct region *r = get_region(old, 4096, REMOTE);
	struct cmd c;
	int i;

	(void)arg;
	clear_attention(old);
	for (i = 0; i < 16 && old->limit > 0; i++) {
		cmd_inquiry(&c, 36);
		in_direct(&c, r, 4096);
		submit(old, &c);
	}
	s = log_in(t);
	check(t, (s->rsp_flags & 3) == RSP_TERMINATED, "multichannel result %u", s->rsp_flags & 3);
	fill_guard(r);
	works(s);
	check(t, wait_gone(old), "the earlier channel was not ended");
	check(t, guard_intact(r, 0, r->len), "data of an ended channel moved after the login");
}

/*
 * Immediate data
 */

/**
 * struct imm - an offset for immediate data
 * @offset: the offset, or with @from_end what is taken from the IU length
 * @usable: a target that offers immediate data can use it
 */
struct imm {
	int	offset;
	bool	from_end;
	bool	requested;
	bool	usable;
};

static void run_imm(struct test *t, const void *arg)
{
	const struct imm *a = arg;
	struct session *s = new_session(t);
	uint8_t data[4096];
	struct login l;
	struct cmd c;

	default_login(&l);
	l.flags = a->requested ? LOGIN_IMM : 0;
	l.imm = a->from_end ? (int)l.iu_len - a->offset : a->offset;
	try_login(s, &l);
	saw(t, "offset %u of an IU of %u: ", l.imm, l.iu_len);
	check_answer(s, a->usable ? MAY_ACCEPT : EITHER, 0);
	if (s->l.answer != ACCEPTED)
		return;
	check(t, a->requested || !(s->rsp_flags & RSP_IMM), "offered without being asked for");
	check(t, a->usable || !(s->rsp_flags & RSP_IMM), "offered at an offset that cannot be used");
	works(s);
	if (!s->imm || !opt.has_scratch || l.imm + target.block > l.iu_len ||
	    target.block > sizeof(data))
		return;
	clear_attention(s);
	memset(data, 0x5a, sizeof(data));
	cmd_write(&c, 0, 1);
	set_imm(&c.out, data, target.block);
	must_be_good(s, &c);
}

/*
 * Connections that end at every step
 */

enum step { AFTER_REQ, AFTER_REP, REP_LOST, BREAK_UNCONFIRMED, AFTER_RTU, AFTER_CMD, BREAK_CMD,
	    REJECT_REP };

static void send_inquiries(struct session *s, int n)
{
	struct region *r = get_region(s, 64, REMOTE);
	struct cmd c;

	while (n--) {
		cmd_inquiry(&c, 36);
		in_direct(&c, r, 36);
		submit(s, &c);
	}
}

static void end_at(struct session *s, enum step step)
{
	switch (step) {
	case AFTER_REP:
		link_disconnect(&s->l);
		break;
	case BREAK_UNCONFIRMED:
	case BREAK_CMD:
		link_break(&s->l);
		break;
	case REJECT_REP:
		rdma_reject(s->l.id, NULL, 0);
		break;
	default:
		break;
	}
}

static void one_short_login(struct test *t, enum step step)
{
	struct session *s = new_session(t);
	uint8_t priv[256] = {};
	struct login l;

	default_login(&l);
	if (step == AFTER_REQ) {
		check(t, link_open(&s->l, 16) && link_request(&s->l, priv, iu_login(priv, &l)),
		      "no connection");
	} else if (step < AFTER_RTU || step == REJECT_REP) {
		try_unconfirmed(s, &l);
	} else if (try_login(s, &l) == ACCEPTED && step != AFTER_RTU) {
		send_inquiries(s, 8);
	}
	end_at(s, step);
	close_session(s);
}

static void run_step(struct test *t, const void *arg)
{
	const enum step *step = arg;
	int i;

	for (i = 0; i < 5; i++)
		one_short_login(t, *step);
	serves(t);
}

/* The first command serves as the confirmation that never came. */
static void run_early(struct test *t, const void *arg)
{
	const bool *confirm_late = arg;
	struct session *s = new_session(t);
	struct region *r;
	struct login l;
	struct reply rep;
	struct cmd c;
	uint64_t tag[8];
	int i;

	default_login(&l);
	check(t, try_unconfirmed(s, &l) == ACCEPTED, "not accepted: %s", answer_text(s));
	r = get_region(s, 64, REMOTE);
	for (i = 0; i < 8; i++) {
		cmd_inquiry(&c, 36);
		in_direct(&c, r, 36);
		tag[i] = submit(s, &c);
	}
	if (*confirm_late)
		link_confirm(&s->l);
	for (i = 0; i < 8; i++) {
		check(t, tag[i] && wait_reply(s, tag[i], &rep), "disconnected");
		check(t, rep.status == GOOD, "%s", reply_text(&rep));
		saw(t, "%u ", rep.order);
	}
	link_confirm(&s->l);
	works(s);
}

/* Two logins of one nexus at the same moment: one of them is left. */
static void run_race(struct test *t, const void *arg)
{
	struct session *s[2] = { new_session(t), new_session(t) };
	uint8_t priv[256] = {};
	long end = now_ms() + opt.timeout_ms;
	struct login l;
	int i, accepted = 0;

	(void)arg;
	default_login(&l);
	for (i = 0; i < 2; i++)
		check(t, link_open(&s[i]->l, 16), "no connection");
	for (i = 0; i < 2; i++)
		check(t, link_request(&s[i]->l, priv, iu_login(priv, &l)), "no connection");
	while ((!s[0]->l.answer || !s[1]->l.answer) && now_ms() < end)
		for (i = 0; i < 2; i++)
			link_event(&s[i]->l, 10);
	for (i = 0; i < 2; i++) {
		check(t, s[i]->l.answer != NO_ANSWER, "login %d is not answered", i);
		accepted += s[i]->l.answer == ACCEPTED;
	}
	saw(t, "%d accepted", accepted);
	check(t, accepted, "neither was accepted");
	serves(t);
}

static long target_memory(struct test *t)
{
	char text[64];

	if (hook(t, "memory", text, sizeof(text)))
		return -1;
	return atol(text);
}

static void check_memory(struct test *t, long before, long allowed)
{
	long now = target_memory(t);

	if (before < 0 || now < 0)
		return;
	saw(t, ", memory of the target grew by %ld kB", now - before);
	check(t, now - before < allowed, "its memory grew by %ld kB", now - before);
}

/* What a peer asks for costs nothing before it is admitted. */
static void run_refused_cost(struct test *t, const void *arg)
{
	struct session *s;
	struct login l;
	long before;
	int i;

	(void)arg;
	serves(t);
	before = target_memory(t);
	for (i = 0; i < 200; i++) {
		s = new_session(t);
		default_login(&l);
		l.iu_len = i & 1 ? 0xffffffff : opt.iu_len;
		l.t_port_id[0] ^= !(i & 1);
		s->l.rx_count = 4;
		try_login(s, &l);
		check(t, s->l.answer == REFUSED, "login %d: %s", i, answer_text(s));
		close_session(s);
	}
	saw(t, "200 refused");
	check_memory(t, before, 8192);
	serves(t);
}

/*
 * Half-open logins
 */

struct half_open {
	struct session	**s;
	unsigned int	accepted;
	unsigned int	refused;
};

static void open_half(struct test *t, struct half_open *h, unsigned int i)
{
	struct login l;
	uint8_t priv[256] = {};
	struct session *s = h->s[i] = new_session(t);

	default_login(&l);
	l.flags |= LOGIN_MULTI;
	check(t, link_open(&s->l, 0) && link_request(&s->l, priv, iu_login(priv, &l)),
	      "login %u: no connection", i);
	while (s->l.answer == NO_ANSWER && link_event(&s->l, opt.timeout_ms) >= 0)
		;
	check(t, s->l.answer == ACCEPTED || s->l.answer == REFUSED, "login %u: %s", i,
	      answer_text(s));
	if (s->l.answer == ACCEPTED)
		h->accepted++;
	else
		h->refused++;
}

static unsigned int still_open(struct half_open *h)
{
	unsigned int i, n = 0;

	for (i = 0; i < opt.half_open; i++) {
		struct link *l = &h->s[i]->l;

		while (l->events && link_event(l, 0) >= 0)
			;
		n += l->answer == ACCEPTED && !l->gone;
	}
	return n;
}

static void run_half_open(struct test *t, const void *arg)
{
	struct half_open h = { .s = calloc(opt.half_open, sizeof(*h.s)) };
	long before = target_memory(t), end = now_ms() + opt.login_timeout_ms;
	unsigned int i, left;

	(void)arg;
	check(t, h.s, "no memory");
	for (i = 0; i < opt.half_open; i++)
		open_half(t, &h, i);
	saw(t, "%u accepted, %u refused", h.accepted, h.refused);
	check_memory(t, before, (long)opt.half_open * 2048);
	while ((left = still_open(&h)) && now_ms() < end)
		nap(200);
	saw(t, ", %u left after the time-out", left);
	free(h.s);
	check(t, !left, "the target keeps %u logins that were never confirmed", left);
	close_sessions(t);
	check_memory(t, before, 16384);
	serves(t);
}

/* A second SRP_LOGIN_REQ, as a message on a channel that is logged in. */
static void run_login_on_channel(struct test *t, const void *arg)
{
	struct session *s = log_in(t);
	struct login l;
	struct iu iu;
	bool ib = opt.ib;

	(void)arg;
	clear_attention(s);
	default_login(&l);
	l.tag = take_tag(s);
	opt.ib = true;
	iu.len = iu_login(iu.b, &l);
	opt.ib = ib;
	must_refuse(s, &iu, l.tag);
}

#define FIELD(_name, _clause, _expected, _what, _value, _may, ...) \
	CASE("login/" _name, _clause, _expected, run_field, \
	     ARG(struct field, .what = _what, .value = _value, .may = _may, __VA_ARGS__))
#define ACCEPT(n, c, w, v)	FIELD(n, c, "accepted, and works", w, v, MAY_ACCEPT)
#define REFUSE(n, c, w, v)	FIELD(n, c, "SRP_LOGIN_REJ", w, v, MAY_REFUSE)
#define REASON(n, c, w, v, r, text) \
	FIELD(n, c, "SRP_LOGIN_REJ, " text, w, v, MAY_REFUSE, .reason = r)
#define ANY(n, c, w, v) \
	FIELD(n, c, "accepted and works, or SRP_LOGIN_REJ", w, v, EITHER)

#define CHANNELS(_name, _expected, _n, _flags, ...) \
	CASE("login/channels/" _name, S_CHANNELS, _expected, run_channels, \
	     ARG(struct channels, .existing = _n, .flags = _flags), __VA_ARGS__)
#define IMM(_name, _expected, ...) \
	CASE("login/immediate/" _name, S_IMM, _expected, run_imm, ARG(struct imm, __VA_ARGS__))
#define NO_IMM	"refused, or accepted without immediate data"
#define STEP(_name, _step) \
	CASE("login/ended/" _name, S_IB, "the target still serves", run_step, ARG(enum step, _step))

static const struct test_case login_group_cases[] = {
	CASE("login/response", S_LOGIN_RSP, "all fields make sense, reserved ones are zero",
	     run_response_form),
	CASE("login/refusal", S_LOGIN_REJ, "tag of the request, reason, supported formats",
	     run_refusal_form),
	ACCEPT("tag/zero", S_LOGIN_REQ, TAG, 0),
	ACCEPT("tag/ones", S_LOGIN_REQ, TAG, ~0ULL),
	ANY("iu-length/0", S_LOGIN_REQ, IU_LEN, 0),
	ANY("iu-length/1", S_LOGIN_REQ, IU_LEN, 1),
	ANY("iu-length/63", S_LOGIN_REQ, IU_LEN, 63),
	ACCEPT("iu-length/64", S_LOGIN_REQ, IU_LEN, 64),
	ACCEPT("iu-length/65", S_LOGIN_REQ, IU_LEN, 65),
	ACCEPT("iu-length/limit-1", S_LOGIN_REQ, UNDER_MAX, 1),
	ACCEPT("iu-length/limit", S_LOGIN_REQ, UNDER_MAX, 0),
	FIELD("iu-length/limit+1", S_LOGIN_REJ,
	      "SRP_LOGIN_REJ, requested length too large; or accepted with a greater limit",
	      OVER_MAX, 1, EITHER, .reason = REJ_IU_LENGTH),
	FIELD("iu-length/limit+64", S_LOGIN_REJ,
	      "SRP_LOGIN_REJ, requested length too large; or accepted with a greater limit",
	      OVER_MAX, 64, EITHER, .reason = REJ_IU_LENGTH),
	FIELD("iu-length/65535", S_LOGIN_REJ,
	      "SRP_LOGIN_REJ, requested length too large; or accepted with such a limit",
	      IU_LEN, 65535, EITHER, .reason = REJ_IU_LENGTH),
	REASON("iu-length/2^31", S_LOGIN_REJ, IU_LEN, 0x80000000, REJ_IU_LENGTH, "too large"),
	REASON("iu-length/2^32-1", S_LOGIN_REJ, IU_LEN, 0xffffffff, REJ_IU_LENGTH, "too large"),
	REFUSE("opcode/SRP_TSK_MGMT", S_IU, OPCODE, SRP_TSK_MGMT),
	REFUSE("opcode/SRP_CMD", S_IU, OPCODE, SRP_CMD),
	REFUSE("opcode/SRP_I_LOGOUT", S_IU, OPCODE, SRP_I_LOGOUT),
	REFUSE("opcode/SRP_LOGIN_RSP", S_IU, OPCODE, SRP_LOGIN_RSP),
	REFUSE("opcode/4", S_IU, OPCODE, 4),
	REFUSE("opcode/255", S_IU, OPCODE, 255),
	ANY("formats/none", S_LOGIN_REQ, FORMAT, 0),
	ACCEPT("formats/direct", S_LOGIN_REQ, FORMAT, 2),
	FIELD("formats/indirect", S_LOGIN_REQ, "accepted, or SRP_LOGIN_REJ, unsupported format",
	      FORMAT, 4, EITHER, .reason = REJ_FORMAT),
	FIELD("formats/bit-0", S_LOGIN_REQ, "accepted, or SRP_LOGIN_REJ, unsupported format",
	      FORMAT, 7, EITHER, .reason = REJ_FORMAT),
	FIELD("formats/bit-3", S_LOGIN_REQ, "accepted, or SRP_LOGIN_REJ, unsupported format",
	      FORMAT, 0xe, EITHER, .reason = REJ_FORMAT),
	FIELD("formats/bit-15", S_LOGIN_REQ, "accepted, or SRP_LOGIN_REJ, unsupported format",
	      FORMAT, 0x8006, EITHER, .reason = REJ_FORMAT),
	FIELD("formats/all", S_LOGIN_REQ, "accepted, or SRP_LOGIN_REJ, unsupported format",
	      FORMAT, 0xffff, EITHER, .reason = REJ_FORMAT),
	ACCEPT("flags/bit-2", S_LOGIN_REQ, FLAGS, 0x04),
	ACCEPT("flags/bit-3", S_LOGIN_REQ, FLAGS, 0x08),
	ACCEPT("flags/logout-solicited", S_SOLICITED, FLAGS, LOGIN_LOSOLNT),
	ACCEPT("flags/credit-solicited", S_SOLICITED, FLAGS, LOGIN_CRSOLNT),
	ACCEPT("flags/event-solicited", S_SOLICITED, FLAGS, LOGIN_AESOLNT),
	ACCEPT("reserved-bytes", S_LOGIN_REQ, JUNK, 0xff),
	REFUSE("cut/0", S_IB, CUT, 0),
	REFUSE("cut/1", S_IB, CUT, 1),
	REFUSE("cut/8", S_IB, CUT, 8),
	REFUSE("cut/12", S_IB, CUT, 12),
	REFUSE("cut/16", S_IB, CUT, 16),
	REFUSE("cut/32", S_IB, CUT, 32),
	REFUSE("cut/40", S_IB, CUT, 40),
	REFUSE("target/zero", S_LOGIN_REQ, T_PORT, 0),
	REFUSE("target/ones", S_LOGIN_REQ, T_PORT, 0xff),
	REFUSE("target/extension", S_LOGIN_REQ, T_EXT, 0x01),
	REFUSE("target/controller", S_LOGIN_REQ, T_IOC, 0x01),
	ANY("initiator/zero", S_LOGIN_REQ, I_PORT, 0),
	ANY("initiator/unknown", S_LOGIN_REQ, I_PORT, 0x77),
	CHANNELS("single-first", "no channel existed", 0, 0),
	CHANNELS("single-after-1", "the channel is terminated", 1, 0),
	CHANNELS("single-after-3", "all channels are terminated", 3, 0, NEEDS(NEED_MULTI)),
	CHANNELS("multi-first", "no channel existed", 0, 1),
	CHANNELS("multi-after-1", "maintained; or terminated, or multichannel refused", 1, 1),
	CHANNELS("multi-after-3", "maintained; or terminated, or refused", 3, 1, NEEDS(NEED_MULTI)),
	CHANNELS("code-2", "SRP_LOGIN_REJ, multichannel action unsupported", 0, 2),
	CHANNELS("code-3", "SRP_LOGIN_REJ, multichannel action unsupported", 0, 3),
	CHANNELS("code-2-after-1", "SRP_LOGIN_REJ, the channel lives on", 1, 2),
	CHANNELS("code-3-after-3", "SRP_LOGIN_REJ, the channels live on", 3, 3, NEEDS(NEED_MULTI)),
	CASE("login/channels/other-nexus", S_CHANNELS, "the channel of another initiator lives on",
	     run_other_nexus, NEEDS(NEED_OTHER)),
	CASE("login/channels/8", S_CHANNELS, "all work, or too many are refused",
	     run_many_channels, ARG(unsigned int, 8), NEEDS(NEED_MULTI)),
	CASE("login/channels/40", S_CHANNELS, "all work, or too many are refused",
	     run_many_channels, ARG(unsigned int, 40), NEEDS(NEED_MULTI)),
	CASE("login/again/20-times", S_CHANNELS, "each ends the one before", run_relogin),
	CASE("login/again/busy", S_CHANNELS, "no data of the old channel moves after it",
	     run_relogin_busy),
	IMM("not-asked", "not offered", .offset = 68),
	IMM("usual", "accepted", .offset = 68, .requested = true, .usable = true),
	IMM("52", "accepted", .offset = 52, .requested = true, .usable = true),
	IMM("80", "accepted", .offset = 80, .requested = true, .usable = true),
	IMM("0", NO_IMM, .offset = 0, .requested = true),
	IMM("1", NO_IMM, .offset = 1, .requested = true),
	IMM("47", NO_IMM, .offset = 47, .requested = true),
	IMM("48", NO_IMM, .offset = 48, .requested = true),
	IMM("51", NO_IMM, .offset = 51, .requested = true),
	IMM("odd", "accepted, with immediate data or without; or refused",
	    .offset = 69, .requested = true, .usable = true),
	IMM("length-4", "accepted", .offset = 4, .from_end = true, .requested = true,
	    .usable = true),
	IMM("length", NO_IMM, .offset = 0, .from_end = true, .requested = true),
	IMM("length+4", NO_IMM, .offset = -4, .from_end = true, .requested = true),
	IMM("65532", NO_IMM, .offset = 65532, .requested = true),
	IMM("65535", NO_IMM, .offset = 65535, .requested = true),
	STEP("after-request", AFTER_REQ),
	STEP("after-reply", AFTER_REP),
	STEP("reply-unanswered", REP_LOST),
	STEP("reply-rejected", REJECT_REP),
	STEP("queue-pair-dies", BREAK_UNCONFIRMED),
	STEP("after-confirmation", AFTER_RTU),
	STEP("after-commands", AFTER_CMD),
	STEP("commands-then-dies", BREAK_CMD),
	CASE("login/early/unconfirmed", S_IB, "commands serve as the confirmation", run_early,
	     ARG(bool, false)),
	CASE("login/early/confirmed-late", S_IB, "commands are answered", run_early,
	     ARG(bool, true)),
	CASE("login/race", S_CHANNELS, "at least one of two logins at once is accepted", run_race),
	CASE("login/on-a-channel", S_LOGIN_REQ, "refused, or disconnected", run_login_on_channel),
	CASE("login/refused-cost-nothing", S_LOGIN_REJ,
	     "200 refused logins leave the target as it was", run_refused_cost),
	CASE("login/half-open", S_IB, "bounded memory; all given up after the target's time-out",
	     run_half_open),
};

GROUP(login_group, "login", "logins and connections");
