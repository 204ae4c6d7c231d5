#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# srp_daemon finds the target by itself and logs in; again after the link was down,
# after the subnet manager was restarted, and after the target was disabled and
# enabled.
# needs: ibloop
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

some_host() { [ -n "$(srp_hosts)" ]; }
no_host() { [ -z "$(srp_hosts)" ]; }

# found WHEN: srp_daemon has logged in. The initiator shall give up a lost
# connection soon, so that it has to be found again.
found() {
	BOUND=150 wait_for "srp_daemon logs in $1" some_host
	HOST=$(srp_hosts)
	wait_for "disk of $HOST" find_disks "$HOST"
	mapfile -t DISKS < <(find_disks "$HOST")
	rport_set "$HOST" reconnect_delay off
	rport_set "$HOST" fast_io_fail_tmo 1
	rport_set "$HOST" dev_loss_tmo 2
	fio_verify "/dev/${DISKS[0]}" --size=1M
	note "srp_daemon has logged in $1: $HOST with ${DISKS[*]}"
}

# A lost connection is noticed by I/O.
lose_host() { timeout 20 dd "if=/dev/${DISKS[0]}" of=/dev/null bs=4k count=1 iflag=direct || true; no_host; }

ib_up
ib_target rd_mcp 64
srp_daemon -e -n -i "$HCA" -p 1 -R 5 -T 10 >"$WORK/srp_daemon.out" 2>&1 &
DAEMON=$!
found "at first"

ib_link_down 2
wait_for "the initiator gives up" lose_host
ib_link_up 2
ib_wait_active 1 2
found "after the link was down"

logout
ib_unmanage 1
ib_manage 1
found "after the subnet manager was restarted"

disable_tpg "$TPG"
wait_for "the initiator gives up" lose_host
enable_tpg "$TPG"
found "after the target was disabled and enabled"
kill "$DAEMON"
