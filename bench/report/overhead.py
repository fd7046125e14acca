"""The report of overhead.sh: the time of each call without Hearth, and the ratio to it with Hearth, by medians and by minima."""
from pathlib import Path

from .stats import divide, median
from .table import number, read
from .text import head, row

CONFIGS = ("default", "near", "far")


def summary(runs):
    """The median and the minimum over all rounds; None without runs."""
    if not runs:
        return None
    return median([number(cells["ns"]) for cells in runs]), min(number(cells["least"]) for cells in runs)


def ratios(found, bare):
    if not found or not bare:
        return "-"
    return ", ".join(f"{divide(ours, theirs):.2f}" for ours, theirs in zip(found, bare))


def report(folder):
    runs = read(Path(folder) / "runs.csv")
    yield from head("MPI", "case", "bare, ns: median, least", "default: ratios", "near", "far")
    for mpi, case in runs.index("mpi", "case").groups:
        times = {config: summary(runs.select(mpi=mpi, case=case, config=config)) for config in ("bare", *CONFIGS)}
        bare = times["bare"]
        yield row(mpi, case, ", ".join(f"{ns:.0f}" for ns in bare) if bare else "-",
                  *(ratios(times[config], bare) for config in CONFIGS))
