# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Without a target: build ib_srpt.ko against the running kernel's headers, or
# against KDIR=/path/to/headers. "make help" lists the rest.

KDIR ?= /lib/modules/$(shell uname -r)/build

modules modules_install clean:
	@test -e $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR). Install linux-headers-$$(uname -r), or say KDIR=..." >&2; exit 1; }
	@for option in INFINIBAND INFINIBAND_ADDR_TRANS TARGET_CORE; do \
		grep -qs "^CONFIG_$$option=" $(KDIR)/.config $(KDIR)/include/config/auto.conf || { \
		echo "The kernel of $(KDIR) was configured without CONFIG_$$option: ib_srpt cannot be built for it." >&2; exit 1; }; done
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

mandocs:
	@tools/mandocs

demo:
	@tools/demo

bench:
	@tools/bench/bench

deb:
	@tools/packages/deb

rpm:
	@tools/packages/rpm

check-packages:
	@tools/packages/check

in-tree:
	@tools/packages/in-tree '$(KDIR)'

check-in-tree:
	@tools/packages/check-in-tree

docs:
	@tools/docs

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
	@echo 'make mandocs      manual pages (section 9) in build/man'
	@echo 'make bench        figures of this module and of the kernel'"'"'s own, side by side (root)'
	@echo 'make docs         the documentation as HTML and man pages, in build/docs'
	@echo 'make deb          Debian packages, in build/packages; make rpm the same for RPM (root)'
	@echo 'make in-tree      put the module into the kernel source KDIR=...'
	@echo 'make check-packages, make check-in-tree   do these work? (root)'
	@echo 'make distclean    remove builds and the cache of kernels and guest images'

.DEFAULT_GOAL := modules
.PHONY: modules modules_install clean unit check check-breaks check-debug lint mandocs demo bench distclean help \
	deb rpm check-packages in-tree check-in-tree docs
