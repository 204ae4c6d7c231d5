#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Small writes with immediate data: 512 bytes to 8 KiB, also sizes that are not
# a multiple of 4 KiB, with a shared receive queue and without; and the same
# with an initiator that does not use immediate data.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

PARAMETER=/sys/module/ib_srp/parameters/use_imm_data

write_jobs() {
	local bs
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
		iodepth=32
	END
	for bs in 512 1536 4096 7680 8192 8704; do printf '[%s]\nbs=%s\nsize=%s\n' $bs $bs $((bs * 160)); done
}

announced() { dmesg_has "$1" 'using immediate data'; }

# run_round USE_SRQ USE_IMM_DATA
run_round() {
	local mark="immediate $1 $2 $RANDOM"
	echo "$1" >"$TPG/attrib/use_srq"
	echo "$2" >$PARAMETER
	dmesg_mark "$mark"
	login 10.0.0.1
	if [ "$2" = Y ]; then
		check "the initiator was offered immediate data" announced "$mark"
	else
		check_not "the initiator does not use immediate data" announced "$mark"
	fi
	write_jobs "/dev/${DISKS[0]}" >"$WORK/jobs.fio"
	check "512 bytes to 8.5 KiB, verified (use_srq $1, use_imm_data $2)" fio "$WORK/jobs.fio"
	logout "$HOST"
	wait_for "the target's channels are gone" no_sessions
}

simple_target rd_mcp 16
for srq in 1 0; do
	for immediate in Y N; do run_round $srq $immediate; done
done
echo Y >$PARAMETER
