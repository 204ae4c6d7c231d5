# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The verbs of the scenarios. A scenario sources this file first. That loads
# the RDMA and SCSI modules, and arranges that at its end, however it ends, the
# whole configuration is removed, the module unloaded, and a leak reported.
#
# Everything is polled for (wait_for), with bounds that suit a slow and noisy
# machine. Nothing sleeps a fixed time.
set -euo pipefail

WORK=/tmp/scenario
CORE=/sys/kernel/config/target/core
SRPT=/sys/kernel/config/target/srpt
PORT=5555
BOUND=${BOUND:-60}
SLOW=${SLOW:-1} # how many times slower than usual this kernel is
HOST=
HAND_ID=0x00000000000000000000000000c0ffee
OTHER_ID=0x000000000000000000000000000decaf
DISKS=()
FIO_PIDS=()

# --- Saying what happens ----------------------------------------------------

note() { printf '  - %s\n' "$*"; }

fail() {
	printf 'FAIL: %s\n' "$*"
	exit 1
}

skip() {
	printf 'SKIP: %s\n' "$*"
	exit 77
}

# check TEXT COMMAND...: the command must succeed.
check() {
	local text=$1
	shift
	if "$@" >"$WORK/check.out" 2>&1; then
		note "$text"
		return
	fi
	tail -n 15 "$WORK/check.out" | sed 's/^/    /'
	fail "not so: $text   ($*)"
}

# check_not TEXT COMMAND...: the command must fail (not be killed). What it said
# is in $WORK/refused.out afterwards.
check_not() {
	local text=$1 status=0
	shift
	"$@" >"$WORK/check.out" 2>&1 || status=$?
	if [ $status -eq 0 ] || [ $status -ge 124 ]; then
		fail "not so: $text   ($*: status $status)"
	fi
	cp "$WORK/check.out" "$WORK/refused.out"
	note "$text"
}

same() { [ "$1" = "$2" ] || fail "${3:-value}: '$1' instead of '$2'"; }

# nap SECONDS: without a process, which costs a fifth of a second of both CPUs
# where everything is watched. (A pipe that nobody writes to.)
exec {NEVER}<> <(:)
nap() { read -r -t "$1" -u "$NEVER" _ || true; }
POLL=0.2
[ "$SLOW" = 1 ] || POLL=1

# wait_for TEXT COMMAND...: poll until the command succeeds, $BOUND seconds long
# (times $SLOW).
wait_for() {
	local text=$1 end=$((SECONDS + BOUND * SLOW))
	shift
	until "$@" >"$WORK/wait.out" 2>&1; do
		if [ $SECONDS -ge $end ]; then
			tail -n 15 "$WORK/wait.out" | sed 's/^/    /'
			fail "not within $((BOUND * SLOW)) s: $text"
		fi
		nap $POLL
	done
}

dmesg_mark() { echo "bed: mark $1" >/dev/kmsg; }

# dmesg_has MARK REGEX: was this logged since dmesg_mark MARK?
dmesg_has() {
	dmesg --notime | awk -v mark="bed: mark $1" 'seen; $0 == mark { seen = 1 }' | grep -qE "$2"
}

# --- Commands of the documentation --------------------------------------------

# The commands that stand below "test: NAME" in README.md or in Documentation.
commands() {
	awk -v name="$1" '
		FNR == 1 { wanted = inside = rst = 0 }
		$0 == "<!-- test: " name " -->" || $0 == ".. test: " name { wanted = 1; next }
		wanted && /^```/ { if (inside) exit; inside = 1; next }
		wanted && /^\.\. code-block:: sh/ { rst = 1; next }
		rst && /^[^ ]/ { exit }
		rst { sub(/^   /, "") }
		inside || rst' /bed/README.md /bed/*.rst
}

# run_commands NAME: word for word. What they print is in $WORK/NAME.out afterwards.
run_commands() {
	commands "$1" >"$WORK/$1.sh"
	check "there are commands to $1" test -s "$WORK/$1.sh"
	check "they work: $1" bash -e "$WORK/$1.sh"
	cp "$WORK/check.out" "$WORK/$1.out"
}

# --- Soft RDMA links --------------------------------------------------------

# make_link [N] [rxe|siw]: device rxeN (siwN) on dummyN with the addresses
# 10.0.N.1/24 and fd00:N::1/64, and the MAC address LINK_MAC if that is set.
make_link() {
	local n=${1:-0} kind=${2:-rxe} net=dummy${1:-0}
	modprobe dummy numdummies=0
	case $kind in rxe) modprobe rdma_rxe ;; *) modprobe "$kind" ;; esac
	ip link add "$net" ${LINK_MAC:+address "$LINK_MAC"} type dummy
	ip link set "$net" up
	ip addr add "10.0.$n.1/24" dev "$net"
	ip addr add "fd00:$n::1/64" dev "$net" nodad
	wait_for "link-local address of $net" link_local_ready "$net"
	add_device "$n" "$kind"
}

# add_device [N] [rxe|siw]: on a dummyN that exists.
add_device() {
	local n=${1:-0} kind=${2:-rxe}
	rdma link add "$kind$n" type "$kind" netdev "dummy$n"
	wait_for "port of $kind$n active" grep -q ACTIVE "/sys/class/infiniband/$kind$n/ports/1/state"
	# iWARP has one GID, made of the MAC address
	[ "$kind" != rxe ] || wait_for "GIDs of $kind$n" gid_of_address "$kind$n" "10.0.$n.1"
	wait_for "ib_srp sees $kind$n" test -e "/sys/class/infiniband_srp/srp-$kind$n-1/add_target"
}

link_local_ready() { ip -6 -o addr show dev "$1" scope link | grep -v tentative | grep -q fe80; }

has_siw() { modinfo siw >/dev/null 2>&1; }

remove_links() {
	local device net
	for device in $(links); do rdma link delete "$device"; done
	for net in $(ip -o link show type dummy | awk -F': ' '{ print $2 }'); do ip link delete "$net"; done
}

links() { rdma link show | awk '$1 == "link" { sub("/.*", "", $2); print $2 }' | sort -u; }

# gid DEVICE [INDEX]: with colons.
gid() { printf '%s\n' "$(<"/sys/class/infiniband/$1/ports/1/gids/${2:-0}")"; }

# The GID index of an IPv4 address.
gid_of_address() {
	local want index octets
	IFS=. read -ra octets <<<"$2"
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${octets[@]}")
	for index in 0 1 2 3 4 5 6 7; do
		[ "$(gid "$1" $index)" = "$want" ] && echo $index && return
	done
	return 1
}

# Names of a port, as directories below $SRPT.
gid_name() {
	local gid
	gid=$(gid "$1")
	printf '0x%s\n' "${gid//:/}"
}
# The initiator port ID that ib_srp sends from a device, as the name of an ACL.
initiator_name() {
	local guid
	guid=$(guid_name "$1")
	printf '0x%016d%s\n' 0 "${guid//:/}"
}
guid_name() {
	local gid
	gid=$(gid "$1")
	printf '%s\n' "${gid#*:*:*:*:}"
}

# --- The module -------------------------------------------------------------

module_is_ours() { [ -f /bed/ib_srpt.ko ]; }

# load_target [PARAMETER=VALUE...]
# shellcheck disable=SC2120 # most scenarios need no parameter
load_target() {
	modprobe ib_srpt "$@"
	if module_is_ours; then
		same "$(cat /sys/module/ib_srpt/srcversion)" "$(modinfo -F srcversion /bed/ib_srpt.ko)" \
			"srcversion of the loaded ib_srpt"
	fi
	[ -d "$SRPT" ] || mkdir "$SRPT"
}

target_loaded() { [ -d /sys/module/ib_srpt ]; }

# unload_target: modprobe says "in use" while a last reference is on its way
# out, so it is tried again for a while.
unload_target() {
	! target_loaded || wait_for "ib_srpt unloads" try_unload
}

try_unload() {
	target_loaded || return 0
	[ ! -d "$SRPT" ] || rmdir "$SRPT"
	rmmod ib_srpt
}

# --- LUNs -------------------------------------------------------------------

# make_backstore KIND NAME [SIZE IN MB]: rd_mcp, fileio, brd, null_blk, scsi_debug
# or dm; prints nothing, the back store is $CORE/*/NAME. Kind dm is a brd below
# the device mapper's device "held": "dmsetup suspend" makes it hold all I/O.
make_backstore() {
	local kind=$1 name=$2 size=${3:-64}
	case $kind in
	rd_mcp) enable_backstore rd_mcp_0 "$name" "rd_pages=$((size * 256))" ;;
	fileio)
		truncate -s "${size}M" "$WORK/$name.file"
		enable_backstore fileio_0 "$name" "fd_dev_name=$WORK/$name.file,fd_dev_size=$((size << 20))"
		;;
	brd)
		modprobe brd rd_nr=1 rd_size=$((size * 1024))
		enable_backstore iblock_0 "$name" "udev_path=/dev/ram0"
		;;
	dm)
		modprobe dm_mod
		modprobe brd rd_nr=1 rd_size=$((size * 1024))
		dmsetup create held --table "0 $((size * 2048)) linear /dev/ram0 0"
		wait_for "device held" test -b /dev/mapper/held
		enable_backstore iblock_0 "$name" udev_path=/dev/mapper/held
		;;
	null_blk)
		modprobe null_blk nr_devices=1 gb=1 memory_backed=1 discard=1
		enable_backstore iblock_0 "$name" "udev_path=/dev/nullb0"
		;;
	scsi_debug)
		modprobe scsi_debug dev_size_mb="$size" lbpu=1 lbpws=1 delay=0
		wait_for "disk of scsi_debug" scsi_debug_disk
		enable_backstore iblock_0 "$name" "udev_path=/dev/$(scsi_debug_disk)"
		;;
	*) fail "no such kind of back store: $kind" ;;
	esac
}

scsi_debug_disk() {
	local path
	for path in /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*; do
		[ -e "$path" ] && basename "$path" && return
	done
	return 1
}

remove_held() {
	dmsetup resume held
	dmsetup remove held
}

# The target core keeps a file per device about persistent reservations here;
# without the folder it answers PERSISTENT RESERVE OUT with NOT READY.
reservations_folder() { mkdir -p "$(cat /sys/kernel/config/target/dbroot)/pr"; }

enable_backstore() {
	mkdir -p "$CORE/$1/$2"
	echo "$3" >"$CORE/$1/$2/control"
	echo 1 >"$CORE/$1/$2/enable"
	echo "$2" >"$CORE/$1/$2/wwn/vpd_unit_serial"
}

backstore_path() { ls -d "$CORE"/*_*/"$1"; }

# --- Target ports, portal groups, LUNs, ACLs ---------------------------------

# make_tpg PORT [GROUP]: prints the folder. The group's usual name is the port's.
make_tpg() {
	local tpg=$SRPT/$1/${2:-$1}
	mkdir -p "$tpg"
	printf '%s\n' "$tpg"
}

# add_lun TPG NUMBER BACKSTORE
add_lun() {
	mkdir "$1/lun/lun_$2"
	ln -s "$(backstore_path "$3")" "$1/lun/lun_$2/$3"
}

# add_acl TPG NAME: with all LUNs of the group mapped under their own numbers.
add_acl() {
	local acl=$1/acls/$2 lun name
	mkdir "$acl"
	for lun in "$1"/lun/lun_*; do
		[ -d "$lun" ] || continue
		name=$(basename "$lun")
		[ -d "$acl/$name" ] || mkdir "$acl/$name"
		[ -L "$acl/$name/lun" ] || ln -s "$lun" "$acl/$name/lun"
	done
}

# remove_acl TPG NAME: with its mapped LUNs, while sessions may live.
remove_acl() {
	local entry
	for entry in "$1/acls/$2"/lun_*/*; do [ ! -L "$entry" ] || rm "$entry"; done
	for entry in "$1/acls/$2"/lun_*/; do [ ! -d "$entry" ] || rmdir "$entry"; done
	rmdir "$1/acls/$2"
}

enable_tpg() { echo 1 >"$1/enable"; }
disable_tpg() { echo 0 >"$1/enable"; }
listen_on() { echo "$1" >"$SRPT/discovery_auth/rdma_cm_port"; }

# simple_target [BACKSTORE KIND] [SIZE] [ACL...]: link rxe0, the module, one LUN,
# an enabled portal group that admits this machine (or the ACLs given), and the
# RDMA/CM listener. Sets TPG.
simple_target() {
	local kind=${1:-rd_mcp} size=${2:-64} acl
	shift $(($# < 2 ? $# : 2))
	[ -d /sys/class/infiniband/rxe0 ] || make_link 0
	if ! target_loaded; then
		resources_before
		load_target
	fi
	make_backstore "$kind" disk0 "$size"
	TPG=$(make_tpg "$(gid_name rxe0)")
	add_lun "$TPG" 0 disk0
	[ $# -gt 0 ] || set -- "$(initiator_name rxe0)"
	for acl in "$@"; do add_acl "$TPG" "$acl"; done
	enable_tpg "$TPG"
	listen_on "$PORT"
}

# ib_target [BACKSTORE KIND] [SIZE]: the same at port 2 of the HCA of lib-ib.sh, or
# the port and HCA that IB_TARGET says, which must be up; the group admits port 1 by
# its GID.
ib_target() {
	resources_before
	load_target
	make_backstore "${1:-rd_mcp}" disk0 "${2:-64}"
	TPG=$(make_tpg "0x$(ib_target_gid)")
	add_lun "$TPG" 0 disk0
	add_acl "$TPG" "0x$(ib_gid 1 | tr -d :)"
	enable_tpg "$TPG"
	listen_on "$PORT"
}

# shellcheck disable=SC2086 # port and HCA
ib_target_gid() { ib_gid ${IB_TARGET:-2} | tr -d :; }

# Everything below $SRPT away, while sessions may live.
remove_target() {
	local dir
	[ -d "$SRPT" ] || return 0
	for dir in "$SRPT"/*/*/; do
		[ -e "$dir/enable" ] || continue
		remove_tpg "${dir%/}"
	done
	for dir in "$SRPT"/*/; do
		[ "$(basename "$dir")" = discovery_auth ] || rmdir "$dir"
	done
	listen_on 0
}

remove_tpg() {
	local entry
	disable_tpg "$1"
	for entry in "$1"/acls/*/lun_*/*; do [ ! -L "$entry" ] || rm "$entry"; done
	for entry in "$1"/acls/*/lun_*/; do [ ! -d "$entry" ] || rmdir "$entry"; done
	for entry in "$1"/acls/*/; do [ ! -d "$entry" ] || rmdir "$entry"; done
	for entry in "$1"/lun/lun_*/*; do [ ! -L "$entry" ] || rm "$entry"; done
	for entry in "$1"/lun/lun_*/; do [ ! -d "$entry" ] || rmdir "$entry"; done
	rmdir "$1"
}

remove_backstores() {
	local dir module
	for dir in "$CORE"/*_*/*/; do [ ! -e "$dir/enable" ] || rmdir "$dir"; done
	for dir in "$CORE"/*_*/; do [ ! -d "$dir" ] || rmdir "$dir"; done
	! dmsetup info held >/dev/null 2>&1 || wait_for "device held is removed" remove_held
	for module in brd null_blk scsi_debug; do
		[ ! -d "/sys/module/$module" ] || wait_for "$module unloads" rmmod "$module"
	done
}

# --- Logins -----------------------------------------------------------------

service_guid() {
	local guid
	guid=$(</sys/module/ib_srpt/parameters/srpt_service_guid)
	printf '%s\n' "${guid#0x}"
}

# login_line ADDRESS [OPTION,...]: what ib_srp wants to read. The address is an IP
# address, or "ib" for a login over IB/CM to the port of ib_target, with the P_Key
# IB_PKEY if that is set.
login_line() {
	local guid address=$1
	guid=$(service_guid)
	if [ "$address" = ib ]; then
		printf 'id_ext=%s,ioc_guid=%s,dgid=%s,pkey=%s,service_id=%s%s\n' "$guid" "$guid" \
			"$(ib_target_gid)" "${IB_PKEY:-ffff}" "$guid" "${2:+,$2}"
		return
	fi
	[[ $address != *:* ]] || address="[$address]"
	printf 'id_ext=%s,ioc_guid=%s,dest=%s:%s%s\n' "$guid" "$guid" "$address" "$PORT" "${2:+,$2}"
}

srp_hosts() {
	local path
	for path in /sys/class/srp_host/host*; do
		[ ! -e "$path" ] || printf '%s\n' "${path##*/}"
	done
}

add_target() { printf '%s\n' "$2" >"/sys/class/infiniband_srp/srp-$1-1/add_target"; }

# add_unique_target DEVICE LINE: ib_srp forgets a port a moment after its host has
# gone from sysfs, and until then takes the login for a second one (EEXIST).
add_unique_target() {
	local error end=$((SECONDS + 10))
	until error=$(add_target "$@" 2>&1); do
		[[ $error == *"File exists"* ]] || break
		[ $SECONDS -lt $end ] || break
		nap 0.1
	done
	[ -z "$error" ] || { echo "$error" >&2; return 1; }
}

# login ADDRESS|ib [OPTIONS] [DEVICE]: log in with ib_srp and wait for the first
# disk. Sets HOST (host7) and DISKS (sdb sdc).
login() {
	try_login "$@" || fail "the login to $1 was refused: $(dmesg --notime | grep -E 'srp' | tail -n 3)"
	wait_for "disks of $HOST" find_disks "$HOST"
	mapfile -t DISKS < <(find_disks "$HOST")
	note "logged in to $1${2:+ ($2)}: $HOST with ${DISKS[*]}"
}

# try_login: the same without an expectation. Status of the write.
try_login() {
	local before device=rxe0 host
	before=$(srp_hosts)
	[ "$1" != ib ] || device=$HCA
	add_unique_target "${3:-$device}" "$(login_line "$1" "${2:-}")" 2>"$WORK/login.err" || return
	HOST=
	for host in $(srp_hosts); do
		[[ $'\n'$before$'\n' == *$'\n'$host$'\n'* ]] || HOST=$host
	done
	[ -n "$HOST" ]
}

# find_disks HOST: names of its disks, once each can be opened. (The device node comes a
# moment before the disk.)
find_disks() {
	local path found=1
	for path in /sys/class/scsi_host/"$1"/device/target*/*/block/*; do
		[ -b "/dev/${path##*/}" ] || continue
		: 2>/dev/null <"/dev/${path##*/}" || continue
		printf '%s\n' "${path##*/}"
		found=0
	done
	return $found
}

# rport_set HOST ATTRIBUTE VALUE: of the remote port, which knows what to do when
# the connection is lost.
rport_set() { echo "$3" >"/sys/class/srp_remote_ports/port-${1#host}:1/$2"; }

# come_back HOST: a lost connection is tried again every second, for ever, and
# until it is back commands wait.
come_back() {
	rport_set "$1" fast_io_fail_tmo 300
	rport_set "$1" dev_loss_tmo off
	rport_set "$1" reconnect_delay 1
}

# fail_fast HOST: likewise, but until it is back commands fail.
fail_fast() {
	rport_set "$1" reconnect_delay 1
	rport_set "$1" dev_loss_tmo off
	rport_set "$1" fast_io_fail_tmo 2
}

# give_up_soon HOST: after a lost connection commands fail at once.
give_up_soon() {
	rport_set "$1" fast_io_fail_tmo 0
	rport_set "$1" reconnect_delay off
}

# How many channels a login has.
channels_of() { cat "/sys/class/scsi_host/$1/ch_count"; }

# logout [HOST...]: all hosts unless some are named.
# shellcheck disable=SC2120 # most scenarios log all out
logout() {
	local host path
	[ $# -gt 0 ] || read -ra ALL_HOSTS <<<"$(srp_hosts | tr '\n' ' ')"
	for host in "${@:-${ALL_HOSTS[@]}}"; do
		[ -n "$host" ] || continue
		for path in /sys/class/srp_remote_ports/"port-${host#host}:"*/delete; do
			[ ! -e "$path" ] || echo 1 >"$path"
		done
		wait_for "$host is gone" test ! -e "/sys/class/scsi_host/$host"
	done
}

# by_hand MODE...: logins of tools/guest/srp_logins.c under an initiator port ID
# of their own, HAND_ID, which an ACL has to admit.
by_hand() { /bed/bin/srp_logins -g "$(service_guid)" -p "$PORT" -i "$HAND_ID" "$@"; }

# dm_query QUERY: a device management query to rxe0's own port, over RoCE; prints the answer. See tools/guest/dm_query.c.
dm_query() {
	/bed/bin/dm_query -d rxe0 -g "$(gid rxe0)" <<<"$1" || fail "dm_query does not work"
}

# script_says EXPECTED: the input is a script for by_hand; each line of what it
# prints must be as expected.
script_says() {
	printf '%s\n' "$1" >"$WORK/script.expected"
	timeout "$((BOUND * 2))" /bed/bin/srp_logins -g "$(service_guid)" -p "$PORT" -i "$HAND_ID" script >"$WORK/script.out" ||
		fail "the logins by hand do not end: $(tail -n 3 "$WORK/script.out")"
	diff "$WORK/script.expected" "$WORK/script.out" || fail "logins by hand (< expected, > seen)"
	sed 's/^/  - /' "$WORK/script.out"
}

# srpconf_target: link rxe0 and a target for tools/srpconf with one LUN, which may be
# overwritten and whose back end can be held, and ACLs for two initiators.
srpconf_target() {
	make_link 0
	resources_before
	make_backstore dm disk0 64
	srpconf_configure
}

srpconf_tpg() { printf '%s/%s/%s\n' "$SRPT" "$(gid_name rxe0)" "$(gid_name rxe0)"; }

srpconf_configure() {
	load_target
	TPG=$(make_tpg "$(gid_name rxe0)")
	add_lun "$TPG" 0 disk0
	add_acl "$TPG" "$HAND_ID"
	add_acl "$TPG" "$OTHER_ID"
	enable_tpg "$TPG"
	listen_on "$PORT"
}

# srpconf GLOB [OPTION...]: these cases must pass; what was wrong is printed. SRPCONF_AT says
# where the target is.
SRPCONF_AT=(-a 10.0.0.1 -p "$PORT")
srpconf() {
	local glob=$1 status=0
	shift
	/bed/bin/srpconf "${SRPCONF_AT[@]}" -g "$(service_guid)" -i "$HAND_ID" \
		--other-initiator "$OTHER_ID" --scratch-lun 0 --hook /bed/srpconf-hook \
		--timeout $((30 * SLOW)) --login-timeout $((180 * SLOW)) --run "$glob" "$@" \
		>"$WORK/srpconf.out" || status=$?
	grep -A 7 '^not ok' "$WORK/srpconf.out" || true
	sed -n 's/^# /  - /p' "$WORK/srpconf.out"
	[ $status = 0 ] || fail "srpconf $glob: status $status: $(tail -n 1 "$WORK/srpconf.out")"
}

# in_time SECONDS TEXT COMMAND...: it must end, well, within that time.
in_time() {
	local bound=$1 text=$2 status=0 start=$SECONDS pid
	shift 2
	"$@" >"$WORK/in_time.out" 2>&1 &
	pid=$!
	BOUND=$bound wait_for "$text" process_ended $pid
	wait $pid || status=$?
	[ $status = 0 ] || fail "$text: status $status: $(tail -n 3 "$WORK/in_time.out")"
	note "$text: after $((SECONDS - start)) s"
}

# How many channels the target has: queue pairs that our module made. Those of
# the kernel's own module cannot be told from the initiator's, which are
# subtracted; both are the RDMA/CM's.
target_channels() {
	local all host line count=0
	if module_is_ours; then
		while read -r line; do
			[[ $line != *' comm [ib_srpt]'* ]] || count=$((count + 1))
		done < <(rdma resource show qp)
		printf '%s\n' $count
		return
	fi
	all=$(rdma resource show qp type RC 2>/dev/null | awk '!/ pid / { n++ } END { print n + 0 }')
	for host in $(srp_hosts); do all=$((all - $(channels_of "$host"))); done
	printf '%s\n' "$all"
}
target_has_channels() { [ "$(target_channels)" = "$1" ]; }
no_sessions() { target_has_channels 0; }

# --- I/O --------------------------------------------------------------------

# fio_verify DEVICE-OR-FILE [FIO OPTIONS]: write, read back, compare.
fio_verify() {
	local target=$1
	shift
	check "fio verify on $target $*" fio --name=verify --filename="$target" --rw=randwrite --bs=4k \
		--size=8M --iodepth=16 --ioengine=libaio --direct=1 --verify=crc32c --verify_fatal=1 \
		--do_verify=1 --randrepeat=0 --group_reporting "$@"
}

# start_fio NAME DEVICE [FIO OPTIONS]: in the background, until stop_fio or an
# error. Verified reads and writes.
start_fio() {
	background_fio "$@" --verify=crc32c --verify_backlog=64 --verify_fatal=1
}

# start_tolerant_fio NAME DEVICE [FIO OPTIONS]: goes on whatever errors the disk
# reports. Nothing is verified: fio would look at what a failed read left.
start_tolerant_fio() { background_fio "$@" --continue_on_error=all; }

background_fio() {
	local name=$1 target=$2
	shift 2
	fio --name="$name" --filename="$target" --rw=randrw --bs=4k --size=16M --iodepth=16 \
		--ioengine=libaio --direct=1 --time_based --runtime=3600 --status-interval=1 \
		--output-format=normal "$@" >"$WORK/fio-$name.out" 2>&1 &
	echo $! >"$WORK/fio-$name.pid"
	FIO_PIDS+=($!)
	wait_for "fio $name moves data" fio_runs "$!" "$(basename "$target")"
	! process_ended "$(cat "$WORK/fio-$name.pid")" || fail "fio $name: $(tail -n 3 "$WORK/fio-$name.out")"
}

# fio_runs PID DISK: it moves data, or has ended.
fio_runs() { process_ended "$1" || io_moves "$2"; }

# Does the disk complete I/O? (Two looks at its counters differ.)
io_moves() {
	local earlier later
	read -ra earlier <"/sys/class/block/$1/stat"
	nap 0.1
	read -ra later <"/sys/class/block/$1/stat"
	[ $((later[0] + later[4])) -gt $((earlier[0] + earlier[4])) ]
}

# stop_fio NAME: fio must still be running and end without an error.
stop_fio() {
	local pid
	pid=$(cat "$WORK/fio-$1.pid")
	kill -INT "$pid" 2>/dev/null || fail "fio $1 ended by itself: $(tail -n 5 "$WORK/fio-$1.out")"
	wait_fio "$1" || fail "fio $1 reports an error: $(grep -iE 'err|verify' "$WORK/fio-$1.out" | head -n 5)"
	note "fio $1: no error, all data verified"
}

# wait_fio NAME: until it ends; status: did it end without an error? For I/O
# that is expected to fail, and then for verify errors only: see fio_data_intact.
wait_fio() {
	local pid status=0
	pid=$(cat "$WORK/fio-$1.pid")
	wait_for "fio $1 ends" process_ended "$pid"
	wait "$pid" || status=$?
	# 128: ended by a signal, which stop_fio sends
	[ $status = 0 ] || [ $status = 128 ]
}

process_ended() { ! kill -0 "$1" 2>/dev/null; }

# end_fio NAME: stop a tolerant fio, whatever became of it.
end_fio() {
	kill -INT "$(cat "$WORK/fio-$1.pid")" 2>/dev/null || true
	wait_fio "$1" || true
}

# fio_data_intact NAME: I/O errors are allowed, wrong data are not.
fio_data_intact() {
	! grep -E 'verify: bad|verify failed|bad magic' "$WORK/fio-$1.out"
}

# --- Begin, end and leaks -----------------------------------------------------

# Memory that only a leak makes grow: unreclaimable slab, vmalloc and stacks, in kB.
kernel_memory() { awk '/^(SUnreclaim|VmallocUsed|KernelStack|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo; }

# RDMA objects per device and kind. Completion queues are left out: the RDMA
# core pools them until the device goes, and then itself reports one in use.
resources() { rdma resource show | sed -e 's/^[0-9]*: //' -e 's/ cq [0-9]*//' | sort; }

# resources_before: remember them, when the links stand and the target does not.
resources_before() { resources >"$WORK/resources"; }
resources_as_before() { diff "$WORK/resources" <(resources); }

# The initiator starts anew, as its users have it: what an earlier scenario of this
# guest set in its parameters is gone.
begin() {
	rm -rf "$WORK"
	mkdir -p "$WORK"
	[ ! -e /sys/module/ib_srp ] || rmmod ib_srp
	modprobe -a target_core_mod ib_srp ib_umad rdma_cm ib_cm sd_mod libcrc32c crc32c_generic 2>/dev/null || modprobe -a target_core_mod ib_srp rdma_cm
	mkdir -p "$CORE"
	[ -e /tmp/memory-before ] || kernel_memory >/tmp/memory-before
}

stop_background() {
	local pid
	for pid in "${FIO_PIDS[@]}" $(jobs -p); do kill -KILL "$pid" 2>/dev/null || true; done
	wait
}

unmount_all() {
	local dir
	for dir in "$WORK"/mnt*; do ! mountpoint -q "$dir" || umount "$dir"; done
}

# clean_up: log out, take the configuration away, unload, and look for leaks.
# Scenarios whose subject is teardown may call it earlier, also repeatedly.
clean_up() {
	stop_background
	unmount_all
	logout
	remove_target
	wait_for "channels of the target gone" no_sessions
	unload_target
	remove_backstores
	if [ -f "$WORK/resources" ]; then
		wait_for "RDMA resources as before the target was loaded" resources_as_before
	fi
	remove_links
}

# A leak that matters repeats: more than 24 MB in one scenario, or a drift over
# all scenarios of this guest.
memory_not_grown() {
	local before now
	before=$(cat /tmp/memory-before)
	now=$(kernel_memory)
	[ $((now - before)) -lt $((49152 * SLOW)) ]
}

end() {
	local status=$?
	trap - EXIT
	set +e
	if [ $status != 0 ] && [ $status != 77 ]; then
		echo "  state at the failure:"
		{ rdma resource show; rdma resource show qp; lsmod | grep -E 'srp'; } 2>&1 | sed 's/^/    | /'
		exit $status
	fi
	(
		set -e
		BOUND=120
		clean_up
		wait_for "kernel memory back to normal" memory_not_grown
	) || exit 1
	note "nothing leaked: sessions, RDMA resources, kernel memory; module unloaded"
	exit $status
}

# A program that needs the verbs only, beside a scenario that is running.
if [ -z "${LIB_ONLY:-}" ]; then
	begin
	trap end EXIT
fi
