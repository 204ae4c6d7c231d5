// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task management: each function, each state of the tasks that it is about. It is always answered,
 * and always with response data.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

enum lun { LUN_SCRATCH, LUN_UNKNOWN };

/**
 * struct function - a task management function with nothing to manage
 * @function: its code
 * @lun: the logical unit
 * @codes: response codes that will do, as bits
 */
struct function {
	uint8_t		function;
	enum lun	lun;
	unsigned int	codes;
};

#define OK_		(1U << CODE_OK)
#define FIELDS_		(1U << CODE_FIELDS)
#define UNSUPPORTED_	(1U << CODE_UNSUPPORTED)
#define FAILED_		(1U << CODE_FAILED)

static const uint8_t unknown_lun[8] = { 0, 0xfe };

static struct session *ready(struct test *t)
{
	struct session *s = log_in(t);

	clear_attention(s);
	return s;
}

static const uint8_t *lun_of(enum lun lun)
{
	return lun == LUN_UNKNOWN ? unknown_lun : opt.has_scratch ? opt.scratch : opt.lun;
}

static void run_idle(struct test *t, const void *arg)
{
	const struct function *f = arg;
	struct session *s = ready(t);
	struct reply r;

	task(s, lun_of(f->lun), f->function, 0x5555, &r);
	saw(t, "response code %u", r.code);
	check(t, r.code < 32 && f->codes & 1U << r.code, "another response code");
	check(t, r.status == GOOD, "a status of %#x beside the response code", r.status);
	clear_attention(s);
	works(s);
}

/* A task that has ended is as unknown as one that never was. */
static void run_ended(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct reply r;
	struct cmd c;

	(void)arg;
	cmd_tur(&c);
	must(s, &c, &r);
	task(s, opt.lun, TMF_ABORT_TASK, c.tag, &r);
	saw(t, "response code %u", r.code);
	check(t, r.code == CODE_OK || r.code == CODE_FAILED, "another response code");
	works(s);
}

/* The task may end before it is aborted, or be aborted: then it is never answered. */
static void run_abort_at_once(struct test *t, const void *arg)
{
	const bool *write = arg;
	struct session *s = ready(t);
	struct region *mem = get_region(s, 16ULL * target.block, REMOTE);
	unsigned int ended = 0, aborted = 0;
	struct reply r, cr;
	struct cmd c;
	uint64_t tag;
	int i;

	for (i = 0; i < 100; i++) {
		if (*write)
			cmd_write(&c, 100, 16);
		else
			cmd_read(&c, 100, 16);
		if (*write)
			out_direct(&c, mem, mem->len);
		else
			in_direct(&c, mem, mem->len);
		tag = submit(s, &c);
		task(s, c.lun, TMF_ABORT_TASK, tag, &r);
		check(t, r.code == CODE_OK || r.code == CODE_FAILED, "response code %u", r.code);
		/* An answer comes before that of the abort, or never. */
		if (poll_reply(s, tag, &cr, 0)) {
			ended++;
			check(t, cr.order < r.order || cr.status == TASK_ABORTED,
			      "the task was answered after its abort");
		} else {
			aborted++;
			forget(s, tag);
		}
	}
	saw(t, "%u ended before, %u were aborted", ended, aborted);
	clear_attention(s);
	works(s);
}

/*
 * Tasks that the back end holds
 */

/**
 * struct held - functions on tasks that are in the back end
 * @function: TMF_*
 * @tasks: number of tasks
 * @across: the function comes by another channel of the nexus
 * @out: WRITEs, else READs
 * @close: the connection is ended properly, else the queue pair just dies
 */
struct held {
	uint8_t		function;
	unsigned int	tasks;
	bool		across;
	bool		out;
	bool		close;
};

static void hold_tasks(struct session *s, const struct held *h, struct region *mem, uint64_t *tag)
{
	struct cmd c;
	unsigned int i;

	hold(s->t);
	for (i = 0; i < h->tasks; i++) {
		if (h->out)
			cmd_write(&c, 100 + i * 8, 8);
		else
			cmd_read(&c, 100 + i * 8, 8);
		c.one = desc_of(mem, (size_t)i * 8 * target.block, 8 * target.block);
		*(h->out ? &c.out : &c.in) = (struct buf){
			.fmt = FMT_DIRECT, .desc = &c.one, .count = 1,
		};
		tag[i] = submit(s, &c);
	}
}

/* What became of the tasks once the function was answered with success. */
static void count_ends(struct session *s, const struct held *h, const uint64_t *tag,
		       const struct reply *done)
{
	unsigned int i, ended = 0, aborted = 0;
	struct reply r;

	for (i = 0; i < h->tasks; i++) {
		if (poll_reply(s, tag[i], &r, 0)) {
			ended++;
			check(s->t, h->across || r.order < done->order || r.status == TASK_ABORTED,
			      "a task was answered after the function that ended it");
		} else {
			aborted++;
			forget(s, tag[i]);
		}
	}
	saw(s->t, "; %u tasks ended by themselves, %u did not", ended, aborted);
}

static struct session *second_channel(struct test *t)
{
	struct login l;

	default_login(&l);
	l.flags |= LOGIN_MULTI;
	return log_in_with(t, &l);
}

/* Sends the function while the tasks are held, then lets the back end go on. */
static bool manage(struct session *s, const struct held *h, uint64_t first, struct reply *r)
{
	uint64_t tag = submit_task(s, opt.scratch, h->function, first);
	bool early;

	if (!tag)
		return false;
	early = poll_reply(s, tag, r, 500);
	release(s->t);
	saw(s->t, "answered %s the back end went on", early ? "before" : "after");
	return early || wait_reply(s, tag, r);
}

static void run_held(struct test *t, const void *arg)
{
	const struct held *h = arg;
	struct session *s, *other = NULL;
	struct region *mem;
	uint64_t tag[16];
	struct reply r;

	if (h->across) {
		s = second_channel(t);
		clear_attention(s);
		other = second_channel(t);
	} else {
		s = ready(t);
	}
	mem = get_region(s, 16ULL * 8 * target.block, REMOTE);
	hold_tasks(s, h, mem, tag);
	link_pump(s, 300);
	if (!manage(other ? other : s, h, tag[0], &r))
		fail(t, "disconnected");
	check(t, r.has_code, "answered without response data");
	saw(t, ", response code %u", r.code);
	check(t, r.code == CODE_OK || r.code == CODE_UNSUPPORTED || r.code == CODE_FAILED,
	      "another response code");
	/* Behind this command comes nothing that was sent before. */
	s->wild = r.code != CODE_OK;
	clear_attention(s);
	if (r.code == CODE_OK && h->function != TMF_CLEAR_ACA)
		count_ends(s, h, tag, &r);
	else
		forget_all(s);
	works(s);
}

/* The session ends while a function waits for tasks that the back end holds. */
static void run_held_close(struct test *t, const void *arg)
{
	const struct held *h = arg;
	struct session *s = ready(t);
	struct region *mem = get_region(s, 16ULL * 8 * target.block, REMOTE);
	uint64_t tag[16];

	hold_tasks(s, h, mem, tag);
	submit_task(s, opt.scratch, h->function, tag[0]);
	link_pump(s, 100);
	if (h->close)
		link_disconnect(&s->l);
	else
		link_break(&s->l);
	close_session(s);
	release(t);
	serves(t);
}

/* Another initiator's tasks are not ended by ABORT TASK SET. */
static void run_other_tasks(struct test *t, const void *arg)
{
	const struct held h = { .tasks = 4 };
	struct session *s = ready(t), *other;
	struct region *mem;
	uint64_t tag[16];
	struct login l;
	struct reply r;
	unsigned int i;

	(void)arg;
	default_login(&l);
	memcpy(l.i_port_id, opt.other_id, 16);
	other = log_in_with(t, &l);
	clear_attention(other);
	mem = get_region(other, 16ULL * 8 * target.block, REMOTE);
	hold_tasks(other, &h, mem, tag);
	link_pump(other, 200);
	tag[15] = submit_task(s, opt.scratch, TMF_ABORT_TASK_SET, 0);
	release(t);
	check(t, tag[15] && wait_reply(s, tag[15], &r), "disconnected");
	saw(t, "response code %u", r.code);
	for (i = 0; i < h.tasks; i++) {
		check(t, wait_reply(other, tag[i], &r), "the other initiator was disconnected");
		check(t, r.status == GOOD, "a task of the other initiator: %s", reply_text(&r));
	}
}

/* The credits of aborted tasks come back. */
static void run_abort_credit(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *mem = get_region(s, 16ULL * target.block, REMOTE);
	int64_t before = s->limit;
	struct reply r;
	struct cmd c;
	uint64_t tag;
	int i;

	(void)arg;
	for (i = 0; i < 300; i++) {
		cmd_write(&c, 100, 16);
		out_direct(&c, mem, mem->len);
		tag = submit(s, &c);
		task(s, c.lun, TMF_ABORT_TASK, tag, &r);
		forget(s, tag);
		s->wild = true;
	}
	clear_attention(s);
	saw(t, "limit %lld before, %lld after", (long long)before, (long long)s->limit);
	check(t, s->limit == before, "the limit has drifted");
}

/* A function is sent with the last credit there is. */
static void run_last_credit(struct test *t, const void *arg)
{
	struct session *s = ready(t);
	struct region *mem = get_region(s, 4096, REMOTE);
	struct reply r;
	struct cmd c;

	(void)arg;
	while (s->limit > 1) {
		cmd_inquiry(&c, 36);
		in_direct(&c, mem, 36);
		c.tag = 0;
		check(t, submit(s, &c), "disconnected");
		if (s->waiting > 4000)
			skip(t, "the request limit is above 4000");
	}
	task(s, opt.lun, TMF_ABORT_TASK, 0x5555, &r);
	saw(t, "response code %u", r.code);
	check(t, r.code == CODE_OK || r.code == CODE_FAILED, "another response code");
}

#define ANSWERED "answered with response data"
#define IDLE(_name, _function, _codes, _text) \
	CASE("task/idle/" _name, S_TSK_MGMT, "response data, " _text, run_idle, \
	     ARG(struct function, .function = _function, .codes = _codes))
#define NO_LUN(_name, _function) \
	CASE("task/unknown-lun/" _name, S_TSK_MGMT, "response data, not 'complete'", run_idle, \
	     ARG(struct function, .function = _function, .lun = LUN_UNKNOWN, \
		 .codes = FIELDS_ | UNSUPPORTED_ | FAILED_))
#define HELD(_name, ...) \
	CASE("task/held/" _name, S_SAM, ANSWERED ", no task is answered after it", run_held, \
	     ARG(struct held, __VA_ARGS__), NEEDS(NEED_SCRATCH | NEED_HOOK))
#define ACROSS(_name, ...) \
	CASE("task/across/" _name, S_SAM, ANSWERED ", tasks of the other channel are meant", \
	     run_held, ARG(struct held, .across = true, __VA_ARGS__), \
	     NEEDS(NEED_SCRATCH | NEED_HOOK | NEED_MULTI))
#define CLOSING(_name, ...) \
	CASE("task/closing/" _name, S_SAM, "the target still serves", run_held_close, \
	     ARG(struct held, __VA_ARGS__), NEEDS(NEED_SCRATCH | NEED_HOOK))

static const struct test_case task_group_cases[] = {
	IDLE("abort-task", TMF_ABORT_TASK, OK_ | FAILED_, "complete or failed"),
	IDLE("abort-task-set", TMF_ABORT_TASK_SET, OK_ | UNSUPPORTED_, "complete or unsupported"),
	IDLE("clear-task-set", TMF_CLEAR_TASK_SET, OK_ | UNSUPPORTED_, "complete or unsupported"),
	IDLE("lun-reset", TMF_LUN_RESET, OK_, "complete"),
	IDLE("clear-aca", TMF_CLEAR_ACA, OK_ | UNSUPPORTED_ | FAILED_, "any known code"),
	IDLE("function-0", 0x00, UNSUPPORTED_ | FIELDS_, "not supported, or invalid fields"),
	IDLE("function-3", 0x03, UNSUPPORTED_ | FIELDS_, "not supported, or invalid fields"),
	IDLE("function-16", 0x10, UNSUPPORTED_ | FIELDS_ | OK_, "not supported, or invalid fields"),
	IDLE("function-128", 0x80, UNSUPPORTED_ | FIELDS_, "not supported, or invalid fields"),
	IDLE("function-255", 0xff, UNSUPPORTED_ | FIELDS_, "not supported, or invalid fields"),
	NO_LUN("abort-task-set", TMF_ABORT_TASK_SET),
	NO_LUN("clear-task-set", TMF_CLEAR_TASK_SET),
	NO_LUN("lun-reset", TMF_LUN_RESET),
	NO_LUN("clear-aca", TMF_CLEAR_ACA),
	CASE("task/ended", S_SAM, "response data, complete or failed", run_ended),
	CASE("task/at-once/read", S_SAM, "the task is answered before its abort, or never",
	     run_abort_at_once, ARG(bool, false), NEEDS(NEED_SCRATCH)),
	CASE("task/at-once/write", S_SAM, "the task is answered before its abort, or never",
	     run_abort_at_once, ARG(bool, true), NEEDS(NEED_SCRATCH)),
	CASE("task/credit", S_LIMIT, "the request limit is as before", run_abort_credit,
	     NEEDS(NEED_SCRATCH)),
	CASE("task/last-credit", S_LIMIT, ANSWERED, run_last_credit),
	HELD("abort-read", .function = TMF_ABORT_TASK, .tasks = 1),
	HELD("abort-write", .function = TMF_ABORT_TASK, .tasks = 1, .out = true),
	HELD("abort-task-set", .function = TMF_ABORT_TASK_SET, .tasks = 8),
	HELD("abort-task-set-writes", .function = TMF_ABORT_TASK_SET, .tasks = 8, .out = true),
	HELD("clear-task-set", .function = TMF_CLEAR_TASK_SET, .tasks = 8),
	HELD("lun-reset", .function = TMF_LUN_RESET, .tasks = 8),
	HELD("lun-reset-writes", .function = TMF_LUN_RESET, .tasks = 8, .out = true),
	ACROSS("abort-task", .function = TMF_ABORT_TASK, .tasks = 1),
	ACROSS("abort-task-set", .function = TMF_ABORT_TASK_SET, .tasks = 8),
	ACROSS("lun-reset", .function = TMF_LUN_RESET, .tasks = 8, .out = true),
	CLOSING("disconnect-abort", .function = TMF_ABORT_TASK, .tasks = 4, .close = true),
	CLOSING("disconnect-reset", .function = TMF_LUN_RESET, .tasks = 4, .close = true),
	CLOSING("breaks-abort", .function = TMF_ABORT_TASK, .tasks = 4),
	CLOSING("breaks-reset", .function = TMF_LUN_RESET, .tasks = 4, .out = true),
	CASE("task/other-initiator", S_SAM, "its tasks are not ended by ABORT TASK SET",
	     run_other_tasks, NEEDS(NEED_SCRATCH | NEED_HOOK | NEED_OTHER)),
};

GROUP(task_group, "task", "SRP_TSK_MGMT");
