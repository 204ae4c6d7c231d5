#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The link goes down and comes back while I/O runs: with fast_io_fail commands fail
# soon, the initiator connects again, and data verify.
# needs: ibloop
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

failed_fast() { dmesg_has link 'fast_io_fail|failed fast|rejecting I/O|I/O error|reconnect'; }

ib_up
ib_target rd_mcp 64
login ib ch_count=2
fail_fast "$HOST"
for round in 1 2; do
	dmesg_mark link
	start_tolerant_fio "round$round" "/dev/${DISKS[0]}"
	ib_link_down 2
	BOUND=120 wait_for "commands fail" failed_fast
	ib_link_up 2
	ib_wait_active 1 2
	BOUND=200 wait_for "I/O goes on" io_moves "${DISKS[0]}"
	end_fio "round$round"
	fio_verify "/dev/${DISKS[0]}" --size=2M
	note "round $round"
done
logout "$HOST"
wait_for "the target's channels are gone" no_sessions
