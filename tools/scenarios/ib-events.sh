#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Events of the port while I/O runs: no session is lost by them, and the port is found
# afterwards as before. Errors of queue pairs and of the device close what they concern,
# and the initiator comes back.
# needs: ibloop
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

target_qps() { rdma resource show qp type RC | sed -n 's/.* lqpn \([0-9]*\) .* comm \[ib_srpt\].*/\1/p'; }
target_qp() { target_qps | head -n 1; }
other_qp() { [ -n "$(target_qp)" ] && ! target_qps | grep -qx "$OLD" && io_moves "${DISKS[0]}"; }

ib_up
ib_target rd_mcp 64
login ib ch_count=1
OLD=$(target_qp)
start_fio events "/dev/${DISKS[0]}"
for event in active error lid pkey sm reregister gid; do
	ib_event port 2 $event
	wait_for "I/O after port event $event" io_moves "${DISKS[0]}"
done
stop_fio events
same "$(target_qps)" "$OLD" "queue pair after events of the port"
same "$(ibsrpdm -c -d "$(ib_umad 1)" | wc -l)" 1 "login lines of ibsrpdm"

come_back "$HOST"
start_fio errors "/dev/${DISKS[0]}"
for event in fatal request access; do
	OLD=$(target_qp)
	ib_event qp "$OLD" $event
	BOUND=150 wait_for "another queue pair after QP event $event" other_qp
	note "QP event $event: the initiator came back"
done
OLD=$(target_qp)
ib_event srq "$OLD" error
BOUND=150 wait_for "another queue pair after an SRQ error" other_qp
OLD=$(target_qp)
ib_event srq "$OLD" limit
ib_event device fatal
BOUND=150 wait_for "another queue pair after the device failed" other_qp
stop_fio errors
logout "$HOST"
wait_for "the target's channels are gone" no_sessions
