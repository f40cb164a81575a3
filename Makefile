# make help lists what there is. Everything that is built goes to .build/, what runs to .run/.
SWIFT ?= swift
# Static release: the Swift runtime, SQLite and zstd inside, so that the program needs libc alone.
STATIC := .build/static-libraries
# Exclusive access to properties is checked where the tests run; here it would cost a twentieth of a
# round trip.
UNCHECKED := -Xswiftc -enforce-exclusivity=unchecked
RELEASE := -c release --static-swift-stdlib $(UNCHECKED) -Xlinker -s -Xlinker --gc-sections

# The C library of the bus: a build of its own, with the Swift runtime inside, a name and version for
# the linker, the calls of notify.h and no other symbol to be seen, and no unloading: it has threads.
LIBRARY := .build/notify/release/libintel-notify.so
LIBRARY_FLAGS := -c release --product intel-notify --scratch-path .build/notify \
    -Xswiftc -static-stdlib $(UNCHECKED) -Xlinker -s -Xlinker --gc-sections -Xlinker -soname=libintel-notify.so.1 \
    -Xlinker --version-script=$(CURDIR)/packaging/libintel-notify.map -Xlinker -z -Xlinker nodelete

# SQLite's loadable extension: a build of its own, with the Swift runtime and zstd inside, no copy
# of SQLite (see Sources/CHostSQLite), its way in and no other symbol to be seen.
EXTENSION := .build/extension/release/libintel_spool.so
EXTENSION_FLAGS := -c release --product intel_spool --scratch-path .build/extension \
    -Xswiftc -static-stdlib -Xlinker -s -Xlinker --gc-sections -Xlinker -z -Xlinker nodelete \
    -Xlinker --version-script=$(CURDIR)/packaging/intel_spool.map

# Optimized; the checks for overflow and bounds are in a release too.
FUZZ_FLAGS := -c release --sanitize=fuzzer --scratch-path .build/fuzz

.PHONY: help run test check sanitize build library extension bench bench-spool fuzz docs lint format packages clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

run: build ## build and run: agent, bus and host telemetry, with a live line, until Ctrl-C
	@packaging/run

test: packages library extension ## run all tests
	$(SWIFT) test --disable-xctest

check: packages lint build ## lint, release build and all tests, with warnings as errors
	INTEL_WARNINGS_AS_ERRORS=1 $(SWIFT) test --disable-xctest

# Reports go to files, as those of the broker's own processes would be seen by nobody. For release,
# as a debug build under a sanitizer is ten times slower.
SANITIZED := NotifyBrokerTests|NotifyClientTests|ConformanceTests.(RaceTests|RandomTests)
# Codec, spool, agent and SDK, in this process: for the address sanitizer alone, and its leaks. Those
# that start processes for each call of the system would take it hours.
INSIDE := ^SpoolTests|CompressionTests|InternalNotificationTests|AgentTests
REPORTS = halt_on_error=1:log_path=$(CURDIR)/.build/$(1)/report
SANITIZE := -c release -Xswiftc -enable-testing --disable-xctest --filter '$(SANITIZED)'
sanitize: packages ## bus, SDK and spool under the thread and address sanitizers: half an hour
	@mkdir -p .build/tsan .build/asan && rm -f .build/tsan/report.* .build/asan/report.*
	TSAN_OPTIONS=$(call REPORTS,tsan) INTEL_ROUNDS=$${INTEL_ROUNDS:-100000} $(SWIFT) test \
	    --sanitize=thread --scratch-path .build/tsan $(SANITIZE)
	ASAN_OPTIONS=$(call REPORTS,asan) INTEL_ROUNDS=$${INTEL_ROUNDS:-100000} $(SWIFT) test \
	    --sanitize=address --scratch-path .build/asan $(SANITIZE) --filter '$(INSIDE)' \
	    --skip 'PowerTests|CrashTests'
	@if ls .build/tsan/report.* .build/asan/report.* 2>/dev/null; then exit 1; fi

build: packages library extension $(STATIC) ## the release: .build/release/intel and both libraries
	PKG_CONFIG_PATH=$(CURDIR)/$(STATIC) $(SWIFT) build $(RELEASE) --product intel
	PKG_CONFIG_PATH=$(CURDIR)/$(STATIC) $(SWIFT) build $(RELEASE) --product bus-roundtrip
	cp -P $(LIBRARY) $(LIBRARY).1 .build/release/
	cp $(EXTENSION) .build/release/intel_spool.so

library: packages ## the C library of the bus: libintel-notify.so, see Sources/CNotify/include
	$(SWIFT) build $(LIBRARY_FLAGS)
	ln -sf libintel-notify.so $(LIBRARY).1

extension: packages $(STATIC) ## SQLite's loadable extension: .build/extension/intel_spool.so
	PKG_CONFIG_PATH=$(CURDIR)/$(STATIC) $(SWIFT) build $(EXTENSION_FLAGS)
	cp $(EXTENSION) .build/extension/intel_spool.so

bench: build .build/relay .build/calls ## the figures: bus, spool, size, memory, start-up
	PKG_CONFIG_PATH=$(CURDIR)/$(STATIC) $(SWIFT) build $(RELEASE) --product bus-figures
	PKG_CONFIG_PATH=$(CURDIR)/$(STATIC) $(SWIFT) build $(RELEASE) --product bus-flood
	@Benchmarks/run .build/release .build
	@Benchmarks/flood .build/release

bench-spool: build .build/scan ## the spool beside RIVALS, a program, on CORPUS: see Benchmarks/spool
	@test -n "$(CORPUS)" || { echo "make bench-spool CORPUS=FILE.ndjson [RIVALS=PROGRAM]" >&2; exit 2; }
	PKG_CONFIG_PATH=$(CURDIR)/$(STATIC) $(SWIFT) build $(RELEASE) --product spool-load
	@Benchmarks/spool $(CORPUS) $(if $(RIVALS),--rivals $(RIVALS))

fuzz: packages ## libFuzzer on frames, broker and codec, each for FUZZ_SECONDS (60)
	INTEL_FUZZ=1 $(SWIFT) build $(FUZZ_FLAGS) --product fuzz-frames
	INTEL_FUZZ=1 $(SWIFT) build $(FUZZ_FLAGS) --product fuzz-broker
	INTEL_FUZZ=1 $(SWIFT) build $(FUZZ_FLAGS) --product fuzz-codec
	@Fuzz/run .build/fuzz/release

docs: packages ## the documentation of Notify, in .build/docs/Notify.doccarchive; a warning fails
	@mkdir -p .build/docs/symbols
	$(SWIFT) build --scratch-path .build/docs --target NotifyClient -Xswiftc -emit-symbol-graph \
	    -Xswiftc -emit-symbol-graph-dir -Xswiftc $(CURDIR)/.build/docs/symbols
	@find .build/docs/symbols -type f ! -name NotifyClient.symbols.json -delete
	docc convert Sources/NotifyClient/Notify.docc --warnings-as-errors \
	    --additional-symbol-graph-dir .build/docs/symbols --fallback-display-name Notify \
	    --fallback-bundle-identifier intel.notify --output-dir .build/docs/Notify.doccarchive

lint: ## check the format, changing nothing
	$(SWIFT) format lint --strict --recursive Sources Tests Benchmarks Fuzz Package.swift

format: ## put the format right
	$(SWIFT) format format --in-place --recursive Sources Tests Benchmarks Fuzz Package.swift

packages: ## install what Debian packages are missing
	@packaging/install-packages

clean: ## remove all that was built
	rm -rf .build

# See the script: it makes pkg-config lead to the archives instead of the shared libraries.
$(STATIC): packaging/link-archives | packages
	@packaging/link-archives $(STATIC)

.build/relay: Benchmarks/relay.c | packages
	@mkdir -p .build
	gcc -O2 -Wall -Wextra -Werror -o $@ $<

.build/scan: Benchmarks/scan.c | packages
	@mkdir -p .build
	gcc -O2 -Wall -Wextra -Werror -o $@ $< -lsqlite3 -lzstd

.build/calls: Benchmarks/calls.c Sources/CNotify/include/notify.h library
	gcc -O2 -Wall -Wextra -Werror -ISources/CNotify/include -o $@ $< -L.build/notify/release \
	    -lintel-notify -Wl,-rpath,$(CURDIR)/.build/notify/release
