"""read_blocks.py: an mpi4py program that reads the same blocks of its neighbour again and again, for tests of hearth tune."""
import mpi4py
import numpy

mpi4py.rc.thread_level = "single"  # Open MPI's osc pt2pt supports no higher level
from mpi4py import MPI  # noqa: E402

BLOCKS, LENGTH, ROUNDS = 32, 128, 200
world = MPI.COMM_WORLD
me, ranks = world.Get_rank(), world.Get_size()
peer = (me + 1) % ranks
window = MPI.Win.Allocate(8 * BLOCKS * LENGTH, 8, MPI.INFO_NULL, world)
numpy.frombuffer(window.tomemory(), dtype="i8")[:] = numpy.arange(BLOCKS * LENGTH) + 1000 * me
world.Barrier()
window.Lock_all()
got, total = numpy.zeros(LENGTH, dtype="i8"), 0
for i in range(BLOCKS * ROUNDS):
    window.Get(got, peer, (i % BLOCKS * LENGTH, LENGTH, MPI.INT64_T))
    window.Flush(peer)
    total += int(got[i % LENGTH])
window.Unlock_all()
total = world.allreduce(total)
if me == 0:
    print(f"sum {total}")
window.Free()
