#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Logins that the initiator never confirms: many of them are accepted or refused
# cleanly, they do not keep others out, those whose process ends go at once, and
# one whose initiator stays but never says a word is given up in time.
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

make_link 0
simple_target rd_mcp 16 "$HAND_ID" "$(initiator_name rxe0)"

half_open() {
	mkfifo "$WORK/half-open"
	by_hand half-open "$1" <"$WORK/half-open" >"$WORK/half-open.out" 2>&1 &
	HALF_OPEN=$!
	exec 9>"$WORK/half-open"
	rm "$WORK/half-open"
	BOUND=240 wait_for "$1 logins tried" grep -q 'half open' "$WORK/half-open.out"
	note "$(cat "$WORK/half-open.out")"
}

half_open 40
check "all were accepted" grep -q '40 of 40' "$WORK/half-open.out"
login 10.0.0.1 ch_count=1
note "another initiator is let in meanwhile"
exec 9>&-
wait $HALF_OPEN || fail "srp_logins: $(cat "$WORK/half-open.out")"
own_channel() { target_has_channels 1; }
BOUND=90 wait_for "half-open channels go with their process" own_channel
note "gone with their process"

half_open 3
BOUND=150 wait_for "half-open channels are given up" own_channel
note "given up while their process lives"
exec 9>&-
wait $HALF_OPEN || fail "srp_logins: $(cat "$WORK/half-open.out")"
fio_verify "/dev/${DISKS[0]}" --size=2M
