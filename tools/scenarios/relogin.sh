#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# A second login of the same initiator and target port: one for a single channel
# ends the channels that were there before and says so in its answer; one for
# several channels adds to them and says that too. Each closes exactly the
# channels it has to, at any point of their lives.
# smoke: yes
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

simple_target rd_mcp 16 "$HAND_ID" 0x00000000000000000000000000c0fff0

script_says "a: accepted, no channel
a: alive
b: accepted, terminated
a: gone
b: alive
c: accepted, maintained
d: accepted, maintained
b: alive
c: alive
d: alive
e: accepted, no channel
e: alive
d: alive
f: accepted, terminated
b: gone
c: gone
d: gone
f: alive
e: alive
g: accepted, terminated
f: gone
g: answered
g: confirmed
h: accepted, terminated
g: gone
h: alive
h: closed
e: alive" <<-END
	login a
	alive a
	login b
	gone a
	alive b
	login c multi
	login d multi
	alive b
	alive c
	alive d
	# another initiator, and then the first again
	login e id=0x00000000000000000000000000c0fff0
	alive e
	alive d
	login f
	gone b
	gone c
	gone d
	alive f
	alive e
	# commands before the confirmation
	login g unconfirmed
	gone f
	early g
	confirm g
	login h
	gone g
	alive h
	close h
	alive e
END
wait_for "channels gone after the program ended" no_sessions

script_says "a: accepted, no channel
a: alive
a: closed" <<-END
	login a multi
	alive a
	close a
END
wait_for "channels gone after the program ended" no_sessions
