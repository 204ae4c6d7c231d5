#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A login with eight channels gets eight, and data moves over them.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

simple_target rd_mcp 64
login 10.0.0.1 ch_count=8
same "$(channels_of "$HOST")" 8 "channels of the initiator"
same "$(target_channels)" 8 "channels of the target"
fio_verify "/dev/${DISKS[0]}" --numjobs=4 --size=2M --offset_increment=4M
logout "$HOST"
wait_for "the target's channels are gone" no_sessions
