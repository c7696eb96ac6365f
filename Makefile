PREFIX ?= /usr/local
DESTDIR ?=
BINDIR = $(PREFIX)/bin
DATADIR = $(PREFIX)/share
# In a home directory, systemd reads units below share, not below lib.
USERUNITDIR = $(PREFIX)/$(if $(filter $(HOME)/%,$(PREFIX)),share,lib)/systemd/user
# hardening.conf needs systemd 250 (see the file). Packagers set the version of the target system.
SYSTEMD_VERSION ?= $(shell systemctl --version 2>/dev/null | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
# The extension for GNOME Shell depends on its version (gnome-shell/assemble). Packagers set that of the target system.
GNOME_SHELL_VERSION ?=
EXTENSIONDIR = $(DATADIR)/gnome-shell/extensions/navd-windows@navd.org
COMPLETIONS = bash-completion/completions/navctl zsh/site-functions/_navctl fish/vendor_completions.d/navctl.fish
HARDENING = $(shell test 0$(SYSTEMD_VERSION) -ge 250 && echo navd.service.d/hardening.conf)

# Installed binaries need no Swift on the machine. lld links the static libraries without the warnings of the default linker.
# navctl starts at every key press and navd runs all day, so they have no shared libraries at all (see Package.swift); glibc
# relocates such a program only if it has no path for libraries. libdbus-1 needs libsystemd for socket-activated servers, and no
# program here is one; --defsym replaces the two functions that it provides. LINKING makes the linker choose the static libstdc++ and
# libdbus-1. No library is loaded that would look for symbols of a program, so their names are left out: 0.4 MB. Packed relocations, where the loader supports them, save
# two megabytes of file and memory.
#
# The module for regular expressions is hidden, since one search for a text brings all of its 1.5 MB.
#
# Two builds of one commit are the same bytes, whatever their directories: they have no hashes of modules for incremental builds,
# and a build id that is not made of the debug information, which has paths.
#
# ARCH=arm64 makes the packages and the release for that architecture. .ci/cross does it, and builds with two variables: SYSROOT, the root
# with the libraries of that system, and SWIFT_SDK, the options by which SwiftPM finds its description.
ARCH =
SYSROOT =
SWIFT_SDK =
PACKED = $(shell getconf GNU_LIBC_VERSION | awk '$$2 >= 2.36 { print "-Xlinker -zpack-relative-relocs" }')
LINKING = $(CURDIR)/.build/linking
# Sources without a repository have the digest of their release instead of a commit.
COMMIT = $(shell git rev-parse HEAD 2>/dev/null || sha1sum Sources/CoordinatorAPI/Release.swift | cut -c1-40)
# LIBC=shared leaves the C library out of navd and navctl, as distributions may prefer (docs/architecture.md weighs both).
LIBC ?= static
BUILD = $(if $(filter static,$(LIBC)),NAVD_LINKS_ALONE=1) NAVD_PROGRAMS=1 NAVD_LINKING=$(LINKING) NAVD_COMMIT=$(COMMIT) PKG_CONFIG_PATH=$(LINKING) \
	swift build -c release $(SWIFT_SDK) --static-swift-stdlib --disable-local-rpath \
	$(addprefix -Xswiftc ,-use-ld=lld -L$(LINKING) -Xclang-linker -static-libgcc \
	-Xfrontend -disable-implicit-string-processing-module-import \
	-Xfrontend -disable-incremental-llvm-codegen) \
	$(addprefix -Xlinker --,defsym=sd_listen_fds=0 defsym=sd_is_socket=0 no-export-dynamic) $(PACKED)
PROGRAMS = navd navctl navd-windows
UNITS = navd.service navd-windows.service
# KWin tells windows only to a program that a desktop file names.
ENTRY = org.navd.navd-windows.desktop
MANUALS = navctl.1 navd.8 navd-windows.8 navd.destination.5
# Two thirds of a program are debug information, which is not installed; STRIP= leaves it there. `make release` has it in a file of its own.
STRIP ?= strip
# The directory of the programs to install.
BUILT ?= .build/release
INTERFACES = $(wildcard dbus/*.xml)
SEED ?= $(shell date +%s)
WORLDS ?= 50000
N ?= 200
KILLS ?= 300
STEPS ?= 40000
CALLS ?= 1000000
MINUTES ?= 10
ROUNDS ?= 300
REQUESTS ?= 4000
DEBUG_LIBDBUS = /usr/lib/dbus-1.0/debug-build/lib

# The tests of NavigationGTK are built with all others. Programs to install need no GTK.
check test test-debug-libdbus kill-storm check-programs check-clients check-desktops check-gtk screenshot screenshot-plasma docs: export NAVD_WITH_GTK = 1

.PHONY: help run build test check test-debug-libdbus bench soak simulate mutate kill-storm walk fuzz check-programs check-clients check-desktops check-sign check-swift check-gtk screenshot screenshot-plasma docs deb deb-check release release-check lint format install uninstall clean

help:
	@echo 'make run                 a tour: panels on your desktop, or processes where there is none, on a bus of its own'
	@echo 'make check               lint, build, and the fast tests, for the inner loop'
	@echo 'make test                all tests, and the ten slowest of them'
	@echo 'make build               release binaries, in .build/release'
	@echo 'make install             [PREFIX=/usr/local] [DESTDIR=]; make uninstall removes everything'
	@echo 'make deb                 Debian packages, in .build/deb; make deb-check tests them on a fresh Debian 12'
	@echo 'make release             a tarball with an installer, in .build/release-files; make release-check tests it on bare systems'
	@echo 'make deb ARCH=arm64      the packages for arm64, in .build/arm64/deb; so does make release, and make deb-check tests them with qemu'
	@echo 'make bench               measures navd beside its peers, three times, and writes docs/measurements.md'
	@echo 'make simulate            a long simulation of the rules [SEED=] [WORLDS=50000]'
	@echo 'make mutate              changes the rules at random places, and lists what their tests do not notice [SEED=] [N=200]'
	@echo 'make soak                a long mixed load, its growth in memory and descriptors, and wake-ups when idle [MINUTES=10]'
	@echo 'make fuzz                calls navd for long with valid and invalid arguments [SEED=] [CALLS=1000000]'
	@echo 'make kill-storm          kills navd many times at random instants under load [KILLS=300]'
	@echo 'make walk                worlds of the simulation with a real navd on a bus [SEED=] [STEPS=40000]'
	@echo 'make check-programs      presents well-known programs on sway, i3 and openbox, and writes what was seen to docs/windows.md; takes pictures of handovers'
	@echo 'make check-clients       compiles what code generators for C++ make of the interfaces, and runs a program with it'
	@echo 'make check-desktops      runs the adapters on the desktops of Debian 12, 13 and sid, and writes what was seen to docs/windows.md [ONLY=]'
	@echo 'make check-sign          makes a sign of a fresh Debian 13 in a container, as docs/kiosk.md says, crashes its programs and cuts its power'
	@echo 'make check-swift         builds navd with the Swift of Debian sid, and runs the fast tests'
	@echo 'make check-gtk           presents and dismisses with GTK many times, and counts what is alive after it; sends random requests to the example Inventory [ROUNDS=300 REQUESTS=4000 SEED=]'
	@echo 'make screenshot          takes the pictures of the documentation'
	@echo 'make screenshot-plasma   takes the picture of Plasma'
	@echo 'make docs                docs/dbus.md, dbus/*.xml, docs/states.svg; and the library for a browser, in .build/docs'
	@echo 'make test-debug-libdbus  the tests of the bus with a libdbus that checks its arguments'
	@echo 'make lint                reports what swift format finds; make format corrects it'

# Programs that are not optimized: they need half the time, and `make test` goes on with what is built for them.
run:
	@.ci/setup build run
	@NAVD_PROGRAMS=1 swift build
	@docs/tour.sh .build/debug

build:
	@.ci/setup build
	@mkdir -p $(LINKING)
	@for name in libstdc++ libdbus-1; do echo "INPUT(-l:$$name.a)" > $(LINKING)/$$name.so || exit; done
	@sed 's|^prefix=|&$(SYSROOT)|; s|^Libs:.*|Libs: -L$(LINKING) -ldbus-1|' "$$(pkg-config --variable=pcfiledir dbus-1)/dbus-1.pc" > $(LINKING)/dbus-1.pc
	@$(BUILD)
	@SYSROOT=$(SYSROOT) packaging/sbom .build/sbom $(foreach program,$(PROGRAMS),.build/release/$(program)=$(LINKING)/$(program).map)

ifeq ($(ARCH),)
# The packages do not need Swift: the Swift libraries are linked statically.
deb: build
	@.ci/setup build deb
	@rm -rf .build/deb
	debian/rules binary && dh_clean
	lintian --allow-root --fail-on error,warning .build/deb/*.deb

# For systems without a package: everything that `make install` installs, and a script that puts it in its place.
release: build
	@.ci/release

release-check: deb release
	@.ci/setup build deb release
	@.ci/release-check
else
deb release:
	@.ci/setup build deb
	swift package resolve
	.ci/cross $(ARCH) $@

release-check:
	$(error expected release-check without ARCH, found ARCH=$(ARCH))
endif

deb-check: deb
	@.ci/deb-check $(ARCH)

# The tests of the inner loop: every target without a bus, and of the end-to-end tests the contract, the documents and a few rules.
FAST = ^(DBusValuesTests|TextFormatsTests|SessionFilesTests|CoordinatorAPITests|PresentationRulesTests|PresentationRecordTests|EventLoopsTests|CoordinatorDaemonTests|navctlTests|WindowAdapterTests)\.
FAST_END_TO_END = ^EndToEndTests\.(book_|architecture_|contract_|present_|replacement_|group_)

check: lint
	@.ci/setup
	swift build --build-tests
	.ci/tests swift test --skip-build --filter '$(FAST)' --filter '$(FAST_END_TO_END)'

# The tests on desktops wait most of their time, so they run beside the others.
empty =
DESKTOP_FILES = $(notdir $(wildcard Tests/EndToEndTests/Desktop/*Tests.swift Tests/EndToEndTests/Windows/*Tests.swift))
ON_DESKTOPS = ^EndToEndTests\..*/($(subst $(empty) $(empty),|,$(DESKTOP_FILES))):

# The library's scenarios all begin at once, each with a bus and a navd. Beside them, user managers would get no inotify instance,
# of which the kernel allows a user 128.
test:
	@.ci/setup
	.ci/tests swift test --filter NavigationTests
	.ci/tests swift test --skip-build --ignore-lock --filter '$(ON_DESKTOPS)' -- \
		swift test --skip-build --ignore-lock --skip NavigationTests --skip '$(ON_DESKTOPS)'

test-debug-libdbus:
	@.ci/setup
	swift build --build-tests
	LD_LIBRARY_PATH=$(DEBUG_LIBDBUS) DBUS_FATAL_WARNINGS=1 swift test --skip-build --filter 'DBusTests|EndToEndTests'

# A package of its own, in a build directory beside the others.
BENCHMARKS = swift build --package-path Benchmarks --scratch-path .build/benchmarks

# A goal is reached if all three runs on all processors, and all three on one, reach it. They alternate, since the speed of a
# machine varies. The programs are copies without symbols, as packages install them: a linker writes its file in small pieces, in which
# the kernel then keeps it, so that the program starts a tenth slower.
bench: build
	@.ci/setup
	$(BENCHMARKS) -c release
	@rm -rf .build/bench && install -d .build/bench/programs
	install -s -t .build/bench/programs $(PROGRAMS:%=.build/release/%) .build/benchmarks/release/navbench
	for run in 1 2 3; do \
	  dbus-run-session -- .build/bench/programs/navbench --json >.build/bench/$$run.json || exit; \
	  taskset -c 0 dbus-run-session -- .build/bench/programs/navbench --json >.build/bench/$$run-one.json || exit; \
	done
	.build/bench/programs/navbench --summary .build/bench/*.json --write docs/measurements.md

soak: build
	@.ci/setup
	NAVD_TEST_BUILD=$(CURDIR)/.build/release NAVD_TEST_SOAK_SECONDS=$$(($(MINUTES) * 60)) swift test --filter soak_

# In a separate build directory, since the flags differ from those of `build`.
simulate:
	@.ci/setup build
	NAVD_SEED=$(SEED) NAVD_WORLDS=$(WORLDS) swift test --scratch-path .build/simulation -c release -Xswiftc -enable-testing --filter Simulation

# In a copy of the sources.
mutate:
	@.ci/setup
	.ci/mutate --seed $(SEED) --count $(N)

# With release programs, so that commands and requests meet more closely.
kill-storm: build
	@.ci/setup
	NAVD_TEST_BUILD=$(CURDIR)/.build/release NAVD_TEST_KILLS=$(KILLS) swift test --filter killStorm

walk: build
	@.ci/setup
	NAVD_TEST_BUILD=$(CURDIR)/.build/release NAVD_SEED=$(SEED) NAVD_TEST_WALK_STEPS=$(STEPS) swift test --filter walk_

# The long form of tests in `make test`: all limits at their real size, and more broken buses; with release binaries, so that
# times count.
fuzz:
	@.ci/setup
	NAVD_SEED=$(SEED) NAVD_TEST_FUZZ_CALLS=$(CALLS) NAVD_TEST_ADAPTER_STEPS=1000000 NAVD_TEST_FAKE_BUSES=200 NAVD_TEST_RECORDS=$(CALLS) NAVD_TEST_THOROUGH=1 \
		NAVD_TEST_SERVED_REQUESTS=20000 swift test --scratch-path .build/simulation -c release -Xswiftc -enable-testing \
		--filter 'fuzz_|fakeBus_|hostile_|recordFuzz_|randomAdapter_|input_atTheLimit'

# One after another, since some of these programs need a processor for seconds.
check-programs:
	@.ci/setup
	@.ci/setup programs
	NAVD_TEST_PROGRAMS=1 swift test --no-parallel --filter 'ProgramTests|HandoverPicturesTests'

# Compilers need a minute for it.
check-clients:
	@.ci/setup
	@.ci/setup clients
	NAVD_TEST_CLIENTS=1 swift test --no-parallel --filter EndToEndTests.generat

# One after another, since each is a desktop with programs of its own.
check-desktops:
	@.ci/setup
	@.ci/setup desktops
	swift build --build-tests
	.ci/check-desktops $(ONLY)

# With the packages, as on a machine of its own.
check-sign: deb
	@.ci/setup sign
	.ci/sign

# A root of Debian sid, without a network. Tests of the bus need programs that this root does not have.
check-swift:
	@.ci/setup build deb
	swift package resolve
	.ci/check-swift '$(FAST)'

# One after another, since wake-ups are counted.
check-gtk:
	@.ci/setup
	NAVD_TEST_GTK_ROUNDS=$(ROUNDS) NAVD_SEED=$(SEED) NAVD_TEST_INVENTORY_REQUESTS=$(REQUESTS) \
		swift test --no-parallel --filter 'gtkRounds_|inventory_random'

screenshot:
	@.ci/setup
	NAVD_SCREENSHOT=$(CURDIR)/docs/screenshot.png NAVD_SCREENSHOT_GNOME=$(CURDIR)/docs/gnome.png NAVD_SCREENSHOT_GTK=$(CURDIR)/docs/gtk.png NAVD_FILM=$(CURDIR)/docs/film.webp NAVD_SCREENSHOT_PLACES=$(CURDIR)/docs swift test --filter screenshot_

# Of Debian 13, in a root of check-desktops.
screenshot-plasma:
	@.ci/setup
	@.ci/setup desktops
	swift build --build-tests
	NAVD_SCREENSHOT_PLASMA=$(CURDIR)/docs/plasma.png .ci/check-desktops 'new-user plasma'

docs:
	@.ci/setup
	swift build --product navctl && swift build --product navdoc
	.build/debug/navdoc dbus.md >docs/dbus.md
	.build/debug/navdoc keys.md >.build/keys.md
	sed -i -e '/^<!-- navdoc writes this/,/^<!-- The end/{//!d}' -e '/^<!-- navdoc writes this/r .build/keys.md' docs/configuration.md
	dot -Tsvg docs/states.dot >docs/states.svg
	for file in $(INTERFACES); do .build/debug/navctl introspect --xml $$(basename $$file .xml) >$$file || exit; done
	.ci/docc

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources docs/recipes Examples/*/Package.swift Examples/*/Sources Examples/*/Tests

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources docs/recipes Examples/*/Package.swift Examples/*/Sources Examples/*/Tests

# Installs the existing build, so that `sudo make install` compiles nothing as root.
install:
	@for program in $(PROGRAMS) navdoc; do test -x $(BUILT)/$$program || { echo 'no $(BUILT)/'$$program'; run: make build'; exit 1; }; done
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(USERUNITDIR) $(DESTDIR)$(DATADIR)/dbus-1/services $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	install -m 755 $(if $(STRIP),-s --strip-program=$(STRIP)) $(PROGRAMS:%=$(BUILT)/%) $(DESTDIR)$(BINDIR)
	for file in $(UNITS); do sed 's|@BINDIR@|$(BINDIR)|' systemd/$$file > $(DESTDIR)$(USERUNITDIR)/$$file || exit; done
	sed 's|@BINDIR@|$(BINDIR)|' dbus/org.navd.Coordinator1.service > $(DESTDIR)$(DATADIR)/dbus-1/services/org.navd.Coordinator1.service
	$(if $(HARDENING),install -D -m 644 systemd/$(HARDENING) $(DESTDIR)$(USERUNITDIR)/$(HARDENING))
	chmod 644 $(UNITS:%=$(DESTDIR)$(USERUNITDIR)/%) $(DESTDIR)$(DATADIR)/dbus-1/services/org.navd.Coordinator1.service
	$(if $(INTERFACES),install -m 644 $(INTERFACES) $(DESTDIR)$(DATADIR)/dbus-1/interfaces)
	gnome-shell/assemble $(DESTDIR)$(EXTENSIONDIR) $(GNOME_SHELL_VERSION)
	install -d $(DESTDIR)$(DATADIR)/applications
	sed 's|@BINDIR@|$(BINDIR)|' packaging/$(ENTRY) > $(DESTDIR)$(DATADIR)/applications/$(ENTRY)
	chmod 644 $(DESTDIR)$(DATADIR)/applications/$(ENTRY)
	$(if $(COMPLETIONS),install -d $(dir $(COMPLETIONS:%=$(DESTDIR)$(DATADIR)/%)))
	@for file in $(COMPLETIONS); do \
	  shell=$${file%%[-/]*}; script=$(DESTDIR)$(DATADIR)/$$file; \
	  $(BUILT)/navctl --generate-completion-script $$shell >$$script && chmod 644 $$script || exit; \
	done
	@for page in $(MANUALS); do \
	  program=$(BUILT)/$${page%.*}; directory=$(DESTDIR)$(DATADIR)/man/man$${page##*.}; install -d $$directory; \
	  { ! test -x $$program || $$program --experimental-dump-help; } | $(BUILT)/navdoc $$page >$$directory/$$page \
	    && chmod 644 $$directory/$$page || exit; \
	done

uninstall:
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%) $(UNITS:%=$(DESTDIR)$(USERUNITDIR)/%)
	rm -f $(DESTDIR)$(USERUNITDIR)/navd.service.d/hardening.conf
	rmdir $(DESTDIR)$(USERUNITDIR)/navd.service.d 2>/dev/null || true
	rm -f $(COMPLETIONS:%=$(DESTDIR)$(DATADIR)/%)
	rm -f $(foreach page,$(MANUALS),$(DESTDIR)$(DATADIR)/man/man$(patsubst .%,%,$(suffix $(page)))/$(page))
	rm -f $(DESTDIR)$(DATADIR)/dbus-1/services/org.navd.Coordinator1.service
	rm -f $(INTERFACES:dbus/%=$(DESTDIR)$(DATADIR)/dbus-1/interfaces/%)
	rm -rf $(DESTDIR)$(EXTENSIONDIR)
	rm -f $(DESTDIR)$(DATADIR)/applications/$(ENTRY)

clean:
	swift package clean
