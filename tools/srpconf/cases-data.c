// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data, byte for byte: written through one random list of descriptors, read back through another.
 *
 * Copyright the ib_srpt authors
 */
#include <stdio.h>
#include <string.h>

#include "clauses.h"
#include "srpconf.h"

#define MAX_PIECES	255U
#define GAP		24U

enum how { HOW_TABLE, HOW_MEMORY, HOW_SPLIT };

/**
 * struct lists - a transfer there and back
 * @bytes: size, made whole blocks
 * @pieces: descriptors of each list; 0: one direct descriptor
 * @how: where the tables are
 * @tiny: most descriptors are of 1 to 7 bytes, one has the rest
 * @rounds: how often, each with other lists
 */
struct lists {
	uint32_t	bytes;
	uint32_t	pieces;
	enum how	how;
	bool		tiny;
	unsigned int	rounds;
};

struct scatter {
	struct region	*r;
	struct desc	d[MAX_PIECES];
	uint32_t	count;
};

/* The lengths of @n pieces of @bytes altogether, each at least 1. */
static void choose_lengths(struct test *t, struct scatter *sc, uint32_t n, const struct lists *a,
			   uint32_t bytes)
{
	uint32_t left = bytes, i, most;

	for (i = 0; i + 1 < n; i++) {
		most = a->tiny ? 7 : 2 * (left / (n - i));
		if (most > left - (n - i - 1))
			most = left - (n - i - 1);
		sc->d[i].len = 1 + rnd(t, most);
		left -= sc->d[i].len;
	}
	sc->d[n - 1].len = left;
}

/* Memory in which the pieces lie in a random order, none aligned, guard bytes between them. */
static void make_scatter(struct session *s, struct scatter *sc, const struct lists *a,
			 uint32_t bytes)
{
	uint32_t n = a->pieces ? a->pieces : 1, order[MAX_PIECES], i, j, swap;
	size_t at = 0;

	choose_lengths(s->t, sc, n, a, bytes);
	sc->count = n;
	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--) {
		j = rnd(s->t, i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	sc->r = get_region(s, (size_t)bytes + (n + 2) * GAP, REMOTE);
	for (i = 0; i < n; i++) {
		at += 1 + rnd(s->t, GAP - 1);
		sc->d[order[i]].va = (uintptr_t)sc->r->at + at;
		sc->d[order[i]].key = sc->r->mr->rkey;
		at += sc->d[order[i]].len;
	}
}

static uint8_t *place(const struct scatter *sc, uint32_t i)
{
	return (uint8_t *)(uintptr_t)sc->d[i].va;
}

static void spread(const struct scatter *sc, const uint8_t *data)
{
	uint32_t i;

	for (i = 0; i < sc->count; i++) {
		memcpy(place(sc, i), data, sc->d[i].len);
		data += sc->d[i].len;
	}
}

/* Compares, and turns what was right into guard bytes; then everything must be guard bytes. */
static void compare(struct test *t, struct scatter *sc, const uint8_t *data)
{
	uint32_t i, done = 0;

	for (i = 0; i < sc->count; i++) {
		check(t, !memcmp(place(sc, i), data + done, sc->d[i].len),
		      "piece %u of %u (%u bytes at byte %u) is wrong", i, sc->count, sc->d[i].len,
		      done);
		memset(place(sc, i), GUARD, sc->d[i].len);
		done += sc->d[i].len;
	}
	check(t, guard_intact(sc->r, 0, sc->r->len), "bytes between the pieces changed");
}

static void describe(struct session *s, struct buf *b, struct scatter *sc, const struct lists *a)
{
	if (!a->pieces) {
		use_table(b, sc->d, 1);
		b->fmt = FMT_DIRECT;
	} else if (a->how == HOW_TABLE) {
		if (sc->count > most_in_iu())
			skip(s->t, "%u descriptors do not fit an IU", sc->count);
		use_table(b, sc->d, sc->count);
	} else {
		use_ext_table(s, b, sc->d, sc->count,
			      a->how == HOW_SPLIT ? rnd(s->t, sc->count < 100 ? sc->count : 100) : 0);
	}
}

static void one_round(struct session *s, const struct lists *a, uint64_t lba, uint32_t blocks)
{
	static struct scatter from, to;
	struct region *data = get_region(s, (size_t)blocks * target.block, IBV_ACCESS_LOCAL_WRITE);
	struct cmd c;

	rnd_bytes(s->t, data->at, data->len);
	make_scatter(s, &from, a, data->len);
	spread(&from, data->at);
	cmd_write(&c, lba, blocks);
	describe(s, &c.out, &from, a);
	must_be_good(s, &c);
	compare(s->t, &from, data->at);

	make_scatter(s, &to, a, data->len);
	cmd_read(&c, lba, blocks);
	describe(s, &c.in, &to, a);
	must_be_good(s, &c);
	compare(s->t, &to, data->at);
}

static void run_lists(struct test *t, const void *arg)
{
	const struct lists *a = arg;
	uint32_t blocks = (a->bytes + target.block - 1) / target.block;
	struct session *s;
	unsigned int i;

	check(t, blocks < target.blocks / 4, "the scratch unit is too small");
	for (i = 0; i < (a->rounds ? a->rounds : 1); i++) {
		s = log_in(t);
		clear_attention(s);
		one_round(s, a, 64 + rnd(t, target.blocks / 4), blocks);
		close_session(s);
	}
	saw(t, "%u bytes written and read, %u descriptors each", blocks * target.block, a->pieces);
}

/* Reads and writes of all sizes mixed, several at a time, on disjoint blocks. */
static void run_mixed(struct test *t, const void *arg)
{
	struct session *s = log_in(t);
	struct region *w, *r;
	uint32_t blocks = 8, i;
	uint64_t tag[16];
	struct reply rep;
	struct cmd c;

	(void)arg;
	clear_attention(s);
	w = get_region(s, 16ULL * blocks * target.block, REMOTE);
	r = get_region(s, 16ULL * blocks * target.block, REMOTE);
	rnd_bytes(t, w->at, w->len);
	for (i = 0; i < 16; i++) {
		cmd_write(&c, 1024 + i * blocks, blocks);
		c.one = desc_of(w, i * blocks * target.block, blocks * target.block);
		c.out = (struct buf){ .fmt = FMT_DIRECT, .desc = &c.one, .count = 1 };
		tag[i] = submit(s, &c);
	}
	for (i = 0; i < 16; i++) {
		check(t, tag[i] && wait_reply(s, tag[i], &rep), "disconnected");
		check(t, rep.status == GOOD, "WRITE: %s", reply_text(&rep));
	}
	for (i = 0; i < 16; i++) {
		cmd_read(&c, 1024 + i * blocks, blocks);
		c.one = desc_of(r, i * blocks * target.block, blocks * target.block);
		c.in = (struct buf){ .fmt = FMT_DIRECT, .desc = &c.one, .count = 1 };
		tag[i] = submit(s, &c);
	}
	for (i = 0; i < 16; i++) {
		check(t, tag[i] && wait_reply(s, tag[i], &rep), "disconnected");
		check(t, rep.status == GOOD, "READ: %s", reply_text(&rep));
	}
	check(t, !memcmp(w->at, r->at, w->len), "data differ");
}

/* When the response is there, so is the data: looked at without any delay. */
static void run_order(struct test *t, const void *arg)
{
	struct session *s = log_in(t);
	struct region *w, *r;
	struct cmd c;
	int i;

	(void)arg;
	clear_attention(s);
	w = get_region(s, 16ULL * target.block, REMOTE);
	r = get_region(s, 16ULL * target.block, REMOTE);
	for (i = 0; i < 50; i++) {
		rnd_bytes(t, w->at, w->len);
		cmd_write(&c, 2048, 16);
		out_direct(&c, w, w->len);
		must_be_good(s, &c);
		fill_guard(r);
		cmd_read(&c, 2048, 16);
		in_direct(&c, r, r->len);
		must_be_good(s, &c);
		check(t, !memcmp(w->at, r->at, w->len), "round %d: the data came after the response",
		      i);
	}
}

#define LISTS(_name, _clause, ...) \
	CASE("data/" _name, _clause, "the same bytes come back, none besides change", run_lists, \
	     ARG(struct lists, __VA_ARGS__), NEEDS(NEED_SCRATCH))

static const struct test_case data_group_cases[] = {
	LISTS("direct/1-block", S_DIRECT, .bytes = 1, .rounds = 4),
	LISTS("direct/64K", S_DIRECT, .bytes = 65536, .rounds = 2),
	LISTS("direct/1M", S_DIRECT, .bytes = 1 << 20),
	LISTS("direct/1M-and-a-block", S_DIRECT, .bytes = (1 << 20) + 1),
	LISTS("table/2", S_INDIRECT, .bytes = 4096, .pieces = 2, .rounds = 6),
	LISTS("table/3-odd", S_INDIRECT, .bytes = 8192, .pieces = 3, .rounds = 6),
	LISTS("table/16", S_INDIRECT, .bytes = 65536, .pieces = 16, .rounds = 4),
	LISTS("table/64", S_INDIRECT, .bytes = 65536, .pieces = 64, .rounds = 3),
	LISTS("table/255", S_INDIRECT, .bytes = 1 << 18, .pieces = 255, .rounds = 2),
	LISTS("table/255-of-a-block", S_INDIRECT, .bytes = 512, .pieces = 255, .rounds = 2),
	LISTS("table/16-tiny", S_INDIRECT, .bytes = 4096, .pieces = 16, .tiny = true, .rounds = 6),
	LISTS("table/255-tiny", S_INDIRECT, .bytes = 65536, .pieces = 255, .tiny = true,
	      .rounds = 2),
	LISTS("table/2-of-2M", S_INDIRECT, .bytes = 2 << 20, .pieces = 2),
	LISTS("memory-table/2", S_INDIRECT, .bytes = 4096, .pieces = 2, .how = HOW_MEMORY,
	      .rounds = 4),
	LISTS("memory-table/255", S_INDIRECT, .bytes = 1 << 18, .pieces = 255, .how = HOW_MEMORY,
	      .rounds = 2),
	LISTS("memory-table/255-tiny", S_INDIRECT, .bytes = 65536, .pieces = 255,
	      .how = HOW_MEMORY, .tiny = true, .rounds = 2),
	LISTS("split-table/16", S_INDIRECT, .bytes = 65536, .pieces = 16, .how = HOW_SPLIT,
	      .rounds = 4),
	LISTS("split-table/255", S_INDIRECT, .bytes = 1 << 18, .pieces = 255, .how = HOW_SPLIT,
	      .rounds = 3),
	CASE("data/mixed", S_CMD, "the same bytes come back", run_mixed, NEEDS(NEED_SCRATCH)),
	CASE("data/before-the-response", S_CMD, "the data is there when the response is",
	     run_order, NEEDS(NEED_SCRATCH)),
};

GROUP(data_group, "data", "data moved through descriptor lists");
