"""The report of windows.sh: each operation as the MPI library and as Hearth executes it, medians of all rounds, and the limit."""
from pathlib import Path

from .stats import divide, median
from .table import number, read
from .text import at_least, claim, head, mpi_title, nanoseconds, percent, row, times

SMALL, MAPPED, MEGABYTE = ("get", "put", "fetch_and_op"), ("allocate", "alloc_mem"), 1 << 20
TITLES = {
    "get": "get of 8 bytes, flush", "put": "put of 8 bytes, flush", "fetch_and_op": "fetch_and_op, flush",
    "compare_and_swap": "compare_and_swap, flush", "accumulate": "accumulate of 8 bytes, flush", "get_1m": "get of 1 MB, GB/s",
    "get_64k": "get of 64 KB, flush", "get_64k_visible": "what it adds to a computation",
    "get_rows": "get of 64 KB in rows of 8 bytes", "accumulate_64k": "accumulate of 64 KB",
    "get_16": "16 gets of 8 bytes, flush", "put_16": "16 puts of 8 bytes, flush",
    "get_computing_p50": "get from a target that computes, p50", "get_computing_p99": "get from a target that computes, p99",
    "get_burst_p99": "the same at once after another operation",
    "lock_put": "exclusive lock, put of 8 bytes, unlock", "create": "windows made and freed per second"}
NODES, BETWEEN, LIMITS_NODES = "nodes", ("nodes", "polling"), ("get_computing_p99",)
AS_FAST = 0.95  # as the host: two measurements of the same messages differ by some percent
LIMITS = {"get_rows": "at least 3x the host", "get_computing_p99": "below 1 ms"}


class Runs:
    def __init__(self, table):
        self.index = table.index("mpi", "operation", "memory")

    def values(self, column, *key):
        return [number(cells[column]) for cells in self.index.rows(*key) if cells[column] != ""]

    def median(self, column, *key):
        return median(self.values(column, *key))

    def share(self, *key):
        """Of the limit that was measured beside the operation."""
        return median([divide(limit, served) for limit, served in zip(self.values("limit", *key), self.values("served", *key))])


def shown(operation, ns):
    if ns is None or not ns > 0:
        return "-"
    if operation == "get_1m":
        return f"{MEGABYTE / ns:.1f}"
    return f"{1e9 / ns:.0f}" if operation == "create" else nanoseconds(ns)


def limit_of(runs, mpi, operation, memory):
    if memory in BETWEEN and operation not in LIMITS_NODES:
        bare = runs.median("limit", mpi, operation, memory)
        return f"bare UCX {shown(operation, bare)}" if bare else "-"
    copied = runs.median("limit", mpi, operation, memory)
    if copied:
        return f"{'memcpy' if memory in MAPPED else 'the kernel'} {shown(operation, copied)}"
    return "80 ns" if operation in SMALL else LIMITS.get(operation, "-")


def line(runs, mpi, operation, memory):
    key = mpi, operation, memory
    return row(mpi_title(mpi), TITLES.get(operation, operation), memory, shown(operation, runs.median("host", *key)),
               shown(operation, runs.median("served", *key)), times(runs.median("ratio", *key)), limit_of(runs, *key))


# ---- targets ----


def hidden(runs, mpi, memory, way="served"):
    """The share of a get of 64 KB that does not add to a computation between the call and its flush."""
    visible, alone = (runs.median(way, mpi, operation, memory) for operation in ("get_64k_visible", "get_64k"))
    return None if visible is None or not alone else 1 - visible / alone


def worst(runs, mpi, operations, memories, value, pick):
    """The value furthest from its target, with the place; None if it was not measured."""
    found = [(got, f"{operation}, {memory}") for operation in operations for memory in memories
             for got in [value(mpi, operation, memory)] if got is not None]
    return pick(found) if found else (None, "")


def targets_of(runs, mpi, every):
    def served(*key):
        return runs.median("served", *key)

    def ratio(*key):
        return runs.median("ratio", *key)
    name = mpi_title(mpi)
    got, where = worst(runs, mpi, SMALL, MAPPED, served, max)
    yield claim(f"{name}: get, put, fetch_and_op of 8 bytes with flush, allocated memory", "at most 80 ns", nanoseconds(got),
                got is not None and got <= 80, f"worst: {where}")
    for what, operations, memories, least in (
            ("get, put, fetch_and_op of 8 bytes with flush, other memory", SMALL, ("malloc",), 0.85),
            ("get of 1 MB", ("get_1m",), every, 0.95),
            ("accumulate of 64 KB, allocated memory", ("accumulate_64k",), MAPPED, 0.66),
            ("rows of 8 bytes, accumulate of 64 KB, other memory", ("get_rows", "accumulate_64k"), ("malloc",), 0.9)):
        got, where = worst(runs, mpi, operations, memories, runs.share, min)
        yield claim(f"{name}: {what}", f"{percent(least)} of the copy", percent(got), got is not None and got >= least, f"worst: {where}")
    got, where = worst(runs, mpi, ("get_rows",), MAPPED, ratio, min)
    yield at_least(f"{name}: get of 64 KB in rows of 8 bytes, allocated memory, against the host", 3, got, f"worst: {where}")
    got, where = worst(runs, mpi, ("get_1m", "get_rows", "accumulate_64k"), every, ratio, min)
    yield at_least(f"{name}: all of these, against the host", AS_FAST, got, f"worst: {where}")
    got, where = worst(runs, mpi, ("get_computing_p99",), every, served, max)
    yield claim(f"{name}: get from a target that computes for 100 ms, p99", "below 1 ms", nanoseconds(got),
                got is not None and got < 1e6, f"worst: {where}")


def targets_between(runs, mpi):
    def ratio(*key):
        return runs.median("ratio", *key)

    def of_bare(*key):
        share = runs.share(*key)
        return None if share is None else 1 / share
    name, words = mpi_title(mpi), ("get", "put", "accumulate")
    got, where = worst(runs, mpi, words, (NODES,), ratio, min)
    yield at_least(f"{name}, between nodes: get, put, accumulate of 8 bytes with flush, against the host", AS_FAST, got,
                   f"worst: {where}")
    for what, operations in (("the same", words), ("get of 64 KB in rows of 8 bytes, accumulate of 64 KB", ("get_rows", "accumulate_64k"))):
        got, where = worst(runs, mpi, operations, (NODES,), of_bare, max)
        yield claim(f"{name}, between nodes: {what}", "at most 1.3x of bare UCX", times(got), got is not None and got <= 1.3,
                    f"worst: {where}")
    got, where = worst(runs, mpi, ("get_1m",), (NODES,), runs.share, min)
    yield claim(f"{name}, between nodes: get of 1 MB", "90 % of bare UCX", percent(got), got is not None and got >= 0.9, "")
    got = hidden(runs, mpi, NODES)
    yield claim(f"{name}, between nodes: share of a get of 64 KB that a computation at the origin hides", "85 %", percent(got),
                got is not None and got >= 0.85, f"{percent(hidden(runs, mpi, NODES, 'host'))} by the host")
    got = runs.median("served", mpi, "get_computing_p99", NODES)
    yield claim(f"{name}, between nodes: get from a target that computes for 100 ms, p99", "below 1 ms", nanoseconds(got),
                got is not None and got < 1e6, "")


def report(folder):
    table = read(Path(folder) / "runs.csv")
    runs = Runs(table)
    yield from head("target", "limit", "measured", "verdict", "remark")
    for mpi in table.distinct("mpi"):
        yield from targets_of(runs, mpi, [memory for memory in table.distinct("memory") if memory not in BETWEEN])
        if NODES in table.distinct("memory"):
            yield from targets_between(runs, mpi)
    yield ""
    yield from head("MPI", "operation", "memory", "host", "served", "ratio", "limit")
    for mpi, operation, memory in runs.index.groups:
        yield line(runs, mpi, operation, memory)
