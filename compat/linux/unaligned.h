/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copyright the ib_srpt authors
 *
 * Linux 5f60d5f6bbc1 ("move asm/unaligned.h to linux/unaligned.h", 6.12) made this needless. The
 * kernel's own folder comes first in the include path, so newer kernels never see this file.
 */
#include <asm/unaligned.h>
