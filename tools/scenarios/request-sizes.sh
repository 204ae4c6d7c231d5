#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A target that takes only small requests refuses an initiator that wants larger
# ones, with the reason that says so; it works with one that asks for less. With
# the default limit the default initiator and very modest ones work.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

works() {
	login 10.0.0.1 "ch_count=1$1"
	fio_verify "/dev/${DISKS[0]}" --bssplit=512/50:64k/50 --size=1M
	logout
	wait_for "the target's channels are gone" no_sessions
}

make_link 0
resources_before
load_target srp_max_req_size=2116
simple_target rd_mcp 16
dmesg_mark small
check_not "2116 bytes allowed, 8260 wanted: refused" try_login 10.0.0.1
check "the initiator sees the reason" dmesg_has small 'SRP_LOGIN_REJ: requested max_it_iu_len too large'
check "the target's log says it too" dmesg_has small 'ib_srpt: .*refused a login, reason 0x10002'
check_not "2117 wanted: refused" try_login 10.0.0.1 max_it_iu_size=2117
works ,max_it_iu_size=2116
works ,max_it_iu_size=580
echo N >/sys/module/ib_srp/parameters/use_imm_data
works ""
echo Y >/sys/module/ib_srp/parameters/use_imm_data
clean_up

make_link 0
note "default limit"
simple_target rd_mcp 16
same "$(cat /sys/module/ib_srpt/parameters/srp_max_req_size)" 8276 "srp_max_req_size"
works ""
works ,max_it_iu_size=580
works ,cmd_sg_entries=255
clean_up

make_link 0
note "largest limit"
resources_before
load_target srp_max_req_size=65536
simple_target rd_mcp 16
works ""
