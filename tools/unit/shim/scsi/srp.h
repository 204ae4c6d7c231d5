/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
/*
 * The formats are those of the kernel itself: the Makefile looks for a copy of its
 * <scsi/srp.h> and gives the path in SRP_H.
 */
#include SRP_H
