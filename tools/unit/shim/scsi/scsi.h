/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the ib_srpt authors */
#ifndef SHIM_SCSI_SCSI_H
#define SHIM_SCSI_SCSI_H

#include <linux/types.h>

struct scsi_lun {
	__u8 scsi_lun[8];
};

#endif /* SHIM_SCSI_SCSI_H */
