#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The knobs of ibloop do what its README says: tests of a target that rely on them would otherwise
# pass for nothing.
# needs: ibloop
# suite: unproven
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

export HCA_CHECKS_BOUND_MS=$((10000 * SLOW))
knob_is() { [ "$(cat "$KNOBS/$HCA/port$1/$2")" = "$3" ]; }
hca_check() { /bed/bin/hca_checks "$HCA" "$@"; }
device_says() { ibv_devinfo -v -d "$HCA" | grep -qE "$1"; }
counters_of_port_2() { perfquery -t 1000 "$(ib_lid 2)" 2; }

# The queue pair of a ping-pong server that waits for its client.
waiting_qp() { rdma resource show qp type RC | sed -n 's/.* lqpn \([0-9]*\) .*ibv_rc_pingpong.*/\1/p'; }
has_waiting_qp() { [ -n "$(waiting_qp)" ]; }
qp_is() { rdma resource show qp lqpn "$1" | grep -q "state $2"; }

ib_up max_send_wr=100 max_send_sge=4 max_srq_wr=200
check "limits are what was asked for" device_says 'max_qp_wr:[[:space:]]*100$'
check "also of SGEs" device_says 'max_sge:[[:space:]]*4$'

ib_knob 1 fail_sends 1
check_not "a send fails" hca_check send
check "the next does not" hca_check send
ib_knob 1 drop_send_wc 1
check_not "a send completion is lost" hca_check send
check "its knob is off again" knob_is 1 drop_send_wc 0
ib_knob 2 drop_recv_wc 1
check_not "a receive completion is lost" hca_check send
check "nothing is lost any more" hca_check send

ib_knob 1 delay_us 3000000
start=$SECONDS
check "a send completes late" hca_check send
check "by 3 s" test $((SECONDS - start)) -ge 3
ib_knob 1 delay_us 0
ib_knob 2 last_wqe 3000
start=$SECONDS
check "the last-WQE event comes late" hca_check srq
check "by 3 s" test $((SECONDS - start)) -ge 3
ib_knob 2 last_wqe 4294967295
check_not "it never comes" hca_check srq
ib_knob 2 last_wqe 0

ib_knob 1 mad_class 4
ib_knob 1 mad_attr 18
ib_knob 1 mad_skip 1
ib_knob 1 mad_drop 1000
check "the first request for counters passes" counters_of_port_2
check_not "the others are lost" counters_of_port_2
check "one of 1000 at least" test "$(cat "$KNOBS/$HCA/port1/mad_drop")" -lt 1000
ib_knob 1 mad_drop 0
check "none is lost any more" counters_of_port_2

ib_knob 1 refuse_class 6
check "a MAD class is taken" knob_is 1 refuse_class 6
check_not "a class that IB/CM has cannot be taken" ib_knob 1 refuse_class 7
check "nor is it then" knob_is 1 refuse_class 0

ibv_rc_pingpong -d "$HCA" -i 2 >/dev/null 2>&1 &
wait_for "a queue pair waits" has_waiting_qp
qp=$(waiting_qp)
check "it is initialised" qp_is "$qp" INIT
ib_event qp "$qp" fatal
check "an event puts it into the error state" qp_is "$qp" ERR
kill -KILL %ibv_rc_pingpong
wait_for "the queue pair is gone" test -z "$(waiting_qp)"
check_not "events of queue pairs that do not exist" ib_event qp 4000000 fatal
check_not "events that do not exist" ib_event port 1 surprise
ib_event port 2 reregister
ib_event device fatal
remove_links

ib_load no_srq=1
check "there are no shared receive queues" device_says 'max_srq:[[:space:]]*0$'
check_not "none can be made" hca_check srq
