#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# IP over InfiniBand between the two ports of ibloop, with multicast, while the link goes down and
# comes back.
# kernels: 7.3 6.12 (the rdmavt of 6.1 warns of a copy of its own, whatever stands on it)
# smoke: yes
# needs: ibloop
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

answers() { ping -c 1 -W 2 10.9.0.2; }

ib_up
ib_ip_up
wait_for "port 2 answers over IPoIB" answers
check "packets of more than the MTU" ping -c 3 -W 10 -s 6000 10.9.0.2
check "multicast reaches the other port" ping -6 -c 2 -W 10 -I "$(ib_netdev 1)" ff02::1
ib_link_down 1
check "the ports are down" ib_state 2 DOWN
check_not "no way through" answers
ib_link_up 1
ib_wait_active 1 2
wait_for "port 2 answers again" answers
ib_ip_down
