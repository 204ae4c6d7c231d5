/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <linux/kernel.h>

#include "names.h"
#include "wire.h"

#define SAMPLE_ROOM	640U

/* A message that is being put together. */
struct image {
	u8	bytes[SAMPLE_ROOM];
	u32	len;
};

/* Messages that are in order; everything that is not is made from one of these. */
enum sample {
	S_PLAIN,
	S_LONG_CDB,
	S_DIRECT_OUT,
	S_DIRECT_IN,
	S_DIRECT_IN_LONG_CDB,
	S_INDIRECT_OUT,
	S_INDIRECT_IN,
	S_INDIRECT_AND_DIRECT,
	S_DIRECT_AND_INDIRECT,
	S_BOTH_DIRECT,
	S_IMM,
	S_IMM_LONG_CDB,
	S_IMM_AND_DIRECT,
	S_EXT_TABLE,
	S_EXT_TABLE_ONLY,
	S_TSK_MGMT,
	S_I_LOGOUT,
	S_CRED_RSP,
	S_AER_RSP,
	SAMPLE_COUNT
};

/* Made so that a field and its neighbours never look alike. */
#define SAMPLE_TAG	0x1122334455667788ULL
#define SAMPLE_TASK_TAG	0x99aabbccddeeff01ULL
#define SAMPLE_GUID	0x525400fffe123456ULL
#define SAMPLE_MAX_DATA	0x100000U

extern const char *const sample_names[SAMPLE_COUNT];
extern const struct srpt_iu_rules sample_rules;
extern const struct srpt_iu_rules sample_ext_rules;
extern const struct srpt_login_rules sample_login_rules;

void put_be16(u8 *at, u16 value);
void put_be32(u8 *at, u32 value);
void put_be64(u8 *at, u64 value);
u16 load_be16(const u8 *at);
u32 load_be32(const u8 *at);
u64 load_be64(const u8 *at);

void make_sample(struct image *image, enum sample sample);
const struct srpt_iu_rules *rules_of_sample(enum sample sample);
void make_login(struct image *image, enum srpt_login_layout layout);

#endif /* SAMPLES_H */
