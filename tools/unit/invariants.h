/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef INVARIANTS_H
#define INVARIANTS_H

#include "samples.h"

/* Each ends the program when what a parser said cannot be true of the bytes it was given. */
void hold_iu(const u8 *buf, u32 len, const struct srpt_iu_rules *rules);
void hold_login(const u8 *buf, u32 len, enum srpt_login_layout layout);
void hold_names(const char *text);

#endif /* INVARIANTS_H */
