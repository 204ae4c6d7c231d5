#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# RDMA/CM logins over IPoIB, beside one over IB/CM to the same port. The initiator's
# interface is in a network name space of its own.
# needs: ibloop
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

ib_up
ib_ip_up 2 $HCA 1 $HCA
wait_for "the target's address answers" nsenter --net=/run/netns/far ping -c 1 -W 2 10.9.0.1
ib_target rd_mcp 64

login ib ch_count=1
IB_HOST=$HOST
IB_DISK=${DISKS[0]}

# From the initiator's name space.
add_target() {
	printf '%s\n' "$2" | nsenter --net=/run/netns/far tee "/sys/class/infiniband_srp/srp-$1-1/add_target" >/dev/null
}
login 10.9.0.1 ch_count=2,initiator_ext=0000000000000002 $HCA
check "three channels" target_has_channels 3
fio_verify "/dev/${DISKS[0]}" --size=2M
fio_verify "/dev/$IB_DISK" --size=2M
logout "$HOST"
wait_for "one channel" target_has_channels 1
fio_verify "/dev/$IB_DISK" --size=1M
logout "$IB_HOST"
