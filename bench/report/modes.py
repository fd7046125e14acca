"""The report of modes.sh: the cost and gain of each mode of the cache. A row per target, followed by the measurements."""
from pathlib import Path

from .stats import divide, median
from .table import number, read
from .text import head, row

WAYS = ("bare", "off", "transparent", "acquire", "always")
SIZES = (8, 1024, 16384)
WINDOWS = ("create", "allocate")
PATTERNS = {"stream": "no reuse", "reuse": "reuse"}
MODES = ("without", "off", "transparent", "acquire", "acquire-no-recheck", "always")


def target(what, limit, got, reached, remark):
    """got: None if it was not measured."""
    verdict = "not measured" if got is None else "reached" if reached else "**lost**"
    return row(what, limit, got or "missing", verdict, remark)


class Lcc:
    """Runs of the Local Clustering Coefficient, by MPI and mode; runs of the same number followed each other."""

    def __init__(self, table):
        self.index = table.index("mpi", "mode")
        self.table = table
        sums = {(cells["mpi"], cells["checksum"]) for cells in table.rows}
        self.differ = len(sums) > len({mpi for mpi, _ in sums})

    def values(self, column, mpi, mode):
        return [number(cells[column]) for cells in self.index.rows(mpi, mode) if cells[column] != ""]

    def seconds(self, mpi, mode):
        return {cells["number"]: number(cells["seconds"]) for cells in self.index.rows(mpi, mode)}

    def ratios(self, mpi, mode, base):
        over, under = self.seconds(mpi, mode), self.seconds(mpi, base)
        return [seconds / under[run] for run, seconds in over.items() if under.get(run, 0) > 0]

    def counted(self, mpi):
        return int(number((self.table.select(mpi=mpi) or [{}])[-1].get("counted")))


class Loops:
    """Loops of a get with its flush, medians of the rounds."""

    def __init__(self, table):
        self.index = table.index("mpi", "window", "library", "pattern", "way", "bytes")

    def value(self, column, *key):
        return median(number(cells[column]) for cells in self.index.rows(*key))


class Counts:
    """Instructions per get and flush, counted by single-stepping."""

    def __init__(self, table):
        self.index = table.index("mpi", "window", "pattern", "way")

    def ours(self, *key):
        """Instructions of the library."""
        cells = self.index.last(*key)
        return None if cells is None else divide(number(cells["instructions"]), number(cells["gets"]))

    def rate(self, mpi):
        """Instructions per nanosecond of the hit, which consists of the library's code alone."""
        cells = self.index.last(mpi, "create", "reuse", "always")
        if cells is None or not number(cells["ns"]) > 0:
            return 0
        return divide(number(cells["instructions"]) + number(cells["program_instructions"]), number(cells["gets"])) / number(cells["ns"])


# ---- targets ----


def lcc_row(lcc, mpi, what, mode, base, limit, remark):
    ratios = lcc.ratios(mpi, mode, base)
    got = f"{median(ratios):.3f} x ({min(ratios):.3f} .. {max(ratios):.3f} in {len(ratios)} pairs)" if ratios else None
    return target(f"LCC over TCP: {what}, {mpi}", f"{limit:.2f} x", got, ratios and median(ratios) <= limit and not lcc.differ, remark)


def recheck_remark(lcc, mpi):
    ratios = lcc.ratios(mpi, "acquire-no-recheck", "always")
    return (f"{lcc.counted(mpi)} vertices counted; with HEARTH_RECHECK=0, that is without fetching hits again: {median(ratios):.3f} x"
            if ratios else "")


def stream_row(loops, mpi, way):
    found = {size: loops.value("ratio", mpi, "tcp", "with", "stream", way, size) for size in SIZES}
    measured = None not in found.values()
    worst = max(found, key=found.get) if measured else None
    noise = noise_of(loops, mpi, way, found)
    return target(f"no reuse over TCP: {way}, {mpi}", "1.02 x", f"{found[worst]:.4f} x (worst: {worst} bytes)" if measured else None,
                  measured and found[worst] <= 1.02,
                  "" if noise is None else f"without the library this comparison errs by up to {100 * noise:.1f} %")


def noise_of(loops, mpi, way, found):
    """The deviation of the same comparison without the library, over the sizes before the first missing one."""
    sizes = SIZES[:next((position for position, size in enumerate(SIZES) if found[size] is None), len(SIZES))]
    plain = [loops.value("ratio", mpi, "tcp", "without", "stream", way, size) for size in sizes]
    return max((abs(ratio - 1) for ratio in plain if ratio is not None), default=None)


def count_row(counts, mpi, way):
    found = {window: counts.ours(mpi, window, "stream", way) for window in WINDOWS}
    measured = all(found.values())
    worst = max(found, key=found.get) if measured else None
    rate = counts.rate(mpi)
    got = f"{found[worst]:.0f} instructions (worst: MPI_Win_{worst})" if measured else None
    remark = f"{found[worst] / rate:.0f} ns at the rate of hits, {rate:.1f} instructions per ns" if measured and rate else ""
    return target(f"no reuse in shared memory, counted: {way}, {mpi}", "90 instructions", got, measured and found[worst] <= 90, remark)


def timed_row(loops, mpi, way):
    found = {window: loops.value("beyond_ns", mpi, window, "with", "stream", way, 8) for window in WINDOWS}
    measured = None not in found.values()
    worst = max(found, key=found.get) if measured else None
    return target(f"no reuse in shared memory, timed: {way}, {mpi}", "15 ns",
                  f"{found[worst]:.0f} ns beyond bare (worst: MPI_Win_{worst})" if measured else None, measured and found[worst] <= 15,
                  "8 bytes; median of the differences between neighbouring turns")


def targets(lcc, loops, counts, mpis):
    for mpi in mpis:
        yield lcc_row(lcc, mpi, "acquire against always", "acquire", "always", 1.05, recheck_remark(lcc, mpi))
        yield lcc_row(lcc, mpi, "off against no library", "off", "without", 1.02, "")
    for target_row, tables in ((stream_row, loops), (count_row, counts), (timed_row, loops)):
        yield from (target_row(tables, mpi, way) for mpi in mpis for way in WAYS[1:])


# ---- tables of the measurements ----


def lcc_line(lcc, mpi, mode):
    seconds = median(lcc.values("seconds", mpi, mode))
    if seconds is None:
        return f"| {mpi} | {mode} | missing | | |"
    hits = median(lcc.values("hit_ratio", mpi, mode))
    without = median(lcc.values("seconds", mpi, "without")) or 0
    return row(mpi, mode, f"{seconds:.3f}", f"{divide(without, seconds):.2f}", "-" if hits is None else f"{100 * hits:.1f} %")


def lcc_table(lcc, mpis):
    yield from ("", "## Local Clustering Coefficient, 2^14 vertices, over TCP", "",
                ("**The results of the runs differ.**" if lcc.differ else "The results of all runs are equal.")
                + " Medians; no library is the baseline. If the machine is busy, only a sample of the vertices is counted.", "")
    yield from head("MPI", "mode", "seconds", "speed-up", "hits")
    yield from (lcc_line(lcc, mpi, mode) for mpi in mpis for mode in MODES)


def loop_cell(loops, *key):
    ns, ratio, hits = (loops.value(column, *key) for column in ("ns", "ratio", "hits"))
    return "missing" if ns is None else f"{ns:.0f} ({ratio:.3f})" + (f", {100 * hits:.0f} % hits" if hits else "")


def loop_table(loops, mpis, window, library, title):
    yield from ("", f"## Get and flush, {title}: ns (times bare)", "")
    yield from head("MPI", "pattern", "bytes", *WAYS)
    for mpi in mpis:
        for pattern, words in PATTERNS.items():
            for size in SIZES:
                yield row(mpi, words, size, *(loop_cell(loops, mpi, window, library, pattern, way, size) for way in WAYS))


def count_table(counts, mpis):
    yield from ("", "## Instructions of the library per get and flush of 8 bytes, in shared memory", "")
    for mpi in mpis:
        yield f"{mpi}: a hit runs at {counts.rate(mpi):.1f} instructions per ns here, so 15 ns are {15 * counts.rate(mpi):.0f}."
    yield ""
    yield from head("MPI", "window", "pattern", *WAYS[1:])
    for mpi in mpis:
        for window in WINDOWS:
            for pattern, words in PATTERNS.items():
                found = [counts.ours(mpi, window, pattern, way) for way in WAYS[1:]]
                yield row(mpi, window, words, *("missing" if one is None else f"{one:.0f}" for one in found))


def report(folder, mpis, load, quick="0"):
    folder, mpis = Path(folder), mpis.split()
    lcc, loops, counts = Lcc(read(folder / "lcc.csv")), Loops(read(folder / "loop.csv")), Counts(read(folder / "count.csv"))
    yield from (
        "# The modes of the cache",
        "",
        "Two ranks on one machine. Loops: the ways take turns in one process, bare being MPI's own functions; medians of the ratios of"
        f" neighbouring turns. LCC: launches take turns. Load of the last minute at the start: {load}."
        + (" This was a quick run: fewer rounds and turns." if quick == "1" else ""),
        "",
    )
    yield from head("target", "limit", "measured", "verdict", "remark")
    yield from targets(lcc, loops, counts, mpis)
    yield from lcc_table(lcc, mpis)
    for window, library, title in (("tcp", "with", "over TCP"), ("tcp", "without", "over TCP, without the library: all ways are alike"),
                                   ("create", "with", "in shared memory, MPI_Win_create"), ("allocate", "with", "in shared memory, MPI_Win_allocate")):
        yield from loop_table(loops, mpis, window, library, title)
    yield from count_table(counts, mpis)
