# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# InfiniBand for scenarios, sourced after lib.sh: the HCA ibloop0 (tools/ibloop), whose ports 1 and
# 2 are cabled to each other. Initiators are at port 1, targets at port 2.

HCA=ibloop0
KNOBS=/sys/kernel/debug/ibloop
declare -A MANAGERS=()

# ib_up [PARAMETER=VALUE...]: load the HCA, let a subnet manager at port 1 bring it up.
# shellcheck disable=SC2120 # most scenarios need no parameter
ib_up() {
	ib_load "$@"
	ib_manage 1
	ib_wait_active 1 2
}

ib_load() {
	modprobe -a rdmavt ib_umad ib_uverbs ib_ipoib
	insmod /bed/ibloop.ko "$@"
}

ib_loaded() { [ -d /sys/module/ibloop ]; }

# ib_manage PORT [HCA] [OPTIONS OF OPENSM...]: start a subnet manager there.
ib_manage() {
	local port=$1 hca=${2:-$HCA}
	shift $(($# < 2 ? $# : 2))
	mkdir -p /var/log /var/cache/opensm
	opensm -g "0x$(ib_guid "$port" "$hca")" -s 2 -f "$WORK/opensm-$port.log" "$@" >"$WORK/opensm-$port.out" 2>&1 &
	MANAGERS[$port]=$!
	disown $! # ended when the HCA goes, not before
}

ib_unmanage() {
	kill -INT "${MANAGERS[$1]}"
	wait_for "subnet manager at port $1 ends" process_ended "${MANAGERS[$1]}"
	unset "MANAGERS[$1]"
}

# ib_wait_active PORT...
ib_wait_active() {
	local port
	for port in "$@"; do wait_for "port $port active" ib_state "$port" ACTIVE; done
}

# ib_state PORT STATE [HCA]: is it in that state (DOWN, INIT, ARMED, ACTIVE)?
ib_state() { grep -q "$2" "/sys/class/infiniband/${3:-$HCA}/ports/$1/state"; }

ib_gid() { cat "/sys/class/infiniband/${2:-$HCA}/ports/$1/gids/0"; }
ib_guid() { ib_gid "$@" | tr -d : | cut -c17-; }
ib_lid() { cat "/sys/class/infiniband/${2:-$HCA}/ports/$1/lid"; }

# ib_knob PORT NAME VALUE [HCA]
ib_knob() { echo "$3" >"$KNOBS/${4:-$HCA}/port$1/$2"; }
ib_link_down() { ib_knob "$1" link 0; }
ib_link_up() { ib_knob "$1" link 1; }
# ib_event OBJECT...: an asynchronous event, as tools/ibloop/README.md lists them.
ib_event() { echo "$*" >"$KNOBS/$HCA/event"; }

# ib_netdev PORT [HCA]: name of its IPoIB interface, nothing if there is none here.
ib_netdev() {
	local path parent
	parent=$(readlink -f "/sys/class/infiniband/${2:-$HCA}/device") || return 0
	for path in /sys/class/net/*; do
		[ "$(cat "$path/type")" = 32 ] || continue
		[ "$(readlink -f "$path/device")" = "$parent" ] || continue
		[ "$(cat "$path/dev_port")" != $(($1 - 1)) ] || basename "$path"
	done
}

# ib_ip_up [PORT HCA PORT HCA]: IPoIB between two ports: 10.9.0.1 here and 10.9.0.2 in a network
# name space "far", since the kernel does not send to itself.
# shellcheck disable=SC2120 # mostly between the ports of one HCA
ib_ip_up() {
	local near far
	wait_for "IPoIB interfaces" ib_has_netdevs "$@"
	near=$(ib_netdev "${1:-1}" "${2:-$HCA}")
	far=$(ib_netdev "${3:-2}" "${4:-$HCA}")
	ip netns add far
	ip link set "$far" netns far
	ip addr add 10.9.0.1/24 dev "$near"
	ip link set "$near" up
	ip -n far addr add 10.9.0.2/24 dev "$far"
	ip -n far link set lo up
	ip -n far link set "$far" up
}

ib_has_netdevs() { [ -n "$(ib_netdev "${1:-1}" "${2:-$HCA}")" ] && [ -n "$(ib_netdev "${3:-2}" "${4:-$HCA}")" ]; }

ib_ip_down() {
	local net
	for net in /sys/class/net/ib*; do [ ! -e "$net" ] || ip addr flush dev "${net##*/}"; done
	for net in $(ip -n far -o link show | awk -F': ' '$2 ~ /^ib/ { print $2 }'); do
		ip -n far link set "$net" netns 1
	done
	ip netns del far
}

# What lib.sh takes away at a scenario's end.
remove_links() {
	local port
	for port in "${!MANAGERS[@]}"; do kill -KILL "${MANAGERS[$port]}" 2>/dev/null || true; done
	MANAGERS=()
	! ib_loaded || wait_for "ibloop unloads" rmmod ibloop
	[ ! -e /run/netns/far ] || ib_ip_down
}

# ib_umad PORT: the device that sends datagrams from there.
ib_umad() {
	local path
	for path in /sys/class/infiniband_mad/umad*; do
		[ "$(cat "$path/ibdev") $(cat "$path/port")" = "$HCA $1" ] || continue
		echo "/dev/infiniband/$(basename "$path")"
	done
}
