#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Sixteen threads log in with the same port IDs as fast as they can, most of
# them without waiting for the answer. A session of another initiator is not
# disturbed; when the storm is over a login works and nothing is left behind.
# timeout: 300
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

make_link 0
simple_target rd_mcp 16 "$HAND_ID" "$(initiator_name rxe0)"
login 10.0.0.1 ch_count=2
start_fio calm "/dev/${DISKS[0]}" --iodepth=2
in_time 300 "16 threads, 50 logins each" by_hand storm 16 50
stop_fio calm
own_channels() { target_has_channels 2; }
BOUND=120 wait_for "no channel of the storm left" own_channels
note "no channel of the storm left"
script_says "a: accepted, no channel
a: alive" <<-END
	login a
	alive a
END
fio_verify "/dev/${DISKS[0]}" --size=2M
