#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A subnet manager brings the ports of ibloop up, and everything that manages a subnet sees them:
# nodes, links, paths, counters, partitions. Two HCAs with two cables between them are two subnets.
# needs: ibloop
# suite: unproven
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

ib_load
check "the link is up and waits for a manager" ib_state 1 INIT
ib_manage 1
ib_wait_active 1 2

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

remove_links
ib_load hcas=2
ib_manage 1
wait_for "first ports active" ib_state 1 ACTIVE ibloop1
check "second ports are another subnet" ib_state 2 INIT
ib_manage 2
wait_for "second ports active" ib_state 2 ACTIVE ibloop1
check "each has its own manager" says MASTER sminfo -C ibloop1 -P 2
check "and addresses of its own" test "$(ib_lid 1)" = "$(ib_lid 2)"
