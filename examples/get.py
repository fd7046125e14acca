"""The same in Python (mpi4py): reads one array of the next rank repeatedly; the program does not depend on Hearth.
run: hearth run --mode always --report - -- mpirun.openmpi -n 2 /usr/bin/python3 get.py"""
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
me, next = world.rank, (world.rank + 1) % world.size
window = MPI.Win.Allocate(64, 8, comm=world)
memoryview(window).cast("B").cast("d")[:] = array("d", [me] * 8)
world.Barrier()
window.Lock_all()
wrong, data = 0, array("d", [-1.0] * 8)
for _ in range(1000):
    window.Get(data, next)
    window.Flush(next)
    wrong += list(data) != [next] * 8
window.Unlock_all()
window.Free()
if me == 0:
    print(f"get.py: 1000 gets, {wrong} wrong")
raise SystemExit(wrong != 0)
