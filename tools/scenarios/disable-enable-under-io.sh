#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The portal group is disabled and enabled again and again while fio runs; the
# initiator comes back by itself each time, and all data are right.
# timeout: 300
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

simple_target rd_mcp 32
login 10.0.0.1 ch_count=2
come_back "$HOST"
start_fio disk "/dev/${DISKS[0]}"
for round in 1 2 3 4; do
	in_time 60 "disabled ($round)" disable_tpg "$TPG"
	same "$(target_channels)" 0 "channels left when disabled"
	enable_tpg "$TPG"
	wait_for "I/O goes on ($round)" io_moves "${DISKS[0]}"
	note "enabled ($round), I/O goes on"
done
for round in $(seq 20); do
	disable_tpg "$TPG"
	enable_tpg "$TPG"
done
note "20 times disabled and enabled at once"
wait_for "I/O goes on" io_moves "${DISKS[0]}"
stop_fio disk
