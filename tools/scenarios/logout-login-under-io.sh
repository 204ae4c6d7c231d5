#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# fio writes and verifies through dm-multipath while the path below it logs out
# and in again, ten times with one channel and ten times with four. Each step
# ends in bounded time; fio sees no error and reads back what it wrote.
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

ROUNDS=10

# The path is queued for as long as there is none.
path_table() { printf '0 %s multipath 1 queue_if_no_path 0 1 1 service-time 0 1 1 /dev/%s 1' "$SECTORS" "$1"; }

use_path() {
	dmsetup reload mp --table "$(path_table "$1")"
	dmsetup resume --noflush mp
}

dm_gone() { dmsetup remove mp; }

modprobe -a dm-multipath dm-service-time
simple_target rd_mcp 32
for channels in 1 4; do
	login 10.0.0.1 "ch_count=$channels"
	SECTORS=$(blockdev --getsz "/dev/${DISKS[0]}")
	dmsetup create mp --table "$(path_table "${DISKS[0]}")"
	mp=$(basename "$(readlink -f /dev/mapper/mp)")
	start_fio mp "/dev/$mp"
	start=$SECONDS
	for round in $(seq $ROUNDS); do
		logout "$HOST"
		wait_for "the target's channels are gone (round $round)" no_sessions
		login 10.0.0.1 "ch_count=$channels" >/dev/null
		use_path "${DISKS[0]}"
		wait_for "I/O goes on (round $round)" io_moves "$mp"
	done
	note "$ROUNDS rounds with $channels channels in $((SECONDS - start)) s"
	stop_fio mp
	wait_for "multipath device removed" dm_gone
	logout "$HOST"
done
