#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Initiators that are dead (a queue pair that answers nothing, a connection
# manager that answers nothing) and a link that is down do not hold up the
# removal of an ACL, disable, removal of the configuration, or unloading.
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

printed() { [ "$(wc -l <"$WORK/dead.out")" -ge "$1" ]; }

# Four channels that a stopped process holds, two of them with a dead queue pair.
dead_initiator() {
	mkfifo "$WORK/dead"
	/bed/bin/srp_logins -g "$(service_guid)" -p "$PORT" -i "$HAND_ID" script <"$WORK/dead" >"$WORK/dead.out" 2>&1 &
	DEAD=$!
	exec 9>"$WORK/dead"
	rm "$WORK/dead"
	printf '%s\n' "login a multi" "login b multi" "login c multi" "login d multi unconfirmed" \
		"alive a" "alive b" "break a" "break c" >&9
	wait_for "a session that is about to die" printed 8
	kill -STOP $DEAD
	same "$(grep -c -E 'accepted|alive|: broken' "$WORK/dead.out")" 8 "good answers"
	note "a dead initiator with four channels"
}

bury() {
	exec 9>&-
	kill -CONT $DEAD
	kill -KILL $DEAD
	wait $DEAD 2>/dev/null || true
}

remove_acl() {
	rm "$TPG/acls/$1/lun_0/lun"
	rmdir "$TPG/acls/$1/lun_0" "$TPG/acls/$1"
}

make_link 0
simple_target rd_mcp 32 "$HAND_ID" "$(initiator_name rxe0)"
dead_initiator
in_time 60 "ACL of a dead initiator removed" remove_acl "$HAND_ID"
bury
add_acl "$TPG" "$HAND_ID"

dead_initiator
in_time 60 "group with a dead initiator disabled" disable_tpg "$TPG"
bury
enable_tpg "$TPG"

dead_initiator
login 10.0.0.1 ch_count=2
give_up_soon "$HOST"
start_tolerant_fio disk "/dev/${DISKS[0]}"
ip link set dummy0 down
in_time 60 "configuration removed with a dead initiator and the link down" remove_target
in_time 60 "module unloaded" unload_target
BOUND=150 end_fio disk
bury
