# Short commands for CMake, which does the work. Each MPI has a build tree: build/mpich, build/openmpi. build/abi is for the standard ABI
# of MPI 5.0, of any MPI that has it. What knows no MPI is compiled once, in build/common, from which these trees take it. The PATH decides
# which MPIs are taken (packaging/mpis.sh); with MPICC=/path/mpicc it is that one alone.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory
export DESTDIR RECORD # RECORD=1: tests record their run, see test/status

.PHONY: all apps demo tests test test-full tests-full test-loaded test-x86 test-foreign test-mpis test-builds test-nightly coverage fuzz bench-programs bench bench-quick bench-clampi bench-modes bench-match bench-armci bench-sim bench-vgasnet bench-pgas bench-windows bench-walks bench-osu bench-overhead bench-report-cost install deb asan tsan model format lint docs clean help
.PRECIOUS: build/%/.configured

# The targets that are built in a tree, and before them in build/common: the groups in CMakeLists.txt. `all` builds what is installed.
TARGETS = all
COMMON = all

all: ## build for each installed MPI, or for that of MPICC=/path/mpicc: libraries, the command, manual pages
	@set -e; mpis=$$(packaging/mpis.sh); for mpi in $$mpis; do $(MAKE) tree-$$mpi TARGETS="$(TARGETS)"; done
	@! packaging/mpis.sh abi >/dev/null || $(MAKE) tree-abi TARGETS=all

apps: ## build the programs of apps/ too
	@$(MAKE) all TARGETS="all apps"

demo: ## install what is missing, build for one MPI, and show the cache at work
	@packaging/setup.sh build
	@mpi=$$(apps/demo.sh --mpi) && $(MAKE) tree-$$mpi TARGETS="hearth-mpi hearth lcc" \
	    COMMON="hearth hearth-core hearth_core_static hearth_cache hearth_match hearth_data"
	@apps/demo.sh

# Unit tests are built with ASan; those that would be too slow with it are also built without (units-long). Programs under SimGrid,
# with a library of their own, belong to tests-full, as the programs of apps/ with the other MPI. Configuring keeps one core busy, so the
# trees do it side by side.
tests: ## build the tests
	@$(MAKE) -j $(JOBS) -Otarget build/asan/.configured $$(packaging/mpis.sh | sed 's,.*,build/&/.configured,')
	@$(MAKE) all TARGETS="all tests"
	@$(MAKE) tree-$$(packaging/mpis.sh | sed -n '$$p') TARGETS=apps
	@$(MAKE) tree-common TARGETS=units-long
	@$(MAKE) tree-$$(packaging/mpis.sh | sed q) TARGETS="sim_flow sim_pages sim_memory"
	@$(MAKE) tree-asan TARGETS=units

test: ## run the tests that every change must pass: about 8 minutes on 2 cores, build included
	@packaging/setup.sh test
	@$(MAKE) tests
	@test/run quick

tests-full: tests # the unit tests also without sanitizers and with TSan, the others also with ASan
	@$(MAKE) apps
	@$(MAKE) tree-common TARGETS=units
	@$(MAKE) tree-$$(packaging/mpis.sh | sed q) TARGETS=sims
	@$(MAKE) tree-asan TARGETS="all tests"
	@$(MAKE) tree-tsan TARGETS="units hearth-mpi mpi_suite"

test-full: ## run the tests with more ranks, in all configurations and under sanitizers: hours
	@packaging/setup.sh full
	@$(MAKE) tests-full
	@test/run full
	@$(MAKE) test-mpis

test-x86: ## build for x86-64 by a cross compiler, and test under emulation: unit tests, and jobs of both MPIs in a virtual machine
	@if [ "$$(uname -m)" = x86_64 ]; then echo "test-x86 is for other processors: on x86-64, make test runs all tests without emulation"; \
	else packaging/setup.sh x86 && JOBS=$(JOBS) test/x86/x86.sh; fi

test-foreign: ## build what needs no MPI for POWER, RISC-V, aarch64 with pages of 64 KB, and musl, and run the unit tests: SYSTEMS="ppc64le musl"
	@packaging/setup.sh foreign
	@JOBS=$(JOBS) test/foreign/foreign.sh $(SYSTEMS)

test-mpis: ## build and test in another release of Debian, with its MPIs, in a root in build/roots: SUITES="trixie sid", PARTS=REGEXP
	@packaging/setup.sh mpis
	@JOBS=$(JOBS) test/mpis/mpis.sh $(if $(PARTS),-k '$(PARTS)') $(SUITES)

test-builds: ## build without each optional library, without all of them, and for MPIs without Fortran, and test each, in 15 minutes: BUILDS=REGEXP
	@packaging/setup.sh builds
	@JOBS=$(JOBS) test/builds/builds.sh $(if $(BUILDS),-k '$(BUILDS)')

test-loaded: ## run the tests of `make test` five times in a row, or RUNS=N, while stress-ng keeps the cores busy
	@packaging/setup.sh loaded
	@$(MAKE) tests
	@test/loaded.sh $(RUNS)

test-nightly: ## run the long forms of all tests
	@packaging/setup.sh full
	@$(MAKE) tests-full
	@test/run nightly

coverage: ## measure the lines and branches that the quick tests reach: build/coverage/html/index.html
	@packaging/setup.sh coverage
	@rm -rf build/coverage # otherwise the counts of files that have moved would remain
	@$(MAKE) tree-coverage TARGETS="all apps units sims tests"
	@test/coverage.sh

fuzz: ## feed random input to all parsers: ten minutes of CPU time for each target, or SECONDS=N
	@packaging/setup.sh fuzz
	@test/fuzz/fuzz.sh $(SECONDS)

bench-programs: ## build the programs that the benches run
	@$(MAKE) all TARGETS="all apps benches sims"

bench: ## measure all figures of the papers, and show theirs beside ours, in under an hour: build/results/results.html
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/all.sh

bench-quick: ## the same with fewer sizes and rounds, in ten minutes
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/all.sh --quick

bench-clampi: ## measure the figures of the CLaMPI paper
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/clampi/clampi.sh

bench-modes: ## measure the cost and gain of each mode of the cache
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/clampi/modes.sh

bench-match: ## measure the figures of the paper on matching and hot caching
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/match/match.sh

bench-armci: ## measure the figures of the paper on ARMCI with a helper thread
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/armci/armci.sh

bench-sim: ## simulate more ranks and nodes than this machine has
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/sim.sh

bench-vgasnet: ## measure the figures of the paper on vGASNet
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/vgasnet/vgasnet.sh

bench-pgas: ## measure GASNet-EX beside GASNet-1, and the C++ programs on it
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/vgasnet/pgas.sh

bench-windows: ## measure operations on windows inside a node, executed by MPI and by Hearth
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/windows/windows.sh

bench-walks: ## count the instructions, functions and files of single calls
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/walks/walks.sh

bench-report-cost: ## measure what a report costs
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/report_cost.sh

bench-osu: ## compare each kind of call with the MPI alone, by size, in 40 minutes: BENCH=--quick in 6, ONLY=REGEXP, SETTINGS="K=V"
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/osu/osu.sh $(BENCH)

bench-overhead: ## measure the overhead of calls that Hearth does not make faster
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/overhead.sh

install: all ## install under PREFIX (/usr/local), below DESTDIR if set
	@set -e; mpis=$$(packaging/mpis.sh); ! packaging/mpis.sh abi >/dev/null || mpis="$$mpis abi"; for mpi in $$mpis; do cmake --install build/$$mpi --prefix $(abspath $(PREFIX)); done

deb: ## build Debian packages, in build/deb
	@packaging/setup.sh deb
	@JOBS=$(JOBS) packaging/deb.sh

asan: ## build a tree with AddressSanitizer and UBSan
	@$(MAKE) tree-asan TARGETS="all apps units tests"
tsan: ## build a tree with ThreadSanitizer
	@$(MAKE) tree-tsan TARGETS="all units tests"

model: ## explore the models of the flow control and the lock table with Spin, in some minutes
	@set -e; for test in test/model/test_flow.sh test/model/test_flow_mutants.sh test/model/test_lock_table.sh; do $$test openmpi -; done

format: ## format all C sources with clang-format
	@test/lint/lint_format.sh --fix

lint: ## run only the checks of the sources
	@test/run -k lint_ quick

docs: ## regenerate the generated pages of doc/
	@doc/settings.sh
	@doc/waits.sh
	@doc/coverage.sh
	@doc/status.py
	@doc/results.py

clean: ## remove the build folder
	rm -rf build

help: ## print this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

# A tree keeps the generator that configured it.
GENERATOR = $(if $(wildcard build/$*/CMakeCache.txt),$(shell sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' build/$*/CMakeCache.txt),$(if $(shell command -v ninja),Ninja,Unix Makefiles))

# The trees asan, tsan, lean (without optional libraries: test/builds) and coverage also need an MPI, and common needs the header of one.
# They use the first that is installed; coverage, where whole jobs run, uses the last, Open MPI if it is installed, whose ranks share cores
# better.
build/asan/.configured build/tsan/.configured build/lean/.configured build/common/.configured: MPI = $$(packaging/mpis.sh | sed q)
build/coverage/.configured: MPI = $$(packaging/mpis.sh | sed -n '$$p')
build/asan/.configured: FLAGS = -DHEARTH_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug
build/tsan/.configured: FLAGS = -DHEARTH_SANITIZE=thread -DCMAKE_BUILD_TYPE=Debug
build/coverage/.configured: FLAGS = -DHEARTH_COVERAGE=ON -DCMAKE_BUILD_TYPE=Debug
build/lean/.configured: FLAGS = -DHEARTH_PROGRAMS=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 $(foreach name,UCX XXHASH URING NCURSES HWLOC SDT,-DHEARTH_WITH_$(name)=OFF)
build/common/.configured: FLAGS = -DHEARTH_MPI=none
build/mpich/.configured build/openmpi/.configured build/abi/.configured: FLAGS = -DHEARTH_COMMON=$(CURDIR)/build/common
build/mpich/.configured build/openmpi/.configured build/abi/.configured: | build/common/.configured
build/%/.configured: MPI = $*

# What apt has installed: a tree that was configured before must look again for what it did not find.
INSTALLED = $(wildcard /var/lib/dpkg/status)

# `again`, if this tree was configured for another compiler than the one that is chosen now. It is then made anew: objects of another MPI
# must not remain.
TREE_MPICC = sed -n 's/^HEARTH_MPICC:[A-Z]*=//p' build/$1/CMakeCache.txt
other_mpicc = $(if $(wildcard build/$1/CMakeCache.txt),$(shell [ "$$($(TREE_MPICC))" = "$$(packaging/mpis.sh choose $(MPI))" ] || echo again))

.PHONY: again
.SECONDEXPANSION:
build/%/.configured: $(INSTALLED) $$(call other_mpicc,$$*)
	@mpi=$(MPI); compiler=$$(packaging/mpis.sh choose $$mpi) || exit; \
	[ -z "$(filter again,$^)" ] || { echo "build/$*: made anew for $$compiler"; rm -rf build/$*; }; \
	cmake -S . -B build/$* -G "$(GENERATOR)" -DHEARTH_MPI=$$mpi -DHEARTH_MPICC=$$compiler $(FLAGS)
	@touch $@

tree-%: build/%/.configured
	@packaging/mpis.sh tree $*
	@! grep -qs '^HEARTH_COMMON:PATH=.' build/$*/CMakeCache.txt || cmake --build build/common -j $(JOBS) --target $(COMMON)
	@cmake --build build/$* -j $(JOBS) --target $(TARGETS)
