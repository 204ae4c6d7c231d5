#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The kernel's initiator logs in over RDMA/CM and IPv6, sees
# the LUN, reads and writes it, and logs out; then once more.
# smoke: yes
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

simple_target rd_mcp 64
for _ in first second; do
	login fd00:0::1
	same "$(blockdev --getsize64 "/dev/${DISKS[0]}")" $((64 << 20)) "size of the LUN"
	fio_verify "/dev/${DISKS[0]}" --size=2M
	logout "$HOST"
	wait_for "the target's channels are gone" no_sessions
	note "logged out, the target has no channel left"
done
