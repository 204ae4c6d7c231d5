#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Task management under verified I/O: sg_reset of the device, the target and the
# host; a LUN reset and aborts (after a SCSI timeout) while the back end holds
# the commands. After all of that the initiator has every one of its requests
# again: no credit is lost.
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

DEPTH=126 # of the 128 requests that the target allows

req_lim_is() { [ "$(cat "/sys/class/scsi_host/$HOST/req_lim")" = "$1" ]; }
hold() { dmsetup suspend --nolockfs --noflush held; }
release() { dmsetup resume held; }
set_timeout() { echo "$1" >"/sys/block/${DISKS[0]}/device/timeout"; }

# start_full NAME: as many 4k reads at a time as the initiator will send. (They
# are spaced so that none are merged.)
start_full() {
	fio --name=full --filename="/dev/${DISKS[0]}" --rw=read:4k --bs=4k --io_size=4M --size=32M \
		--iodepth=$DEPTH --ioengine=libaio --direct=1 >"$WORK/fio-$1.out" 2>&1 &
	echo $! >"$WORK/fio-$1.pid"
	FIO_PIDS+=($!)
}

# All requests of the initiator can be on their way, and come back.
full_depth() {
	hold
	start_full full
	wait_for "all requests are out" req_lim_is $((128 - DEPTH))
	release
	wait_fio full || fail "fio at full depth: $(tail -n 5 "$WORK/fio-full.out")"
	wait_for "all requests are back" req_lim_is 128
	note "$DEPTH requests out at a time, all 128 back afterwards ($1)"
}

simple_target dm 64
login 10.0.0.1 ch_count=1,queue_size=$DEPTH
echo 2 >"/sys/block/${DISKS[0]}/queue/nomerges"
same "$(cat "/sys/class/scsi_host/$HOST/can_queue")" $DEPTH "requests that the initiator sends"
full_depth "at first"

note "resets under I/O"
set_timeout 10
start_fio resets "/dev/${DISKS[0]}"
for kind in d d t d H; do
	check "sg_reset -$kind" sg_reset -$kind "/dev/${DISKS[0]}"
	BOUND=120 wait_for "I/O goes on after sg_reset -$kind" io_moves "${DISKS[0]}"
done
stop_fio resets
wait_for "all requests are back" req_lim_is 128
full_depth "after resets"

note "LUN reset while the back end holds all commands"
for round in 1 2; do
	hold
	set_timeout 15
	start_full reset
	wait_for "all requests are out" req_lim_is $((128 - DEPTH))
	dmesg_mark "reset $round"
	sg_reset -d "/dev/${DISKS[0]}" >"$WORK/reset.out" 2>&1 &
	wait_for "the reset is sent" dmesg_has "reset $round" 'SRP reset_device called'
	release
	wait_for "the reset is answered" process_ended $!
	# what was reset is not answered; the time-out of the initiator brings it back
	BOUND=180 wait_fio reset || fail "fio across a reset: $(tail -n 5 "$WORK/fio-reset.out")"
	wait_for "all requests are back" req_lim_is 128
done
full_depth "after LUN resets"

note "aborts after a SCSI time-out"
for round in 1 2 3; do
	set_timeout 1
	dmesg_mark "abort $round"
	hold
	start_full abort
	wait_for "an abort is sent" dmesg_has "abort $round" 'Sending SRP abort'
	release
	set_timeout 30
	BOUND=180 wait_fio abort || fail "fio across an abort: $(tail -n 5 "$WORK/fio-abort.out")"
	wait_for "all requests are back" req_lim_is 128
done
full_depth "after aborts"
fio_verify "/dev/${DISKS[0]}" --size=2M --iodepth=64
