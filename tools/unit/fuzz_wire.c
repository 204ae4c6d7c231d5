// SPDX-License-Identifier: GPL-2.0-only
/* Copyright the ib_srpt authors */
/* A libFuzzer target for everything that a peer or an administrator can put into a parser. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_kind.h"
#include "invariants.h"

static const struct srpt_iu_rules plain_rules = { ~0U, 0, SRPT_MAX_ADD_CDB_LEN, false };

static void fuzz_name(const u8 *bytes, size_t len)
{
	char *text = malloc(len + 1);

	memcpy(text, bytes, len);
	text[len] = '\0';
	hold_names(text);
	free(text);
}

static void fuzz_message(unsigned int kind, const u8 *bytes, u32 len)
{
	switch (kind) {
	case FUZZ_IU:
		hold_iu(bytes, len, &sample_rules);
		break;
	case FUZZ_IU_EXT:
		hold_iu(bytes, len, &sample_ext_rules);
		break;
	case FUZZ_IU_PLAIN:
		hold_iu(bytes, len, &plain_rules);
		break;
	case FUZZ_LOGIN_IB:
		hold_login(bytes, len, SRPT_LOGIN_IB);
		break;
	case FUZZ_LOGIN_RDMA:
		hold_login(bytes, len, SRPT_LOGIN_RDMA);
		break;
	default:
		fuzz_name(bytes, len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	u8 *bytes;

	if (!len)
		return 0;
	bytes = malloc(len - 1 ? len - 1 : 1);
	memcpy(bytes, input + 1, len - 1);
	fuzz_message(input[0] % FUZZ_KINDS, bytes, len - 1);
	free(bytes);
	return 0;
}
