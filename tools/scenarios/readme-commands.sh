#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The commands of README.md do what it says, word for word: load the module,
# export a disk with targetcli and with plain configfs, log in, log out.
#
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# The commands of README.md that stand below "<!-- test: NAME -->".
commands() {
	awk -v name="$1" '
		$0 == "<!-- test: " name " -->" { wanted = 1; next }
		wanted && /^```/ { if (inside) exit; inside = 1; next }
		inside' /bed/README.md
}

run_commands() {
	commands "$1" >"$WORK/$1.sh"
	check "README has commands to $1" test -s "$WORK/$1.sh"
	check "they work: $1" bash -e "$WORK/$1.sh"
}

use_disk() {
	run_commands login
	wait_for "the disk" find_disks "$(srp_hosts | head -n 1)"
	fio_verify "/dev/$(find_disks "$(srp_hosts | head -n 1)" | head -n 1)" --size=1M
	run_commands logout
	wait_for "the login is gone" no_hosts
}

no_hosts() { [ -z "$(srp_hosts)" ]; }

make_link 0
resources_before
run_commands load
check "the version is a number" grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$' /sys/module/ib_srpt/version

run_commands configfs
use_disk
remove_target
remove_backstores

# targetcli talks to the system bus, which a machine with an init has.
start_bus() {
	mkdir -p /run/dbus
	[ -e /run/dbus/system_bus_socket ] || dbus-daemon --system --fork
}

check "a system bus for targetcli" start_bus
run_commands targetcli
use_disk
