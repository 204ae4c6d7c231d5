#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# One initiator resets a logical unit while another has all its requests out. With
# TAS 0 the other's commands end without a word: it gets its requests back by
# SRP_CRED_REQ, without having to send another one, which it could not.
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

DEPTH=126 # of the 128 requests that the target allows

req_lim() { cat "/sys/class/scsi_host/$1/req_lim"; }
req_lim_is() { [ "$(req_lim "$1")" = "$2" ]; }

# here commands wait for minutes on purpose
hung=$(cat /proc/sys/kernel/hung_task_timeout_secs)
echo 900 >/proc/sys/kernel/hung_task_timeout_secs
make_link 0
resources_before
load_target
make_backstore dm disk0 64
echo 0 >"$(backstore_path disk0)/attrib/emulate_tas"
one=$(initiator_name rxe0)
TPG=$(make_tpg "$(gid_name rxe0)")
add_lun "$TPG" 0 disk0
add_acl "$TPG" "$one"
add_acl "$TPG" "0x0000000000000002${one#0x0000000000000000}"
enable_tpg "$TPG"
listen_on "$PORT"
login 10.0.0.1 ch_count=1
resetter=$HOST resetter_disk=${DISKS[0]}
login 10.0.0.1 "ch_count=1,queue_size=$DEPTH,initiator_ext=0000000000000002"
echo 2 >"/sys/block/${DISKS[0]}/queue/nomerges"
echo 600 >"/sys/block/${DISKS[0]}/device/timeout"
same "$(req_lim "$HOST")" 128 "requests that the other may send"

for round in 1 2; do
	dmsetup suspend --nolockfs --noflush held
	fio --name=full --filename="/dev/${DISKS[0]}" --rw=read:4k --bs=4k --io_size=4M --size=32M \
		--iodepth=$DEPTH --ioengine=libaio --direct=1 >"$WORK/fio-$round.out" 2>&1 &
	FIO_PIDS+=($!)
	wait_for "all requests of the other are out" req_lim_is "$HOST" $((128 - DEPTH))
	dmesg_mark "reset $round"
	sg_reset -d "/dev/$resetter_disk" >"$WORK/reset.out" 2>&1 &
	reset=$!
	wait_for "the reset is sent" dmesg_has "reset $round" 'SRP reset_device called'
	dmsetup resume held
	wait_for "the reset is answered" process_ended $reset
	wait_for "all requests are back" req_lim_is "$HOST" 128
	note "all 128 are back, and none of the $DEPTH commands was answered"
	check "the commands are still waited for" kill -0 "${FIO_PIDS[-1]}"
	# only now are they given up
	check "the other's host is reset" sg_reset -H "/dev/${DISKS[0]}"
	BOUND=180 wait_for "its fio ends" process_ended "${FIO_PIDS[-1]}"
	wait_for "all requests are there" req_lim_is "$HOST" 128
done
for disk in "$resetter_disk" "${DISKS[0]}"; do fio_verify "/dev/$disk" --size=1M; done
logout "$resetter"
echo "$hung" >/proc/sys/kernel/hung_task_timeout_secs
