#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# An HCA goes and comes back while it is managed and carries IP: unloading the module takes both
# ends away, unplugging one of two HCAs its end only.
# needs: ibloop
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

answers() { ping -c 1 -W 2 10.9.0.2; }
flood() {
	ping -q -f -s 1000 10.9.0.2 >/dev/null 2>&1 &
	FLOOD=$!
}

ib_up
ib_ip_up
wait_for "port 2 answers" answers
flood
remove_links
note "ibloop unloaded while a subnet manager and IPoIB used it"
check "its interfaces are gone" test -z "$(ib_netdev 1)"
kill -KILL "$FLOOD"

ib_load hcas=2 ports=1
ib_manage 1
wait_for "both HCAs are active" ib_state 1 ACTIVE
wait_for "both HCAs are active" ib_state 1 ACTIVE ibloop1
ib_ip_up 1 ibloop0 1 ibloop1
wait_for "the second HCA answers" answers
flood
echo 1 >"$KNOBS/unplug"
check "the second HCA is gone" test ! -e /sys/class/infiniband/ibloop1
check "the link of the first is down" ib_state 1 DOWN
kill -KILL "$FLOOD"
ib_ip_down
echo 1 >"$KNOBS/plug"
wait_for "the first HCA is active again" ib_state 1 ACTIVE
wait_for "and the second" ib_state 1 ACTIVE ibloop1
ib_ip_up 1 ibloop0 1 ibloop1
wait_for "the second HCA answers again" answers
