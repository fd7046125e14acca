"""messages.py: tests messages of a Python program: objects that mpi4py pickles, numpy arrays, and requests of both
kinds. mpi4py loads the MPI library late, with local symbols, probes before it receives an object, and receives by
MPI_Mprobe."""

import os
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
me, ranks = world.Get_rank(), world.Get_size()
peer, previous = (me + 1) % ranks, (me - 1) % ranks
failures = 0


def expect(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"rank {me}: expected {what}", file=sys.stderr, flush=True)


def numbers(rank, count):
    return numpy.arange(count, dtype="i8") + 1000 * rank


def objects():
    for size in (0, 1, 100, 10000):
        thing = {"from": me, "list": list(range(size)), "text": "x" * size}
        request = world.isend(thing, dest=peer, tag=size)
        got = world.recv(source=previous, tag=size)
        request.wait()
        expect(got == {"from": previous, "list": list(range(size)), "text": "x" * size}, f"the object of size {size}")


def object_requests():
    receives = [world.irecv(1 << 16, source=previous, tag=i) for i in range(10)]
    sends = [world.isend((me, i, "y" * 100 * i), dest=peer, tag=i) for i in range(9, -1, -1)]
    got = MPI.Request.waitall(receives)
    MPI.Request.waitall(sends)
    expect(got == [(previous, i, "y" * 100 * i) for i in range(10)], "ten objects")
    got = world.sendrecv({"a": me}, dest=peer, source=previous)
    expect(got == {"a": previous}, "the object exchanged")


def arrays():
    for count in (0, 1, 500, 100000):
        status = MPI.Status()
        got = numpy.full(count, -1, dtype="i8")
        request = world.Isend(numbers(me, count), dest=peer, tag=3)
        world.Recv(got, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        request.Wait()
        expect((got == numbers(previous, count)).all(), f"{count} numbers")
        expect(status.Get_source() == previous and status.Get_tag() == 3, "source and tag")
        expect(status.Get_count(MPI.INT64_T) == count, "the count")
        world.Barrier()


def probes():
    request = world.Isend(numbers(me, 300), dest=peer, tag=8)
    status = MPI.Status()
    world.Probe(source=previous, tag=8, status=status)
    got = numpy.zeros(status.Get_count(MPI.INT64_T), dtype="i8")
    message = world.Mprobe(source=previous, tag=8)
    message.Recv(got)
    request.Wait()
    expect((got == numbers(previous, 300)).all(), "what was matched")
    sent = world.isend(["matched", me], dest=peer, tag=9)
    expect(world.mprobe(source=previous, tag=9).recv() == ["matched", previous], "the object that was matched")
    sent.wait()


def persistent():
    out, got = numbers(me, 50), numpy.zeros(50, dtype="i8")
    requests = [world.Send_init(out, dest=peer, tag=5), world.Recv_init(got, source=previous, tag=5)]
    for version in range(5):
        out[:] = numbers(me, 50) + version
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        expect((got == numbers(previous, 50) + version).all(), f"version {version}")
    for request in requests:
        request.Free()


def strided():
    matrix = numpy.arange(100 * 100, dtype="i4").reshape(100, 100) + me
    column = MPI.INT.Create_vector(100, 1, 100)
    column.Commit()
    got = numpy.zeros(100, dtype="i4")
    world.Sendrecv([matrix, 1, column], dest=peer, recvbuf=got, source=previous)
    expect((got == numpy.arange(0, 10000, 100) + previous).all(), "the column")
    column.Free()


def truncation():
    world.Set_errhandler(MPI.ERRORS_RETURN)
    request = world.Isend(numbers(me, 10), dest=peer, tag=7)
    caught = None
    try:
        world.Recv(numpy.zeros(5, dtype="i8"), source=previous, tag=7)
    except MPI.Exception as error:
        caught = error.Get_error_class()
    request.Wait()
    expect(caught == MPI.ERR_TRUNCATE, "an exception for too large a message")


if ranks < 2:
    sys.exit("needs at least 2 ranks")
cases = (objects, object_requests, arrays, probes, persistent, strided, truncation)
for case in cases:
    case()
total = world.allreduce(failures)
if me == 0:
    print(f"{len(cases)} cases, {total} failures; {ranks} ranks, {os.environ.get('HEARTH_TEST_CONFIG', 'bare')}")
sys.exit(1 if total else 0)
