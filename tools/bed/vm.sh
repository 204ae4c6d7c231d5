# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Start a guest, run commands in it, stop it. One guest at a time per shell.
# Needs common.sh. A guest's files are in $VM_DIR, its kernel messages in
# $VM_CONSOLE.

VM_PID=
VM_SLOW=1
BOOT_BOUND=300
DEBUG_APPEND="pci=noacpi page_poison=1 sysctl.kernel.hung_task_timeout_secs=900"

# Accelerator: KVM only where a guest really runs with it.
probe_kvm() {
	local kernel=$1 dir status=1
	dir=$(mktemp -d)
	timeout 60 qemu-system-x86_64 -accel kvm -cpu host -smp 2 -m 512M -nographic \
		-no-reboot -nic none -vga none -monitor none -serial "file:$dir/console" \
		-kernel "$kernel/vmlinuz" -initrd "$kernel/initramfs.img" \
		-append "console=ttyS0 panic=-1 bed.probe" >/dev/null 2>&1 || true
	grep -q 'guest: cannot mount the disks' "$dir/console" 2>/dev/null && status=0
	rm -rf "$dir"
	return $status
}

vm_accel() {
	local key result
	if [ -n "${VM_ACCEL:-}" ]; then
		echo "$VM_ACCEL max"
		return
	fi
	if [ ! -w /dev/kvm ]; then
		echo "tcg,thread=multi max"
		return
	fi
	key=$(uname -rv | sha256sum | cut -c1-16)
	result=$(cat "$CACHE/accel-$key" 2>/dev/null) || true
	if [ -z "$result" ]; then
		say "... does KVM work here? (a short probe boot)"
		if probe_kvm "$1"; then result="kvm host"; else result="tcg,thread=multi max"; fi
		echo "$result" >"$CACHE/accel-$key"
		say "    ${result%% *} is used from now on"
	fi
	echo "$result"
}

# What the guest needs of the project: an archive that it gets as a disk.
make_payload() {
	local kernel=$1 module=$2 dir=$VM_DIR/payload
	rm -rf "$dir"
	mkdir -p "$dir/bin"
	cp "$BED/init" "$BED/insmod-ours" "$BED/run-scenario" "$BED/kmemleak-scan" "$BED/known-messages" "$dir/"
	cp "$TOP"/tools/scenarios/* "$TOP/README.md" "$TOP"/Documentation/*.rst "$dir/"
	cp "$TOP/tools/srptstat" "$dir/bin/"
	# shellcheck disable=SC2086 # VM_FILES is a list
	[ -z "${VM_FILES:-}" ] || cp $VM_FILES "$dir/"
	[ ! -d "$TOP/build/guest" ] || cp -r "$TOP/build/guest/." "$dir/bin/"
	find "$TOP/build" -path "$TOP/build/$kernel-*/*.ko" -exec cp -t "$dir" {} +
	rm -f "$dir/ib_srpt.ko"
	[ -z "$module" ] || cp "$module" "$dir/ib_srpt.ko"
	tar -C "$dir" -b 128 -cf "$VM_DIR/payload.tar" .
	rm -rf "$dir"
}

# No more guests at once than this machine has CPUs ($VM_SLOTS): an emulated CPU
# that hardly runs makes every bound in a scenario a matter of luck. The slot is
# a lock on file descriptor 4, which QEMU inherits, so it is free when QEMU ends.
take_slot() {
	local slot slots=${VM_SLOTS:-$(nproc)} start=$SECONDS told=
	while :; do
		for ((slot = 1; slot <= slots; slot++)); do
			exec 4>"$CACHE/.slot-$slot"
			! flock -n 4 || return 0
		done
		[ -n "$told" ] || say "... $slots other guests run on this machine; waiting for one to end"
		told=yes
		[ $((SECONDS - start)) -lt 3600 ] || die "no free slot for a guest within an hour. VM_SLOTS=N allows more at once."
		sleep 2
	done
}

# vm_start NAME KERNEL MODULE: boot. MODULE is the ib_srpt.ko to test, empty
# for the kernel's own. VM_EXTRA may hold more arguments for QEMU, VM_ACCEL
# another accelerator than the one that suits this machine, VM_FILES more files
# to put into the guest's /bed.
vm_start() {
	local kernel=$CACHE/kernels/$2 accel cpu
	local append memory=2G
	mkdir -p "$LOGS" "$CACHE"
	take_slot
	VM_SLOW=$(slowness "$2")
	append="bed.slow=$VM_SLOW"
	if [ "$2" = debug ]; then
		append+=" $DEBUG_APPEND"
		memory=3G
	fi
	VM_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ib_srpt-vm.XXXXXX")
	VM_CONSOLE=$LOGS/$1-$2-$(date +%H%M%S)-$$.console
	make_payload "$2" "$3"
	read -r accel cpu <<<"$(vm_accel "$kernel")"
	mkfifo "$VM_DIR"/{cmd,hang}.{in,out}
	local start=$SECONDS
	# a guest does not outlive the script that started it, not even when that is killed
	# shellcheck disable=SC2086 # VM_EXTRA is a list
	TMPDIR=$VM_DIR setpriv --pdeathsig KILL qemu-system-x86_64 -accel "$accel" -cpu "$cpu" -smp "${VM_CPUS:-2}" -m "${VM_MEM:-$memory}" \
		-nographic -no-reboot -nic none -vga none -monitor none \
		-kernel "$kernel/vmlinuz" -initrd "$kernel/initramfs.img" \
		-append "console=ttyS0 panic=-1 no_timer_check mitigations=off nokaslr selinux=0 apparmor=0 rcupdate.rcu_cpu_stall_timeout=120 $append ${VM_APPEND:-}" \
		-drive "file=$(<"$TOP/build/root-image"),if=virtio,format=raw,snapshot=on" \
		-drive "file=$kernel/modules.img,if=virtio,format=raw,snapshot=on" \
		-drive "file=$VM_DIR/payload.tar,if=virtio,format=raw,readonly=on" \
		-serial "file:$VM_CONSOLE" -device virtio-serial-pci \
		-chardev "pipe,id=cmd,path=$VM_DIR/cmd" -device virtserialport,nr=1,chardev=cmd,name=bed.cmd \
		-chardev "pipe,id=hang,path=$VM_DIR/hang" -device virtserialport,nr=2,chardev=hang,name=bed.hang \
		${VM_EXTRA:-} </dev/null >"$VM_DIR/qemu.out" 2>&1 &
	VM_PID=$!
	exec 4>&-
	exec 6<>"$VM_DIR/cmd.in" 7<>"$VM_DIR/cmd.out" 5<>"$VM_DIR/hang.in"
	if ! vm_answer $((BOOT_BOUND * (VM_SLOW > 1 ? 3 : 1))) >"$VM_DIR/boot.out"; then
		say "    the guest (kernel $2) did not come up; its console log is $VM_CONSOLE"
		tail -n 5 "$VM_DIR/qemu.out" "$VM_CONSOLE" >&2
		vm_stop
		return 1
	fi
	# shellcheck disable=SC2034 # for the callers
	VM_BOOT_TIME=$((SECONDS - start))
}

vm_alive() { [ -n "$VM_PID" ] && kill -0 "$VM_PID" 2>/dev/null; }

# Print what comes until the mark that a command has ended. Status 124: nothing
# in time; 125: the guest is gone.
vm_answer() {
	local end=$((SECONDS + $1)) line part=
	while [ $SECONDS -lt $end ]; do
		line=
		if IFS= read -r -t 2 line <&7; then
			line=$part$line
			part=
			# the mark may follow a line that was not ended
			if [[ $line == *@@done@@\ * ]]; then
				[ -z "${line%%@@done@@*}" ] || printf '%s\n' "${line%%@@done@@*}"
				return "${line##*@@done@@ }"
			fi
			printf '%s\n' "${line%$'\r'}"
		else
			part+=$line
			vm_alive || return 125
		fi
	done
	return 124
}

# vm_call SECONDS COMMAND: run a command line in the guest, print its output,
# return its status. When it takes too long the kernel is asked what hangs.
vm_call() {
	local status=0
	printf '%s\n' "$2" >&6
	vm_answer "$1" || status=$?
	if [ $status = 124 ]; then
		echo hang >&5
		vm_answer 15 >/dev/null || true
	fi
	return $status
}

vm_stop() {
	[ -n "$VM_PID" ] || return 0
	kill -KILL "$VM_PID" 2>/dev/null || true
	wait "$VM_PID" 2>/dev/null || true
	exec 5>&- 6>&- 7>&-
	rm -rf "$VM_DIR"
	VM_PID=
}
