/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef UNIT_H
#define UNIT_H

/* cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "samples.h"

/* A list of tests that main.c runs. Rows of tables become tests of their own. */
struct test_list {
	struct CMUnitTest	*tests;
	size_t			count;
};

void add_test(struct test_list *list, const char *name, CMUnitTestFunction run, const void *row);

void add_login_tests(struct test_list *list);
void add_iu_tests(struct test_list *list);
void add_build_tests(struct test_list *list);
void add_dm_tests(struct test_list *list);
void add_name_tests(struct test_list *list);
void add_random_tests(struct test_list *list);

/* A copy at the end of an allocation, so that one byte too far is noticed. To be freed. */
u8 *exact_copy(const u8 *bytes, u32 len);

#endif /* UNIT_H */
