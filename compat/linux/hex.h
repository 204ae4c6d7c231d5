/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copyright the ib_srpt authors
 *
 * Kernels before <linux/hex.h> have hex2bin() in <linux/kernel.h>. The kernel's own folder comes
 * first in the include path, so newer kernels never see this file.
 */
#include <linux/kernel.h>
