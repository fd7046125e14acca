"""The report of lcc.sh: the runs as rows of medians."""
from pathlib import Path

from .stats import interval
from .table import number, read
from .text import head, row


def line(key, runs):
    mpi, config, share, slots = key
    seconds = interval([number(cells["seconds"]) for cells in runs])
    hits = runs[-1]["hit_ratio"]
    return row(mpi, config, "-" if config in ("without", "defaults") else share + " %", slots, len(runs),
               f"{seconds.middle:.3f} [{seconds.low:.3f}, {seconds.high:.3f}]", "-" if hits == "" else f"{100 * number(hits):.1f} %")


def report(folder, hosts):
    runs = read(Path(folder) / "runs.csv")
    where = "two virtual hosts" if hosts == "real" else "one host: no virtual hosts here"
    yield from (
        "# The Local Clustering Coefficient",
        "",
        f"Four ranks on {where}, over TCP. Seconds, medians of all rounds; ../results.md compares them with the figures of the paper.",
        "",
    )
    yield from head("MPI", "configuration", "share of the lists", "slots", "rounds", "seconds", "hits")
    yield from (line(key, found) for key, found in runs.index("mpi", "config", "share", "slots").groups.items())
    sums = {(cells["mpi"], cells["checksum"]) for cells in runs.rows}
    differ = len(sums) > len({mpi for mpi, _ in sums})
    yield from ("", "**The results differ between runs.**" if differ else "The results of all runs of an MPI are equal.")
