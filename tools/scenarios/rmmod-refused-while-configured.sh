#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# rmmod while target ports are configured says that the module is in use, and
# nobody notices: I/O goes on, with sessions and without.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

refused() {
	! rmmod ib_srpt 2>"$WORK/rmmod.out" || fail "rmmod is not refused ($1)"
	grep -qi 'in use' "$WORK/rmmod.out" || fail "rmmod says: $(cat "$WORK/rmmod.out")"
	target_loaded || fail "the module is not there any more ($1)"
	note "rmmod says that the module is in use ($1)"
}

simple_target rd_mcp 32
refused "configured"
login 10.0.0.1 ch_count=2
start_fio disk "/dev/${DISKS[0]}"
for _ in 1 2 3; do refused "with I/O"; done
wait_for "I/O goes on" io_moves "${DISKS[0]}"
same "$(target_channels)" 2 "channels of the target"
stop_fio disk
disable_tpg "$TPG"
refused "disabled"
enable_tpg "$TPG"
logout "$HOST"
login 10.0.0.1 ch_count=1
fio_verify "/dev/${DISKS[0]}" --size=1M
