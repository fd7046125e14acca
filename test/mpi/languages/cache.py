"""cache.py: tests the cache under a Python program. mpi4py loads the MPI library late, with local symbols, and numpy
arrays are the buffers. Runs with and without the library; checks hits where the library is loaded and certain to keep
entries."""

import ctypes
import os
import sys

import mpi4py
import numpy

mpi4py.rc.thread_level = "single"  # Open MPI's osc pt2pt supports no higher level
from mpi4py import MPI  # noqa: E402

world = MPI.COMM_WORLD
me, ranks = world.Get_rank(), world.Get_size()
peer = (me + 1) % ranks
config = os.environ.get("HEARTH_TEST_CONFIG", "bare")
process = ctypes.CDLL(None)
loaded = hasattr(process, "CLAMPI_Get_stats")
cached = loaded and config in ("on", "huge")
failures = 0

COUNTERS = 23  # fields of CLAMPI_Stats, 64 bits each; the first are gets, full hits, partial hits, pending hits


def expect(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"rank {me}: expected {what}", file=sys.stderr, flush=True)


def hits(window):
    counters = (ctypes.c_uint64 * COUNTERS)()
    handle = ctypes.c_void_p.from_address(MPI._addressof(window))
    expect(process.CLAMPI_Get_stats(handle, counters) == MPI.SUCCESS, "counters")
    return sum(counters[1:4])


def numbers(rank, version):
    return numpy.arange(512, dtype="i8") + 1000 * rank + 100000 * version


def open_window(mode):
    info = MPI.Info.Create()
    info.Set("clampi_mode", "off" if config == "off" else mode)
    window = MPI.Win.Allocate(4096, 8, info, world)
    info.Free()
    memory = numpy.frombuffer(window.tomemory(), dtype="i8")
    memory[:] = numbers(me, 0)
    world.Barrier()
    window.Lock_all()
    return window, memory


def close_window(window, least):
    world.Barrier()
    window.Unlock_all()
    if cached:
        expect(hits(window) >= least, f"at least {least} hits: {hits(window)}")
    window.Free()


def read(window, at, count):
    got = numpy.zeros(count, dtype="i8")
    window.Get(got, peer, (at, count, MPI.INT64_T))
    window.Flush(peer)
    return got


def always_mode():
    window, memory = open_window("always")
    for _ in range(5):
        for at in range(0, 512, 64):
            expect((read(window, at, 50) == numbers(peer, 0)[at : at + 50]).all(), "the numbers")
    close_window(window, 32)


def transparent_mode():
    window, memory = open_window("transparent")
    for version in range(5):
        world.Barrier()
        memory[:] = numbers(me, version)
        window.Sync()
        world.Barrier()
        expect((read(window, 8, 100) == numbers(peer, version)[8:108]).all(), f"version {version}")
    close_window(window, 0)


def own_puts():
    window, memory = open_window("always")
    for version in range(1, 5):
        put = numpy.full(10, version, dtype="i8")
        window.Put(put, peer, (20, 10, MPI.INT64_T))
        window.Flush(peer)
        for _ in range(2):
            expect((read(window, 20, 10) == version).all(), f"what was put: {version}")
    close_window(window, 4)


def requests():
    window, memory = open_window("always")
    for _ in range(4):
        got = numpy.zeros(30, dtype="i8")
        request = window.Rget(got, peer, (64, 30, MPI.INT64_T))
        request.Wait()
        expect((got == numbers(peer, 0)[64:94]).all(), "the numbers after the wait")
    close_window(window, 3)


if ranks < 2:
    sys.exit("needs at least 2 ranks")
for case in (always_mode, transparent_mode, own_puts, requests):
    case()
total = world.allreduce(failures)
if me == 0:
    print(f"4 cases, {total} failures; {ranks} ranks, {config if loaded else 'bare'}")
sys.exit(1 if total else 0)
