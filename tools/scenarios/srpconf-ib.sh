#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The conformance suite, tools/srpconf, over IB/CM through AF_IB addresses: logins, and a part of
# what needs no operator.
# suite: unproven
# kernels: 7.3
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh
# shellcheck source=tools/scenarios/lib-ib.sh
. /bed/lib-ib.sh

ib_up
modprobe rdma_ucm
resources_before
make_backstore dm disk0 64
load_target
TPG=$(make_tpg "0x$(ib_gid 2 | tr -d :)")
add_lun "$TPG" 0 disk0
add_acl "$TPG" "$HAND_ID"
add_acl "$TPG" "$OTHER_ID"
enable_tpg "$TPG"
# shellcheck disable=SC2034 # for srpconf
SRPCONF_AT=(--ib -a "$(ib_gid 2)" -p "$(service_guid)")
srpconf 'login/[!hr]*'
srpconf 'command/form/*'
srpconf 'notify/solicited/*'
