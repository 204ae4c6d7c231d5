#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# ext4 and xfs on a LUN: make, mount, verified I/O from 4 KiB to 1 MiB, direct
# and buffered, unmount, check; the files are still right after a new login.
# smoke: yes
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

make_fs() {
	case $1 in
	ext4) mkfs.ext4 -q -F "$2" ;;
	xfs) mkfs.xfs -q -f "$2" ;;
	esac
}

check_fs() {
	case $1 in
	ext4) e2fsck -fn "$2" ;;
	xfs) xfs_repair -n "$2" ;;
	esac
}

mkdir -p "$WORK/mnt"
simple_target rd_mcp 400
for fs in ext4 xfs; do
	login 10.0.0.1
	disk=/dev/${DISKS[0]}
	check "$fs can be made" make_fs $fs "$disk"
	check "$fs can be mounted" mount -t $fs "$disk" "$WORK/mnt"
	fio_verify "$WORK/mnt/small" --bs=4k --size=4M --iodepth=32
	fio_verify "$WORK/mnt/large" --bs=1M --size=16M --iodepth=4
	fio_verify "$WORK/mnt/buffered" --bs=64k --size=8M --direct=0 --end_fsync=1
	(cd "$WORK/mnt" && sha256sum small large buffered) >"$WORK/sums"
	umount "$WORK/mnt"
	logout "$HOST"
	login 10.0.0.1
	disk=/dev/${DISKS[0]}
	check "$fs is sound" check_fs $fs "$disk"
	check "$fs can be mounted again" mount -t $fs "$disk" "$WORK/mnt"
	check "the files are what they were" sh -c "cd $WORK/mnt && sha256sum -c $WORK/sums"
	umount "$WORK/mnt"
	logout "$HOST"
done
