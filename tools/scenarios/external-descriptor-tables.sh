#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Descriptor tables in initiator memory: the initiator sends one descriptor with
# the command (or two, or eight), and the target fetches the table by RDMA read.
# Large and scattered I/O, verified, with a shared receive queue and without, and
# with the smallest send queue.
# smoke: yes
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# ib_srp takes these when it is loaded. It registers no memory, so that each page has
# a descriptor of its own: what it registers comes together in one.
reload_initiator() {
	wait_for "ib_srp unloads" rmmod ib_srp
	modprobe ib_srp allow_ext_sg=1 "cmd_sg_entries=$1" indirect_sg_entries=512 never_register=Y
	wait_for "ib_srp sees rxe0" test -e /sys/class/infiniband_srp/srp-rxe0-1/add_target
}

# How many tables the target has fetched.
count_tables() {
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
	echo "p:tables ib_srpt:srpt_fetch_table" >/sys/kernel/tracing/kprobe_events
	echo 1 >/sys/kernel/tracing/events/kprobes/tables/enable
}
tables() { awk '$1 == "tables" { print $2 }' /sys/kernel/tracing/kprobe_profile; }
stop_counting() {
	echo 0 >/sys/kernel/tracing/events/kprobes/tables/enable
	echo >/sys/kernel/tracing/kprobe_events
}

# run_round ENTRIES USE_SRQ SQ_SIZE
run_round() {
	local before
	note "cmd_sg_entries=$1, use_srq=$2, srp_sq_size=$3"
	reload_initiator "$1"
	echo "$2" >"$TPG/attrib/use_srq"
	echo "$3" >"$TPG/attrib/srp_sq_size"
	login 10.0.0.1 ch_count=1
	check "the initiator may send such tables" grep -q true "/sys/class/scsi_host/$HOST/allow_ext_sg"
	before=$(tables)
	fio_verify "/dev/${DISKS[0]}" --bs=64k --size=1M --iodepth=8 --iomem=malloc
	fio_verify "/dev/${DISKS[0]}" --bs=1M --size=4M --iodepth=4
	fio_verify "/dev/${DISKS[0]}" --bs=512k --size=4M --iodepth=4 --rw=randrw
	fio_verify "/dev/${DISKS[0]}" --size=512k
	note "$(($(tables) - before)) tables fetched"
	[ "$(tables)" -gt "$before" ] || fail "no table was fetched"
	logout "$HOST"
	wait_for "the target's channels are gone" no_sessions
}

simple_target rd_mcp 64
count_tables
run_round 1 1 512
run_round 1 0 16
run_round 8 1 512
stop_counting
