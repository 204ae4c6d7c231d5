#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Faults of the HCA and of the network while I/O runs and the initiator comes back:
# failing sends, lost and late completions, lost messages of the connection manager,
# a last-WQE event that is late or never comes. The data verify throughout.
# needs: ibloop
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

target_qps() { rdma resource show qp type RC | sed -n 's/.* lqpn \([0-9]*\) .* comm \[ib_srpt\].*/\1/p'; }
replaced() { [ -n "$(target_qps)" ] && ! target_qps | grep -qx "$OLD" && io_moves "${DISKS[0]}"; }

# goes_on TEXT
goes_on() {
	BOUND=200 wait_for "I/O after: $1" io_moves "${DISKS[0]}"
	note "$1: I/O goes on"
}

# comes_back TEXT: the connection is broken, and the initiator makes another.
comes_back() {
	OLD=$(target_qps | head -n 1)
	ib_event qp "$OLD" fatal
	BOUND=200 wait_for "the initiator comes back: $1" replaced
	note "$1: the initiator came back"
}

# lose PORT ATTRIBUTE COUNT: messages of the connection manager that go out there.
lose() {
	ib_knob "$1" mad_class 7
	ib_knob "$1" mad_attr "$2"
	ib_knob "$1" mad_skip 0
	ib_knob "$1" mad_drop "$3"
}

ib_up
ib_target rd_mcp 64
login ib ch_count=1
come_back "$HOST"
echo 5 >"/sys/block/${DISKS[0]}/device/timeout"
start_fio faults "/dev/${DISKS[0]}" --iodepth=4

comes_back "a queue pair fails"
ib_knob 2 fail_sends 1
goes_on "a send fails"
ib_knob 2 delay_us 300000
goes_on "completions are late"
ib_knob 2 delay_us 0
lose 2 0x13 2
comes_back "REPs are lost"
lose 1 0x14 1000
comes_back "RTUs are lost, the first message establishes"
lose 1 0x15 1
lose 2 0x16 1
comes_back "DREQ and DREP are lost"
lose 1 0x14 0
lose 2 0x16 0
ib_knob 2 last_wqe 3000
comes_back "the last-WQE event is late"
ib_knob 2 last_wqe 4294967295
comes_back "the last-WQE event never comes"
ib_knob 2 last_wqe 0
ib_knob 2 drop_recv_wc 1
goes_on "a receive completion is lost"
stop_fio faults
logout "$HOST"
BOUND=120 wait_for "the target's channels are gone" no_sessions
