#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# rdma_cm_port is changed, switched off and on again with a session live: its
# I/O goes on, the old port no longer answers, the new one does. A login is
# refused cleanly while the portal group is disabled, and the first one after it
# is enabled works.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

nobody_there() {
	script_says "a: rejected by the connection manager, reason 8" <<<"login a"
}
login_works() {
	script_says "a: accepted, no channel
a: alive
a: closed" <<-END
		login a
		alive a
		close a
	END
}
port_is() { same "$(cat "$SRPT/discovery_auth/rdma_cm_port")" "$1" rdma_cm_port; }

simple_target rd_mcp 32 "$HAND_ID" 10.0.0.1
login 10.0.0.1 ch_count=2
start_fio disk "/dev/${DISKS[0]}" --iodepth=4
login_works

listen_on 5556
port_is 5556
nobody_there
PORT=5556
login_works
for bad in 65536 -1 junk ''; do check_not "rdma_cm_port '$bad' is refused" listen_on "$bad"; done
port_is 5556
login_works
listen_on 0
port_is 0
nobody_there
listen_on 5555
nobody_there
PORT=5555
login_works
wait_for "I/O of the session goes on" io_moves "${DISKS[0]}"
stop_fio disk
same "$(target_channels)" 2 "channels of the session"
logout "$HOST"

disable_tpg "$TPG"
script_says "a: refused 0x10001" <<<"login a"
check_not "ib_srp is refused" try_login 10.0.0.1
enable_tpg "$TPG"
check "ib_srp's first login after enable works" try_login 10.0.0.1
logout
login_works
