#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Bad values of attributes, names and module parameters: each gets an errno and
# a line in the log that says what to do, and the old value stays. Good values
# work and read back.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# write_value FILE VALUE: what the kernel says is in $WORK/refused.out.
write_value() { printf '%s\n' "$2" >"$1"; }

# refuses FILE REGEX VALUE...: what the log must say, and what is tried.
refuses() {
	local file=$1 regex=$2 value old mark
	shift 2
	old=$(cat "$file")
	for value in "$@"; do
		mark="bad $RANDOM"
		dmesg_mark "$mark"
		check_not "$(basename "$file") refuses '$value'" write_value "$file" "$value"
		check "with an errno that fits" grep -qE 'Invalid argument|out of range|result too large' "$WORK/refused.out"
		same "$(cat "$file")" "$old" "$(basename "$file") afterwards"
		[ -z "$regex" ] || check "and a line in the log" dmesg_has "$mark" "$regex"
	done
}

# takes FILE VALUE READS-AS
takes() {
	check "$(basename "$1") takes $2" write_value "$1" "$2"
	same "$(cat "$1")" "$3" "$(basename "$1")"
}

# refuses_load TEXT PARAMETER...: the module is not loaded, and says why.
refuses_load() {
	local mark="load $RANDOM" text=$1
	shift
	dmesg_mark "$mark"
	check_not "the module refuses '$*'" modprobe ib_srpt "$@"
	! target_loaded || fail "it is loaded all the same"
	check "and says why" dmesg_has "$mark" "$text"
}

# loads PARAMETER VALUE READS-AS
loads() {
	load_target "$1=$2"
	same "$(cat "/sys/module/ib_srpt/parameters/$1")" "$3" "$1"
	note "$1=$2 reads back as $3"
	unload_target
}

make_link 0

note "module parameters"
loads srp_max_req_size 2116 2116
loads srp_max_req_size 0x2054 8276
refuses_load 'ib_srpt: parameter srp_max_req_size' srp_max_req_size=0
refuses_load 'ib_srpt: parameter srp_max_req_size' srp_max_req_size=63
refuses_load 'ib_srpt: parameter srp_max_req_size' srp_max_req_size=-1
refuses_load 'ib_srpt: parameter srp_max_req_size' srp_max_req_size=big
refuses_load 'ib_srpt: parameter srp_max_req_size' srp_max_req_size=
refuses_load 'ib_srpt: parameter srp_max_req_size' srp_max_req_size=99999999999999999999
refuses_load 'ib_srpt' srp_max_req_size
loads srpt_srq_size 4096 4096
loads srpt_srq_size 0x1000 4096
refuses_load 'ib_srpt: parameter srpt_srq_size' srpt_srq_size=0
refuses_load 'ib_srpt: parameter srpt_srq_size' srpt_srq_size=junk
refuses_load 'ib_srpt: parameter srpt_srq_size' srpt_srq_size=4294967296
refuses_load 'ib_srpt' srpt_srq_size
loads srpt_service_guid 0x0002c90300a1b2c3 0x0002c90300a1b2c3
loads srpt_service_guid 2C90300a1b2c3 0x0002c90300a1b2c3
refuses_load 'ib_srpt: parameter srpt_service_guid' srpt_service_guid=0
refuses_load 'ib_srpt: parameter srpt_service_guid' srpt_service_guid=
refuses_load 'ib_srpt: parameter srpt_service_guid' srpt_service_guid=junk
refuses_load 'ib_srpt: parameter srpt_service_guid' srpt_service_guid=0x12345678901234567
refuses_load 'ib_srpt: parameter srpt_service_guid' "srpt_service_guid=$(printf '1%.0s' {1..500})"
refuses_load 'ib_srpt' srpt_service_guid

note "attributes"
resources_before
load_target srpt_service_guid=0x0002c90300a1b2c3
simple_target rd_mcp 16
login 10.0.0.1 ch_count=1
start_fio through "/dev/${DISKS[0]}" --size=1M --iodepth=2 --rate_iops=50
junk=('' junk -1 99999999999999999999 4294967296 '1 2' 0x '12abc')
refuses "$TPG/attrib/srp_max_rdma_size" 'ib_srpt: .*srp_max_rdma_size' "${junk[@]}"
for name in srp_max_rdma_size srp_max_rsp_size srp_sq_size; do
	refuses "$TPG/attrib/$name" "ib_srpt: .*$name" junk 0 4294967295
done
refuses "$TPG/attrib/use_srq" 'ib_srpt: .*use_srq' '' junk 2 -1
refuses "$TPG/enable" '' '' junk 2
takes "$TPG/attrib/srp_max_rdma_size" 1048576 1048576
takes "$TPG/attrib/srp_max_rsp_size" 0x200 512
takes "$TPG/attrib/srp_sq_size" 64 64
takes "$TPG/attrib/use_srq" 0 0
takes "$TPG/attrib/use_srq" 1 1
takes "$TPG/attrib/use_srq" n 0
same "$(cat "$TPG/enable")" 1 enable
check_not "version cannot be written" write_value "$SRPT/${TPG#"$SRPT/"}/../version" 1
refuses "$SRPT/discovery_auth/rdma_cm_port" 'ib_srpt: .*rdma_cm_port' '' junk -1 65536

note "a port that another listener has"
rping -s -P -a 0.0.0.0 -p 4420 >"$WORK/rping.out" 2>&1 &
other=$!
listens_on_4420() { rdma resource show cm_id | grep -q ':4420 '; }
wait_for "rping listens" listens_on_4420
dmesg_mark taken
check_not "rdma_cm_port refuses it" write_value "$SRPT/discovery_auth/rdma_cm_port" 4420
check "with EADDRINUSE" grep -qi 'in use' "$WORK/refused.out"
check "and a line in the log" dmesg_has taken 'ib_srpt: .*4420'
same "$(cat "$SRPT/discovery_auth/rdma_cm_port")" "$PORT" "rdma_cm_port"
kill "$other"
wait_for "rping is gone" process_ended "$other"
takes "$SRPT/discovery_auth/rdma_cm_port" 4420 4420
takes "$SRPT/discovery_auth/rdma_cm_port" "$PORT" "$PORT"

note "names of target ports"
for name in junk 0x1234 5054:00ff:fe12 5054:00ff:fe12:345g 10.0.0.1 fe80::1 "$(gid rxe0)" \
	"0x$(printf '1%.0s' {1..33})" "$(gid_name rxe0)0" naa.6001405abcdefabc; do
	dmesg_mark "port $name"
	check_not "no target port '$name'" mkdir "$SRPT/$name"
	check "with EINVAL" grep -q 'Invalid argument' "$WORK/refused.out"
	check "and a line in the log" dmesg_has "port $name" "ib_srpt: .*'$name'"
done
check_not "no target port twice" mkdir "${TPG%/*}"
stop_fio through
logout
login 10.0.0.1 ch_count=1
fio_verify "/dev/${DISKS[0]}" --size=1M
