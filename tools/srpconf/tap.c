// SPDX-License-Identifier: GPL-2.0-only
/*
 * One case: how it ends. All cases: TAP version 13, a summary, and the same as JSON.
 *
 * Copyright the ib_srpt authors
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpconf.h"

#define MAX_RESULTS	1024

struct outcome {
	const struct test_case	*c;
	enum result		result;
	char			*saw;
	char			*why;
	int			ms;
};

static struct outcome outcomes[MAX_RESULTS];
static unsigned int nr_outcomes;

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* For what has no event to wait for; @ms is short. */
void nap(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

void fail(struct test *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
	t->result = FAILED;
	longjmp(t->out, 1);
}

void skip(struct test *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
	t->result = SKIPPED;
	longjmp(t->out, 1);
}

/* Adds to what the case says that it saw. */
void saw(struct test *t, const char *fmt, ...)
{
	size_t at = strlen(t->saw);
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->saw + at, sizeof(t->saw) - at, fmt, args);
	va_end(args);
}

/* xorshift64*, so that a seed means the same everywhere. */
uint64_t rnd(struct test *t, uint64_t below)
{
	t->rng ^= t->rng >> 12;
	t->rng ^= t->rng << 25;
	t->rng ^= t->rng >> 27;
	return below ? (t->rng * 0x2545f4914f6cdd1dULL >> 16) % below : 0;
}

void rnd_bytes(struct test *t, void *to, size_t len)
{
	uint8_t *at = to;
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		if (!(i & 3))
			v = rnd(t, 1ULL << 32);
		at[i] = v >> (i & 3) * 8;
	}
}

static const char *missing(unsigned int needs)
{
	if (needs & NEED_SCRATCH && !opt.has_scratch)
		return "no --scratch-lun";
	if (needs & NEED_HOOK && !opt.hook)
		return "no --hook";
	if (needs & NEED_IMM && !target.imm)
		return "the target does not offer immediate data";
	if (needs & NEED_MULTI && !target.multi)
		return "the target does not take several channels";
	if (needs & NEED_OTHER && !opt.has_other)
		return "no --other-initiator";
	return NULL;
}

static void run_guarded(struct test *t)
{
	struct session *s;

	if (setjmp(t->out))
		return;
	if (missing(t->c->needs))
		skip(t, "%s", missing(t->c->needs));
	t->c->run(t, t->c->arg);
	for (s = t->sessions; s; s = s->next)
		check_model(s);
}

/* What a case did to the target does not outlive it. */
static void clean_up(struct test *t)
{
	if (!setjmp(t->out))
		undo(t);
	close_sessions(t);
}

/* The random numbers of a case do not depend on which cases ran before it. */
static uint64_t case_seed(const struct test_case *c, uint64_t seed)
{
	uint64_t hash = 0xcbf29ce484222325 ^ seed * 0x9e3779b97f4a7c15;
	const char *p;

	for (p = c->name; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3;
	return hash ? hash : 1;
}

void run_case(struct test *t, const struct test_case *c, uint64_t seed)
{
	long start = now_ms();

	memset(t, 0, sizeof(*t));
	t->c = c;
	t->rng = case_seed(c, seed);
	run_guarded(t);
	clean_up(t);
	t->ms = now_ms() - start;
}

void tap_plan(unsigned int count)
{
	printf("TAP version 13\n1..%u\n", count);
}

/* One line, without what YAML or TAP would take for something else. */
static void yaml(const char *key, const char *value)
{
	const char *p;

	printf("  %s: \"", key);
	for (p = value; *p; p++)
		if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else
			putchar((uint8_t)*p < 32 ? ' ' : *p);
	puts("\"");
}

static void keep(const struct test *t)
{
	if (nr_outcomes == MAX_RESULTS)
		return;
	outcomes[nr_outcomes++] = (struct outcome){
		t->c, t->result, strdup(t->saw), strdup(t->why), t->ms,
	};
}

void tap_case(const struct test *t)
{
	keep(t);
	printf("%s %u - %s", t->result == FAILED ? "not ok" : "ok", nr_outcomes, t->c->name);
	if (t->result == SKIPPED)
		printf(" # SKIP %s", t->why);
	putchar('\n');
	if (t->result != SKIPPED) {
		puts("  ---");
		yaml("clause", t->c->clause);
		yaml("expected", t->c->expected);
		yaml("saw", t->saw[0] || t->result == FAILED ? t->saw : "as expected");
		if (t->result == FAILED)
			yaml("wrong", t->why);
		printf("  duration_ms: %d\n  ...\n", t->ms);
	}
	fflush(stdout);
}

static bool same_group(const char *a, const char *b)
{
	size_t len = strcspn(a, "/");

	return len == strcspn(b, "/") && !strncmp(a, b, len);
}

/* One line of the table: a group, whose cases are together. Returns where the next begins. */
static unsigned int summary_line(unsigned int from, unsigned int *total)
{
	unsigned int n[3] = {}, i;

	for (i = from; i < nr_outcomes && same_group(outcomes[from].c->name, outcomes[i].c->name); i++)
		n[outcomes[i].result]++;
	printf("# %-10.*s %6u %6u %7u %6u\n", (int)strcspn(outcomes[from].c->name, "/"),
	       outcomes[from].c->name, i - from, n[PASSED], n[SKIPPED], n[FAILED]);
	total[PASSED] += n[PASSED];
	total[FAILED] += n[FAILED];
	total[SKIPPED] += n[SKIPPED];
	return i;
}

static void list_failed(void)
{
	unsigned int i;

	for (i = 0; i < nr_outcomes; i++)
		if (outcomes[i].result == FAILED)
			printf("# failed: %s: %s\n", outcomes[i].c->name, outcomes[i].why);
}

static void json_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((uint8_t)*s < 32)
			fprintf(f, "\\u%04x", *s);
		else
			fputc(*s, f);
	fputc('"', f);
}

static void json_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, "\"%s\": ", key);
	json_string(f, value);
	fputs(", ", f);
}

static void json_outcome(FILE *f, const struct outcome *o)
{
	static const char *const results[] = { "passed", "failed", "skipped" };

	fputs("    {", f);
	json_member(f, "name", o->c->name);
	json_member(f, "result", results[o->result]);
	json_member(f, "clause", o->c->clause);
	json_member(f, "expected", o->c->expected);
	json_member(f, "saw", o->saw);
	json_member(f, "why", o->why);
	fprintf(f, "\"ms\": %d}", o->ms);
}

static bool write_json(const char *name)
{
	FILE *f = fopen(name, "w");
	unsigned int i;

	if (!f) {
		perror(name);
		return false;
	}
	fprintf(f, "{\n  \"seed\": %llu,\n  \"cases\": [\n", (unsigned long long)opt.seed);
	for (i = 0; i < nr_outcomes; i++) {
		json_outcome(f, &outcomes[i]);
		fputs(i + 1 < nr_outcomes ? ",\n" : "\n", f);
	}
	fputs("  ]\n}\n", f);
	return !fclose(f);
}

/* The summary. Returns the exit status. */
int tap_end(const char *json)
{
	unsigned int total[3] = {}, i = 0;

	puts("# group       cases passed skipped failed");
	while (i < nr_outcomes)
		i = summary_line(i, total);
	printf("# %-10s %6u %6u %7u %6u\n", "all", nr_outcomes, total[PASSED], total[SKIPPED],
	       total[FAILED]);
	list_failed();
	if (json && !write_json(json))
		return 2;
	return total[FAILED] || !total[PASSED];
}
