#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The conformance suite, tools/srpconf: notifications and logouts.
# suite: unproven
# timeout: 600
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

srpconf_target
srpconf 'notify/*' --require solicited,t-logout
