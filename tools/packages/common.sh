# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# What the packaging scripts share. Needs tools/bed/common.sh.

module_version() { sed -n 's/^#define SRPT_VERSION[[:space:]]*"\(.*\)"/\1/p' "$TOP/ib_srpt.h"; }

# The headings of NEWS: "VERSION DATE".
news_versions() { grep -E '^[0-9]+\.[0-9]+\.[0-9]+ ' "$TOP/NEWS"; }

# news_of VERSION: what NEWS says of it.
news_of() {
	awk -v version="$1" '
		/^[0-9]+\.[0-9]+\.[0-9]+ / { wanted = $1 == version; next }
		wanted && NF' "$TOP/NEWS"
}

# The sources as they are in this folder, committed or not, without what a build leaves.
copy_sources_to() {
	mkdir -p "$1"
	git -C "$TOP" ls-files -z --cached --others --exclude-standard |
		rsync -a --from0 --files-from=- --ignore-missing-args "$TOP/" "$1/"
}

# A room is a system of its own to install things in: the build chroot (trixie with the headers
# of all guest kernels), with all changes in a folder beside it. The folders /src and /out of it
# are ROOM_SRC and ROOM_OUT.
ROOM=$TOP/build/room-$(basename "$0")

new_room() {
	"$BED/chroot"
	rm -rf "$ROOM"
	mkdir -p "$ROOM"/{upper,work,root,src,out}
	ROOM_SRC=$ROOM/src
	ROOM_OUT=$ROOM/out
}

# The mounts live in a name space of their own and go with it.
in_room() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount --propagation private bash -euc '
		chroot=$1 room=$2 src=$3 out=$4
		shift 4
		mount -t overlay overlay "$room/root" \
			-o "lowerdir=$chroot,upperdir=$room/upper,workdir=$room/work"
		mount -t proc proc "$room/root/proc"
		mount --bind "$src" "$room/root/src"
		mount --bind "$out" "$room/root/out"
		exec chroot "$room/root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin \
			HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
	' in_room "$CACHE/chroot" "$ROOM" "$ROOM_SRC" "$ROOM_OUT" "$@"
}

room_install() {
	in_room apt-get update
	in_room apt-get install -y --no-install-recommends "$@"
}
