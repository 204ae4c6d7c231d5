#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The commands of README.md and of Documentation do what they say, word for word: load the
# module, export a disk with targetcli and with plain configfs, log in, look at it, trace it, keep
# the configuration, log out.
#
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

no_hosts() { [ -z "$(srp_hosts)" ]; }

first_disk() { find_disks "$(srp_hosts | head -n 1)" | head -n 1; }

log_in() {
	run_commands login
	wait_for "the disk" first_disk
	disk=/dev/$(first_disk)
	export disk
}

log_out() {
	run_commands logout
	wait_for "the login is gone" no_hosts
}

# What the guide shows about a target in use.
look_at_it() {
	run_commands login-lines
	check "the login line is the one that works" grep -qxF "$(login_line 10.0.0.1)" "$WORK/login-lines.out"
	run_commands see
	check "srptstat shows the initiator" grep -q 10.0.0.1 "$WORK/see.out"
	run_commands counters
	check "requests were counted" grep -qE 'session/requests:[1-9]' "$WORK/counters.out"
	run_commands debugfs
	check "a channel is live" grep -q state=live "$WORK/debugfs.out"
	run_commands trace-cmd
	for event in command transfer response credit; do
		check "traced: $event" grep -q "srpt_$event:" "$WORK/trace-cmd.out"
	done
	check "with the CDB" grep -qE 'srpt_command:.* cdb=28[0-9a-f]{30}$' "$WORK/trace-cmd.out"
	run_commands perf
	check "perf sees commands" grep -q srpt_command "$WORK/perf.out"
}

# targetcli talks to the system bus, which a machine with an init has.
start_bus() {
	mkdir -p /run/dbus
	[ -e /run/dbus/system_bus_socket ] || dbus-daemon --system --fork
}

install -m 755 /bed/bin/srptstat /usr/sbin/
check "a system bus for targetcli" start_bus
run_commands soft-roce
wait_for "port of rxe0 active" grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state
wait_for "GIDs of rxe0" gid_of_address rxe0 10.0.0.1
wait_for "ib_srp sees rxe0" test -e /sys/class/infiniband_srp/srp-rxe0-1/add_target
resources_before
run_commands load
check "the version is a number" grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$' /sys/module/ib_srpt/version

run_commands configfs
log_in
fio_verify "$disk" --size=1M
look_at_it
log_out
remove_target
remove_backstores

run_commands targetcli
run_commands save-and-restore
log_in
run_commands targetcli-sessions
check "targetcli shows the session" grep -q 'LOGGED_IN' "$WORK/targetcli-sessions.out"
fio_verify "$disk" --size=1M
log_out
