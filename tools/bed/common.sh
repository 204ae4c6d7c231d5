# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# What the scripts of the test bed share: where things are kept, how they
# report progress, and how they run apt on suites that the host does not use.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BED=$TOP/tools/bed
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ib_srpt
LOGS=$TOP/build/logs
ALL_KERNELS="7.3 6.12 6.1"
export TOP BED CACHE LOGS ALL_KERNELS DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

say() { printf '%s\n' "$*" >&2; }
die() { printf 'Error: %s\n' "$*" >&2; exit 1; }

# step TEXT COMMAND...: run a long step, say that it runs and how long it took.
# Its output goes to a log, which is named when the step fails. (The subshell
# stands alone because "if" and "||" would switch off its "set -e".)
step() {
	local text=$1 start=$SECONDS log status
	shift
	mkdir -p "$LOGS"
	log=$LOGS/setup-$(printf '%s' "$text" | tr -cs 'a-zA-Z0-9.' '-' | cut -c1-60).log
	say "... $text"
	set +e
	(
		set -e
		"$@"
	) >"$log" 2>&1
	status=$?
	set -e
	if [ $status = 0 ]; then
		say "    done: $text ($((SECONDS - start)) s)"
		return 0
	fi
	tail -n 12 "$log" >&2
	die "'$text' failed after $((SECONDS - start)) s. The whole output is in $log"
}

# How many times slower than a packaged kernel on an idle machine a kernel is:
# the watching kernel is, and so is any when other work fills the CPUs. Bounds
# are multiplied by this, so that they can be near on a machine of one's own.
slowness() {
	local load factor=1
	load=$(cut -d. -f1 /proc/loadavg)
	[ "$1" != debug ] || factor=8
	echo $((factor * (1 + load / (2 * $(nproc)))))
}

need_root() {
	[ "$(id -u)" = 0 ] && return
	die "this needs root, to make file systems and chroots. Run it with sudo or in a root shell."
}

need_space() {
	local free
	mkdir -p "$CACHE"
	free=$(df -Pm "$CACHE" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$1" ] && return
	die "$CACHE has $free MB left, $1 MB are needed. Make room, or set XDG_CACHE_HOME to a folder on another disk."
}

# with_lock NAME COMMAND...: one at a time, also between clones.
with_lock() {
	local name=$1
	shift
	mkdir -p "$CACHE"
	(
		flock 9
		"$@" 9>&-
	) 9>"$CACHE/.lock-$name"
}

# A step's result is kept until what it was made from changes: the stamp file
# holds a hash of the recipe.
stamp_is() { [ "$(cat "$CACHE/$1.stamp" 2>/dev/null)" = "$2" ]; }
stamp_set() { printf '%s\n' "$2" >"$CACHE/$1.stamp"; }
hash_of() { cat "$@" | sha256sum | cut -c1-16; }

# The mirror is the one that the host uses.
debian_mirror() {
	local uri
	# shellcheck disable=SC2016 # apt's own variables
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		grep -v -e security -e backports | grep -m1 '/debian/*$') || true
	[ -n "$uri" ] || die "no Debian mirror in /etc/apt. Add one to /etc/apt/sources.list and try again."
	printf '%s\n' "${uri%/}"
}

sources_list() {
	local mirror suite
	mirror=$(debian_mirror)
	for suite in "$@"; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
	done
}

# apt_conf NAME SUITE...: an apt of our own, with its own lists: several suites
# side by side, the host's untouched.
apt_conf() {
	local dir=$CACHE/$1
	shift
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	sources_list "$@" >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-END
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State "$dir/state";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
		APT::Architecture "amd64";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
	END
}

# APT_NAME says which of these.
bed_apt() { APT_CONFIG=$CACHE/${APT_NAME:-apt}/apt.conf "$@"; }

bed_apt_update() {
	apt_conf apt bookworm trixie trixie-backports
	[ -n "$(find "$CACHE/apt/updated" -mmin -720 2>/dev/null)" ] && return
	bed_apt apt-get update
	touch "$CACHE/apt/updated"
}
