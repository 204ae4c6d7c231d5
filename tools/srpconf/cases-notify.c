// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notifications: solicited events, asynchronous events, and both logouts.
 *
 * Copyright the ib_srpt authors
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

/**
 * struct bits - which notifications a request asks for
 * @bits: SCSOLNT and UCSOLNT
 * @fails: the request ends badly
 * @task: it is an SRP_TSK_MGMT
 */
struct bits {
	uint8_t	bits;
	bool	fails;
	bool	task;
};

/* Arms the completion queue for solicited events only, and forgets the earlier ones. */
static void arm_solicited(struct session *s)
{
	long end = now_ms() + 1000;
	struct cmd c;

	/* The queue is armed for any event yet; that is used up by a last command. */
	s->l.solicited_only = true;
	s->l.wakeups = 0;
	cmd_tur(&c);
	must_be_good(s, &c);
	while (!s->l.wakeups && now_ms() < end)
		link_pump(s, 10);
	link_pump(s, 0);
	s->l.wakeups = 0;
}

/* How many solicited events came. The one of a completion may follow a moment later. */
static unsigned int solicited(struct session *s, bool wait)
{
	struct pollfd pfd = { .fd = s->l.wake->fd, .events = POLLIN };

	if (wait && !s->l.wakeups)
		poll(&pfd, 1, 2000);
	link_pump(s, 0);
	s->l.solicited_only = false;
	return s->l.wakeups;
}

static uint64_t send_with_bits(struct session *s, const struct bits *b)
{
	static struct iu iu;
	struct cmd c;
	uint64_t tag = take_tag(s);

	if (b->task) {
		iu_task(&iu, tag, opt.lun, b->fails ? 0xff : TMF_ABORT_TASK_SET, 0);
		iu.b[1] = b->bits;
	} else {
		cmd_tur(&c);
		c.tag = tag;
		c.sol = b->bits;
		c.cdb[0] = b->fails ? 0xff : 0;
		iu_cmd(&iu, &c, 0);
	}
	check(s->t, post(s, &iu), "disconnected");
	return tag;
}

static void run_bits(struct test *t, const void *arg)
{
	const struct bits *b = arg;
	struct session *s = log_in(t);
	bool asked, said;
	unsigned int came;
	struct reply r;
	uint64_t tag;

	clear_attention(s);
	arm_solicited(s);
	tag = send_with_bits(s, b);
	check(t, wait_reply(s, tag, &r), "disconnected");
	/* Whether it failed is as the target sees it: a function may be unsupported. */
	asked = b->bits & (r.status || r.code ? UCSOLNT : SCSOLNT);
	said = r.sol & SOLNT;
	came = solicited(s, said);
	saw(t, "%s, SOLNT %s, solicited events: %u", reply_text(&r), said ? "set" : "not set", came);
	check(t, asked || !said, "SOLNT is set without having been asked for");
	check(t, said == !!came, said ? "SOLNT, but no solicited event" :
	      "a solicited event without SOLNT");
	if (asked && !said)
		optional(t, "solicited", "solicited notification is not supported");
}

/*
 * SRP_I_LOGOUT
 */

static void logout(struct session *s)
{
	struct iu iu;

	iu_short(&iu, SRP_I_LOGOUT, take_tag(s));
	check(s->t, post(s, &iu), "disconnected before");
}

static void run_i_logout(struct test *t, const void *arg)
{
	const unsigned int *commands = arg;
	struct session *s = log_in(t);
	struct region *r;
	struct cmd c;
	unsigned int i;

	clear_attention(s);
	r = get_region(s, 64, REMOTE);
	for (i = 0; i < *commands && s->limit > 0; i++) {
		cmd_inquiry(&c, 36);
		in_direct(&c, r, 36);
		submit(s, &c);
	}
	logout(s);
	check(t, wait_gone(s), "the target does not disconnect");
	saw(t, "%s, %u requests not answered", s->l.why, s->waiting);
	check(t, !s->logout, "an SRP_T_LOGOUT in answer");
	close_session(s);
	serves(t);
}

/* Behind it comes what is no longer to be looked at. */
static void run_after_logout(struct test *t, const void *arg)
{
	struct session *s = log_in(t);
	struct cmd c;

	(void)arg;
	logout(s);
	cmd_tur(&c);
	submit(s, &c);
	check(t, wait_gone(s), "the target does not disconnect");
	saw(t, "%s", s->l.why);
	close_session(s);
	serves(t);
}

static void run_logout_of_one(struct test *t, const void *arg)
{
	struct session *s[2];
	struct login l;
	int i;

	(void)arg;
	default_login(&l);
	l.flags |= LOGIN_MULTI;
	for (i = 0; i < 2; i++)
		s[i] = log_in_with(t, &l);
	logout(s[0]);
	check(t, wait_gone(s[0]), "the target does not disconnect");
	works(s[1]);
}

/*
 * What the target tells by itself
 */

/**
 * struct ended - an operator ends sessions
 * @action: how
 * @undo: and how to have it as before
 * @flags: of the login
 */
struct ended {
	const char	*action;
	const char	*undo;
	uint8_t		flags;
};

static void check_logout(struct session *s, uint8_t flags)
{
	struct test *t = s->t;
	bool said = s->logout_sol & SOLNT;

	saw(t, "SRP_T_LOGOUT, reason %#x, SOLNT %s", s->logout_reason, said ? "set" : "not set");
	check(t, !said || flags & LOGIN_LOSOLNT, "SOLNT is set without having been asked for");
	if (!said && flags & LOGIN_LOSOLNT)
		optional(t, "solicited", "solicited notification is not supported");
}

static void run_t_logout(struct test *t, const void *arg)
{
	long end = now_ms() + opt.timeout_ms;
	const struct ended *e = arg;
	struct session *s;
	struct login l;

	default_login(&l);
	l.flags = e->flags;
	s = log_in_with(t, &l);
	clear_attention(s);
	undoable_hook(t, e->action, e->undo);
	while (!s->logout && !s->l.gone && now_ms() < end)
		link_pump(s, 1000);
	/* A target may leave it to the initiator to disconnect then. */
	if (s->logout && !wait_gone_ms(s, 5000))
		link_disconnect(&s->l);
	check(t, wait_gone(s), "the channel is not ended");
	if (s->logout)
		check_logout(s, e->flags);
	saw(t, ", %s", s->l.why);
	close_session(s);
	undo(t);
	serves(t);
	if (!s->logout)
		optional(t, "t-logout", "the channel is ended without an SRP_T_LOGOUT");
}

static void check_aer(struct test *t, const struct session *s)
{
	const uint8_t *b = s->aer;

	saw(t, ", sense data of %u bytes, key %x, %02x/%02x", get32(b + 28), b[38] & 0x0f, b[48],
	    b[49]);
	check(t, get32(b + 28) >= 8, "no sense data");
	check(t, !(b[1] & ~SOLNT), "reserved bits of byte 1 are set");
}

/* Something happened to a logical unit. The next command must tell, if nothing else does. */
static void run_aer(struct test *t, const void *arg)
{
	const bool *mute = arg;
	struct session *s = log_in(t);
	struct reply r;
	struct cmd c;

	clear_attention(s);
	s->mute = *mute;
	need_hook(t, "event");
	wait_aer(s);
	cmd_tur(&c);
	memcpy(c.lun, opt.has_scratch ? opt.scratch : opt.lun, 8);
	must(s, &c, &r);
	saw(t, "%u SRP_AER_REQ, then %s", s->aers, reply_text(&r));
	if (s->aers)
		check_aer(t, s);
	check(t, s->aers || (r.status == CHECK_CONDITION && r.key == UNIT_ATTENTION),
	      "neither an SRP_AER_REQ nor a unit attention");
	clear_attention(s);
	works(s);
	if (!s->aers)
		optional(t, "aer", "no SRP_AER_REQ");
}

#define BITS(_name, _expected, ...) \
	CASE("notify/solicited/" _name, S_SOLICITED, _expected, run_bits, \
	     ARG(struct bits, __VA_ARGS__))
#define EVENT "SOLNT and a solicited event, or neither if the target has none"
#define NO_EVENT "no SOLNT and no solicited event"
#define ENDED(_name, _action, _undo, ...) \
	CASE("notify/ended/" _name, S_T_LOGOUT, "SRP_T_LOGOUT and disconnected, or disconnected", \
	     run_t_logout, ARG(struct ended, .action = _action, .undo = _undo, __VA_ARGS__), \
	     NEEDS(NEED_HOOK))

static const struct test_case notify_group_cases[] = {
	BITS("none-good", NO_EVENT, .bits = 0),
	BITS("none-failed", NO_EVENT, .bits = 0, .fails = true),
	BITS("success-good", EVENT, .bits = SCSOLNT),
	BITS("success-failed", NO_EVENT, .bits = SCSOLNT, .fails = true),
	BITS("failure-good", NO_EVENT, .bits = UCSOLNT),
	BITS("failure-failed", EVENT, .bits = UCSOLNT, .fails = true),
	BITS("both-good", EVENT, .bits = SCSOLNT | UCSOLNT),
	BITS("both-failed", EVENT, .bits = SCSOLNT | UCSOLNT, .fails = true),
	BITS("task-none", NO_EVENT, .bits = 0, .task = true),
	BITS("task-success", EVENT, .bits = SCSOLNT, .task = true),
	BITS("task-failure", EVENT, .bits = UCSOLNT, .fails = true, .task = true),
	CASE("notify/logout/idle", S_I_LOGOUT, "disconnected", run_i_logout, ARG(unsigned int, 0)),
	CASE("notify/logout/busy", S_I_LOGOUT, "disconnected", run_i_logout, ARG(unsigned int, 32)),
	CASE("notify/logout/then-a-command", S_I_LOGOUT, "disconnected", run_after_logout),
	CASE("notify/logout/one-channel", S_I_LOGOUT, "the other channel lives on",
	     run_logout_of_one, NEEDS(NEED_MULTI)),
	ENDED("disable", "disable", "enable"),
	ENDED("disable-solicited", "disable", "enable", .flags = LOGIN_LOSOLNT),
	ENDED("no-longer-admitted", "revoke", "admit"),
	ENDED("unload", "unload", "load"),
	CASE("notify/event/answered", S_AER, "SRP_AER_REQ, or a unit attention", run_aer,
	     ARG(bool, false), NEEDS(NEED_HOOK)),
	CASE("notify/event/unanswered", S_AER, "SRP_AER_REQ, or a unit attention", run_aer,
	     ARG(bool, true), NEEDS(NEED_HOOK)),
};

GROUP(notify_group, "notify", "solicited events, asynchronous events, logouts");
