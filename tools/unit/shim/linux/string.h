/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#include <string.h>
