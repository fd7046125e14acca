# What people type; CMake does the work. One tree per MPI stands side by side: build/mpich, build/openmpi.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory
export DESTDIR

.PHONY: all apps demo tests test test-full tests-full test-nightly coverage fuzz bench-programs bench bench-quick bench-clampi bench-modes bench-match bench-armci bench-sim bench-vgasnet bench-windows bench-overhead install deb asan tsan model format lint docs clean help
.PRECIOUS: build/%/Makefile

# What is built in a tree: groups of CMakeLists.txt. `all` is what is installed.
TARGETS = all

all: ## build for each MPI that is here: libraries, the command, manual pages
	@set -e; mpis=$$(packaging/mpis.sh); for mpi in $$mpis; do $(MAKE) tree-$$mpi TARGETS="$(TARGETS)"; done

apps: ## the programs of apps/ too
	@$(MAKE) all TARGETS="all apps"

demo: ## install what is missing, build for one MPI, and show the cache at work
	@packaging/setup.sh build
	@mpi=$$(apps/demo.sh --mpi) && $(MAKE) tree-$$mpi TARGETS="hearth-mpi hearth lcc"
	@apps/demo.sh

# Programs without MPI are built with ASan, but for those that take too long so.
tests: ## build the tests
	@$(MAKE) all TARGETS="all apps tests"
	@$(MAKE) tree-$$(packaging/mpis.sh | sed q) TARGETS="units-long sims"
	@$(MAKE) tree-asan TARGETS=units

test: ## what every change must pass: about 10 minutes on 2 cores, build included
	@packaging/setup.sh test
	@$(MAKE) tests
	@test/run quick

tests-full: tests # the same with and without sanitizers under everything
	@$(MAKE) tree-$$(packaging/mpis.sh | sed q) TARGETS=units
	@$(MAKE) tree-asan TARGETS="all tests"
	@$(MAKE) tree-tsan TARGETS=units

test-full: ## the tests at length: hours
	@packaging/setup.sh full
	@$(MAKE) tests-full
	@test/run full

test-nightly: ## the long forms of all tests
	@packaging/setup.sh full
	@$(MAKE) tests-full
	@test/run nightly

coverage: ## what the quick tests reach, by line and branch: build/coverage/html/index.html
	@packaging/setup.sh coverage
	@rm -rf build/coverage # counts of sources that have moved would be counted, too
	@$(MAKE) tree-coverage TARGETS="all apps units sims tests"
	@test/coverage.sh

fuzz: ## random input to all that reads bytes from elsewhere: ten minutes of CPU time for each target, SECONDS=N for less
	@packaging/setup.sh fuzz
	@test/fuzz/fuzz.sh $(SECONDS)

bench-programs:
	@$(MAKE) all TARGETS="all apps benches sims"

bench: ## all figures of the papers beside ours, in under an hour: build/results/results.html
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/all.sh

bench-quick: ## the same with fewer sizes and rounds, in ten minutes
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/all.sh --quick

bench-clampi: ## the figures of the CLaMPI paper
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/clampi/clampi.sh

bench-modes: ## what each mode of the cache costs and saves
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/clampi/modes.sh

bench-match: ## the figures of the paper on matching and hot caching
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/match/match.sh

bench-armci: ## the figures of the paper on ARMCI with a helper thread
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/armci/armci.sh

bench-sim: ## simulations of more ranks and nodes than a machine has
	@packaging/setup.sh bench
	@for tree in build/mpich build/openmpi; do [ ! -f $$tree/CMakeCache.txt ] || cmake $$tree >/dev/null; done # SimGrid may be new
	@$(MAKE) bench-programs
	@bench/sim.sh

bench-vgasnet: ## the figures of the paper on vGASNet
	@packaging/setup.sh bench
	@$(MAKE) bench-programs
	@bench/vgasnet/vgasnet.sh

bench-windows: ## operations on windows inside a node: the MPI library's beside Hearth's
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/windows/windows.sh

bench-overhead: ## what Hearth costs calls that it does not make faster
	@packaging/setup.sh build
	@$(MAKE) bench-programs
	@bench/overhead.sh

install: all ## install under PREFIX (/usr/local), below DESTDIR if set
	@set -e; mpis=$$(packaging/mpis.sh); for mpi in $$mpis; do cmake --install build/$$mpi --prefix $(abspath $(PREFIX)); done

deb: ## Debian packages, in build/deb
	@packaging/setup.sh deb
	@JOBS=$(JOBS) packaging/deb.sh

asan: ## a tree with AddressSanitizer and UBSan
	@$(MAKE) tree-asan TARGETS="all apps units tests"
tsan: ## a tree with ThreadSanitizer
	@$(MAKE) tree-tsan TARGETS="all units tests"

model: ## explore the model of the flow control with Spin, in some minutes
	@set -e; for test in test/model/test_flow.sh test/model/test_flow_mutants.sh; do $$test openmpi -; done

format: ## lay out all C sources by .clang-format
	@test/lint/lint_format.sh --fix

lint: ## the checks of the sources alone
	@test/run -k lint_ quick

docs: ## write the generated pages of doc/ anew
	@doc/settings.sh
	@doc/waits.sh

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

# A tree for a purpose needs an MPI like any other: the first that is here; for coverage, where whole jobs run, the one whose
# ranks share cores better, which comes last.
build/asan/Makefile build/tsan/Makefile: MPI = $$(packaging/mpis.sh | sed q)
build/coverage/Makefile: MPI = $$(packaging/mpis.sh | sed -n '$$p')
build/asan/Makefile: FLAGS = -DHEARTH_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug
build/tsan/Makefile: FLAGS = -DHEARTH_SANITIZE=thread -DCMAKE_BUILD_TYPE=Debug
build/coverage/Makefile: FLAGS = -DHEARTH_COVERAGE=ON -DCMAKE_BUILD_TYPE=Debug
build/%/Makefile: MPI = $*

build/%/Makefile:
	@mpi=$(MPI); compiler=$$(packaging/mpis.sh $$mpi) && \
	cmake -S . -B build/$* -G "Unix Makefiles" -DHEARTH_MPI=$$mpi -DHEARTH_MPICC=$$compiler $(FLAGS)

tree-%: build/%/Makefile
	@cmake --build build/$* -j $(JOBS) --target $(TARGETS)
