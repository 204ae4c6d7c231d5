#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Every reason to refuse a login, twenty times in turn: each gets an
# SRP_LOGIN_REJ with its own reason, what lies just inside the limits is
# accepted, the log names who was refused and why without flooding, and nothing
# leaks. A sound login works all the while.
# timeout: 300
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

ROUNDS=20

make_link 0
simple_target rd_mcp 16 "$HAND_ID" "$(initiator_name rxe0)"
login 10.0.0.1 ch_count=1
limit=$(cat /sys/module/ib_srpt/parameters/srp_max_req_size)
dmesg_mark refused
start=$SECONDS
check "one round of each" by_hand refused 1 "$limit"
check "the log names the initiator's port ID" dmesg_has refused "refused a login.*0*bad"
before=$(kernel_memory)
check "$ROUNDS rounds of each" by_hand refused "$ROUNDS" "$limit"
note "answered in $((SECONDS - start)) s"
lines=$(dmesg --notime | awk '/bed: mark refused/ { n = 0 } /ib_srpt.*refused/ { n++ } END { print n + 0 }')
[ "$lines" -lt $((ROUNDS * 16)) ] || fail "$lines log lines of refused logins: not rate limited"
# what is freed is kept for a while where everything is watched
grown() { [ $(($(kernel_memory) - before)) -gt $((8192 * SLOW)) ]; }
wait_for "memory not grown by refused logins" eval '! grown'
fio_verify "/dev/${DISKS[0]}" --size=2M
