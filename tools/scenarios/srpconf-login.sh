#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The conformance suite, tools/srpconf: logins.
# suite: unproven
# timeout: 900
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

srpconf_target
srpconf 'login/[!h]*'
