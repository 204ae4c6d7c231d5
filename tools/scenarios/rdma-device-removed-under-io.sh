#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The RDMA device goes under I/O (rdma link delete, and deletion of the network
# device below it), in bounded time. The configuration stays: every attribute
# can be read and written, enable can be toggled, both forms of the port's name.
# When the device is back logins work with no hand laid on the target. At last
# the configuration is removed while the device is gone. (The initiator does not
# try again meanwhile: when it can neither get its old device nor a new one, ib_srp puts
# its requests on a list twice, which a kernel that watches lists warns of.)
# timeout: 400
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

LINK_MAC=02:11:22:33:44:55
SIZE_OF=(0 16 24)

link_gone() { [ ! -e /sys/class/infiniband/rxe0 ]; }
delete_link() {
	rdma link delete rxe0
	wait_for "the device is gone" link_gone
}
delete_netdev() {
	ip link delete dummy0
	wait_for "the device is gone" link_gone
}

# Each attribute that can be read is read; what it holds is written back.
touch_attributes() {
	local file value
	while read -r file; do
		value=$(cat "$file" 2>/dev/null) || continue
		[[ $value == *$'\n'* ]] || echo "$value" >"$file" 2>/dev/null || true
	done < <(find "$SRPT" -type f ! -path '*/lun/*/statistics/*' ! -name 'alua_*' ! -name rdma_cm_port)
}

size_is() { same "$(blockdev --getsize64 "/dev/${DISKS[0]}")" $((SIZE_OF[$1] << 20)) "size of the LUN of name $1"; }

log_in_by_both_names() {
	enable_tpg "$BY_GID"
	enable_tpg "$BY_GUID"
	login 10.0.0.1 ch_count=1
	size_is 1
	logout "$HOST"
	disable_tpg "$BY_GID"
	login 10.0.0.1 ch_count=1
	size_is 2
	logout "$HOST"
	enable_tpg "$BY_GID"
}

make_link 0
load_target
INITIATOR=$(initiator_name rxe0)
BY_GID=$(make_tpg "$(gid_name rxe0)")
BY_GUID=$(make_tpg "$(guid_name rxe0)")
make_backstore rd_mcp disk1 "${SIZE_OF[1]}"
make_backstore rd_mcp disk2 "${SIZE_OF[2]}"
add_lun "$BY_GID" 0 disk1
add_lun "$BY_GUID" 0 disk2
add_acl "$BY_GID" "$INITIATOR"
add_acl "$BY_GUID" "$INITIATOR"
listen_on "$PORT"
log_in_by_both_names

for way in delete_link delete_netdev; do
	login 10.0.0.1 ch_count=2
	give_up_soon "$HOST"
	start_tolerant_fio disk "/dev/${DISKS[0]}"
	in_time 60 "$way under I/O" "$way"
	end_fio disk
	check "attributes can be read and written" touch_attributes
	for tpg in "$BY_GID" "$BY_GUID"; do
		check "disable ${tpg##*/}" disable_tpg "$tpg"
		check "enable ${tpg##*/}" enable_tpg "$tpg"
		same "$(cat "$tpg/enable")" 1 "enable"
	done
	same "$(cat "$SRPT/discovery_auth/rdma_cm_port")" $PORT "rdma_cm_port"
	if [ "$way" = delete_link ]; then add_device 0; else make_link 0; fi
	login 10.0.0.1 ch_count=1
	note "the device is back: login works with no hand laid on the target"
	fio_verify "/dev/${DISKS[0]}" --size=1M
	logout "$HOST"
	log_in_by_both_names
done

login 10.0.0.1 ch_count=2
give_up_soon "$HOST"
start_tolerant_fio disk "/dev/${DISKS[0]}"
in_time 60 "link deleted again" delete_link
BOUND=150 end_fio disk
in_time 60 "configuration removed while the device is gone" remove_target
in_time 60 "module unloaded" unload_target
