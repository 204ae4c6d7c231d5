/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What older kernels lack. Included before everything else; each item names what made it
 * needless. Features are probed for in Kbuild, versions are never compared.
 *
 * Copyright the ib_srpt authors
 */
#ifndef SRPT_COMPAT_H
#define SRPT_COMPAT_H

#include <target/target_core_base.h>

/*
 * How commands reach the back end is a choice of the target core since Linux 194605d45dcc
 * ("scsi: target: Have drivers report if they support direct submissions", 6.7). Before, they
 * are submitted directly.
 */
#ifdef SRPT_HAVE_SUBMIT_TYPE
#define SRPT_DIRECT_SUBMIT	.direct_submit_supp = 1,			\
				.default_submit_type = TARGET_DIRECT_SUBMIT,
#else
#define SRPT_DIRECT_SUBMIT
#endif

/*
 * Whether they complete in the context that the back end calls from, likewise: "scsi: target: Add
 * support for completing commands from backend context". Before, a work queue is between.
 */
#ifdef SRPT_HAVE_COMPL_TYPE
#define SRPT_DIRECT_COMPL	.direct_compl_supp = 1,				\
				.default_compl_type = TARGET_DIRECT_COMPL,
#else
#define SRPT_DIRECT_COMPL
#endif

#endif /* SRPT_COMPAT_H */
