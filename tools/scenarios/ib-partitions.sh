#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Logins in two partitions, of one of which the initiator is a limited member; none in
# a partition that the target is not in, or where both are limited members.
# needs: ibloop
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

ib_load
I=0x$(ib_guid 1)
T=0x$(ib_guid 2)
cat >"$WORK/partitions" <<END
Default=0x7fff, ipoib : ALL=full;
one=0x1 : $I=full, $T=full;
two=0x2 : $I=limited, $T=full;
three=0x3 : $I=limited, $T=limited;
four=0x4 : $I=full;
END
ib_manage 1 $HCA -P "$WORK/partitions"
ib_wait_active 1 2
has_pkey() { grep -qix "$2" "/sys/class/infiniband/$HCA/ports/$1/pkeys/"*; }
wait_for "P_Keys of the initiator" has_pkey 1 0x8004
wait_for "P_Keys of the target" has_pkey 2 0x0003
ib_target rd_mcp 64

IB_PKEY=8001 login ib ch_count=1,initiator_ext=1
FULL=${DISKS[0]}
IB_PKEY=0002 login ib ch_count=1,initiator_ext=2
LIMITED=${DISKS[0]}
fio_verify "/dev/$FULL" --size=2M
fio_verify "/dev/$LIMITED" --size=2M
IB_PKEY=0003 check_not "both limited members" try_login ib ch_count=1,initiator_ext=3
IB_PKEY=8004 check_not "a partition that the target is not in" try_login ib ch_count=1,initiator_ext=4
check "two channels" target_has_channels 2
