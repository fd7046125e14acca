"""The command line of test/run."""
import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from . import status
from .configs import NVM
from .job import Result
from .matrix import Matrix
from .report import Report
from .schedule import Scheduler
from .tiers import TIERS

LOGS = "build/test-logs"


def options():
    parser = argparse.ArgumentParser(prog="test/run", description="Runs the tests on what `make tests` has built.",
                                     epilog="Every job has a time limit, and its output is in build/test-logs. Names read "
                                            "PROGRAM.TREE[.tcp].CONFIG[.RANKS]; test/runner/matrix.py says what a test is.")
    parser.add_argument("tier", nargs="?", default="quick", choices=TIERS, help="how much: %(choices)s (default: %(default)s)")
    parser.add_argument("-k", metavar="REGEXP", default="", help="only tests whose names match")
    parser.add_argument("-l", action="store_true", help="only list the names")
    parser.add_argument("-m", metavar="MPI", choices=("mpich", "openmpi"), help="only this MPI: mpich or openmpi")
    parser.add_argument("-t", metavar="TREE", help="only this tree, such as coverage, with the MPI that it is built for")
    parser.add_argument("-j", metavar="N", type=int, default=os.cpu_count(), help="cores to use (default: all, %(default)s)")
    parser.add_argument("--slow", metavar="N", type=int, default=1, help="multiply the time limits by N, for emulated machines")
    parser.add_argument("-v", action="store_true", help="a line for each test that passes, too")
    status.add_option(parser)
    chosen = parser.parse_args()
    try:
        re.compile(chosen.k)
    except re.error as wrong:
        parser.error(f"-k '{chosen.k}': not a regular expression: {wrong}")
    if chosen.j < 1:
        parser.error(f"-j {chosen.j}: must be 1 or more")
    if chosen.slow < 1:
        parser.error(f"--slow {chosen.slow}: must be 1 or more")
    return chosen


def installed_mpis():
    found = subprocess.run(["packaging/mpis.sh"], capture_output=True, text=True).stdout.split()
    return [mpi for mpi in found if Path("build", mpi, "lib/libhearth-mpi.so").exists()], found


def mpi_of(tree):
    """The MPI that a tree is built for; None if it is not built."""
    cache = Path("build", tree, "CMakeCache.txt")
    found = re.search(r"^HEARTH_MPI:[A-Z]*=(.*)", cache.read_text(), re.M) if cache.exists() else None
    return found.group(1) if found and Path("build", tree, "lib/libhearth-mpi.so").exists() else None


def tree_matrix(chosen):
    """All tests of one tree."""
    mpi = mpi_of(chosen.t)
    matrix = Matrix(TIERS[chosen.tier], chosen.k, [mpi], one_tree=True)
    if not mpi:
        sys.exit(f"test/run: build/{chosen.t} is not built")
    matrix.units(chosen.t)
    matrix.scripts(mpi, chosen.t, once=True)
    matrix.of_mpi(mpi, chosen.t)
    return matrix, []


def build_matrix(chosen):
    """The jobs, and the results that are known without running anything."""
    if chosen.t:
        return tree_matrix(chosen)
    tier, known = TIERS[chosen.tier], []
    built, found = installed_mpis()
    matrix = Matrix(tier, chosen.k, built)

    def lacks(name, status, reason):
        if matrix.wants(name):
            known.append(Result(name, status, 0, "", reason))

    matrix.lints()
    unit_trees = ["asan", "common"] + ([] if tier.quick else ["tsan"])
    for tree in unit_trees:
        matrix.units(tree)
        if not any(Path("build", tree, "test").glob("unit_*")):
            lacks(f"unit.{tree}", "failed", f"build/{tree} has no units: make {'tests' if tier.quick else 'tests-full'}")
    for mpi in built[:1]:
        matrix.scripts(mpi, mpi, once=True)
    for mpi in ("mpich", "openmpi"):
        if chosen.m and chosen.m != mpi:
            continue
        if mpi not in found:
            lacks(f"mpi.{mpi}", "skipped", "this MPI is not installed")
        elif mpi not in built:
            lacks(f"mpi.{mpi}", "failed", f"build/{mpi} is not built: make tests")
        else:
            matrix.of_mpi(mpi, mpi)
    if not tier.quick:
        for tree, family in (("asan", matrix.of_asan), ("tsan", matrix.of_tsan)):
            mpi = mpi_of(tree)
            if mpi:
                family(mpi)
            else:
                lacks(f"mpi.{tree}", "failed", f"build/{tree} is not built: make tests-full")
    return matrix, known


def clean_environment(tier):
    """Removes variables of the shell that would change the tests."""
    for name in list(os.environ):
        if name.startswith("HEARTH_") or name == "LD_PRELOAD":
            del os.environ[name]
    # The component that Open MPI takes anyway without fast network. If it may look at the others, UCX measures the processor's clock for
    # 0.2 s in each launch.
    os.environ.setdefault("OMPI_MCA_pml", "ob1")
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # a rank that waits for another leaves its core to other jobs
    os.environ["HEARTH_TEST_KILLS"] = str(tier.kills)  # for scripts, as the next one
    os.environ["HEARTH_TEST_TIER"] = tier.name
    os.environ["HEARTH_TEST_YIELD"] = str(Path("build/mpich/test/yield.so").absolute())  # for test/launch.sh, as the next ones
    os.environ["HEARTH_TEST_NOFIN"] = str(Path("build/mpich/test/nofin.so").absolute())
    # The python3 of the PATH may be a script that looks for the interpreter first, as that of pyenv: it takes seven times as long to start.
    python = shutil.which("python3")
    if python and os.path.realpath(python) != os.path.realpath(sys.executable):
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for mpi in ("mpich", "openmpi"):
        found = subprocess.run(["packaging/mpis.sh", mpi, "mpirun"], capture_output=True, text=True)
        if found.returncode == 0:
            os.environ[f"HEARTH_TEST_LAUNCHER_{mpi}"] = found.stdout.strip()
    os.environ["HEARTH_TEST_KEEP"] = str(Path("build/openmpi/test/keep.so").absolute())


@contextmanager
def session_folder():
    """Keeps the folder for all Open MPI sessions of a user: mpiruns that make or remove it at the same time may fail."""
    folder = Path(tempfile.gettempdir(), f"ompi.{socket.gethostname().partition('.')[0]}.{os.geteuid()}")
    kept = folder / f"hearth.{os.getpid()}"
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    yield
    kept.rmdir()
    try:
        folder.rmdir()
    except OSError:
        pass  # another run uses it


def main():
    os.chdir(Path(__file__).resolve().parent.parent.parent)
    chosen = options()
    clean_environment(TIERS[chosen.tier])
    os.makedirs(LOGS, exist_ok=True)
    matrix, known = build_matrix(chosen)
    for job in matrix.jobs:
        job.prolong(chosen.slow)
    if chosen.l:
        print("\n".join(test for job in matrix.jobs for test in job.tests()))
        return 0
    if not matrix.jobs and not known:
        print(f"no test matches: {chosen.k}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    report = Report(matrix.jobs, chosen.j, TIERS[chosen.tier], LOGS, chosen.v)
    for result in known:
        report.ended(result)
    scheduler = Scheduler(chosen.j, LOGS, report)

    def stop(number, frame):
        scheduler.stop()
        report.stop()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    NVM.mkdir(parents=True, exist_ok=True)
    with session_folder():
        scheduler.run(sorted(matrix.jobs, key=report.expected, reverse=True))
    shutil.rmtree(NVM, ignore_errors=True)
    status.record_run(chosen, report)
    return 0 if report.close() else 1


if __name__ == "__main__":
    sys.exit(main())
