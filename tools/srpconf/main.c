// SPDX-License-Identifier: GPL-2.0-only
/*
 * srpconf: does an SRP target keep to the standard? Options, and one case after the other.
 *
 * Copyright the ib_srpt authors
 */
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "srpconf.h"

#define MAX_GLOBS	64
#define CASE_SECONDS	900	/* far above what a case can take with its bounds at default */

struct options opt = {
	.address = "10.0.0.1", .service = "5555", .pkey = 0xffff, .seconds = 60, .count = 20000,
	.half_open = 1000, .timeout_ms = 30000, .login_timeout_ms = 180000,
};
struct target target;

static const struct group *const groups[] = {
	&login_group, &command_group, &data_group, &task_group,
	&credit_group, &notify_group, &hostile_group, &fuzz_group,
};

static const char *globs[MAX_GLOBS], *json;
static int nr_globs;
static bool list, no_skips;
static const char *running = "the first login";

static const struct test_case probe = {
	.name = "probe", .clause = "", .expected = "", .run = probe_target,
};

enum { OPT_LIST = 256, OPT_RUN, OPT_IB, OPT_PKEY, OPT_LUN, OPT_SCRATCH, OPT_OTHER, OPT_HOOK,
       OPT_JSON, OPT_SEED, OPT_TIME, OPT_COUNT, OPT_HALF_OPEN, OPT_TIMEOUT, OPT_LOGIN_TIMEOUT,
       OPT_IU, OPT_TARGET, OPT_NO_SKIPS, OPT_REQUIRE };

static const struct option options[] = {
	{ "address", required_argument, NULL, 'a' },
	{ "service", required_argument, NULL, 'p' },
	{ "guid", required_argument, NULL, 'g' },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "initiator", required_argument, NULL, 'i' },
	{ "other-initiator", required_argument, NULL, OPT_OTHER },
	{ "ib", no_argument, NULL, OPT_IB },
	{ "pkey", required_argument, NULL, OPT_PKEY },
	{ "lun", required_argument, NULL, OPT_LUN },
	{ "scratch-lun", required_argument, NULL, OPT_SCRATCH },
	{ "hook", required_argument, NULL, OPT_HOOK },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "run", required_argument, NULL, OPT_RUN },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "half-open", required_argument, NULL, OPT_HALF_OPEN },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "login-timeout", required_argument, NULL, OPT_LOGIN_TIMEOUT },
	{ "iu-length", required_argument, NULL, OPT_IU },
	{ "require", required_argument, NULL, OPT_REQUIRE },
	{ "no-skips", no_argument, NULL, OPT_NO_SKIPS },
	{ "help", no_argument, NULL, 'h' },
	{}
};

static const char usage_text[] =
	"srpconf [OPTION...] [--run GLOB...]\n"
	"  -a, --address ADDRESS       of the target: IPv4, IPv6, or its GID with --ib (10.0.0.1)\n"
	"  -p, --service SERVICE       its port, or service ID in hex with --ib (5555)\n"
	"      --ib                    IB/CM through AF_IB addresses instead of RDMA/CM\n"
	"      --pkey PKEY             partition key with --ib, hex (ffff)\n"
	"  -g, --guid GUID             both halves of the target port ID, 16 hex digits\n"
	"      --target ID             the target port ID, 32 hex digits\n"
	"  -i, --initiator ID          initiator port ID that the target admits, 32 hex digits\n"
	"      --other-initiator ID    another one\n"
	"      --lun N                 logical unit for what only reads (0)\n"
	"      --scratch-lun N         logical unit that may be overwritten (none)\n"
	"      --hook COMMAND          makes things happen at the target, see srpconf(8) (none)\n"
	"      --list                  print the cases and end\n"
	"      --run GLOB              cases to run; may be given more than once (all)\n"
	"      --json FILE             results for programs\n"
	"      --seed N                of everything random (the time)\n"
	"      --time SECONDS          how long fuzzing lasts (60)\n"
	"      --count N               commands of the long credit cases (20000)\n"
	"      --half-open N           logins of the half-open case (1000)\n"
	"      --timeout SECONDS       bound of a wait for the target (30)\n"
	"      --login-timeout SECONDS bound of a wait for it to give up on a login (180)\n"
	"      --iu-length N           IU length of usual logins (the most that is accepted of\n"
	"                              8260, 2116, 580, 64)\n"
	"      --require FEATURE,...   of solicited, t-logout, aer: fail where the target lacks it\n"
	"      --no-skips              a case that is skipped counts as failed\n"
	"The exit status is 0 if cases ran and none failed, 1 if one failed, 2 if srpconf itself\n"
	"cannot go on.\n";

static void die(const char *what, const char *value)
{
	fprintf(stderr, "srpconf: %s%s%s\n", what, value ? ": " : "", value ? value : "");
	exit(2);
}

static void hex(uint8_t *to, size_t size, const char *text)
{
	const char *at = strncmp(text, "0x", 2) ? text : text + 2;
	unsigned int byte;
	size_t i;

	if (strlen(at) != 2 * size || strspn(at, "0123456789abcdefABCDEF") != 2 * size)
		die("hex digits expected", text);
	for (i = 0; i < size; i++) {
		sscanf(at + 2 * i, "%2x", &byte);
		to[i] = byte;
	}
}

static unsigned long number(const char *text, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end || n > max)
		die("bad number", text);
	return n;
}

static void lun_number(uint8_t *to, const char *text)
{
	unsigned long n = number(text, 0x3fff);

	memset(to, 0, 8);
	to[0] = n > 255 ? 0x40 | n >> 8 : 0;
	to[1] = n;
}

static void guid(const char *text)
{
	hex(opt.t_port_id, 8, text);
	memcpy(opt.t_port_id + 8, opt.t_port_id, 8);
}

static void add_glob(const char *text)
{
	if (nr_globs == MAX_GLOBS)
		die("too many --run", NULL);
	globs[nr_globs++] = text;
}

static void who_option(int c)
{
	switch (c) {
	case 'a': opt.address = optarg; break;
	case 'p': opt.service = optarg; break;
	case 'g': guid(optarg); break;
	case 'i': hex(opt.i_port_id, 16, optarg); break;
	case OPT_TARGET: hex(opt.t_port_id, 16, optarg); break;
	case OPT_OTHER: hex(opt.other_id, 16, optarg); opt.has_other = true; break;
	case OPT_IB: opt.ib = true; break;
	case OPT_PKEY: opt.pkey = strtoul(optarg, NULL, 16); break;
	case OPT_LUN: lun_number(opt.lun, optarg); break;
	case OPT_SCRATCH: lun_number(opt.scratch, optarg); opt.has_scratch = true; break;
	case OPT_HOOK: opt.hook = optarg; break;
	case 'h': fputs(usage_text, stdout); exit(0);
	default: fputs(usage_text, stderr); exit(2);
	}
}

static void one_option(int c)
{
	switch (c) {
	case OPT_LIST: list = true; break;
	case OPT_RUN: add_glob(optarg); break;
	case OPT_JSON: json = optarg; break;
	case OPT_SEED: opt.seed = strtoull(optarg, NULL, 0); break;
	case OPT_TIME: opt.seconds = number(optarg, 86400); break;
	case OPT_COUNT: opt.count = number(optarg, 1000000000); break;
	case OPT_HALF_OPEN: opt.half_open = number(optarg, 100000); break;
	case OPT_TIMEOUT: opt.timeout_ms = number(optarg, 3600) * 1000; break;
	case OPT_LOGIN_TIMEOUT: opt.login_timeout_ms = number(optarg, 3600) * 1000; break;
	case OPT_IU: opt.iu_len = number(optarg, IU_ROOM); break;
	case OPT_REQUIRE: opt.required = optarg; break;
	case OPT_NO_SKIPS: no_skips = true; break;
	default: who_option(c);
	}
}

static bool wanted(const char *name)
{
	int i;

	for (i = 0; i < nr_globs; i++)
		if (!fnmatch(globs[i], name, 0))
			return true;
	return !nr_globs;
}

/* Calls @f for each case that is wanted; returns their number. */
static unsigned int for_each(void (*f)(const struct test_case *c))
{
	unsigned int n = 0;
	size_t g, i;

	for (g = 0; g < ARRAY_SIZE(groups); g++) {
		for (i = 0; i < groups[g]->count; i++) {
			if (!wanted(groups[g]->cases[i].name))
				continue;
			n++;
			if (f)
				f(&groups[g]->cases[i]);
		}
	}
	return n;
}

static void list_one(const struct test_case *c)
{
	printf("%-44s %s; %s\n", c->name, c->clause, c->expected);
}

/* The last resort: a case that does not end although each of its waits has a bound. */
static void stuck(int sig)
{
	static const char text[] = "\nBail out! a case does not end: ";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDOUT_FILENO, running, strlen(running)) < 0 ||
	    write(STDOUT_FILENO, "\n", 1) < 0)
		_exit(2);
	_exit(2);
}

static void run_one(const struct test_case *c)
{
	static struct test t;

	running = c->name;
	alarm((unsigned int)(opt.timeout_ms / 30000 + 1) * CASE_SECONDS + 2 * opt.seconds);
	run_case(&t, c, opt.seed);
	if (t.result == SKIPPED && no_skips)
		t.result = FAILED;
	tap_case(&t);
}

static void run_probe(void)
{
	static struct test t;

	alarm((unsigned int)(opt.timeout_ms / 30000 + 1) * CASE_SECONDS);
	run_case(&t, &probe, opt.seed);
	printf("# target: %s\n", t.saw);
	if (t.result == FAILED) {
		printf("Bail out! %s\n", t.why);
		exit(2);
	}
}

/* Each connection has a file or two. */
static void allow_many_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
	int c;

	opt.seed = time(NULL);
	memset(opt.i_port_id, 0, 16);
	while ((c = getopt_long(argc, argv, "a:p:g:i:h", options, NULL)) != -1)
		one_option(c);
	for (; optind < argc; optind++)
		add_glob(argv[optind]);
	if (!for_each(NULL))
		die("no case of that name", globs[0]);
	if (list) {
		for_each(list_one);
		return 0;
	}
	signal(SIGALRM, stuck);
	allow_many_files();
	tap_plan(for_each(NULL));
	printf("# seed %llu\n", (unsigned long long)opt.seed);
	run_probe();
	for_each(run_one);
	return tap_end(json);
}
