#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A login over iWARP, where there is neither a path record nor a P_Key nor a
# port GID, by the initiator port ID. (Over one host's IPv6 link-local address;
# siw refuses the host's own IPv4 address before the target sees it.)
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

has_siw || skip "this kernel has no siw"

make_link 0 siw
load_target
make_backstore rd_mcp disk0 32
TPG=$(make_tpg "$(gid_name siw0)")
add_lun "$TPG" 0 disk0
add_acl "$TPG" "$(initiator_name siw0)"
enable_tpg "$TPG"
listen_on "$PORT"
address=$(ip -6 -o addr show dev dummy0 scope link | awk '{ sub("/.*", "", $4); print $4 }')
for channels in 1 2; do
	login "$address%dummy0" "ch_count=$channels" siw0
	fio_verify "/dev/${DISKS[0]}" --size=2M
	logout "$HOST"
done
