#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# On InfiniBand: ibsrpdm finds the target and prints the login line; the kernel's
# initiator logs in with it over IB/CM and verifies data, with one channel and with
# eight, with a shared receive queue and without.
# needs: ibloop
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

ib_up
ib_target rd_mcp 64
GUID=$(service_guid)
LINE=$(ibsrpdm -c -d "$(ib_umad 1)")
same "$LINE" "id_ext=$GUID,ioc_guid=$GUID,dgid=$(ib_gid 2 | tr -d :),pkey=ffff,service_id=$GUID" "login line of ibsrpdm"
note "ibsrpdm -c: $LINE"
same "$(/bed/bin/dm_query -d $HCA -l "$(ib_lid 2)" <<<'get 0x11 1' | cut -c8-23)" "$GUID" "GUID of the IOC"
disable_tpg "$TPG"
same "$(ibsrpdm -c -d "$(ib_umad 1)")" "" "login line of a disabled target"
note "disabled: ibsrpdm finds nothing"
enable_tpg "$TPG"

for srq in 1 0; do
	echo $srq >"$TPG/attrib/use_srq"
	for channels in 1 8; do
		login ib "ch_count=$channels"
		check "the target has $channels channels, use_srq=$srq" target_has_channels $channels
		fio_verify "/dev/${DISKS[0]}" --size=2M
		logout "$HOST"
		wait_for "the target's channels are gone" no_sessions
	done
done
