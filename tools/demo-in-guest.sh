#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# The part of "make demo" that runs in the guest. It uses nothing but the
# commands that it prints, so that they can be copied to a real machine.
# shellcheck disable=SC2016 # a command line is expanded by the shell that "run" starts
set -euo pipefail

say() { printf '\n%s\n' "$*"; }

# Print a command line, run it, indent what it says.
run() {
	printf '   # %s\n' "$1"
	bash -o pipefail -ec "$1" 2>&1 | sed 's/^/   /'
}

# A variable for the commands after it.
name() {
	export "$1=$2"
	printf '   # %s=%s\n' "$1" "$2"
}

wait_until() {
	local tries=600
	until bash -c "$1" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || {
			echo "   gave up waiting for: $1"
			exit 1
		}
		sleep 0.2
	done
}

say "An RDMA device in software (soft RoCE), with an IPv4 address:"
run "modprobe -a dummy rdma_rxe ib_srp target_core_mod sd_mod"
run "ip link add name rdma0 type dummy && ip link set rdma0 up && ip address add 10.0.0.1/24 dev rdma0"
run "rdma link add rxe0 type rxe netdev rdma0"
wait_until "grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state && test -e /sys/class/infiniband_srp/srp-rxe0-1"
wait_until "ip -6 -o addr show dev rdma0 scope link | grep -v tentative | grep -q fe80"
run "rdma link show rxe0/1"

say "This project's target module:"
run "modprobe ib_srpt"
run "cat /sys/module/ib_srpt/srcversion"
[ "$(cat /sys/module/ib_srpt/srcversion)" = "$(modinfo -F srcversion /bed/ib_srpt.ko)" ] ||
	{ echo "   That is not the module that was built."; exit 1; }

say "Names that are used below:"
name GID "0x$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0)"
name TARGET /sys/kernel/config/target
name GROUP "$TARGET/srpt/$GID/$GID"
name ACL "$GROUP/acls/10.0.0.1"
name GUID "$(sed 's/^0x//' /sys/module/ib_srpt/parameters/srpt_service_guid)"

say "A RAM disk of 128 MiB as storage:"
run 'mkdir -p $TARGET/core/rd_mcp_0/disk'
run 'echo rd_pages=32768 > $TARGET/core/rd_mcp_0/disk/control'
run 'echo 1 > $TARGET/core/rd_mcp_0/disk/enable'

say "A target port, named for the GID of the RDMA port, with the disk as LUN 0, for the initiator 10.0.0.1:"
run 'mkdir -p $GROUP/lun/lun_0'
run 'ln -s $TARGET/core/rd_mcp_0/disk $GROUP/lun/lun_0/'
run 'mkdir -p $ACL/lun_0'
run 'ln -s $GROUP/lun/lun_0 $ACL/lun_0/'
run 'echo 1 > $GROUP/enable'
run 'echo 5555 > $TARGET/srpt/discovery_auth/rdma_cm_port'

say "The Linux kernel's own SRP initiator logs in:"
run 'echo id_ext=$GUID,ioc_guid=$GUID,dest=10.0.0.1:5555 > /sys/class/infiniband_srp/srp-rxe0-1/add_target'
wait_until "lsscsi -t | grep -q /dev/sd"
export DISK
DISK=$(lsscsi | awk '/LIO-ORG/ { print $NF }' | head -n 1)
wait_until 'test -b $DISK'
run 'lsscsi'

say "A file system on the disk $DISK, all over RDMA:"
run 'mkfs.ext4 -q $DISK && mkdir -p /tmp/mnt && mount $DISK /tmp/mnt && df -h /tmp/mnt'

say "Write 16 MiB at random places, read it back and compare checksums:"
run 'fio --name=demo --filename=/tmp/mnt/file --rw=randwrite --bs=16k --size=16M --iodepth=16 --ioengine=libaio --direct=1 --verify=crc32c --do_verify=1 | grep -E "READ|WRITE|err="'

say "Log out; take everything away again:"
run 'umount /tmp/mnt'
run 'for port in /sys/class/srp_remote_ports/*; do echo 1 > $port/delete; done'
wait_until "test -z \"\$(ls /sys/class/srp_remote_ports)\""
run 'echo 0 > $GROUP/enable'
run 'rm $ACL/lun_0/lun_0 && rmdir $ACL/lun_0 $ACL'
run 'rm $GROUP/lun/lun_0/disk && rmdir $GROUP/lun/lun_0 $GROUP $TARGET/srpt/$GID $TARGET/srpt'
run 'rmdir $TARGET/core/rd_mcp_0/disk'
wait_until "rmmod ib_srpt || ! test -d /sys/module/ib_srpt"
if dmesg | grep -E 'WARNING|BUG|Oops'; then
	say "The kernel complained, see above."
	exit 1
fi
say "Logged in, wrote, read, compared, logged out, unloaded: all went well."
