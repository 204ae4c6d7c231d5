// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: logins, requests and the responses to them, and the model of the request limit.
 *
 * Copyright the ib_srpt authors
 *
 * The model: a login gives a number of requests, each request takes one, each response gives back
 * what its delta says. No more is ever sent than that, unless a case means to. Every message from
 * the target is looked at: a response must be to a request that waits for one, well formed and not
 * longer than the login said. What is wrong there is noted, and fails the case at its end, whatever
 * else it was about.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srpconf.h"

#define MAX_PENDING	8192U

static void fault(struct session *s, const char *fmt, ...) PRINTF(2);

static void fault(struct session *s, const char *fmt, ...)
{
	va_list args;

	if (s->fault[0])
		return;
	va_start(args, fmt);
	vsnprintf(s->fault, sizeof(s->fault), fmt, args);
	va_end(args);
}

/* Nothing that the target sent on this channel was against the rules. */
void check_model(struct session *s)
{
	if (s->fault[0])
		fail(s->t, "%s", s->fault);
}

/*
 * Logins
 */

void default_login(struct login *l)
{
	memset(l, 0, sizeof(*l));
	l->tag = 0x1122334455667788;
	l->iu_len = opt.iu_len;
	l->fmt = LOGIN_FMT_DIRECT | LOGIN_FMT_INDIRECT;
	l->opcode = SRP_LOGIN_REQ;
	memcpy(l->i_port_id, opt.i_port_id, 16);
	memcpy(l->t_port_id, opt.t_port_id, 16);
}

struct session *new_session(struct test *t)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		fail(t, "no memory");
	s->t = t;
	s->next = t->sessions;
	t->sessions = s;
	s->next_tag = 0xc0de000000000000 | rnd(t, 1ULL << 32) << 12;
	return s;
}

static void read_login_rsp(struct session *s)
{
	const uint8_t *b = s->l.priv;

	if (s->l.priv_len < 52) {
		fault(s, "accepted with %u bytes of private data instead of an SRP_LOGIN_RSP",
		      s->l.priv_len);
		return;
	}
	if (b[0] != SRP_LOGIN_RSP)
		fault(s, "accepted with opcode %#x instead of an SRP_LOGIN_RSP", b[0]);
	if (get64(b + 8) != s->login_tag)
		fault(s, "the SRP_LOGIN_RSP has another tag than the request");
	s->initial = (int32_t)get32(b + 4);
	s->limit = s->initial;
	s->max_it = get32(b + 16);
	s->max_ti = get32(b + 20);
	s->fmt = get16(b + 24);
	s->rsp_flags = b[26];
}

static void read_login_rej(struct session *s)
{
	const uint8_t *b = s->l.priv;

	if (s->l.priv_len < 32 || b[0] != SRP_LOGIN_REJ) {
		fault(s, "refused without an SRP_LOGIN_REJ");
		return;
	}
	s->reason = get32(b + 4);
	s->rej_tag = get64(b + 8);
	if (s->reason < REJ_UNABLE || s->reason > REJ_CHANNEL_LIMIT)
		fault(s, "SRP_LOGIN_REJ with the unknown reason %#x", s->reason);
	if (s->rej_tag != s->login_tag && s->rej_tag)
		fault(s, "the SRP_LOGIN_REJ has another tag than the request");
}

static enum answer ask(struct session *s, const struct login *l)
{
	long end = now_ms() + opt.timeout_ms;
	uint8_t priv[256] = {};
	uint32_t len = iu_login(priv, l);

	/* What is cut off arrives as zeros. */
	memset(priv + len, 0, sizeof(priv) - len);
	s->login_tag = get64(priv + (opt.ib ? 8 : 0));
	if (!link_open(&s->l, s->l.rx_count ? s->l.rx_count : RX_COUNT) ||
	    !link_request(&s->l, priv, len))
		return LOST;
	while (s->l.answer == NO_ANSWER && now_ms() < end)
		link_event(&s->l, end - now_ms());
	if (s->l.answer == ACCEPTED)
		read_login_rsp(s);
	else if (s->l.answer == REFUSED)
		read_login_rej(s);
	if (s->l.answer == ACCEPTED && l->flags & LOGIN_IMM && s->rsp_flags & RSP_IMM)
		s->imm = l->imm;
	return s->l.answer;
}

/* A login whose acceptance is not confirmed: the queue pair is ready, the target does not know. */
enum answer try_unconfirmed(struct session *s, const struct login *l)
{
	if (ask(s, l) == ACCEPTED && !link_established(&s->l))
		s->l.gone = true;
	return s->l.answer;
}

enum answer try_login(struct session *s, const struct login *l)
{
	if (try_unconfirmed(s, l) == ACCEPTED && !s->l.gone)
		link_confirm(&s->l);
	return s->l.answer;
}

static const char *reason_text(uint32_t reason)
{
	static const char *const names[] = {
		"unable to establish the channel", "insufficient resources",
		"requested IU length too large", "unable to associate the channel",
		"unsupported descriptor format", "multichannel action unsupported",
		"channel limit reached",
	};

	return reason >= REJ_UNABLE && reason <= REJ_CHANNEL_LIMIT ? names[reason - REJ_UNABLE] :
								     "unknown reason";
}

const char *answer_text(const struct session *s)
{
	static __thread char text[160];

	switch (s->l.answer) {
	case ACCEPTED:
		snprintf(text, sizeof(text), "accepted, request limit %d, flags %#x",
			 (int)s->initial, s->rsp_flags);
		break;
	case REFUSED:
		snprintf(text, sizeof(text), "SRP_LOGIN_REJ %#x (%s)", s->reason,
			 reason_text(s->reason));
		break;
	case NO_LISTENER:
		snprintf(text, sizeof(text), "rejected by the connection manager, reason %d",
			 s->l.cm_status);
		break;
	case LOST:
		snprintf(text, sizeof(text), "connection failed, status %d", s->l.cm_status);
		break;
	default:
		snprintf(text, sizeof(text), "no answer");
	}
	return text;
}

struct session *log_in_with(struct test *t, const struct login *l)
{
	struct session *s = new_session(t);

	if (try_login(s, l) != ACCEPTED)
		fail(t, "a sound login is not accepted: %s", answer_text(s));
	if (s->l.gone)
		fail(t, "a sound login was accepted and disconnected at once");
	check_model(s);
	return s;
}

struct session *log_in(struct test *t)
{
	struct login l;

	default_login(&l);
	return log_in_with(t, &l);
}

/* With immediate data where the Linux initiator puts it: behind an SRP_CMD and a longer CDB. */
struct session *log_in_imm(struct test *t)
{
	struct session *s;
	struct login l;

	default_login(&l);
	l.flags |= LOGIN_IMM;
	l.imm = CMD_LEN + 16 + 4;
	s = log_in_with(t, &l);
	if (!s->imm)
		fail(t, "immediate data was offered before and is not now");
	return s;
}

/* Frees all that the session has. It remains in the list of its case. */
void close_session(struct session *s)
{
	link_close(&s->l);
	free(s->pending);
	s->pending = NULL;
	s->nr_pending = 0;
}

void close_sessions(struct test *t)
{
	struct session *s;

	while ((s = t->sessions)) {
		t->sessions = s->next;
		close_session(s);
		free(s);
	}
}

/*
 * Messages from the target
 */

static struct pending *find_pending(struct session *s, uint64_t tag)
{
	unsigned int i;

	for (i = 0; i < s->nr_pending; i++)
		if (s->pending[i].busy && s->pending[i].tag == tag)
			return &s->pending[i];
	return NULL;
}

static void add_delta(struct session *s, int32_t delta)
{
	if (delta < 0)
		fault(s, "negative request limit delta %d", delta);
	s->limit += delta;
	s->deltas += delta;
}

static void take_rsp(struct session *s, const uint8_t *b, uint32_t len)
{
	struct pending *p;
	struct reply r;
	const char *wrong = iu_read_rsp(&r, b, len);

	if (wrong) {
		fault(s, "%s", wrong);
		if (len < RSP_LEN)
			return;
	}
	r.order = s->arrivals;
	add_delta(s, r.delta);
	p = find_pending(s, get64(b + 8));
	if (!p) {
		if (!s->wild)
			fault(s, "an SRP_RSP to no request (tag %#llx)",
			      (unsigned long long)get64(b + 8));
		return;
	}
	if (p->answered) {
		if (!s->wild)
			fault(s, "a second SRP_RSP to a request");
		return;
	}
	p->answered = true;
	p->reply = r;
	s->waiting--;
}

/* A request of the target's, which has to be answered. It costs no credit. */
static void answer_target(struct session *s, const uint8_t *b, uint8_t opcode)
{
	static __thread struct iu iu;

	if (s->mute)
		return;
	iu_short(&iu, opcode, get64(b + 8));
	link_send(s, iu.b, iu.len);
}

static void take_logout(struct session *s, const uint8_t *b)
{
	s->logout = true;
	s->logout_sol = b[1];
	s->logout_reason = get32(b + 4);
}

void session_received(struct session *s, const uint8_t *b, uint32_t len)
{
	if (len < 16) {
		fault(s, "a message of %u bytes", len);
		return;
	}
	if (len > s->max_ti)
		fault(s, "a message of %u bytes where the login said %u at most", len, s->max_ti);
	s->arrivals++;
	switch (b[0]) {
	case SRP_RSP:
		take_rsp(s, b, len);
		break;
	case SRP_CRED_REQ:
		s->cred_reqs++;
		add_delta(s, get32(b + 4));
		answer_target(s, b, SRP_CRED_RSP);
		break;
	case SRP_AER_REQ:
		s->aers++;
		memcpy(s->aer, b, len < sizeof(s->aer) ? len : sizeof(s->aer));
		add_delta(s, get32(b + 4));
		answer_target(s, b, SRP_AER_RSP);
		break;
	case SRP_T_LOGOUT:
		take_logout(s, b);
		break;
	default:
		fault(s, "a message with opcode %#x", b[0]);
	}
}

/*
 * Requests
 */

uint64_t take_tag(struct session *s)
{
	return s->next_tag++;
}

static void remember(struct session *s, uint64_t tag)
{
	unsigned int i;

	if (!s->pending)
		s->pending = calloc(MAX_PENDING, sizeof(*s->pending));
	if (!s->pending)
		fail(s->t, "no memory");
	for (i = 0; i < s->nr_pending && s->pending[i].busy; i++)
		;
	if (i == MAX_PENDING)
		fail(s->t, "too many requests are not answered");
	if (i == s->nr_pending)
		s->nr_pending++;
	s->pending[i] = (struct pending){ .tag = tag, .busy = true };
	s->waiting++;
}

void forget(struct session *s, uint64_t tag)
{
	struct pending *p = find_pending(s, tag);

	if (!p)
		return;
	if (!p->answered)
		s->waiting--;
	p->busy = false;
}

void forget_all(struct session *s)
{
	s->nr_pending = 0;
	s->waiting = 0;
}

static void wait_limit(struct session *s)
{
	long end = now_ms() + opt.timeout_ms;

	while (s->limit <= 0 && !s->l.gone && now_ms() < end)
		link_pump(s, 200);
	if (s->limit <= 0 && !s->l.gone)
		fail(s->t, "the request limit is %lld with %u requests out, and stays there",
		     (long long)s->limit, s->waiting);
}

static bool is_request(const struct iu *iu)
{
	return iu->len && (iu->b[0] & 0xc0) == 0 && iu->b[0] != SRP_I_LOGOUT;
}

/*
 * Sends a message, a request within the limit, and remembers that it has to be answered. A message
 * without a tag can be nothing but wrong. False if the connection is gone.
 */
bool post(struct session *s, const struct iu *iu)
{
	bool request = is_request(iu) || iu->len < 16;

	if (request && !s->overrun)
		wait_limit(s);
	if (s->l.gone)
		return false;
	if (request)
		s->limit--;
	if (is_request(iu) && iu->len >= 16)
		remember(s, get64(iu->b + 8));
	if (link_send(s, iu->b, iu->len))
		return true;
	if (is_request(iu) && iu->len >= 16)
		forget(s, get64(iu->b + 8));
	return false;
}

/* The response to a request, within @ms milliseconds; false: none, or the connection is gone. */
bool poll_reply(struct session *s, uint64_t tag, struct reply *r, int ms)
{
	struct pending *p = find_pending(s, tag);
	long end = now_ms() + ms;

	if (!p)
		return false;
	link_pump(s, 0);
	while (!p->answered && !s->l.gone && now_ms() < end)
		link_pump(s, end - now_ms());
	if (!p->answered && s->l.gone)
		link_pump(s, 0);
	if (!p->answered)
		return false;
	*r = p->reply;
	p->busy = false;
	while (s->nr_pending && !s->pending[s->nr_pending - 1].busy)
		s->nr_pending--;
	return true;
}

/* The same; no response within the bound fails the case. False: the connection is gone. */
bool wait_reply(struct session *s, uint64_t tag, struct reply *r)
{
	if (poll_reply(s, tag, r, opt.timeout_ms))
		return true;
	if (!s->l.gone)
		fail(s->t, "no response within %d s", opt.timeout_ms / 1000);
	return false;
}

/* Until all requests are answered; false if that does not happen within the bound. */
bool wait_all(struct session *s)
{
	long end = now_ms() + opt.timeout_ms;

	while (s->waiting && !s->l.gone && now_ms() < end)
		link_pump(s, end - now_ms());
	return !s->waiting;
}

bool wait_gone_ms(struct session *s, int ms)
{
	long end = now_ms() + ms;

	while (!s->l.gone && now_ms() < end)
		link_pump(s, end - now_ms());
	return s->l.gone;
}

bool wait_gone(struct session *s)
{
	return wait_gone_ms(s, opt.timeout_ms);
}

/* An SRP_AER_REQ comes, or not: a target need not send any. */
void wait_aer(struct session *s)
{
	long end = now_ms() + 3000;

	while (!s->aers && !s->l.gone && now_ms() < end)
		link_pump(s, end - now_ms());
}
