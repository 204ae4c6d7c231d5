#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Verbs between two ports of ibloop: connected, datagram and shared-queue ping-pong, RDMA writes,
# reads and atomic operations, and what the architecture says about keys, access rights, missing
# receives, lengths and events.
# needs: ibloop
# suite: unproven
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

selftest() { echo 1 >"$KNOBS/$HCA/selftest"; }
listens() { ss -Hltn "sport = :18515" | grep -q .; }

# between_ports PROGRAM [ARGUMENT...]: its server at port 2, its client at port 1.
between_ports() {
	local pid
	"$@" -d "$HCA" -i 2 >"$WORK/far.out" 2>&1 &
	pid=$!
	wait_for "$1 listens" listens
	check "$*" timeout $((120 * SLOW)) "$@" -d "$HCA" -i 1 localhost
	wait_for "the far end of $1 ends" process_ended $pid
	wait $pid || fail "far end of $1: $(tail -n 3 "$WORK/far.out")"
}

ib_up
/bed/bin/hca_checks "$HCA" 2>&1 | sed -u 's/^ok /  - /' || fail "ibloop does not behave as an HCA has to"
check "shared receive queues of the kernel are resized" selftest
between_ports ibv_rc_pingpong -e -n 50
between_ports ibv_uc_pingpong -e -n 50
between_ports ibv_ud_pingpong -e -n 50 -s 2048
between_ports ibv_srq_pingpong -e -n 50 -q 4
between_ports ib_write_bw -n 20 -s 65536
between_ports ib_read_bw -n 20 -s 65536
between_ports ib_send_bw -n 20 -s 65536
between_ports ib_atomic_bw -n 20
