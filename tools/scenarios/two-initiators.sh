#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Two initiators, over a link each, share one set of LUNs: verified I/O of both
# at the same time, each reads what the other wrote, and a persistent
# reservation of one keeps the other out.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# Target port, group and ACL for one link, with both LUNs.
export_on() {
	local tpg
	tpg=$(make_tpg "$(gid_name "$1")")
	add_lun "$tpg" 0 disk0
	add_lun "$tpg" 1 disk1
	add_acl "$tpg" "$(initiator_name "$1")"
	enable_tpg "$tpg"
}

two_disks() { [ "$(find_disks "$HOST" | wc -l)" = 2 ]; }

# disk_of SIZE: of the last login, the one with so many MiB.
disk_of() {
	local disk
	for disk in $(find_disks "$HOST"); do
		[ "$(blockdev --getsize64 "/dev/$disk")" != $(($1 << 20)) ] || printf '/dev/%s\n' "$disk"
	done
}

write_status() {
	local status=0
	sg_raw -s 512 -i /dev/zero "$1" 2a 00 00 00 00 00 00 00 01 00 >"$WORK/write.out" 2>&1 || status=$?
	printf '%s\n' $status
}

make_link 0
make_link 1
resources_before
load_target
make_backstore rd_mcp disk0 32
make_backstore rd_mcp disk1 16
export_on rxe0
export_on rxe1
listen_on "$PORT"
login 10.0.0.1
wait_for "both disks" two_disks
a0=$(disk_of 32) a1=$(disk_of 16)
login 10.0.1.1 "" rxe1
wait_for "both disks" two_disks
b0=$(disk_of 32) b1=$(disk_of 16)

note "I/O of both at the same time"
start_fio a0 "$a0" --offset=0 --size=4M --iodepth=4 --rate_iops=200
start_fio b0 "$b0" --offset=16M --size=4M --bs=64k --iodepth=4 --rate_iops=50
fio_verify "$a1" --offset=0 --size=1M
fio_verify "$b1" --offset=8M --size=2M --bs=32k
stop_fio a0
stop_fio b0

note "one reads what the other wrote"
for pair in "$a0 $b0" "$b1 $a1"; do
	read -r from to <<<"$pair"
	head -c 1M /dev/urandom >"$WORK/data"
	dd if="$WORK/data" of="$from" bs=64k oflag=direct status=none
	check "written by $from, read by $to" cmp "$WORK/data" <(dd if="$to" bs=64k count=16 iflag=direct status=none)
done

note "a reservation"
reservations_folder
check "one registers" sg_persist --out --register --param-sark=a1 "$a0"
check "and reserves" sg_persist --out --reserve --param-rk=a1 --prout-type=1 "$a0"
same "$(write_status "$b0")" 24 "status of a write of the other (24 is a conflict)"
same "$(write_status "$b1")" 0 "status of its write to the other LUN"
same "$(write_status "$a0")" 0 "status of a write of the holder"
check "the holder releases" sg_persist --out --release --param-rk=a1 --prout-type=1 "$a0"
same "$(write_status "$b0")" 0 "status of a write of the other"
note "the other is kept out as long as the reservation stands, and of that LUN only"

note "one leaves, the other goes on"
start_fio stays "$b0" --iodepth=2 --rate_iops=50
logout "$(basename "$(readlink -f "/sys/block/${a0#/dev/}/device/../..")")"
wait_for "the other still moves data" io_moves "${b0#/dev/}"
stop_fio stays
