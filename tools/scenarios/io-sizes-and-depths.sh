#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Verified I/O from 4 KiB to 8 MiB, queue depth 1 to 128, direct and buffered,
# with 1, 12 and 255 memory descriptors in a command; then the same sizes over
# the smallest send queue. With 255 descriptors 8 MiB requests really are one
# command each; a descriptor of the initiator is 64 KiB at most, so that fewer
# cannot be. (Where the kernel has huge pages. Else memory is in too many pieces.)
# vm: fresh
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# One fio for all sizes and depths; the jobs run one after the other.
write_jobs() {
	cat <<-END
		[global]
		filename=$1
		ioengine=libaio
		direct=1
		verify=crc32c
		verify_fatal=1
		do_verify=1
		randrepeat=0
		rw=randwrite
		stonewall
		[4k, depth 1]
		bs=4k
		iodepth=1
		size=256k
		[4k, depth 128]
		bs=4k
		iodepth=128
		size=2M
		[64k, depth 32]
		bs=64k
		iodepth=32
		size=6M
		[1M, depth 32]
		bs=1M
		iodepth=32
		size=32M
		[8M, depth 4]
		bs=8M
		iodepth=4
		size=32M
		iomem=$MEMORY
		[mixed sizes, depth 32]
		bsrange=4k-1M
		iodepth=32
		size=8M
		[64k, buffered]
		bs=64k
		iodepth=16
		size=6M
		direct=0
		invalidate=1
		end_fsync=1
	END
}

# Writes 8 MiB requests from memory that lies in one piece; each must be one command.
check_8m_commands() {
	local before after
	before=$(awk '{ print $5, $7 }' "/sys/block/$1/stat")
	check "8 MiB writes on $1" fio --name=8M --filename="/dev/$1" --rw=write --bs=8M --size=32M \
		--iodepth=2 --ioengine=libaio --direct=1 --iomem=mmaphuge --verify=crc32c --verify_fatal=1
	after=$(awk '{ print $5, $7 }' "/sys/block/$1/stat")
	awk -v b="$before" -v a="$after" 'BEGIN {
		split(b, x); split(a, y)
		print "  - " y[1] - x[1] " commands for " (y[2] - x[2]) / 2048 " MiB written"
		exit y[1] - x[1] != 4 }' || fail "8 MiB requests were split"
}

# run_sizes OPTIONS LARGEST [whole]: the largest command that is allowed, in KiB;
# "whole" if requests of 8 MiB must be one command.
run_sizes() {
	login 10.0.0.1 "queue_size=126,max_sect=$(($2 * 2)),$1"
	echo "$2" >"/sys/block/${DISKS[0]}/queue/max_sectors_kb" ||
		fail "max_hw_sectors_kb is $(cat "/sys/block/${DISKS[0]}/queue/max_hw_sectors_kb")"
	write_jobs "/dev/${DISKS[0]}" >"$WORK/jobs.fio"
	check "all sizes and depths, verified" fio "$WORK/jobs.fio"
	[ "${3:-}$MEMORY" != wholemmaphuge ] || check_8m_commands "${DISKS[0]}"
	logout "$HOST"
	wait_for "the target's channels are gone" no_sessions
}

MEMORY=mmap
if [ -e /proc/sys/vm/nr_hugepages ]; then
	MEMORY=mmaphuge
	echo 24 >/proc/sys/vm/nr_hugepages
	same "$(cat /proc/sys/vm/nr_hugepages)" 24 "huge pages"
fi
simple_target rd_mcp 64
# The initiator itself sends at most 1 MiB with one descriptor.
run_sizes cmd_sg_entries=1,sg_tablesize=12 1024
run_sizes cmd_sg_entries=12,sg_tablesize=12 8192
run_sizes cmd_sg_entries=255,sg_tablesize=255 8192 whole

echo 16 >"$TPG/attrib/srp_sq_size"
note "now with 16 entries in the send queue"
run_sizes cmd_sg_entries=255,sg_tablesize=255,ch_count=1 8192 whole
