#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A subnet manager brings the ports of ibloop up, and everything that manages a subnet sees them:
# nodes, links, paths, counters, partitions. Ports 3 and 4 are a subnet of their own.
# smoke: yes
# needs: ibloop
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

says() {
	local regex=$1
	shift
	"$@" | grep -E "$regex"
}
counter() { perfquery -x "$(ib_lid "$1")" "$1" | sed -n "s/^$2:\.*//p"; }
counted_more() { [ "$(counter 2 PortRcvPkts)" -gt "$1" ]; }
has_pkey() { says "$2" smpquery pkeys "$(ib_lid "$1")" "$1"; }

ib_load ports=4
check "the links are up and wait for a manager" ib_state 1 INIT
ib_manage 1
ib_wait_active 1 2
check "ports 3 and 4 are another subnet" ib_state 3 INIT

check "ibstat sees two active ports" test "$(ibstat "$HCA" | grep -c 'State: Active')" = 2
check "the subnet administration has records of two" test "$(saquery -N 2>/dev/null | grep -c port_guid)" = 2
check "ibnetdiscover sees the cable" says '\[1\].*"H-00ffff0000000100"\[2\]' ibnetdiscover
check "sminfo finds the master" says MASTER sminfo
check "node description" says "$HCA" smpquery nodedesc "$(ib_lid 2)"
check "path record" says dlid saquery -p --src-to-dst "$(ib_lid 1):$(ib_lid 2)"

before=$(counter 2 PortRcvPkts)
wait_for "port 2 counts what it receives" counted_more "$before"
check "counters are cleared" perfquery -R "$(ib_lid 2)" 2
check "and begin again" test "$(counter 2 PortRcvPkts)" -lt "$before"

ib_unmanage 1
cat >"$WORK/partitions.conf" <<-END
	Default=0x7fff, ipoib: ALL=full;
	tests=0x0123: 0x$(ib_guid 1)=full, 0x$(ib_guid 2)=limited;
END
ib_manage 1 "$HCA" -P "$WORK/partitions.conf"
wait_for "port 1 is a full member of the partition" has_pkey 1 0x8123
wait_for "port 2 is a limited member" has_pkey 2 0x0123

ib_manage 3
ib_wait_active 3 4
check "a second subnet is managed from port 3" says MASTER sminfo -C "$HCA" -P 3
same "$(ib_lid 3)" 1 "LID of port 3"
