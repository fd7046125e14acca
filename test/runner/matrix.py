"""Finds all tests, and chooses the configurations of each in each tier. Tests are not listed here: a test is found by
its place and name.

  test/lint/lint_*.sh            a check of the sources
  build/TREE/test/unit_*         a program without MPI
  build/TREE/test/mpi_*          an MPI program, from NAME.* in test/mpi or below it; launched in several configurations
  build/TREE/test/p2p_*          the same for messages, from test/p2p, with its own configurations
  build/TREE/test/net_*          the same for the network between nodes, from test/net; each rank is a node, over UCX and over
                                 MPI; linked with the code under test, nothing is preloaded
  build/TREE/test/armci_*        the same for ARMCI, from test/armci, linked to libarmci; ranks in one node or in several
  build/TREE/test/gas_*          the same for GASNet, from test/gas, linked to libvgasnet; segments in memory or in pages
  build/TREE/test/ga_*           the same for Global Arrays on our ARMCI, from test/ga, where libga is installed
  test/{mpi,p2p}/**/*.py         the same in Python; Open MPI only, for which mpi4py is built
  build/TREE/test/litmus_*       many small tests of the values that may be read, each run thousands of times
  test/FOLDER/test_NAME.sh       a test with more than one launch, called with MPI and TREE: test_FOLDER_NAME; it may also be in a
                                 folder TOPIC of FOLDER

A program that is a link to a suite (test/frame/frame.h) shares its launch with the others of that suite.

A line such as "timeout: 60; ranks: 2; configs: on off; tier: full" near the top of a source changes how it is run:
ranks is then the only number of ranks, configs the only configurations, tier the first tier that runs it. "alone:
yes": nothing else runs at the same time, as the test measures time, fills a file system, counts leftovers, makes
virtual hosts, or runs MPICH over TCP for minutes, which beside others takes ten times as long. "waits: yes", of a unit
or a script: it sleeps most of the time. "busy: mpich", of a script: with this MPI its ranks keep two cores busy, as
those of MPICH over TCP do. "once: yes", of a script: the MPI makes no difference. "quick: openmpi": in the quick
tier one MPI is enough. "coverage: no", of a script: it runs nothing that is built, and is left out of make
coverage. The quick tier runs units under ASan; "asan: full", of a unit that would be too slow: the quick tier runs it
without. Exit status 77 means skipped; the last line gives the reason."""
import math
import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

from . import sources
from .configs import launch_options
from .job import Job

# Cores that a job keeps busy. Ranks of MPICH never yield theirs, except those of jobs with more ranks than cores (test/launch.sh), so one such job
# runs at a time. Nor should others run beside PAIRS: their ranks answer each other all the time. Beside other jobs each answer waits for a
# slice of the scheduler while the other rank polls, which takes 5 to 30 times as long and up to ten times the CPU time. Scripts wait most of the time
# for jobs to start and to end: on two cores one process runs beside a script that starts MPICH, but no second such script.
RANKS_KEEP = {"mpich": 1, "openmpi": 0.5}
PAIRS = ("p2p_suite", "ga_suite", "litmus_")
SCRIPT_KEEPS = {"mpich": 1.1, "openmpi": 0.5}
PROCESS_KEEPS, SLEEPER_KEEPS, BUSY_SCRIPT_KEEPS = 0.9, 0.5, 2

# The limits in the sources are for a test alone on a quiet machine. Others run beside it here, and the machine may be busy.
BUSY = 2

# In the quick tier some programs run only in the configurations that can affect them. Settings that no MPI sees
# (sizes, kinds of faults, the cache's memory) are tested on one MPI, or in the full tier only. The network, GASNet and
# ARMCI over UCX use MPI only to start and to end; beside MPICH, which uses UCX too, ARMCI and GASNet do so. On one node of MPICH, ARMCI runs
# under Global Arrays.
QUICK_NOT_ON = {
    "mpich": {"mpi": "off tiny huge rest", "p2p": "list", "net": "ucx", "armci": "node tiny direct", "ga": "nodes1",
              "gas": "off off1 offtiny node tiny alone userfault"},
    "openmpi": {"mpi": "off huge", "p2p": "list small", "net": "", "armci": "", "ga": "node", "gas": "offmpi pagesmpi"},
}
QUICK_BINDINGS = "mpi_(fortran_.*|cpp|cache_py)"  # these depend neither on the network nor on the number of ranks
QUICK_SERVE = "served_.*|sync|windows|errors|requests|rget|types|writes|poll|threads"  # programs that depend on whether MPI or Hearth executes the operations
QUICK_GAS_PAGES = "order|locks|sync|rma|random|threads|arena|values"  # programs that depend on how pages are fetched and mapped
QUICK_FOUR_RANKS = {"gas": "order|locks|sync|coll|flood|random|ex_objects|ex_coll", "armci": "order|groups|reduce|messages|random|domains"}
QUICK = {
    "mpi_fortran_mpi*": "on",
    "mpi_fortran_f08": "on acquire match",
    "mpi_ahead": "on acquire",
    "mpi_progress_threads": "on match",
    "mpi_cpp": "on acquire match serve",
    "mpi_cache_py": "on",
    "mpi_threads": "on tiny acquire match serve",
    "mpi_served_*": "serve serve1 serve2 servempi servedirect servematch",
    "mpi_layout": "bare",  # all others run without Hearth in the full tier only, where this checks the tests themselves
    "mpi_[!l]*": "off on auto tiny huge acquire rest match serve serve1 serve2 servempi servedirect servematch",
    "mpi_large_count": "on acquire",
    "gas_messages": "off off1 offtiny offmpi",  # it makes no difference whether segments are in memory or in pages
    "gas_messages_*": "off1",
    "gas_flood": "off off1 offmpi offtiny node nodes1 tiny pagesmpi",
    "gas_unsynced": "off1 node tiny",
    "gas_images": "off1 nodes1",
    "gas_job": "off nodes1",
    "gas_ex_*": "off off1 nodes1",
    "gas_ex_bare_*": "off1",
    "gas_ex_client_[!t]*_par": "nodes1",
    "gas_ex_client_tests_*_par": "off nodes1",
    "gas_ex_client_[!t]*_seq": "",  # the other modes concern the headers, which the build compiles, and begin the job in the same way
    "gas_ex_client_[!t]*_parsync": "",
    "gas_ex_client_tests_*_seq": "off1",
    "gas_ex_client_tests_*_parsync": "off1",
    "armci_begin": "node",
    "armci_leave": "node nodes1 mpi",
    "armci_*threads": "nodes1 mpi direct",
    "ga_fortran": "node nodes1",
    "ga_names": "node nodes1",
    "ga_print": "node nodes1",
    "armci_handles": "node nodes1 mpi direct",
    "armci_overload": "nodes1 tiny",
    "armci_part": "node nodes1 mpi",
    "armci_reduce": "node real",
}


class Matrix:
    def __init__(self, tier, pattern, mpis, one_tree=False):
        self.tier, self.pattern, self.mpis, self.one_tree = tier, re.compile(pattern), mpis, one_tree
        self.jobs, self.seen = [], set()

    def wants(self, name):
        if name in self.seen or not self.pattern.search(name):
            return False
        self.seen.add(name)
        return True

    def add(self, name, limit, command, **more):
        if self.wants(name):
            self.jobs.append(Job(name, [str(word) for word in command], limit, **more))

    @staticmethod
    def kept(source, cores, mpi=None):
        if sources.field(source, "waits"):
            return SLEEPER_KEEPS
        return BUSY_SCRIPT_KEEPS if mpi and sources.field(source, "busy") == mpi else cores

    def in_tier(self, source):
        return self.tier.includes(sources.field(source, "tier", "quick"))

    # ---- without MPI ----

    def lints(self):
        if self.tier.only_long:
            return
        for script in sorted(Path("test/lint").glob("lint_*.sh")):
            self.add(script.stem, BUSY * int(sources.field(script, "timeout", 60)), [script], cores=PROCESS_KEEPS)

    def unit_arguments(self, name):
        if name.endswith("_random"):
            return ("--seconds", self.tier.unit_seconds)
        if name.endswith("_crash"):
            return ("--kills", self.tier.kills)
        return ("--operations", (5 if self.tier.quick else 10) * self.tier.kills) if name.endswith("_replay") else ()

    def units(self, tree):
        before = {
            # UCX's hooks run in threads that have ended; the shadow memory needs the classic address layout.
            "tsan": ["env", "UCX_MEM_EVENTS=n", "UCX_MEM_MMAP_HOOK_MODE=none", "setarch", "-R"],
            "asan": ["env", "ASAN_OPTIONS=detect_leaks=0"] if self.tier.quick else [],  # the leak search takes 4 s on aarch64
        }.get(tree, [])
        for program in sorted(Path("build", tree, "test").glob("unit_*")):
            source = sources.of_unit(program.name)
            too_slow = not self.tier.includes(sources.field(source, "asan", "quick"))  # under ASan, in this tier
            if too_slow if tree == "asan" else self.tier.quick and not too_slow and not self.one_tree:
                continue
            if tree == "tsan" and sources.field(source, "tsan"):
                continue
            arguments = self.unit_arguments(program.name)
            if arguments or not self.tier.only_long:
                self.add(f"{program.name}.{tree}", self.tier.unit_limit, [*before, program, *arguments],
                         cores=self.kept(source, PROCESS_KEEPS), alone=bool(sources.field(source, "alone")))

    # ---- under MPI ----

    @staticmethod
    def timed(source):
        """Returns whether the program runs for the time that an option gives."""
        return sources.contains(source, "--seconds") or sources.contains(source, "test_seconds")

    def elsewhere(self, source, mpi):
        """Returns whether the quick tier runs it with the other MPI only."""
        chosen = sources.field(source, "quick", mpi)
        return self.tier.quick and chosen in self.mpis and chosen != mpi

    def launched(self, name, source, mpi, config, ranks):
        """The number of ranks of a program in this pass; None if it does not run."""
        if not self.in_tier(source) or (self.tier.only_long and not self.timed(source)) or self.elsewhere(source, mpi):
            return None
        only = int(sources.field(source, "ranks", ranks))
        if only != ranks and ranks != 2:
            return None
        allowed = sources.field(source, "configs")
        if allowed and config not in allowed.split():
            return None
        return None if self.tier.quick and self.leaves_out(name, config) else only

    @staticmethod
    def leaves_out(name, config):
        """Returns whether the quick tier skips it in this configuration."""
        return any(fnmatchcase(name, pattern) and config not in configs.split() for pattern, configs in QUICK.items())

    def quick_configs(self, family, mpi, configs):
        """The configurations of this tier on this MPI."""
        elsewhere = QUICK_NOT_ON[mpi][family].split() if self.tier.quick and len(self.mpis) > 1 else ()
        return [config for config in configs.split() if config not in elsewhere]

    def limit(self, source, tree, ranks):
        limit = BUSY * int(sources.field(source, "timeout", 60)) + math.ceil(self.tier.seconds)
        return limit if ranks == 2 and tree not in ("asan", "tsan") else 3 * limit  # more ranks than cores; slow code

    def one_pass(self, names, mpi, tree, network, config, ranks, without=""):
        """Launches every program that matches the regular expression and not the other, or the suite that it is in."""
        suites = {}
        programs = [(p.name, str(p), sources.of_program(p.name)) for p in sorted(Path("build", tree, "test").iterdir())
                    if re.fullmatch(names, p.name) and os.access(p, os.X_OK) and not p.name.endswith("_suite")]
        if mpi == tree == "openmpi" and names.endswith("_.*"):
            programs += [(f"{names[:-3]}_{s.stem}_py", f"/usr/bin/python3 {s}", str(s))
                         for s in sorted(Path("test", names[:-3]).rglob("*.py"), key=lambda path: path.name)]
        for name, command, source in programs:
            if re.fullmatch(without, name):
                continue
            count = self.launched(name, source, mpi, config, ranks)
            test = ".".join(filter(None, (name, tree, "tcp" if network == "tcp" else "", config, "" if count == 2 else str(count))))
            if count is None or not self.wants(test):
                continue
            if os.path.islink(command):
                key = (os.path.realpath(command), count, bool(sources.field(source, "alone")))
                suites.setdefault(key, []).append((name, test, source))
            else:
                arguments = ["--seconds", str(self.tier.seconds)] if self.timed(source) else []
                self.launch(test, command.split() + arguments, source, mpi, tree, network, config, count)
        for (path, count, _), members in suites.items():
            self.launch_suite(path, count, members, mpi, tree, network, config)

    def launch(self, test, command, source, mpi, tree, network, config, ranks, limit=None, programs=None):
        family, keeps = test.partition("_")[0], 1 if test.startswith(PAIRS) else RANKS_KEEP[mpi]
        limit = limit or self.limit(source, tree, ranks)
        options = launch_options(family, tree, network, config)
        before = ["setarch", "-R"] if tree == "tsan" else []  # the shadow memory needs the classic address layout
        self.jobs.append(Job(test, [*before, "test/launch.sh", mpi, str(ranks), "--timeout", str(limit), *options, *command], limit,
                             cores=max(1, ranks * keeps), alone=bool(sources.field(source, "alone")), programs=programs or {}))

    def launch_suite(self, path, ranks, members, mpi, tree, network, config):
        suite = os.path.basename(path)
        programs = {name.partition("_")[2]: test for name, test, _ in members}
        # The alarm of a case ends it if it hangs; the limit of the whole suite allows for a busy machine.
        limit = sum(self.limit(source, tree, ranks) for _, _, source in members)
        test = members[0][1].replace(members[0][0], suite, 1)
        self.launch(test, [os.path.relpath(path), "--seconds", str(self.tier.seconds), "--programs", ",".join(programs)], members[0][2],
                    mpi, tree, network, config, ranks, limit, programs)

    # ---- the families: MPI, tree ----

    def mpi(self, mpi, tree):
        configs = self.quick_configs("mpi", mpi, "bare off on tiny huge acquire rest")
        if self.tier.quick:
            for config in configs:
                self.one_pass("mpi_.*", mpi, tree, "shm", config, 2)
            self.one_pass(f"mpi_({QUICK_SERVE})", mpi, tree, "shm", "serve", 2)
            self.one_pass("mpi_served_(ops|locks|long|targets)", mpi, tree, "shm", "serve1", 2)
            self.one_pass("mpi_served_(ops|locks)", mpi, tree, "shm", "servempi", 2)
            self.one_pass("mpi_served_locks", mpi, tree, "shm", "servematch", 2)
            self.one_pass("mpi_.*", mpi, tree, "tcp", "on", 2, without=QUICK_BINDINGS)
            if mpi == "mpich":  # its gets are slow, so that all windows in shared memory are served by default
                self.one_pass("mpi_.*", mpi, tree, "shm", "auto", 2, without=QUICK_BINDINGS)
            if mpi == "openmpi":
                self.one_pass("mpi_.*", mpi, tree, "shm", "on", 4, without=QUICK_BINDINGS)
                self.one_pass("mpi_served_(ops|locks|targets)", mpi, tree, "shm", "servedirect", 2)
                self.one_pass("mpi_served_targets", mpi, tree, "shm", "serve2", 4)
                self.one_pass("mpi_served_locks", mpi, tree, "tcp", "serve1", 2)  # over osc pt2pt
            return
        for ranks in (2, 4):
            for network in ("shm", "tcp"):
                for config in configs:
                    self.one_pass("mpi_.*", mpi, tree, network, config, ranks)
            self.one_pass("mpi_.+", mpi, tree, "shm", "serve", ranks)
            self.one_pass(f"mpi_({QUICK_SERVE})", mpi, tree, "shm", "auto", ranks)
            for config in ("serve1", "servempi", "servedirect"):
                self.one_pass("mpi_served_.+", mpi, tree, "shm", config, ranks)
            self.one_pass("mpi_served_locks", mpi, tree, "shm", "servematch", ranks)
            if ranks == 4:
                self.one_pass("mpi_served_(targets|locks|ops|windows|atomic)", mpi, tree, "shm", "serve2", ranks)
            for config in ("serve", "serve1"):
                self.one_pass("mpi_served_(ops|locks|long)", mpi, tree, "tcp", config, ranks)

    def p2p(self, mpi, tree):
        """Messages; and programs of other families with Hearth's messages."""
        if self.tier.quick:
            self.one_pass("p2p_.*", mpi, tree, "shm", "match", 2)
            for config in self.quick_configs("p2p", mpi, "list"):
                self.one_pass("p2p_(depth|order|wildcards|random)", mpi, tree, "shm", config, 2)
            self.one_pass("p2p_(order|wildcards|random|modes|probe|types|truncation|comms|inside|collectives|waits"
                          "|foreign|completion|flood|fortran_f08)", mpi, tree, "shm", "host", 2)
            self.one_pass("p2p_(order|wildcards|random|modes|buffered|probe|types|truncation|comms|inside|collectives|waits|startall|sendrecv"
                          "|foreign|completion|flood|large|threads|finalize)", mpi, tree, "shm", "link", 2)
            for config in self.quick_configs("p2p", mpi, "small"):
                self.one_pass("p2p_(order|random|flood|large|inside|threads)", mpi, tree, "shm", config, 2)
            if mpi == "openmpi":
                self.one_pass("p2p_(order|wildcards|random|inside|flood)", mpi, tree, "shm", "link2", 4)
        else:
            for config in "bare match list host link small".split():
                self.one_pass("p2p_.*", mpi, tree, "shm", config, 2)
            for config in "match host link link2 small".split():
                self.one_pass("p2p_.*", mpi, tree, "shm", config, 4)
            for config in "bare match host link".split():
                self.one_pass("p2p_.*", mpi, tree, "tcp", config, 2)
        self.one_pass("mpi_(smoke|sync|requests|rget|progress|threads|random|errors|cpp|fortran_f08)", mpi, tree, "shm", "match", 2)

    def net(self, mpi, tree):
        for config in self.quick_configs("net", mpi, "ucx mpi"):
            self.one_pass("net_.*", mpi, tree, "shm", config, 2)
            if not self.tier.quick or mpi == "openmpi":
                self.one_pass("net_(echo|closing)" if self.tier.quick else "net_.*", mpi, tree, "shm", config, 4)
            if not self.tier.quick:
                self.one_pass("net_.*", mpi, tree, "tcp", config, 2)

    def armci(self, mpi, tree):
        """Inside a node, between nodes of one rank and of two, with the fewest buffers, and over MPI's messages."""
        for config in self.quick_configs("armci", mpi, "node nodes1 nodes2 tiny mpi real direct"):
            pairs = config in ("nodes2", "real")
            if not (self.tier.quick and pairs):
                self.one_pass("armci_.*", mpi, tree, "shm", config, 2)
            if not self.tier.quick:
                self.one_pass("armci_.*", mpi, tree, "shm", config, 4)
            elif pairs and mpi == "openmpi":
                self.one_pass(f"armci_({QUICK_FOUR_RANKS['armci']})", mpi, tree, "shm", config, 4)

    def ga(self, mpi, tree):
        """Global Arrays on our ARMCI, in the same configurations; also with an odd number of ranks."""
        for config in self.quick_configs("ga", mpi, "node nodes1 nodes2 tiny mpi real"):
            if not self.tier.quick or config in ("node", "nodes1"):
                self.one_pass("ga_.*", mpi, tree, "shm", config, 2)
            if not self.tier.quick or (config == "nodes2" and mpi == "openmpi"):
                self.one_pass("ga_.*", mpi, tree, "shm", config, 4)
        if not self.tier.quick:
            for ranks in (1, 3):
                self.one_pass("ga_.*", mpi, tree, "shm", "nodes2", ranks)

    def gas(self, mpi, tree):
        """Segments in memory and in pages; inside a node and between nodes."""
        for config in self.quick_configs("gas", mpi, "off off1 offmpi offtiny node nodes1 nodes2 tiny alone pagesmpi userfault"):
            names = QUICK_GAS_PAGES if self.tier.quick and config in ("alone", "userfault") else ".*"
            if not (self.tier.quick and config == "nodes2"):
                self.one_pass(f"gas_({names})", mpi, tree, "shm", config, 2)
            if not self.tier.quick:
                self.one_pass("gas_.*", mpi, tree, "shm", config, 4)
            elif config in ("off1", "nodes2") and mpi == "openmpi":
                self.one_pass(f"gas_({QUICK_FOUR_RANKS['gas']})", mpi, tree, "shm", config, 4)

    def litmus(self, mpi, tree):
        """Fewer runs over TCP and with more ranks than cores, where they take longer."""
        quick, runs = self.tier.quick, self.tier.litmus_runs
        few = runs // 10
        for config in ("on", "acquire") if quick else ("bare", "on", "acquire"):
            self.litmus_launch("cache", mpi, tree, "shm", config, 2, "--runs", runs)
            self.litmus_launch("threads", mpi, tree, "shm", config, 2, "--runs", runs, "--threads")
            if not quick or (config == "acquire" and mpi == "mpich"):
                self.litmus_launch("cache", mpi, tree, "tcp", config, 2, "--runs", few)
            if not quick or mpi == "openmpi":
                self.litmus_launch("cache", mpi, tree, "shm", config, 4, "--runs", few, "--ranks", 3)
        if not quick or mpi == "openmpi":
            self.litmus_launch("cache", mpi, tree, "shm", "serve", 2, "--runs", few // 2 if quick else runs)
        if not quick:
            self.litmus_launch("threads", mpi, tree, "shm", "serve", 2, "--runs", runs, "--threads")
            self.litmus_launch("cache", mpi, tree, "shm", "serve", 4, "--runs", few, "--ranks", 3)
            for config in ("serve1", "servedirect"):
                self.litmus_launch("cache", mpi, tree, "shm", config, 2, "--runs", few)
            self.litmus_launch("threads", mpi, tree, "shm", "servempi", 2, "--runs", few, "--threads")  # a helper that calls MPI needs the level
        if not quick or mpi == "mpich":
            self.litmus_launch("cache", mpi, tree, "shm", "match", 2, "--runs", max(10, few // 5))

    def litmus_launch(self, name, mpi, tree, network, config, ranks, *arguments):
        test = ".".join(filter(None, (f"litmus_{name}", tree, "tcp" if network == "tcp" else "", config, "" if ranks == 2 else str(ranks))))
        if self.wants(test):
            self.launch(test, [f"build/{tree}/test/litmus_cache", *map(str, arguments)], "test/litmus/litmus.c", mpi, tree, network, config,
                        ranks, 60 * 5 ** self.tier.level)

    def scripts(self, mpi, tree, once=False):
        """The scripts that depend on the MPI, or with `once` those that do not."""
        for script in sorted([*Path("test").glob("*/test_*.sh"), *Path("test").glob("*/*/test_*.sh")]):
            source = str(script)
            if not os.access(script, os.X_OK) or not self.in_tier(source) or bool(sources.field(source, "once")) != once:
                continue
            if self.elsewhere(source, mpi):
                continue
            if self.one_tree and sources.field(source, "coverage"):
                continue
            limit = BUSY * int(sources.field(source, "timeout", 60))
            if sources.contains(source, "HEARTH_TEST_KILLS"):
                limit = limit * self.tier.kills // 20  # the source gives the limit for 20 kills
            elif self.tier.only_long and sources.field(source, "tier") != "nightly":
                continue
            self.add(f"test_{script.parts[1]}_{script.stem[5:]}.{tree}", limit, [script, mpi, Path("build", tree).absolute()],
                     cores=self.kept(source, PROCESS_KEEPS if once else SCRIPT_KEEPS[mpi], mpi), alone=bool(sources.field(source, "alone")))

    # ---- all of it ----

    def of_mpi(self, mpi, tree):
        for family in (self.mpi, self.p2p, self.net, self.armci, self.ga, self.gas, self.litmus, self.scripts):
            family(mpi, tree)

    def of_asan(self, mpi):
        for names, configs in (("mpi_.*", "on tiny huge serve"), ("mpi_served_.*", "serve1 servempi servedirect"), ("p2p_.*", "match small link"), ("net_.*", "ucx mpi"),
                               ("armci_.*", "node nodes1 tiny"), ("gas_.*", "off off1 node nodes1 tiny")):
            for config in configs.split():
                self.one_pass(names, mpi, "asan", "shm", config, 2)

    def of_tsan(self, mpi):
        """Served windows: helpers and ranks use the same structures."""
        for config in ("serve", "serve1", "servempi", "servedirect"):
            self.one_pass("mpi_served_(random|locks|long)", mpi, "tsan", "shm", config, 2)
