#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Everything is configured and enabled before the RDMA device exists. When it
# comes, logins work with no hand laid on the target, by each form of the name.
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

LINK_MAC=02:00:5e:00:53:01
GUID=0000:5eff:fe00:5301

load_target
make_backstore rd_mcp disk0 16
for name in "$GUID" 0xfe80000000000000${GUID//:/}; do
	TPG=$(make_tpg "$name")
	add_lun "$TPG" 0 disk0
	add_acl "$TPG" 10.0.0.1
	enable_tpg "$TPG"
	same "$(cat "$TPG/enable")" 1 "enable without a device"
	listen_on "$PORT"
	make_link 0
	same "$(guid_name rxe0)" "$GUID" "GUID of the port"
	login 10.0.0.1 ch_count=2
	fio_verify "/dev/${DISKS[0]}" --size=1M
	logout "$HOST"
	remove_links
	remove_target
done
