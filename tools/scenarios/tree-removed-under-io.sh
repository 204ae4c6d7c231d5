#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The whole configuration is removed under I/O and the module unloaded, each in
# bounded time. When the module and the configuration are back the initiator
# comes back by itself; its I/O went on waiting and sees no error, and all data
# are right.
# smoke: yes
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

build_tree() {
	local n
	TPG=$(make_tpg "$(gid_name rxe0)")
	for n in 0 1 2; do add_lun "$TPG" "$n" "disk$n"; done
	add_acl "$TPG" "$(initiator_name rxe0)"
	enable_tpg "$TPG"
	listen_on "$PORT"
}

all_disks() { [ "$(find_disks "$HOST" | wc -l)" = 3 ]; }

make_link 0
resources_before
load_target
for n in 0 1 2; do make_backstore rd_mcp "disk$n" 24; done
build_tree
login 10.0.0.1 ch_count=2
wait_for "all disks" all_disks
mapfile -t DISKS < <(find_disks "$HOST")
come_back "$HOST"
for disk in "${DISKS[@]}"; do start_fio "$disk" "/dev/$disk" --iodepth=8; done
for round in 1 2; do
	in_time 60 "configuration removed under I/O ($round)" remove_target
	in_time 60 "module unloaded ($round)" unload_target
	load_target
	build_tree
	for disk in "${DISKS[@]}"; do BOUND=120 wait_for "I/O on $disk goes on" io_moves "$disk"; done
	note "loaded and configured again: I/O goes on ($round)"
done
for disk in "${DISKS[@]}"; do stop_fio "$disk"; done
logout "$HOST"
login 10.0.0.1
