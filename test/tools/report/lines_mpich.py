"""lines_mpich.py: lines.py for MPICH, for which Debian has no mpi4py: it calls the library through ctypes, which releases the
interpreter's lock around calls as mpi4py does. Handles are those of MPICH's ABI."""
import ctypes
import sys

import lines_run

ctypes.CDLL("libmpich.so.12", ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)  # of all libraries the first: Hearth, if it is there
WORLD, BYTE, INFO_NULL = 0x44000000, 0x4C00010D, 0x1C000000
provided, rank, window = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
base, got = ctypes.c_void_p(), ctypes.create_string_buffer(64)
mpi.MPI_Init_thread(None, None, 3 if "threads" in sys.argv else 0, ctypes.byref(provided))
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
peer = 1 - rank.value
length = ctypes.c_long(4096)
mpi.MPI_Win_allocate(length, 1, INFO_NULL, WORLD, ctypes.byref(base), ctypes.byref(window))  # line: window
mpi.MPI_Win_lock_all(0, window)


def fetch(at):
    mpi.MPI_Get(got, 64, BYTE, peer, ctypes.c_long(at), 64, BYTE, window)  # line: fetch
    mpi.MPI_Win_flush(peer, window)


def deep(depth):
    if depth:
        return deep(depth - 1)
    mpi.MPI_Get(got, 8, BYTE, peer, ctypes.c_long(0), 8, BYTE, window)  # line: deep
    mpi.MPI_Win_flush(peer, window)


lines_run.run(fetch, deep)
mpi.MPI_Win_unlock_all(window)
mpi.MPI_Win_free(ctypes.byref(window))
mpi.MPI_Finalize()
