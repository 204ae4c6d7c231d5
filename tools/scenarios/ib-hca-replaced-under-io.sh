#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The target's HCA goes while I/O runs, and comes back: the configuration has stayed,
# the target is found and served again with no hand laid on it.
# needs: ibloop
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

IB_TARGET="1 ibloop1"
ib_load hcas=2 ports=1
ib_manage 1
wait_for "both HCAs are active" ib_state 1 ACTIVE
wait_for "both HCAs are active" ib_state 1 ACTIVE ibloop1
ib_target rd_mcp 64
login ib ch_count=2
fail_fast "$HOST"
for round in 1 2; do
	start_tolerant_fio "round$round" "/dev/${DISKS[0]}"
	in_time 60 "the HCA goes" sh -c "echo 1 >$KNOBS/unplug"
	check "the target's channels are gone" no_sessions
	check "the target is still configured" test "$(cat "$TPG/enable")" = 1
	echo 1 >"$KNOBS/plug"
	wait_for "it is active again" ib_state 1 ACTIVE ibloop1
	BOUND=200 wait_for "I/O goes on" io_moves "${DISKS[0]}"
	end_fio "round$round"
	fio_verify "/dev/${DISKS[0]}" --size=2M
	note "round $round"
done
same "$(ibsrpdm -c -d "$(ib_umad 1)" | wc -l)" 1 "login lines of ibsrpdm"
logout "$HOST"
wait_for "the target's channels are gone" no_sessions
rm -f "$WORK/resources"
