// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* Valid messages with a few bytes changed, the same ones in every run. */
#include "invariants.h"
#include "unit.h"

#define ROUNDS	400000

/* xorshift, by Marsaglia; good enough to choose bytes and the same everywhere. */
static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static u32 below(u64 *state, u32 limit)
{
	return (next_random(state) >> 16) % limit;
}

/* Values that sit next to a bound are found more often than by pure chance. */
static void change(struct image *image, u64 *state)
{
	static const u8 likely_bytes[] = { 0, 1, 2, 3, 4, 15, 16, 17, 0x10, 0x20, 0x30, 0x7f,
					   0x80, 0xf0, 0xff };
	u32 at = below(state, image->len);

	switch (below(state, 4)) {
	case 0:
		image->bytes[at] = next_random(state) >> 32;
		return;
	case 1:
		image->bytes[at] = likely_bytes[below(state, sizeof(likely_bytes))];
		return;
	case 2:
		image->bytes[at] += below(state, 2) ? 1 : -1;
		return;
	default:
		image->len = 1 + below(state, image->len + 16 < SAMPLE_ROOM ? image->len + 16 :
							SAMPLE_ROOM);
	}
}

static void random_ius(void **unused)
{
	static const struct srpt_iu_rules lax = { ~0U, 52, SRPT_MAX_ADD_CDB_LEN, true };
	u64 state = 0x5eed5eed5eed5eedULL;
	struct image image;
	u32 round, i;
	u8 *bytes;

	(void)unused;
	for (round = 0; round < ROUNDS; round++) {
		enum sample sample = below(&state, SAMPLE_COUNT);

		make_sample(&image, sample);
		for (i = below(&state, 5); i; i--)
			change(&image, &state);
		bytes = exact_copy(image.bytes, image.len);
		hold_iu(bytes, image.len, round & 1 ? &lax : rules_of_sample(sample));
		free(bytes);
	}
}

static void random_logins(void **unused)
{
	u64 state = 0x10617106171061ULL;
	struct image image;
	u32 round, i;
	u8 *bytes;

	(void)unused;
	for (round = 0; round < ROUNDS / 4; round++) {
		enum srpt_login_layout layout = round & 1 ? SRPT_LOGIN_IB : SRPT_LOGIN_RDMA;

		make_login(&image, layout);
		for (i = below(&state, 4); i; i--)
			change(&image, &state);
		bytes = exact_copy(image.bytes, image.len);
		hold_login(bytes, image.len, layout);
		free(bytes);
	}
}

static void random_names(void **unused)
{
	static const char letters[] = "0123456789abcdefABCDEF::::....xX \n%g";
	static const char *const starts[] = {
		"5054:00ff:fe12:3456", "0xfe80000000000000505400fffe123456",
		"fe80::5054:ff:fe12:3456", "10.0.2.15", "::ffff:10.0.2.15", "0x505400fffe123456",
	};
	u64 state = 0x7e577e577e57ULL;
	char text[40];
	u32 round, i;

	(void)unused;
	for (round = 0; round < ROUNDS / 4; round++) {
		strcpy(text, starts[below(&state, 6)]);
		for (i = below(&state, 4); i; i--)
			text[below(&state, strlen(text))] = letters[below(&state,
									  sizeof(letters) - 1)];
		hold_names(text);
	}
}

void add_random_tests(struct test_list *list)
{
	add_test(list, "random IUs", random_ius, NULL);
	add_test(list, "random logins", random_logins, NULL);
	add_test(list, "random names", random_names, NULL);
}
