#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# SCSI commands other than plain reads and writes: residuals of short and long
# transfers, REPORT LUNS, sense of bad commands, COMPARE AND WRITE, UNMAP, WRITE
# SAME, VERIFY, and persistent reservations between two initiators.
# smoke: yes
# shellcheck source=tools/scenarios/lib.sh
. /bed/lib.sh

# raw TEXT PATTERN STATUS ARGUMENTS...: what sg_raw -v must print and return.
raw() {
	local text=$1 pattern=$2 want=$3 status=0
	shift 3
	sg_raw -v "$@" >"$WORK/raw.out" 2>&1 </dev/null || status=$?
	if [ $status != "$want" ] || ! grep -qE "$pattern" "$WORK/raw.out"; then
		sed 's/^/    /' "$WORK/raw.out"
		fail "not so: $text (status $status, wanted $want and '$pattern')"
	fi
	note "$text"
}

# Exit statuses of sg3_utils.
ILLEGAL_REQUEST=5
BAD_OPCODE=9
MISCOMPARE=14
LBA_RANGE=22
CONFLICT=24

# The bytes of a file or device at an offset, as one number.
sum_of() { dd if="$1" bs=512 skip="$2" count="$3" iflag="${4:-fullblock}" status=none | sha256sum; }

make_link 0
resources_before
load_target
make_backstore fileio disk0 16
echo 1 >"$(backstore_path disk0)/attrib/emulate_tpu"
echo 1 >"$(backstore_path disk0)/attrib/emulate_tpws"
make_backstore rd_mcp disk1 8
make_backstore rd_mcp disk2 4
TPG=$(make_tpg "$(gid_name rxe0)")
add_lun "$TPG" 0 disk0
add_lun "$TPG" 7 disk1
add_lun "$TPG" 200 disk2
one=$(initiator_name rxe0)
two=0x0000000000000002${one#0x0000000000000000}
add_acl "$TPG" "$one"
add_acl "$TPG" "$two"
enable_tpg "$TPG"
listen_on "$PORT"
login 10.0.0.1 ch_count=1
three_disks() { [ "$(find_disks "$HOST" | wc -l)" = 3 ]; }
wait_for "three disks" three_disks
# the one of 16 MiB is LUN 0
for disk in $(find_disks "$HOST"); do
	[ "$(blockdev --getsize64 "/dev/$disk")" != $((16 << 20)) ] || disk_a=/dev/$disk
done

note "residuals"
raw "INQUIRY of 96 bytes into 1 KiB leaves 928" 'Received 96 bytes' 0 -r 1k "$disk_a" 12 00 00 00 60 00
raw "INQUIRY of 36 bytes into 36" 'Received 36 bytes' 0 -r 36 "$disk_a" 12 00 00 00 24 00
raw "INQUIRY that allows 255 bytes gets what there is" 'Received [0-9]+ bytes' 0 -r 1k "$disk_a" 12 00 00 00 ff 00
raw "READ of 1 block into 4 KiB leaves 3584" 'Received 512 bytes' 0 -r 4k "$disk_a" 28 00 00 00 00 00 00 00 01 00
raw "READ of 8 blocks into room for 1 fills it and no more" 'Received 512 bytes' 0 -r 512 "$disk_a" 28 00 00 00 00 00 00 00 08 00
raw "READ of no block" 'Good' 0 "$disk_a" 28 00 00 00 00 00 00 00 00 00
raw "READ of no block into 512 bytes" 'No data received|Received 0 bytes' 0 -r 512 "$disk_a" 28 00 00 00 00 00 00 00 00 00
raw "TEST UNIT READY" 'Good' 0 "$disk_a" 00 00 00 00 00 00

note "REPORT LUNS"
check "REPORT LUNS" sg_luns -q "$disk_a"
cp "$WORK/check.out" "$WORK/luns"
for lun in 0000000000000000 0007000000000000 00c8000000000000; do
	check "LUN $lun is reported" grep -qi "$lun" "$WORK/luns"
done
same "$(grep -ci '[0-9a-f]\{16\}' "$WORK/luns")" 3 "LUNs reported"

note "sense"
raw "an unknown operation code" 'Illegal Request|Invalid command operation' $BAD_OPCODE "$disk_a" c1 00 00 00 00 00
raw "a bad field in the CDB" 'Invalid field in cdb' $ILLEGAL_REQUEST -r 255 "$disk_a" 12 00 55 00 ff 00
raw "a read beyond the end" 'out of range' $LBA_RANGE -r 512 "$disk_a" 88 00 00 00 00 00 00 ff ff ff 00 00 00 01 00 00
raw "REQUEST SENSE" 'Received' 0 -r 252 "$disk_a" 03 00 00 00 fc 00

note "commands of 16 bytes"
check "READ CAPACITY(16)" sh -c "sg_readcap -16 $disk_a | grep -q 'Last LBA=32767'"
check "VPD pages" sh -c "sg_vpd -p di $disk_a && sg_vpd -p bl $disk_a && sg_vpd -p lbpv $disk_a"
check "MODE SENSE" sg_modes "$disk_a"

note "COMPARE AND WRITE"
head -c 1024 /dev/urandom >"$WORK/caw"
dd if=/dev/zero of="$disk_a" bs=512 count=64 oflag=direct status=none
head -c 512 /dev/zero | cat - <(head -c 512 "$WORK/caw") >"$WORK/first"
cat <(head -c 512 "$WORK/caw") <(tail -c 512 "$WORK/caw") >"$WORK/second"
check "equal: written" sg_compare_and_write --in="$WORK/first" --lba=5 --num=1 --xferlen=1024 "$disk_a"
same "$(sum_of "$disk_a" 5 1 direct)" "$(sum_of "$WORK/first" 1 1)" "what was written"
status=0
sg_compare_and_write --in="$WORK/first" --lba=5 --num=1 --xferlen=1024 "$disk_a" >"$WORK/caw.out" 2>&1 || status=$?
same $status $MISCOMPARE "status when it is not equal"
same "$(sum_of "$disk_a" 5 1 direct)" "$(sum_of "$WORK/first" 1 1)" "what was there"
note "not equal: miscompare, and not written"
check "equal again" sg_compare_and_write --in="$WORK/second" --lba=5 --num=1 --xferlen=1024 "$disk_a"
same "$(sum_of "$disk_a" 5 1 direct)" "$(sum_of "$WORK/second" 1 1)" "what was written"

note "WRITE SAME and UNMAP"
head -c 512 /dev/urandom >"$WORK/block"
check "WRITE SAME of 100 blocks" sg_write_same --10 --in="$WORK/block" --lba=1000 --num=100 --xferlen=512 "$disk_a"
for lba in 1000 1050 1099; do same "$(sum_of "$disk_a" $lba 1 direct)" "$(sum_of "$WORK/block" 0 1)" "block $lba"; done
head -c 512 /dev/zero >"$WORK/zeros"
same "$(sum_of "$disk_a" 1100 1 direct)" "$(sum_of "$WORK/zeros" 0 1)" "the block behind"
check "UNMAP of 48 blocks" sg_unmap --lba=1000 --num=48 "$disk_a"
same "$(sum_of "$disk_a" 1008 1 direct)" "$(sum_of "$WORK/zeros" 0 1)" "an unmapped block"
same "$(sum_of "$disk_a" 1048 1 direct)" "$(sum_of "$WORK/block" 0 1)" "a block that is still mapped"
check "an empty UNMAP list" sg_raw -s 8 -i /dev/zero "$disk_a" 42 00 00 00 00 00 00 00 08 00

note "VERIFY and SYNCHRONIZE CACHE"
check "VERIFY(10)" sg_verify --lba=0 --count=64 "$disk_a"
check "VERIFY(16)" sg_verify --16 --lba=0 --count=64 "$disk_a"
check "SYNCHRONIZE CACHE" sg_sync "$disk_a"

note "persistent reservations"
reservations_folder
same "$(srp_hosts | wc -l)" 1 "hosts"
login 10.0.0.1 ch_count=1,initiator_ext=0000000000000002
wait_for "three disks" three_disks
for disk in $(find_disks "$HOST"); do
	[ "$(blockdev --getsize64 "/dev/$disk")" != $((16 << 20)) ] || disk_b=/dev/$disk
done
check "register key 0xa1 by the one" sg_persist --out --register --param-sark=a1 "$disk_a"
check "register key 0xb2 by the other" sg_persist --out --register --param-sark=b2 "$disk_b"
check "both keys are read" sh -c "sg_persist --in -k $disk_b | grep -c -e 0xa1 -e 0xb2 | grep -qx 2"
check "the one reserves (write exclusive)" sg_persist --out --reserve --param-rk=a1 --prout-type=1 "$disk_a"
check "the reservation is read" sh -c "sg_persist --in -r $disk_b | grep -q 'Key=0xa1'"
raw "the other may not write" 'Reservation [Cc]onflict' $CONFLICT -s 512 -i /dev/zero "$disk_b" 2a 00 00 00 00 00 00 00 01 00
raw "the other may read" 'Good' 0 -r 512 "$disk_b" 28 00 00 00 00 00 00 00 01 00
raw "the one may write" 'Good' 0 -s 512 -i /dev/zero "$disk_a" 2a 00 00 00 00 00 00 00 01 00
check "the other takes it over" sg_persist --out --preempt --param-rk=b2 --param-sark=a1 --prout-type=1 "$disk_b"
# The one is told so by unit attentions first, how many depends on the kernel and on
# what else asks.
write_conflicts() {
	local status=0
	sg_raw -s 512 -i /dev/zero "$disk_a" 2a 00 00 00 00 00 00 00 01 00 || status=$?
	[ $status = $CONFLICT ]
}
wait_for "now the one may not write" write_conflicts
note "now the one may not write"
check "the other clears all" sg_persist --out --clear --param-rk=b2 "$disk_b"
check "no key is left" sh -c "sg_persist --in -k $disk_b | grep -q 'NO registered'"
fio_verify "$disk_a" --size=1M
