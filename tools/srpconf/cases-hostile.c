// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA that means harm: at the target's memory, and with keys that do not work when the target uses
 * them. The connection may end; the target may not suffer, nor anybody else.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

static struct session *ready(struct test *t)
{
	struct session *s = log_in(t);

	clear_attention(s);
	return s;
}

/*
 * At the target's memory
 */

/**
 * struct attack - a request that no target may serve
 * @opcode: of the work request
 * @key: remote key; the address is @va
 * @own: our own key and address instead
 * @tries: with other keys each time
 */
struct attack {
	enum ibv_wr_opcode	opcode;
	uint32_t		key;
	uint64_t		va;
	bool			own;
	unsigned int		tries;
};

static void attack(struct session *s, const struct attack *a, struct region *r, unsigned int n)
{
	struct ibv_sge sge = { (uintptr_t)r->at, 64, r->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = a->opcode };
	uint32_t key = n ? rnd(s->t, 1ULL << 32) : a->own ? r->mr->rkey : a->key;
	uint64_t va = a->own ? (uintptr_t)r->at : a->va;

	if (a->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = va & ~7ULL;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = va;
		wr.wr.rdma.rkey = key;
	}
	if (!link_rdma(&s->l, &wr))
		skip(s->t, "the device cannot post such a request");
}

static void one_attack(struct test *t, const struct attack *a, unsigned int n)
{
	long end = now_ms() + opt.timeout_ms;
	struct session *s = new_session(t);
	struct region *r;
	struct login l;

	default_login(&l);
	s->l.force_reads = true;
	check(t, try_login(s, &l) == ACCEPTED, "not accepted: %s", answer_text(s));
	works(s);
	r = get_region(s, 4096, REMOTE);
	attack(s, a, r, n);
	while (!s->l.dma_done && s->l.send_status == IBV_WC_SUCCESS && now_ms() < end)
		link_pump(s, 200);
	if (!n)
		saw(t, "%s", s->l.dma_done ? "done" : ibv_wc_status_str(s->l.send_status));
	check(t, !s->l.dma_done, "the target's memory was reached");
	check(t, s->l.send_status != IBV_WC_SUCCESS, "neither done nor refused");
	check(t, guard_intact(r, 0, r->len), "memory of the target was read");
	close_session(s);
}

static void run_attack(struct test *t, const void *arg)
{
	const struct attack *a = arg;
	unsigned int i;

	for (i = 0; i <= a->tries; i++)
		one_attack(t, a, i);
	serves(t);
}

/*
 * Keys that do not work when the target uses them
 */

enum trap {
	WRONG_KEY, KEY_ZERO, NO_RIGHTS, PAST_THE_END, DEREGISTERED, OTHER_PD, WRONG_ADDRESS,
	DEREGISTERED_LATE, KILLED_LATE,
};

/**
 * struct trap_case - a command whose data cannot be moved
 * @trap: why
 * @out: WRITE, else READ
 * @table: it is the table that cannot be fetched
 */
struct trap_case {
	enum trap	trap;
	bool		out;
	bool		table;
};

static void spoil(struct session *s, const struct trap_case *a, struct region *r, struct desc *d)
{
	struct session *other;

	switch (a->trap) {
	case WRONG_KEY:
		d->key ^= 0x5a5a5a00;
		break;
	case KEY_ZERO:
		d->key = 0;
		break;
	case PAST_THE_END:
		d->va += r->len - 512;
		break;
	case WRONG_ADDRESS:
		d->va = 0x1000;
		break;
	case DEREGISTERED:
		link_forget(&s->l, r);
		break;
	case OTHER_PD:
		other = new_session(s->t);
		check(s->t, link_open(&other->l, 4), "no connection");
		*d = desc_of(get_region(other, r->len, REMOTE), 0, d->len);
		break;
	default:
		break;
	}
}

static int rights(const struct trap_case *a)
{
	if (a->trap != NO_RIGHTS)
		return REMOTE;
	return a->out || a->table ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE :
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
}

static void trap_cmd(struct session *s, const struct trap_case *a, struct cmd *c,
		     struct region *data, struct region *r)
{
	static __thread struct desc d;
	struct buf *b = a->out ? &c->out : &c->in;
	uint32_t blocks = 16, len = blocks * target.block;

	if (a->out)
		cmd_write(c, 200, blocks);
	else
		cmd_read(c, 200, blocks);
	d = desc_of(a->table ? data : r, 0, len);
	use_table(b, &d, 1);
	b->fmt = a->table ? FMT_INDIRECT : FMT_DIRECT;
	if (a->table) {
		put_desc(r->at, &d);
		b->in_iu = 0;
		b->table = desc_of(r, 0, DESC_LEN);
		spoil(s, a, r, &b->table);
	} else {
		spoil(s, a, r, &d);
	}
}

/* The disk holds what it held: a WRITE whose data could not be fetched wrote nothing. */
static void check_disk(struct test *t, uint8_t want)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, 16ULL * target.block, REMOTE);
	struct cmd c;
	size_t i;

	cmd_read(&c, 200, 16);
	in_direct(&c, r, r->len);
	must_be_good(s, &c);
	for (i = 0; i < r->len; i++)
		check(t, r->at[i] == want, "byte %zu on the disk is %#x instead of %#x", i, r->at[i],
		      want);
	close_session(s);
}

static void set_disk(struct test *t, uint8_t value)
{
	struct session *s = ready(t);
	struct region *r = get_region(s, 16ULL * target.block, REMOTE);
	struct cmd c;

	memset(r->at, value, r->len);
	cmd_write(&c, 200, 16);
	out_direct(&c, r, r->len);
	must_be_good(s, &c);
	close_session(s);
}

static void run_trap(struct test *t, const void *arg)
{
	const struct trap_case *a = arg;
	struct reply rep = {};
	struct region *r, *data;
	struct session *s;
	struct cmd c;
	enum end e;

	set_disk(t, 0x3c);
	s = ready(t);
	data = get_region(s, 16ULL * target.block, REMOTE);
	r = get_region(s, 16ULL * target.block, rights(a));
	trap_cmd(s, a, &c, data, r);
	check(t, submit(s, &c), "disconnected before");
	e = end_of(s, c.tag, &rep);
	saw(t, "%s", end_text(e, &rep));
	check(t, e != END_SILENT, "neither a response nor a disconnect");
	check(t, e != END_GOOD, "GOOD, though the data could not be moved");
	if (!a->out && a->trap != PAST_THE_END)
		check(t, guard_intact(data, 0, data->len), "data moved");
	close_session(s);
	check_disk(t, 0x3c);
	serves(t);
}

/* The memory goes, or the queue pair, while the target moves data. */
static void one_late(struct test *t, const struct trap_case *a, int delay)
{
	struct session *s = ready(t);
	struct region *r[8];
	struct cmd c;
	int i;

	for (i = 0; i < 8; i++) {
		r[i] = get_region(s, 64ULL * target.block, REMOTE);
		if (a->out)
			cmd_write(&c, 300 + i * 64, 64);
		else
			cmd_read(&c, 300 + i * 64, 64);
		if (a->out)
			out_direct(&c, r[i], r[i]->len);
		else
			in_direct(&c, r[i], r[i]->len);
		submit(s, &c);
	}
	if (delay)
		nap(delay);
	if (a->trap == KILLED_LATE)
		link_break(&s->l);
	for (i = 0; i < 8; i++)
		link_forget(&s->l, r[i]);
	check(t, wait_all(s) || s->l.gone, "neither all responses nor a disconnect");
	close_session(s);
}

static void run_late(struct test *t, const void *arg)
{
	const struct trap_case *a = arg;
	int i;

	for (i = 0; i < 8; i++)
		one_late(t, a, i * 2);
	saw(t, "8 times");
	serves(t);
}

/* An initiator without receive buffers: responses cannot be delivered. */
static void run_no_receive(struct test *t, const void *arg)
{
	struct session *s = new_session(t);
	struct region *r;
	struct login l;
	struct cmd c;
	int i;

	(void)arg;
	default_login(&l);
	s->l.hold_rx = true;
	check(t, try_login(s, &l) == ACCEPTED, "not accepted");
	r = get_region(s, 64, REMOTE);
	for (i = 0; i < 16 && s->limit > 0; i++) {
		cmd_inquiry(&c, 36);
		in_direct(&c, r, 36);
		submit(s, &c);
	}
	serves_others(t);
	link_break(&s->l);
	close_session(s);
	serves(t);
}

/* Send operations that SRP has no use for. */
static void run_odd_send(struct test *t, const void *arg)
{
	const enum ibv_wr_opcode *opcode = arg;
	struct session *s = ready(t);
	struct region *r = get_region(s, 4096, REMOTE);
	struct ibv_sge sge = { (uintptr_t)r->at, 64, r->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = *opcode };

	memset(r->at, 0xff, 64);
	wr.imm_data = 0x12345678;
	wr.wr.rdma.remote_addr = 0x1000;
	wr.wr.rdma.rkey = 0x1234;
	if (!link_rdma(&s->l, &wr))
		skip(t, "the device cannot post such a request");
	wait_gone_ms(s, 2000);
	saw(t, "%s", s->l.gone ? s->l.why : "still connected");
	close_session(s);
	serves(t);
}

#define ATTACK(_name, ...) \
	CASE("hostile/" _name, S_RDMA, "refused, nothing is moved", run_attack, \
	     ARG(struct attack, __VA_ARGS__))
#define TRAP(_name, _trap, ...) \
	CASE("hostile/trap/" _name, S_RDMA, "an error or disconnected; the disk is as before", \
	     run_trap, ARG(struct trap_case, .trap = _trap, __VA_ARGS__), NEEDS(NEED_SCRATCH))
#define LATE(_name, ...) \
	CASE("hostile/late/" _name, S_RDMA, "the target still serves", run_late, \
	     ARG(struct trap_case, __VA_ARGS__), NEEDS(NEED_SCRATCH))

static const struct test_case hostile_group_cases[] = {
	ATTACK("read/key-0", .opcode = IBV_WR_RDMA_READ, .va = 0x1000),
	ATTACK("read/key-1", .opcode = IBV_WR_RDMA_READ, .key = 1, .va = 0xffff888000000000),
	ATTACK("read/own-key", .opcode = IBV_WR_RDMA_READ, .own = true),
	ATTACK("read/guessed-keys", .opcode = IBV_WR_RDMA_READ, .key = 0x100,
	       .va = 0xffff888001000000, .tries = 15),
	ATTACK("write/key-0", .opcode = IBV_WR_RDMA_WRITE, .va = 0x1000),
	ATTACK("write/key-1", .opcode = IBV_WR_RDMA_WRITE, .key = 1, .va = 0xffff888000000000),
	ATTACK("write/own-key", .opcode = IBV_WR_RDMA_WRITE, .own = true),
	ATTACK("write/guessed-keys", .opcode = IBV_WR_RDMA_WRITE, .key = 0x100,
	       .va = 0xffff888001000000, .tries = 15),
	ATTACK("atomic", .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .key = 1,
	       .va = 0xffff888000000000),
	CASE("hostile/send/write-with-immediate", S_RDMA, "the target still serves", run_odd_send,
	     ARG(enum ibv_wr_opcode, IBV_WR_RDMA_WRITE_WITH_IMM)),
	CASE("hostile/send/with-immediate", S_RDMA, "the target still serves", run_odd_send,
	     ARG(enum ibv_wr_opcode, IBV_WR_SEND_WITH_IMM)),
	CASE("hostile/send/with-invalidate", S_RDMA, "the target still serves", run_odd_send,
	     ARG(enum ibv_wr_opcode, IBV_WR_SEND_WITH_INV)),
	CASE("hostile/no-receive-buffers", S_LIMIT, "the target still serves others",
	     run_no_receive),
	TRAP("read-wrong-key", WRONG_KEY),
	TRAP("read-key-0", KEY_ZERO),
	TRAP("read-wrong-address", WRONG_ADDRESS),
	TRAP("read-no-rights", NO_RIGHTS),
	TRAP("read-past-the-end", PAST_THE_END),
	TRAP("read-deregistered", DEREGISTERED),
	TRAP("read-other-domain", OTHER_PD),
	TRAP("write-wrong-key", WRONG_KEY, .out = true),
	TRAP("write-key-0", KEY_ZERO, .out = true),
	TRAP("write-no-rights", NO_RIGHTS, .out = true),
	TRAP("write-past-the-end", PAST_THE_END, .out = true),
	TRAP("write-deregistered", DEREGISTERED, .out = true),
	TRAP("write-other-domain", OTHER_PD, .out = true),
	TRAP("table-wrong-key", WRONG_KEY, .table = true),
	TRAP("table-no-rights", NO_RIGHTS, .table = true),
	TRAP("table-deregistered", DEREGISTERED, .table = true),
	TRAP("table-of-write-wrong-key", WRONG_KEY, .table = true, .out = true),
	LATE("read-deregistered", .trap = DEREGISTERED_LATE),
	LATE("write-deregistered", .trap = DEREGISTERED_LATE, .out = true),
	LATE("read-queue-pair-dies", .trap = KILLED_LATE),
	LATE("write-queue-pair-dies", .trap = KILLED_LATE, .out = true),
};

GROUP(hostile_group, "hostile", "RDMA that means harm");
