"""lines.py: windows and gets from known lines of a Python program, for tests of the report's call sites.

  lines.py [threads]     see lines_run.py
"""
import sys

import lines_run
import mpi4py
import numpy

mpi4py.rc.thread_level = "multiple" if "threads" in sys.argv else "single"
from mpi4py import MPI  # noqa: E402

world = MPI.COMM_WORLD
peer = (world.Get_rank() + 1) % world.Get_size()
got = numpy.zeros(64, dtype="i8")
window = MPI.Win.Allocate(4096, 8, MPI.INFO_NULL, world)  # line: window
window.Lock_all()


def fetch(at):
    window.Get(got, peer, (at, 64, MPI.INT64_T))  # line: fetch
    window.Flush(peer)


def deep(depth):
    if depth:
        return deep(depth - 1)
    window.Get(got[:8], peer, (0, 8, MPI.INT64_T))  # line: deep
    window.Flush(peer)


lines_run.run(fetch, deep)
window.Unlock_all()
window.Free()
