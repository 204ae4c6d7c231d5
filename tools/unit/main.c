// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* Gathers the tests of all files into one group, so that one summary counts them all. */
#include "unit.h"

void add_test(struct test_list *list, const char *name, CMUnitTestFunction run, const void *row)
{
	struct CMUnitTest test = {
		.name = name, .test_func = run, .initial_state = (void *)row,
	};

	list->tests = realloc(list->tests, (list->count + 1) * sizeof(test));
	if (!list->tests)
		abort();
	list->tests[list->count++] = test;
}

u8 *exact_copy(const u8 *bytes, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	return copy;
}

int main(void)
{
	struct test_list list = { NULL, 0 };
	int failed;

	add_login_tests(&list);
	add_iu_tests(&list);
	add_build_tests(&list);
	add_dm_tests(&list);
	add_name_tests(&list);
	add_random_tests(&list);
	failed = _cmocka_run_group_tests("ib_srpt unit tests", list.tests, list.count, NULL, NULL);
	free(list.tests);
	return failed ? 1 : 0;
}
