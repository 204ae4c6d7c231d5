#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The mapped LUN and then the ACL of an initiator are removed while it does I/O:
# each in bounded time, its channels are gone, it cannot come back, and another
# initiator's I/O is not touched. With the ACL made again it can log in.
# timeout: 300
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# The same device with another initiator extension: another initiator.
OTHER=0x0000000000000002
make_link 0
OTHER+=$(guid_name rxe0 | tr -d :)
VICTIM=$(initiator_name rxe0)

simple_target rd_mcp 32 "$VICTIM" "$OTHER"
make_backstore rd_mcp disk1 32
add_lun "$TPG" 1 disk1
for acl in "$VICTIM" "$OTHER"; do
	mkdir "$TPG/acls/$acl/lun_1"
	ln -s "$TPG/lun/lun_1" "$TPG/acls/$acl/lun_1/lun"
done

two_disks() { [ "$(find_disks "$HOST" | wc -l)" = 2 ]; }
login_two() {
	login "$@"
	wait_for "both disks" two_disks
	mapfile -t DISKS < <(find_disks "$HOST")
}

unmap_lun() {
	rm "$TPG/acls/$1/$2/lun"
	rmdir "$TPG/acls/$1/$2"
}

for _ in 1 2; do
	login_two 10.0.0.1 "ch_count=2,initiator_ext=0000000000000002"
	other=$HOST
	start_fio other "/dev/${DISKS[1]}" --iodepth=4
	other_disk=${DISKS[1]}
	login_two 10.0.0.1 ch_count=2
	give_up_soon "$HOST"
	start_tolerant_fio victim "/dev/${DISKS[0]}"
	in_time 60 "mapped LUN 1 removed" unmap_lun "$VICTIM" lun_1
	wait_for "I/O on LUN 0 goes on" io_moves "${DISKS[0]}"
	in_time 60 "mapped LUN 0 removed under I/O" unmap_lun "$VICTIM" lun_0
	in_time 60 "ACL removed under I/O" rmdir "$TPG/acls/$VICTIM"
	wait_for "I/O of the other initiator goes on" io_moves "$other_disk"
	end_fio victim
	logout "$HOST"
	check_not "the removed initiator cannot log in" try_login 10.0.0.1 ch_count=1
	add_acl "$TPG" "$VICTIM"
	stop_fio other
	logout "$other"
done
login 10.0.0.1
