#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Logins come without a pause while the module is loaded, configured, taken
# apart and unloaded, eight times. Each is served, refused with a reason, or
# finds nobody listening; none stays without an answer.
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

ROUNDS=8

build_tree() {
	TPG=$(make_tpg "$(gid_name rxe0)")
	add_lun "$TPG" 0 disk0
	add_acl "$TPG" "$HAND_ID"
	enable_tpg "$TPG"
}

has_channels() { [ "$(target_channels)" -gt 0 ]; }

make_link 0
resources_before
load_target
GUID=$(service_guid)
make_backstore rd_mcp disk0 16
touch "$WORK/loop"
/bed/bin/srp_logins -g "$GUID" -p "$PORT" -i "$HAND_ID" loop "$WORK/loop" >"$WORK/loop.out" 2>&1 &
loop=$!
for round in $(seq $ROUNDS); do
	target_loaded || load_target
	# the listener first or last: both orders happen to people
	if [ $((round % 2)) = 0 ]; then
		listen_on "$PORT"
		build_tree
	else
		build_tree
		listen_on "$PORT"
	fi
	if [ $((round % 4)) = 0 ]; then wait_for "logins are served (round $round)" has_channels; fi
	remove_target
	unload_target
	process_ended $loop && fail "srp_logins ended: $(cat "$WORK/loop.out")"
done
rm "$WORK/loop"
BOUND=150 wait_for "the logins end" process_ended $loop
wait $loop || fail "srp_logins: $(cat "$WORK/loop.out")"
note "$(cat "$WORK/loop.out")"
check "some were accepted" grep -q 'accepted [1-9]' "$WORK/loop.out"
check "some found nobody" grep -q 'nobody-listening [1-9]' "$WORK/loop.out"
