"""The report of osu.sh: the ratio of times with Hearth to those without, by call and size, and the cells that Hearth has lost.

A ratio is that of two runs of one round. A cell is lost if the whole 95 % interval of its ratio lies above 1.02; of fewer than six rounds
the interval is the range of all."""
from pathlib import Path

from .rounds import Rounds
from .stats import divide, interval, median
from .table import number, read
from .text import head, mpi_title, nanoseconds, row, size

WORSE = 1.02
MESSAGES = ("latency", "bandwidth", "both_ways", "pairs")
COLLECTIVES = ("barrier", "bcast", "allreduce", "alltoall", "allgather")
KINDS = ("messages", "windows", "collectives", "others")
GOALS = {"messages": 0.85, "windows": 0.6, "collectives": 0.85}
WHERE = {"node": "one node", "nodes": "between nodes"}


class Cells:
    """Times by cell (mpi, place, ranks, case, bytes) and configuration."""

    def __init__(self, table):
        self.times, self.keys = Rounds(), {}
        for cells in table.rows:
            key = tuple(cells[name] for name in ("mpi", "place", "ranks", "case", "bytes"))
            self.keys[key] = None
            self.times.add((*key, cells["config"]), cells["round"], cells["ns"])

    def bare(self, key):
        return self.times.of((*key, "bare"))

    def fastest(self, key):
        """The ratio of the fastest rounds, which exclude most disturbances by other processes."""
        hearth, bare = (self.times.list((*key, config)) for config in ("hearth", "bare"))
        return divide(min(hearth), min(bare)) if hearth and bare else None

    def ratio(self, key):
        """With its interval; None if no round has both."""
        ratios = self.times.ratios((*key, "hearth"), (*key, "bare"))
        return interval(ratios) if ratios else None


def kind_of(case):
    name, _, rest = case.partition(".")
    if name in MESSAGES:
        return "messages"
    if name in COLLECTIVES:
        return "collectives"
    return "windows" if "." in rest else "others"  # windows: operation.epoch.memory


def is_lost(ratio):
    return ratio.low > WORSE


def shown(ratio):
    if ratio is None:
        return "-"
    return f"**{ratio.middle:.2f}**" if is_lost(ratio) else f"{ratio.middle:.2f}"


def summary(cells):
    """A line for each MPI, place and kind of call."""
    yield from head("MPI", "place", "calls", "cells", "lost", "median ratio", "goal", "lowest", "highest")
    groups = {}
    for key in cells.keys:
        ratio = cells.ratio(key)
        if ratio:
            groups.setdefault((key[0], key[1], kind_of(key[3])), []).append(ratio)
    for (mpi, place, kind), ratios in sorted(groups.items(), key=lambda group: (group[0][:2], KINDS.index(group[0][2]))):
        middles = [ratio.middle for ratio in ratios]
        yield row(mpi_title(mpi), WHERE[place], kind, len(ratios), sum(map(is_lost, ratios)), f"{median(middles):.2f}",
                  GOALS.get(kind, "-"), f"{min(middles):.2f}", f"{max(middles):.2f}")


def name_of(key):
    _, _, ranks, case, bytes_ = key
    return case + (f", {ranks} ranks" if ranks != "2" else "") + (f", {size(bytes_)}" if number(bytes_) else "")


def lost(cells):
    """The lost cells, the worst first."""
    found = [(cells.ratio(key), key) for key in cells.keys if cells.ratio(key) and is_lost(cells.ratio(key))]
    yield from head("MPI", "place", "lost", "bare", "ratio", "95 % interval", "of the fastest rounds")
    for ratio, key in sorted(found, key=lambda one: -one[0].middle):
        yield row(mpi_title(key[0]), WHERE[key[1]], name_of(key), nanoseconds(cells.bare(key)), f"{ratio.middle:.2f}",
                  f"{ratio.low:.2f} to {ratio.high:.2f}", f"{cells.fastest(key):.2f}")


def missing(cells):
    for key in cells.keys:
        if cells.ratio(key) is None:
            config = "Hearth" if cells.bare(key) is not None else "the MPI alone"
            yield f"- not measured: {mpi_title(key[0])}, {WHERE[key[1]]}, {name_of(key)}, with {config}"


def by_size(cells):
    """A line for each call, with a column for each size."""
    sizes = sorted({key[4] for key in cells.keys}, key=number)
    yield from head("MPI", "place", "ranks", "call", *(size(bytes_) if number(bytes_) else "no data" for bytes_ in sizes))
    for mpi, place, ranks, case in dict.fromkeys(key[:4] for key in cells.keys):
        keys = [(mpi, place, ranks, case, bytes_) for bytes_ in sizes]
        yield row(mpi_title(mpi), WHERE[place], ranks, case, *(shown(cells.ratio(key)) if key in cells.keys else "" for key in keys))


def empty_program(table):
    yield from head("MPI", "ranks", "launched and ended, bare", "ratio", "95 % interval", "memory per rank, bare", "more with Hearth")
    times, memory = Rounds(), Rounds()
    for cells in table.rows:
        key = cells["mpi"], cells["ranks"], cells["config"]
        times.add(key, cells["round"], cells["us"])
        memory.add(key, cells["round"], cells["kb"])
    for mpi, ranks in dict.fromkeys((cells["mpi"], cells["ranks"]) for cells in table.rows):
        bare, hearth = (mpi, ranks, "bare"), (mpi, ranks, "hearth")
        ratios = times.ratios(hearth, bare)
        if not ratios or memory.of(hearth) is None:
            continue
        ratio = interval(ratios)
        yield row(mpi_title(mpi), ranks, nanoseconds(1000 * times.of(bare)), shown(ratio), f"{ratio.low:.2f} to {ratio.high:.2f}",
                  f"{divide(memory.of(bare), 1024):.1f} MB", f"{divide(memory.of(hearth) - memory.of(bare), 1024):.1f} MB")


def report(folder):
    cells = Cells(read(Path(folder) / "cells.csv"))
    yield "Ratios of times with Hearth to those without; below 1 Hearth is faster. Bold: lost, the 95 % interval lies above 1.02."
    yield ""
    yield from summary(cells)
    yield ""
    yield from lost(cells)
    yield ""
    yield from missing(cells)
    yield ""
    yield from empty_program(read(Path(folder) / "start.csv"))
    yield ""
    yield from by_size(cells)
