#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Each allocation of a login, of commands, of configuration and of a device's
# arrival fails in turn, by count: of those that are made below a function of the
# module, whichever thread makes them. What was asked for is refused or done, in
# bounded time; after each series the next login works and verified I/O runs; at
# the end nothing is lost.
# (Needs a kernel that can make allocations fail: the debug kernel.)
# timeout: 3600
# suite: unproven
# vm: fresh
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

FAULTS=/sys/kernel/debug
MOST=${MOST:-400} # allocations of one series; far above what there are

[ -d $FAULTS/failslab ] || skip "this kernel cannot make allocations fail"

# The addresses of the module's functions.
text_range() {
	local addresses
	mapfile -t addresses < <(awk '/\[ib_srpt\]/ && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms | sort)
	printf '0x%s 0x%x\n' "${addresses[0]}" "$((16#${addresses[-1]} + 4096))"
}

# set_up KIND (failslab or fail_page_alloc): its failures only happen below the module.
set_up() {
	local dir=$FAULTS/$1 first last
	read -r first last < <(text_range)
	echo 0 >"$dir/times"
	echo 100 >"$dir/probability"
	echo 0 >"$dir/space"
	echo 0 >"$dir/verbose"
	echo N >"$dir/task-filter"
	echo N >"$dir/ignore-gfp-wait"
	echo 32 >"$dir/stacktrace-depth"
	echo "$first" >"$dir/require-start"
	echo "$last" >"$dir/require-end"
	[ "$1" = failslab ] || echo 0 >"$dir/min-order"
	[ "$1" = failslab ] || echo N >"$dir/ignore-gfp-highmem"
}

# What fails is each allocation at whose number, counted from the start of the
# machine, the interval divides. So the number has to be known: it is counted only
# while a failure is still to come, and at a failure it is the interval.
declare -A COUNTED=([failslab]=0 [fail_page_alloc]=0)

# fail_next KIND N: let the Nth allocation from here on fail.
fail_next() {
	echo $((COUNTED[$1] + $2)) >"$FAULTS/$1/interval"
	echo 1 >"$FAULTS/$1/times"
}

has_failed() { [ "$(<"$FAULTS/$1/times")" = 0 ]; }

# note_failure KIND: a failure of an interval of 1 counts nothing.
note_failure() {
	local interval
	interval=$(<"$FAULTS/$1/interval")
	[ "$interval" = 1 ] || COUNTED[$1]=$interval
}

# series KIND TEXT COMMAND...: run the command with its first, second, ... allocation
# failing, until none of them is left to fail. (With room in the pool of data buffers
# a command may well have none.) Then the failure that is still to come is awaited.
series() {
	local kind=$1 text=$2 n
	shift 2
	set_up "$kind"
	for ((n = 1; n <= MOST; n++)); do
		fail_next "$kind" $n
		"$@"
		has_failed "$kind" || break
		note_failure "$kind"
	done
	[ $n -le "$MOST" ] || fail "$text: more than $MOST allocations"
	catch_up "$kind"
	note "$text: each of $((n - 1)) allocations failed in turn ($kind)"
	works
}

# A login makes many allocations; so the failure comes soon.
catch_up() {
	local n
	for ((n = 0; n < MOST; n++)); do
		! has_failed "$1" || break
		login_once
	done
	has_failed "$1" || fail "nothing fails any more"
	note_failure "$1"
}

# --- What is done with each failure ---------------------------------------------

# One process makes many logins by hand, since its start takes longer than they do. It
# has room for 512.
start_hand() {
	coproc HAND { by_hand script 2>&1; }
	HAND_JOB=$!
	LOGINS=0
}

stop_hand() {
	local fd=${HAND[1]}
	exec {fd}>&-
	wait "$HAND_JOB"
}

# hand LINE: what it is to do; sets SAID.
hand() {
	printf '%s\n' "$1" >&"${HAND[1]}"
	IFS= read -r -t $((120 * SLOW)) SAID <&"${HAND[0]}" || fail "no end of: $1"
}

# A login, perhaps refused; whatever it was, it ends, with an answer.
login_once() {
	if [ $LOGINS = 500 ]; then
		stop_hand
		start_hand
	fi
	LOGINS=$((LOGINS + 1))
	hand "login $LOGINS"
	[[ $SAID != *"no answer"* ]] || fail "a login without an answer"
	printf '%s\n' "${SAID#*: }" >>"$WORK/answers"
	hand "close $LOGINS"
	wait_for "its channel is gone" target_has_channels "${OWN:-0}"
}

# One command; an error is an answer as well, and the initiator may try again.
command_once() {
	timeout $((90 * SLOW)) sg_raw "$@" "/dev/${DISKS[0]}" "${CDB[@]}" >"$WORK/once.out" 2>&1 ||
		[ $? -lt 124 ] || fail "a command does not end"
}

read_4k() { CDB=(28 00 00 00 00 00 00 00 08 00) && command_once -r 4k; }
write_4k() { CDB=(2a 00 00 00 00 00 00 00 08 00) && command_once -s 4k -i /dev/zero; }
read_512k() { CDB=(28 00 00 00 00 00 00 04 00 00) && command_once -r 512k -b; }
write_512k() { CDB=(2a 00 00 00 00 00 00 04 00 00) && command_once -s 512k -i /dev/zero; }
reset_lun() { timeout $((90 * SLOW)) sg_reset -d "/dev/${DISKS[0]}" >/dev/null 2>&1 || true; }

# Configuration; what could not be made is not there.
configure_once() {
	local tpg
	tpg=$SRPT/$(gid_name rxe0)/other
	if mkdir "$tpg" 2>/dev/null; then
		mkdir "$tpg/acls/0x000000000000000000000000000000aa" 2>/dev/null &&
			rmdir "$tpg/acls/0x000000000000000000000000000000aa"
		echo 1 >"$tpg/enable" 2>/dev/null || true
		rmdir "$tpg"
	fi
}

listen_once() {
	echo $((PORT + 1)) >"$SRPT/discovery_auth/rdma_cm_port" 2>/dev/null || true
	echo "$PORT" >"$SRPT/discovery_auth/rdma_cm_port" 2>/dev/null || true
}

device_once() {
	rdma link delete rxe0
	wait_for "the device is gone" test ! -e /sys/class/infiniband/rxe0
	rdma link add rxe0 type rxe netdev dummy0
	wait_for "the device is back" gid_of_address rxe0 10.0.0.1
}

# Afterwards all is as it should be. (A port that could not be set is set again.)
works() {
	local kind
	for kind in "${!COUNTED[@]}"; do echo 0 >"$FAULTS/$kind/times"; done
	listen_on $((PORT + 1))
	listen_on "$PORT"
	script_says $'a: accepted, no channel\na: alive\na: closed' <<<$'login a\nalive a\nclose a'
	[ -z "$HOST" ] || fio_verify "/dev/${DISKS[0]}" --size=256k
}

# Logins of the initiator's take a while each, so few buffers are asked for.
make_link 0
resources_before
load_target srpt_srq_size=256
simple_target rd_mcp 16 "$(initiator_name rxe0)" "$HAND_ID"
start_hand
works

for srq in 1 0; do
	echo $srq >"$TPG/attrib/use_srq"
	series failslab "a login (use_srq $srq)" login_once
	series fail_page_alloc "a login (use_srq $srq)" login_once
done
sort "$WORK/answers" | uniq -c | sed 's/^/    /'
echo 1 >"$TPG/attrib/use_srq"

series failslab "a portal group and an ACL" configure_once
series failslab "the listener's port" listen_once

login 10.0.0.1 ch_count=1,queue_size=16
come_back "$HOST"
OWN=1
for kind in failslab fail_page_alloc; do
	series $kind "a read of 4 KiB" read_4k
	series $kind "a write of 4 KiB" write_4k
	series $kind "a read of 512 KiB" read_512k
	series $kind "a write of 512 KiB" write_512k
done
series failslab "a LUN reset" reset_lun
logout "$HOST"
HOST=
OWN=0

series failslab "the arrival of a device" device_once
series fail_page_alloc "the arrival of a device" device_once
