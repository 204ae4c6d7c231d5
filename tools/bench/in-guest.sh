#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Runs in the guest: the workloads of the bench. Each figure is a line
#
#   @ WORKLOAD VALUE
#
# several for one workload when it is repeated. Everything else is for people.
#
#   in-guest.sh REPEATS WORKLOAD...
set -euo pipefail
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

REPEATS=$1
shift
DISK_MB=128

figure() { printf '@ %s %s\n' "$1" "$2"; }

# --- Data -------------------------------------------------------------------

# The queue of the disk as plain as it gets: what fio asks for is what is sent.
plain_queue() {
	local queue=/sys/class/block/$1/queue
	echo none >"$queue/scheduler"
	echo 2 >"$queue/nomerges"
	echo 0 >"$queue/add_random"
	echo 0 >"$queue/iostats"
}

# fill DISK: brd allocates a page at its first write, which must not be measured.
fill() { dd if=/dev/zero of="/dev/$1" bs=1M count="$DISK_MB" oflag=direct status=none; }

# run_fio RW BLOCK IN KB DEPTH COUNT: I/O per (virtual) second of COUNT requests.
run_fio() {
	local fields count=$4 ms
	fio --name=bench --filename="/dev/${DISKS[0]}" --rw="$1" --bs="$2k" --iodepth="$3" \
		--size=100% --io_size="$((count * $2))k" --ioengine=libaio --direct=1 --thread \
		--gtod_reduce=1 --randrepeat=1 --norandommap --zero_buffers --invalidate=0 \
		--output-format=terse --terse-version=3 >"$WORK/fio.out"
	IFS=';' read -ra fields <"$WORK/fio.out"
	# the run times of reads and of writes, one of which is 0
	ms=$((fields[8] + fields[49]))
	[ "${fields[4]}" = 0 ] || fail "fio: $(cat "$WORK/fio.out")"
	ms=$((count * 10000000 / ms))
	RESULT=${ms:0:-4}.${ms: -4}
}

# data NAME RW BLOCK DEPTH COUNT: a warm-up of a quarter, then the repeats.
data() {
	local i
	run_fio "$2" "$3" "$4" $(($5 / 4))
	for ((i = 0; i < REPEATS; i++)); do
		run_fio "$2" "$3" "$4" "$5"
		figure "$1" "$RESULT"
	done
}

# --- Logins -----------------------------------------------------------------

microseconds() { RESULT=${EPOCHREALTIME/./}; }

delete_host() {
	local path=/sys/class/scsi_host/host$1
	echo 1 >"$(echo /sys/class/srp_remote_ports/port-"$1":*)/delete"
	while [ -e "$path" ]; do nap 0.001; done
}

# logins NAME OPTIONS: logins and logouts a second. The time of a login is that of the
# write that asks ib_srp for it, which looks for LUNs too; a logout is over when neither
# end has anything left of it. The first is not counted.
logins() {
	local i line begin host count=$((2 * REPEATS))
	line=$(login_line 10.0.0.1 "$2")
	for ((i = 0; i <= count; i++)); do
		microseconds; begin=$RESULT
		add_target rxe0 "$line"
		microseconds
		[ $i = 0 ] || rate "$1" $((RESULT - begin))
		wait_for "disk" find_disks "$(srp_hosts)"
		udevadm settle
		host=$(srp_hosts)
		microseconds; begin=$RESULT
		delete_host "${host#host}"
		until no_sessions; do nap 0.001; done
		microseconds
		[ $i = 0 ] || rate "${1/login/logout}" $((RESULT - begin))
	done
}

# rate NAME MICROSECONDS: of one.
rate() { figure "$1" "$(awk -v t="$2" 'BEGIN { printf "%.4f", 1e6 / t }')"; }

# --- Memory -----------------------------------------------------------------

CHANNELS=64
meminfo() { awk -v key="$1:" '$1 == key { print $2 }' /proc/meminfo; }

# read_memory NAME: sets NAME_USED and so on, in kB. What can be given back is
# given back first: caches, and free pages that each CPU keeps.
read_memory() {
	local i
	udevadm settle
	sleep 2
	for i in 1 2; do
		sync
		echo 3 >/proc/sys/vm/drop_caches
		echo 1 >/proc/sys/vm/compact_memory
		sleep "0.$i"
	done
	MEMORY_USED[$1]=$(($(meminfo MemTotal) - $(meminfo MemFree)))
	MEMORY_SLAB[$1]=$(meminfo Slab)
	MEMORY_VMALLOC[$1]=$(meminfo VmallocUsed)
	MEMORY_PERCPU[$1]=$(meminfo Percpu)
}
declare -A MEMORY_USED MEMORY_SLAB MEMORY_VMALLOC MEMORY_PERCPU

per_channel() { figure "$1" "$(awk -v t="$2" -v n=$CHANNELS 'BEGIN { printf "%.2f", t / n }')"; }

# The initiator keeps its side of a lost connection until it tries again or
# gives the port up; here it does neither.
initiator_holds_on() {
	local port
	for port in /sys/class/srp_remote_ports/port-*; do
		echo off >"$port/reconnect_delay"
		echo off >"$port/dev_loss_tmo"
	done
}

# memory NAME [USE_SRQ]: kernel memory for each of 64 idle channels of one login.
# The initiator is in the same guest and needs memory too. So the target is
# closed, removed and unloaded while the initiator holds on to its side: what is
# given back then was the target's, shared receive queue and session included.
# "-both" is what the login took, both sides together.
memory() {
	simple_target brd $DISK_MB
	if [ -n "${2:-}" ]; then
		disable_tpg "$TPG"
		echo "$2" >"$TPG/attrib/use_srq"
		enable_tpg "$TPG"
	fi
	read_memory before
	login 10.0.0.1 ch_count=$CHANNELS
	same "$(channels_of "$HOST")" $CHANNELS "channels of the login"
	initiator_holds_on
	read_memory full
	remove_target
	unload_target
	read_memory closed
	per_channel "$1" $((MEMORY_USED[full] - MEMORY_USED[closed]))
	per_channel "$1-slab" $((MEMORY_SLAB[full] - MEMORY_SLAB[closed]))
	per_channel "$1-vmalloc" $((MEMORY_VMALLOC[full] - MEMORY_VMALLOC[closed]))
	per_channel "$1-percpu" $((MEMORY_PERCPU[full] - MEMORY_PERCPU[closed]))
	per_channel "$1-both" $((MEMORY_USED[full] - MEMORY_USED[before]))
	logout
	remove_backstores
}

# --- One workload after the other -------------------------------------------

workload() {
	case $1 in
	randread-4k-1) data "$1" randread 4 1 1000 ;;
	randwrite-4k-1) data "$1" randwrite 4 1 1000 ;;
	randread-4k-32) data "$1" randread 4 32 2000 ;;
	randwrite-4k-32) data "$1" randwrite 4 32 2000 ;;
	read-64k) data "$1" read 64 8 300 ;;
	write-64k) data "$1" write 64 8 300 ;;
	read-1m) data "$1" read 1024 4 32 ;;
	write-1m) data "$1" write 1024 4 32 ;;
	*) fail "no such workload: $1" ;;
	esac
}

DATA=()
LOGIN=()
MEMORY=()
for name in "$@"; do
	case $name in
	login-*) LOGIN+=("$name") ;;
	memory*) MEMORY+=("$name") ;;
	*) DATA+=("$name") ;;
	esac
done

if [ $((${#DATA[@]} + ${#LOGIN[@]})) -gt 0 ]; then simple_target brd $DISK_MB; fi
if [ ${#DATA[@]} -gt 0 ]; then
	login 10.0.0.1 ch_count=1
	plain_queue "${DISKS[0]}"
	fill "${DISKS[0]}"
	for name in "${DATA[@]}"; do workload "$name"; done
	logout "$HOST"
fi
for name in "${LOGIN[@]}"; do logins "$name" "ch_count=${name#login-}"; done
if [ ${#DATA[@]} -gt 0 ] || [ ${#LOGIN[@]} -gt 0 ]; then
	logout
	remove_target
	unload_target
	remove_backstores
fi
for name in "${MEMORY[@]}"; do
	case $name in
	memory) memory memory ;;
	memory-srq) memory memory-srq 1 ;;
	esac
done
