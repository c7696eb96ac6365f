# Why this file exists: every task has one short command, whatever it takes behind it.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR = $(PREFIX)/bin
DATADIR = $(PREFIX)/share
# For a prefix in a home, systemd looks below share and not below lib.
USERUNITDIR = $(PREFIX)/$(if $(filter $(HOME)/%,$(PREFIX)),share,lib)/systemd/user
# What an older systemd would have navd hand down to commands (see the file); packagers say which one is meant.
SYSTEMD_VERSION ?= $(shell systemctl --version 2>/dev/null | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
COMPLETIONS = bash-completion/completions/navctl zsh/site-functions/_navctl fish/vendor_completions.d/navctl.fish
HARDENING = $(shell test 0$(SYSTEMD_VERSION) -ge 250 && echo navd.service.d/hardening.conf)

# Installed binaries need no Swift on the machine. The standard linker warns of what is in the static libraries, lld not.
# navctl is a process for every key press, and loading libstdc++ and libgcc, which only the Swift runtime uses, takes a
# seventh of its time; libdbus-1 takes a quarter, since it brings libsystemd and six more for servers, which none of these is
# (what they would be asked for is not there). navd needs libsqlite3 once, to read a record of an earlier release.
# The linker finds the static libstdc++, libdbus-1 and libsqlite3 in LINKING.
# Whether something is written while it is read, debug builds, and so the tests, watch at run time; it takes a thirtieth.
# Where the loader takes them packed, what it has to mend is two megabytes less, in the file and in memory.
PACKED = $(shell getconf GNU_LIBC_VERSION | awk '$$2 >= 2.36 { print "-Xlinker -zpack-relative-relocs" }')
LINKING = $(CURDIR)/.build/linking
BUILD = PKG_CONFIG_PATH=$(LINKING) swift build -c release --static-swift-stdlib \
	$(addprefix -Xswiftc ,-use-ld=lld -L$(LINKING) -Xclang-linker -static-libgcc -enforce-exclusivity=unchecked) \
	$(addprefix -Xlinker --defsym=,sd_listen_fds=0 sd_is_socket=0) $(PACKED)
PROGRAMS = navd navctl
# What others of these are made with; not installed.
TOOLS = navbench navdoc
MANUALS = navctl.1 navd.8 navd.destination.5 org.navd.Coordinator1.5 org.navd.Presentation1.5 org.navd.Presenter1.5
# Where the programs to install are.
BUILT ?= .build/release
INTERFACES = $(wildcard dbus/*.xml)
SEED ?= $(shell date +%s)
WORLDS ?= 50000
KILLS ?= 300
CALLS ?= 200000
MINUTES ?= 10
DEBUG_LIBDBUS = /usr/lib/dbus-1.0/debug-build/lib

.PHONY: help run build test test-debug-libdbus bench soak simulate kill-storm fuzz screenshot docs deb deb-check lint format install uninstall clean

help:
	@echo 'make run                 a tour: real programs presented on a real bus'
	@echo 'make test                all tests'
	@echo 'make build               release binaries, in .build/release'
	@echo 'make install             [PREFIX=/usr/local] [DESTDIR=]; uninstall takes it away again'
	@echo 'make deb                 Debian packages, in .build/deb; deb-check tries them on a fresh Debian 12'
	@echo 'make bench               what a request costs, against an echo on the same bus'
	@echo 'make simulate            the rules against a simulated session, for long [SEED=] [WORLDS=50000]'
	@echo 'make soak                all kinds of requests for long, and what has grown by them [MINUTES=10]'
	@echo 'make fuzz                navd driven by whatever can be sent, for long [SEED=] [CALLS=200000]'
	@echo 'make kill-storm          navd killed at random instants under load, for long [KILLS=300]'
	@echo 'make screenshot          the picture of the README, taken again'
	@echo 'make docs                docs/dbus.md, dbus/*.xml, docs/states.svg; and in .build/docs the library, for a browser'
	@echo 'make test-debug-libdbus  the tests of the bus with a libdbus that checks more'
	@echo 'make lint                what swift format finds; make format mends it'

run:
	@.ci/setup build run
	@$(MAKE) --no-print-directory build
	@docs/tour.sh .build/release

build:
	@.ci/setup build
	@mkdir -p $(LINKING)
	@for name in libstdc++ libdbus-1 libsqlite3; do echo "INPUT(-l:$$name.a)" > $(LINKING)/$$name.so || exit; done
	@sed 's|^Libs:.*|Libs: -L$(LINKING) -ldbus-1|' "$$(pkg-config --variable=pcfiledir dbus-1)/dbus-1.pc" > $(LINKING)/dbus-1.pc
	@for program in $(PROGRAMS) $(TOOLS); do $(BUILD) --product $$program || exit; done

# Into .build/deb. Nothing is linked with Swift, so they need none where they are installed.
deb: build
	@.ci/setup build deb
	@rm -rf .build/deb
	debian/rules binary && dh_clean
	lintian --allow-root --fail-on error,warning .build/deb/*.deb

deb-check: deb
	@.ci/deb-check

test:
	@.ci/setup
	swift test

test-debug-libdbus:
	@.ci/setup
	swift build --build-tests
	LD_LIBRARY_PATH=$(DEBUG_LIBDBUS) DBUS_FATAL_WARNINGS=1 swift test --skip-build --filter 'DBusTests|EndToEndTests'

bench: build
	@.ci/setup
	dbus-run-session -- .build/release/navbench
	@echo 'On one processor, where nothing has to be woken elsewhere:'
	taskset -c 0 dbus-run-session -- .build/release/navbench --only bus --stall 5

soak: build
	@.ci/setup
	dbus-run-session -- .build/release/navbench --soak $$(($(MINUTES) * 60))

# A build of its own, since it needs other flags than those of `build`.
simulate:
	@.ci/setup build
	NAVD_SEED=$(SEED) NAVD_WORLDS=$(WORLDS) swift test --scratch-path .build/simulation -c release -Xswiftc -enable-testing --filter Simulation

kill-storm:
	@.ci/setup
	NAVD_TEST_KILLS=$(KILLS) swift test --filter killStorm

# What the tests do in short, in full: every limit as it is, and more buses that have gone mad.
fuzz:
	@.ci/setup
	NAVD_SEED=$(SEED) NAVD_TEST_FUZZ_CALLS=$(CALLS) NAVD_TEST_FAKE_BUSES=200 NAVD_TEST_THOROUGH=1 swift test \
		--filter 'fuzz_|fakeBus_|hostile_'

screenshot:
	@.ci/setup
	NAVD_SCREENSHOT=$(CURDIR)/docs/screenshot.png swift test --filter screenshot_

docs:
	@.ci/setup
	swift build --product navctl && swift build --product navdoc
	.build/debug/navdoc dbus.md >docs/dbus.md
	dot -Tsvg docs/states.dot >docs/states.svg
	for file in $(INTERFACES); do .build/debug/navctl introspect --xml $$(basename $$file .xml) >$$file || exit; done
	.ci/docc

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests docs/recipes

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests docs/recipes

# What was built is installed, so that `make && sudo make install` compiles nothing as root.
install:
	@for program in $(PROGRAMS) navdoc; do test -x $(BUILT)/$$program || { echo 'first: make build'; exit 1; }; done
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(USERUNITDIR) $(DESTDIR)$(DATADIR)/dbus-1/services $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	install -m 755 $(PROGRAMS:%=$(BUILT)/%) $(DESTDIR)$(BINDIR)
	sed 's|@BINDIR@|$(BINDIR)|' systemd/navd.service > $(DESTDIR)$(USERUNITDIR)/navd.service
	sed 's|@BINDIR@|$(BINDIR)|' dbus/org.navd.Coordinator1.service > $(DESTDIR)$(DATADIR)/dbus-1/services/org.navd.Coordinator1.service
	$(if $(HARDENING),install -D -m 644 systemd/$(HARDENING) $(DESTDIR)$(USERUNITDIR)/$(HARDENING))
	chmod 644 $(DESTDIR)$(USERUNITDIR)/navd.service $(DESTDIR)$(DATADIR)/dbus-1/services/org.navd.Coordinator1.service
	$(if $(INTERFACES),install -m 644 $(INTERFACES) $(DESTDIR)$(DATADIR)/dbus-1/interfaces)
	install -d $(dir $(COMPLETIONS:%=$(DESTDIR)$(DATADIR)/%))
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
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%) $(DESTDIR)$(USERUNITDIR)/navd.service
	rm -rf $(DESTDIR)$(USERUNITDIR)/navd.service.d
	rm -f $(COMPLETIONS:%=$(DESTDIR)$(DATADIR)/%)
	rm -f $(foreach page,$(MANUALS),$(DESTDIR)$(DATADIR)/man/man$(patsubst .%,%,$(suffix $(page)))/$(page))
	rm -f $(DESTDIR)$(DATADIR)/dbus-1/services/org.navd.Coordinator1.service
	rm -f $(INTERFACES:dbus/%=$(DESTDIR)$(DATADIR)/dbus-1/interfaces/%)

clean:
	swift package clean
