#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Ten portal groups under one target port, with their own LUNs and ACLs: each
# initiator gets the LUN of its group. Groups go in random order, under live
# sessions, and the others never notice.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

declare -A tpg host disk
names=(tpgt_1 a 0x1 10.0.0.1 'with space' group.6 Group-7 '#8' 0)

id_of() { printf '0x%016x%s\n' "$1" "$(guid_name rxe0 | tr -d :)"; }

log_in() {
	login 10.0.0.1 "ch_count=1,initiator_ext=$(printf %016x "$1")"
	host[$1]=$HOST
	disk[$1]=${DISKS[0]}
	same "$(blockdev --getsize64 "/dev/${DISKS[0]}")" $(($1 << 20)) "size of the LUN of group $1"
}

still_works() {
	check "group $1 still works" dd if=/dev/zero of="/dev/${disk[$1]}" bs=64k count=4 oflag=direct
}

make_group() {
	make_backstore rd_mcp "disk$1" "$1"
	tpg[$1]=$(make_tpg "$port" "$2")
	add_lun "${tpg[$1]}" "$1" "disk$1"
	add_acl "${tpg[$1]}" "$(id_of "$1")"
	enable_tpg "${tpg[$1]}"
}

make_link 0
resources_before
load_target
listen_on "$PORT"
port=$(gid_name rxe0)
make_group 1 "$port"
for number in {2..10}; do make_group "$number" "${names[number - 2]}"; done
for number in {1..10}; do log_in "$number"; done
same "$(target_channels)" 10 "channels of the target"

mapfile -t order < <(shuf -i 1-10)
note "the groups go in this order: ${order[*]}"
for ((i = 0; i < 10; i++)); do
	number=${order[i]}
	if ((i % 2)); then logout "${host[$number]}"; fi
	remove_tpg "${tpg[$number]}"
	[ ! -d "${tpg[$number]}" ] || fail "group $number is still there"
	if ((i % 2 == 0)); then logout "${host[$number]}"; fi
	wait_for "one channel less" target_has_channels $((9 - i))
	for ((k = i + 1; k < 10; k++)); do still_works "${order[k]}"; done
	check_not "no login to group $number any more" try_login 10.0.0.1 "ch_count=1,initiator_ext=$(printf %016x "$number")"
done

note "and again: made and removed in another order"
for number in 3 1 2; do
	rmdir "$CORE/rd_mcp_0/disk$number"
	make_group "$number" "${names[number]}"
done
log_in 2
remove_tpg "${tpg[1]}"
remove_tpg "${tpg[3]}"
still_works 2
