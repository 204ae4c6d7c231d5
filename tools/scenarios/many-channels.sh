#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A login with 64 channels: all of them carry I/O, they close together in
# bounded time, and the log has at most two lines for each.
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

CHANNELS=64

lines_since() { dmesg --notime | awk -v mark="bed: mark $1" '$0 == mark { n = 0 } /^ib_srpt/ { n++ } END { print n + 0 }'; }

make_link 0
simple_target rd_mcp 32 "$HAND_ID" "$(initiator_name rxe0)"
dmesg_mark many
start=$SECONDS
login 10.0.0.1 ch_count=$CHANNELS
same "$(target_channels)" $CHANNELS "channels of the target"
note "logged in after $((SECONDS - start)) s"
fio_verify "/dev/${DISKS[0]}" --size=4M --numjobs=4 --offset_increment=4M
in_time 60 "logged out" logout "$HOST"
BOUND=60 wait_for "the target's channels are gone" no_sessions
lines=$(lines_since many)
[ "$lines" -le $((2 * CHANNELS)) ] || fail "$lines lines in the log for $CHANNELS channels"
note "$lines lines in the log"

mkfifo "$WORK/channels"
by_hand channels $CHANNELS <"$WORK/channels" >"$WORK/channels.out" 2>&1 &
hand=$!
exec 9>"$WORK/channels"
BOUND=150 wait_for "all channels answer" grep -q 'all answer' "$WORK/channels.out"
check "all were accepted" grep -q "$CHANNELS of $CHANNELS" "$WORK/channels.out"
dmesg_mark closed
in_time 60 "disabled" disable_tpg "$TPG"
BOUND=60 wait_for "the initiator hears of it" grep -q 'all gone' "$WORK/channels.out"
exec 9>&-
wait $hand || fail "srp_logins: $(cat "$WORK/channels.out")"
lines=$(lines_since closed)
[ "$lines" -le $CHANNELS ] || fail "$lines lines in the log when $CHANNELS channels closed"
note "$lines lines in the log"
