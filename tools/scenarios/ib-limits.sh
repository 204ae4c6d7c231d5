#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# HCAs that can do less: a short send queue, few scatter entries, a small shared
# receive queue or none, a port that refuses device management. Each serves data.
# needs: ibloop
# suite: unproven (written, not seen to pass yet)
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

has_capability() { [ $(($(cat "/sys/class/infiniband/$HCA/ports/2/cap_mask") & 1 << 19)) != 0 ]; }

serve() {
	ib_target rd_mcp 64
	login ib ch_count=2
	fio_verify "/dev/${DISKS[0]}" --size=2M
	fio_verify "/dev/${DISKS[0]}" --size=4M --bs=512k --iodepth=4
	clean_up
	rm "$WORK/resources"
	note "$1"
}

for limit in max_send_wr=160 max_send_sge=2 max_srq_wr=160 no_srq=1; do
	ib_up "$limit"
	serve "$limit"
done

ib_up
ib_knob 2 refuse_class 6
dmesg_mark refused
ib_target rd_mcp 64
check_not "no capability bit" has_capability
same "$(dmesg --notime | grep -c 'cannot be discovered')" 1 "lines about it"
same "$(ibsrpdm -c -d "$(ib_umad 1)")" "" "login line of ibsrpdm"
clean_up
rm "$WORK/resources"
ib_up
ib_knob 2 refuse_class 6
serve "no device management"
