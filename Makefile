# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Without a target: build ib_srpt.ko against the running kernel's headers, or
# against KDIR=/path/to/headers. "make help" lists the rest.

KDIR ?= /lib/modules/$(shell uname -r)/build

modules modules_install clean:
	@test -e $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR). Install linux-headers-$$(uname -r), or say KDIR=..." >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@

unit:
	$(MAKE) -C tools/unit check

check:
	@TESTS='$(TESTS)' KERNEL='$(KERNEL)' MODULE='$(MODULE)' tools/check

check-breaks:
	@tools/check-breaks $(TESTS)

check-debug:
	@TESTS='$(TESTS)' KERNEL=debug tools/check

lint:
	@tools/lint

demo:
	@tools/demo

bench:
	@tools/bench/bench

distclean:
	rm -rf build "$${XDG_CACHE_HOME:-$$HOME/.cache}/ib_srpt"

help:
	@echo 'make              build ib_srpt.ko for the running kernel (KDIR=... for another)'
	@echo 'make modules_install, make clean'
	@echo 'make demo         boot a guest, export a LUN, log in, write and read verified data (root)'
	@echo 'make check        all tests (root); TESTS="login* fio*" KERNEL=6.12 run a part'
	@echo 'make check-debug  the scenarios on a kernel that watches memory and locks, built once (root, slow)'
	@echo 'make check-breaks breaks the module on purpose and sees that the scenarios notice (root, slow)'
	@echo 'make unit         the tests that need no guest'
	@echo 'make lint         warnings, sparse, clang, kernel-doc, spelling, shell, style (root)'
	@echo 'make bench        figures of this module and of the kernel'"'"'s own, side by side (root)'
	@echo 'make distclean    remove builds and the cache of kernels and guest images'

.DEFAULT_GOAL := modules
.PHONY: modules modules_install clean unit check check-breaks check-debug lint demo bench distclean help
