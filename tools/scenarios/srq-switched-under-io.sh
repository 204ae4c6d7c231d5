#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# use_srq is switched while sessions live: they keep the kind of receive queue
# that they have and go on, new logins get the other kind, and switching back
# and forth hurts nobody.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# Queue pairs of the target that are on a shared receive queue.
on_srq() {
	rdma resource show srq | awk '{ for (i = 1; i < NF; i++) if ($i == "lqpn") print $(i + 1) }' |
		tr , '\n' | awk -F- 'NF { n += (NF > 1 ? $2 - $1 : 0) + 1 } END { print n + 0 }'
}

# expect ALL ON_SRQ
expect() {
	same "$(target_channels)" "$1" "channels of the target"
	same "$(on_srq)" "$2" "channels on a shared receive queue"
	note "$1 channels, $2 of them on a shared receive queue"
}

# login_as NUMBER: another initiator port each; all over one channel.
login_as() {
	login 10.0.0.1 "ch_count=1,initiator_ext=$(printf %016x "$1")"
	start_fio "$1" "/dev/${DISKS[0]}" --offset="$(($1 * 8))M" --size=2M \
		--iodepth=4 --rate_iops=100
}

make_link 0
simple_target rd_mcp 64 10.0.0.1
echo 1 >"$TPG/attrib/use_srq"
login_as 1
expect 1 1
echo 0 >"$TPG/attrib/use_srq"
login_as 2
expect 2 1
echo 1 >"$TPG/attrib/use_srq"
login_as 3
expect 3 2
for value in 0 1 0 1 0; do
	echo $value >"$TPG/attrib/use_srq"
	same "$(cat "$TPG/attrib/use_srq")" $value use_srq
done
login_as 4
expect 4 2
for disk in /sys/class/srp_host/host*/device/target*/*/block/*; do
	wait_for "${disk##*/} still moves data" io_moves "${disk##*/}"
done
for number in 1 2 3 4; do stop_fio $number; done
logout
wait_for "the target's channels are gone" no_sessions

note "a new login of the same initiator gets the kind that is set now"
for value in 1 0; do
	echo $value >"$TPG/attrib/use_srq"
	login 10.0.0.1 ch_count=1
	expect 1 $value
	fio_verify "/dev/${DISKS[0]}" --size=1M
	logout
	wait_for "the target's channels are gone" no_sessions
done
