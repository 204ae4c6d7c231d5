#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Each form of an ACL's name admits its initiator, both forms of a target port's
# name are found, a wrong name is refused in words that help on both sides, and
# a name that nobody can ever have is refused when it is made.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# admits ADDRESS ACL: with this ACL only, a login to the address works.
admits() {
	add_acl "$TPG" "$2"
	login "$1" ch_count=1
	check "ACL $2 admits the initiator of $1" dd if="/dev/${DISKS[0]}" of=/dev/null bs=4k count=8 iflag=direct
	logout "$HOST"
	wait_for "the target's channels are gone" no_sessions
	remove_acl "$TPG" "$2"
}

# refused ADDRESS NAME...: a login is refused, and the names are in the log.
refused() {
	local address=$1 mark="refused $RANDOM" name
	shift
	dmesg_mark "$mark"
	check_not "a login to $address is refused" try_login "$address" ch_count=1
	check "the initiator sees the reason" dmesg_has "$mark" 'SRP LOGIN REJECTED, reason 0x0001000[0-9a-f]'
	check "the target says that it refused" dmesg_has "$mark" 'ib_srpt: .*refused a login, reason 0x1000[0-9a-f]'
	for name in "$@"; do
		check "and that $name was looked for" dmesg_has "$mark" "ib_srpt: .*refused a login.*$name"
	done
}

# Names that can never match: an errno, and one line that names them.
refused_name() {
	local mark="name $RANDOM" lines
	dmesg_mark "$mark"
	check_not "mkdir of the ACL '$1' fails" mkdir "$TPG/acls/$1"
	check "with EINVAL" grep -q 'Invalid argument' "$WORK/refused.out"
	lines=$(dmesg --notime | awk -v mark="bed: mark $mark" 'seen; $0 == mark { seen = 1 }' | grep -c 'ib_srpt: ') || true
	same "$lines" 1 "log lines about the name"
	check "and the log line names it" dmesg_has "$mark" "ib_srpt: .*'$1'"
}

simple_target rd_mcp 16 0x00000000000000000000000000000001
remove_acl "$TPG" 0x00000000000000000000000000000001
gid=$(gid rxe0)
guid=$(guid_name rxe0)
id=$(initiator_name rxe0)
link_local="$(ip -6 -o addr show dev dummy0 scope link | awk '{ sub("/.*", "", $4); print $4 }')"

note "names over IPv4"
admits 10.0.0.1 10.0.0.1
admits 10.0.0.1 ::ffff:10.0.0.1
admits 10.0.0.1 0x00000000000000000000ffff0a000001
admits 10.0.0.1 0000:0000:0000:0000:0000:ffff:0a00:0001
admits 10.0.0.1 "$id"
admits 10.0.0.1 "${id#0x}"
admits 10.0.0.1 "0x$(tr a-f A-F <<<"${id#0x}")"

note "names over IPv6"
admits fd00:0::1 fd00::1
admits fd00:0::1 fd00:0:0:0:0:0:0:1
admits fd00:0::1 fd00:0000:0000:0000:0000:0000:0000:0001
admits fd00:0::1 FD00::1
admits fd00:0::1 "$id"

note "names over the link-local address, whose GID is the first of the port"
admits "$link_local%dummy0" "$guid"
admits "$link_local%dummy0" "$(gid_name rxe0)"
admits "$link_local%dummy0" "$gid"
admits "$link_local%dummy0" "$link_local"

note "a wrong name, and none"
add_acl "$TPG" 10.0.0.2
refused 10.0.0.1 '10\.0\.0\.1' "$id"
add_acl "$TPG" fd00::2
refused fd00:0::1 "0xfd000000000000000000000000000001" "$id"
refused "$link_local%dummy0" "$(gid_name rxe0)" "$guid"
remove_acl "$TPG" 10.0.0.2
remove_acl "$TPG" fd00::2
refused 10.0.0.1 '10\.0\.0\.1'

note "names that can never match"
for name in eui.5054003456 iqn.2003-01.org.example:x 10.0.0 10.0.0.256 10.0.0.1:5555 fe80::1%dummy0 \
	fd00::1::2 0x1234 "${id}0" "${id#0x0}" 5054:00ff:fe12 5054:0ff:fe12:3456 0xg0000000000000000000000000000000 \
	10.0.0.01 everybody; do
	refused_name "$name"
done

note "a second spelling of the same name"
add_acl "$TPG" fd00::1
add_acl "$TPG" fd00:0000:0000:0000:0000:0000:0000:0001
login fd00:0::1 ch_count=1
logout
wait_for "the target's channels are gone" no_sessions
remove_acl "$TPG" fd00::1
login fd00:0::1 ch_count=1
note "each of the two admits"
logout
wait_for "the target's channels are gone" no_sessions
remove_tpg "$TPG"
rmdir "${TPG%/*}"

# named PORT: with this target port only, a login works.
named() {
	TPG=$(make_tpg "$1")
	add_lun "$TPG" 0 disk0
	add_acl "$TPG" "$id"
	enable_tpg "$TPG"
	login 10.0.0.1 ch_count=1
	note "the target port is found by the name $1"
	logout
	wait_for "the target's channels are gone" no_sessions
	remove_tpg "$TPG"
	rmdir "${TPG%/*}"
}

note "names of the target port"
named "$guid"
named "$(gid_name rxe0)"
named "$(tr a-f A-F <<<"$guid")"
other=$(make_tpg 0xfe800000000000000000000000000001)
add_acl "$other" "$id"
enable_tpg "$other"
refused 10.0.0.1
first=$(make_tpg "$guid")
enable_tpg "$first"
second=$(make_tpg "$(gid_name rxe0)")
add_lun "$second" 0 disk0
add_acl "$second" "$id"
enable_tpg "$second"
login 10.0.0.1 ch_count=1
note "both names of the port at the same time, the ACL under the second"
