#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Device management queries over RoCE, with a global route: every attribute, valid
# and invalid modifiers, slots and methods. What is offered follows the
# configuration and the port's name, and the change ID tells of it. The port's
# capability bit is there while the module is, and no longer.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# asks and expects: query, then the answer as a pattern of bash.
expect() {
	local answer
	answer=$(dm_query "$1")
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $answer == $2 ]] || fail "device management: $1: '$answer' instead of '$2'"
	note "$1: $answer"
}

change_id() { dm_query "get 0x10 0" | cut -c8-11; }

# moved TEXT: the change ID is another than the last time.
moved() {
	local now
	now=$(change_id)
	[ "$now" != "$LAST" ] || fail "$1: the change ID is still $now"
	note "$1: change ID $LAST -> $now"
	LAST=$now
}

has_capability() { [ $(($(cat /sys/class/infiniband/rxe0/ports/1/cap_mask) & 1 << 19)) != 0 ]; }

offers_target() { [[ $(dm_query "get 0x10 0") == "0x0000 "????100010* ]]; }
offers_nothing() { [[ $(dm_query "get 0x10 0") == "0x0000 "????100000* ]]; }

make_link 0
check_not "no capability bit without the module" has_capability
resources_before
load_target
check "the port tells that it answers" has_capability
check "nothing is configured, nothing is offered" offers_nothing
LAST=$(change_id)

simple_target rd_mcp 16
disable_tpg "$TPG"
LAST=$(change_id)
expect "get 0x11 1" 0x0100
expect "get 0x12 0x10000" 0x0100
enable_tpg "$TPG"
moved "enabled"
echo 131072 >"$TPG/attrib/srp_max_rdma_size"
moved "another RDMA size"

GUID=$(service_guid)
NAME=$(printf 'SRP.T10:%s' "$GUID" | od -An -tx1 | tr -d ' \n')
expect "get 0x01 0" "0x0000 0101000000000014"
expect "get 0x10 0" "0x0000 ${LAST}10001000000000000000$(printf 'f%.0s' {1..240})"
expect "get 0x11 1" "0x0000 ${GUID}ffffff00????????????0000ffffff00????????0100609e01080001000000000080001000002054000200002b000100*"
expect "get 0x12 0x10000" "0x0000 $NAME$(printf '0%.0s' {1..32})$GUID"

for query in "get 0x01 1" "get 0x10 1" "get 0x11 0" "get 0x11 17" "get 0x11 0x10001" \
	"get 0x12 0" "get 0x12 0x110000" "get 0x12 0x10001" "get 0x12 0x10400" "get 0x12 0xffffffff"; do
	expect "$query" 0x001c
done
for query in "get 0x11 2" "get 0x11 16" "get 0x12 0x20000" "get 0x12 0x100000"; do
	expect "$query" 0x0100
done
for query in "get 0x12 0x10100" "get 0x12 0x10101" "get 0x12 0x10300"; do expect "$query" 0x0200; done
for query in "get 0x00 0" "get 0x02 0" "get 0x13 0" "get 0x20 0" "get 0xffff 0"; do
	expect "$query" 0x000c
done
for query in "set 0x01 0" "set 0x10 0" "set 0x11 1"; do expect "$query" 0x0008; done

login 10.0.0.1 ch_count=1
logout "$HOST"
same "$(change_id)" "$LAST" "the change ID after a login"
disable_tpg "$TPG"
moved "disabled"
check "disabled, nothing is offered" offers_nothing
enable_tpg "$TPG"
moved "enabled"
check "enabled, the target is offered" offers_target

# The port's name is GID 0, made of the MAC address.
ip link set dummy0 down
ip link set dummy0 address 02:00:00:00:00:77
ip link set dummy0 up
wait_for "another GID 0" grep -q ff:fe00:0077 /sys/class/infiniband/rxe0/ports/1/gids/0
wait_for "with another name the port offers nothing" offers_nothing
note "with another name the port offers nothing"
LAST=$(change_id)
OTHER=$(make_tpg "$(guid_name rxe0)" by_guid)
enable_tpg "$OTHER"
moved "a portal group of that name"
check "the target is offered" offers_target

remove_target
check "no configuration, nothing is offered" offers_nothing
unload_target
check_not "no capability bit without the module" has_capability
