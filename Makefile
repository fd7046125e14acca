# What people type; CMake does the work. One tree per MPI stands side by side: build/mpich, build/openmpi.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory
export DESTDIR

.PHONY: all demo test test-full test-nightly bench bench-quick bench-clampi bench-modes bench-match bench-armci bench-sim bench-vgasnet install deb asan tsan model format lint docs clean help
.PRECIOUS: build/%/Makefile

all: ## build for each MPI that is here
	@set -e; mpis=$$(packaging/mpis.sh); for mpi in $$mpis; do $(MAKE) tree-$$mpi; done

demo: ## install what is missing, build, and show the cache at work
	@packaging/setup.sh build
	@$(MAKE) all
	@apps/demo.sh

test: ## the tests, in some minutes
	@packaging/setup.sh test
	@$(MAKE) all asan
	@test/run quick

test-full: ## the tests at length, in about 80 minutes
	@packaging/setup.sh full
	@$(MAKE) all asan tsan
	@test/run full

test-nightly: ## the long forms of all tests
	@packaging/setup.sh full
	@$(MAKE) all asan tsan
	@test/run nightly

bench: ## all figures of the papers beside ours, in under an hour: build/results/results.html
	@packaging/setup.sh bench
	@$(MAKE) all
	@bench/all.sh

bench-quick: ## the same with fewer sizes and rounds, in ten minutes
	@packaging/setup.sh bench
	@$(MAKE) all
	@bench/all.sh --quick

bench-clampi: ## the figures of the CLaMPI paper
	@packaging/setup.sh bench
	@$(MAKE) all
	@bench/clampi.sh

bench-modes: ## what each mode of the cache costs and saves
	@packaging/setup.sh build
	@$(MAKE) all
	@bench/modes.sh

bench-match: ## the figures of the paper on matching and hot caching
	@packaging/setup.sh bench
	@$(MAKE) all
	@bench/match.sh

bench-armci: ## the figures of the paper on ARMCI with a helper thread
	@packaging/setup.sh bench
	@$(MAKE) all
	@bench/armci.sh

bench-sim: ## simulations of more ranks and nodes than a machine has
	@packaging/setup.sh bench
	@for tree in build/mpich build/openmpi; do [ ! -f $$tree/CMakeCache.txt ] || cmake $$tree >/dev/null; done # SimGrid may be new
	@$(MAKE) all
	@bench/sim.sh

bench-vgasnet: ## the figures of the paper on vGASNet
	@packaging/setup.sh bench
	@$(MAKE) all
	@bench/vgasnet.sh

install: all ## install under PREFIX (/usr/local), below DESTDIR if set
	@set -e; mpis=$$(packaging/mpis.sh); for mpi in $$mpis; do cmake --install build/$$mpi --prefix $(abspath $(PREFIX)); done

deb: ## Debian packages, in build/deb
	@packaging/setup.sh deb
	@JOBS=$(JOBS) packaging/deb.sh

asan: tree-asan ## a tree with AddressSanitizer and UBSan
tsan: tree-tsan ## a tree with ThreadSanitizer

model: ## explore the models of the protocols with Spin, in some minutes
	@set -e; for test in test/model/test_flow.sh test/model/test_pages.sh; do $$test openmpi -; done

format: ## lay out all C sources by .clang-format
	@test/lint/lint_format.sh --fix

lint: ## the checks of the sources alone
	@test/run -k lint_ quick

docs: ## write the generated pages of doc/ anew
	@doc/settings.sh

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

# A sanitizer tree needs an MPI like any other: the first that is here.
build/asan/Makefile build/tsan/Makefile: MPI = $$(packaging/mpis.sh | sed q)
build/asan/Makefile: FLAGS = -DHEARTH_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug
build/tsan/Makefile: FLAGS = -DHEARTH_SANITIZE=thread -DCMAKE_BUILD_TYPE=Debug
build/%/Makefile: MPI = $*

build/%/Makefile:
	@mpi=$(MPI); compiler=$$(packaging/mpis.sh $$mpi) && \
	cmake -S . -B build/$* -G "Unix Makefiles" -DHEARTH_MPI=$$mpi -DHEARTH_MPICC=$$compiler $(FLAGS)

tree-%: build/%/Makefile
	@cmake --build build/$* -j $(JOBS)
