#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Logins over IB/CM as fast as this machine can make them, for a while: 16 threads
# with the same port IDs, most of which do not wait for the answer. A session of
# another initiator is not disturbed, nothing is left behind, and the rate is told.
# (An emulated CPU does a part of the 64 a second that are easy on a real one.)
# needs: ibloop
# suite: unproven (written, not seen to pass yet)
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

by_ib_cm() {
	/bed/bin/srp_logins -g "$(service_guid)" -i "$HAND_ID" -s "$(ib_gid 1)" -d "$(ib_gid 2)" "$@"
}
own_channels() { target_has_channels 2; }

ib_up
ib_target rd_mcp 16
add_acl "$TPG" "$HAND_ID"
login ib ch_count=2
check "logins that are refused, and those just inside the limits" by_ib_cm refused 3 8276
start_fio calm "/dev/${DISKS[0]}" --iodepth=2
START=$SECONDS
in_time 300 "16 threads, 60 logins each" by_ib_cm storm 16 60
TOOK=$((SECONDS - START))
note "960 logins in $TOOK s, $((960 / (TOOK + 1))) a second"
stop_fio calm
BOUND=120 wait_for "no channel of the storm left" own_channels
note "no channel of the storm left"
fio_verify "/dev/${DISKS[0]}" --size=2M
