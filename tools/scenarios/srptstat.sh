#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# srptstat shows ports, groups, sessions and channels with what they do, as text and for programs;
# it prints login lines that work; latencies are measured only while it looks. What it shows agrees
# with the counters in configfs.
#
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

STAT=/bed/bin/srptstat

look() { $STAT --json --once --interval "${1:-0.5}" >"$WORK/stat.json"; }

# true_of_it EXPRESSION: in Python, of what srptstat showed last: the whole of it (t), its first
# group (g), the first session there (s) and the channels of that (c).
true_of_it() {
	python3 - "$WORK/stat.json" "$1" <<-END
		import json, sys
		t = json.load(open(sys.argv[1]))
		g = t["groups"][0]
		s = (g["sessions"] or [{}])[0]
		c = s.get("channels")
		sys.exit(eval(sys.argv[2]) is not True)
	END
}

counter() { cat "$TPG/acls/$ACL/fabric_statistics/session/$1"; }

make_link 0
resources_before
check_not "without the module it fails" $STAT --once
check "and says why" grep -q 'not loaded' "$WORK/refused.out"
load_target
check_not "without a way in there are no login lines" $STAT login-lines

make_backstore rd_mcp disk0 16
ACL=10.0.0.1
TPG=$(make_tpg "$(gid_name rxe0)" "a group")
add_lun "$TPG" 0 disk0
add_acl "$TPG" "$ACL"
add_acl "$TPG" "$HAND_ID"
enable_tpg "$TPG"
listen_on "$PORT"

check "an idle target is shown" look
check "the port is active and has its target port" true_of_it \
	't["ports"][0]["state"] == "ACTIVE" and t["ports"][0]["targets"] == ["'"$(gid_name rxe0)"'"]'
check "the group, with a blank in its name, has nobody" true_of_it \
	'g["group"] == "a group" and g["enabled"] and g["luns"] == 1 and not g["sessions"]'

check "login lines" $STAT login-lines
cp "$WORK/check.out" "$WORK/lines"
check "one for the IPv4 address" grep -qxF "$(login_line 10.0.0.1)" "$WORK/lines"
check "one for the IPv6 address" grep -qF 'dest=[fd00:' "$WORK/lines"
check "no other" test "$(wc -l <"$WORK/lines")" = 2
check "it is good enough to log in with" add_target rxe0 "$(grep 10.0.0.1 "$WORK/lines"),ch_count=2"
HOST=$(srp_hosts | head -n 1)
wait_for "disk" find_disks "$HOST"
DISK=$(find_disks "$HOST" | head -n 1)

# Where the CPU is shared with much else, there is not some of everything in each look.
sees_both() {
	look 2
	true_of_it 's["read_bps"] > 0 and s["write_bps"] > 0' &&
		true_of_it 'all(g["latency"][kind]["count"] for kind in ("read", "write"))'
}

start_fio load "/dev/$DISK" --size=1M
wait_for "it reads and writes" sees_both
stop_fio load
check "a session with two live channels" true_of_it \
	'[x["state"] for x in c] == ["live"] * 2 and s["initiator"] == "10.0.0.1"'
check "it has credits" true_of_it 'all(0 < x["credit"] <= x["req_lim"] for x in c)'
for kind in read write; do
	check "latencies of $kind" true_of_it \
		"(lambda f: f['count'] > 0 and 0 < f['p50_us'] <= f['p99_us'] < 60e6)(g['latency']['$kind'])"
done

check "it is shown as text" $STAT --once --interval 0.2
cp "$WORK/check.out" "$WORK/text"
check "with the initiator" grep -q '^  10.0.0.1 ' "$WORK/text"
fio_verify "/dev/$DISK" --size=1M
check "counters: requests" test "$(counter requests)" -gt 100
check "counters: bytes read" test "$(counter bytes_in)" -ge $((1 << 20))
check "counters: bytes written" test "$(counter bytes_out)" -ge $((1 << 20))
look
check "srptstat has the same bytes" true_of_it \
	'sum(x["bytes_out"] for x in c) == '"$(counter bytes_out)"

# Nobody looks: nothing is counted.
cat /sys/kernel/debug/ib_srpt/latency >"$WORK/before"
fio_verify "/dev/$DISK" --size=1M
cat /sys/kernel/debug/ib_srpt/latency >"$WORK/after"
check "latencies are not measured when nobody looks" cmp "$WORK/before" "$WORK/after"

exec 8</sys/kernel/debug/ib_srpt/latency
check_not "a module whose latencies somebody measures stays" rmmod ib_srpt
exec 8<&-
logout "$HOST"
wait_for "channels gone" no_sessions
check "the target is idle again" look
check "and shown so" true_of_it 'not g["sessions"]'
remove_target
check "without a configuration too" look
