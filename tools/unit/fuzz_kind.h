/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef FUZZ_KIND_H
#define FUZZ_KIND_H

/* The first byte of a fuzzer's input says what the rest is taken for. */
enum fuzz_kind {
	FUZZ_IU,
	FUZZ_IU_EXT,
	FUZZ_IU_PLAIN,
	FUZZ_LOGIN_IB,
	FUZZ_LOGIN_RDMA,
	FUZZ_NAME,
	FUZZ_KINDS
};

#endif /* FUZZ_KIND_H */
