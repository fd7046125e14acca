"""The report of barnes_hut.sh: medians of all rounds, beside the paper's statements."""
from pathlib import Path

from .stats import median
from .table import number, read
from .text import head, row

TITLES = ("setting", "bodies", "memory", "none", "blocks", "hearth, fixed", "hearth, adaptive", "none / hearth", "blocks / hearth")
SHARES = (25, 50, 200)


class Runs:
    def __init__(self, table):
        self.index = table.index("setting", "part", "share", "cache")
        self.parts = table.index("setting", "part", "share")
        self.settings = table.distinct("setting")

    def of(self, column, setting, part, share, cache):
        """The median; 0 if it was not measured."""
        return median(number(cells[column]) for cells in self.index.rows(setting, part, share, cache) if cells[column] != "") or 0

    def us(self, setting, part, share, cache):
        return self.of("us_per_body", setting, part, share, cache)


def over(a, b):
    return f"{a / b:.1f}" if a and b else "-"


def number_of(value):
    if not value:
        return "-"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def difference(table):
    """The runs of equal size whose results differ; None if there are none."""
    sums, differ = {}, None
    for cells in table.rows:
        if sums.get(cells["bodies"], cells["checksum"]) != cells["checksum"]:
            differ = f"{cells['setting']}, {cells['cache']}, {cells['bodies']} bodies"
        sums[cells["bodies"]] = cells["checksum"]
    return differ


def line(runs, setting, part, share):
    last = runs.parts.last(setting, part, share) or {}
    block = (runs.index.last(setting, part, share, "blocks") or {}).get("block", "")
    us = {cache: runs.us(setting, part, share, cache) for cache in ("none", "blocks", "hearth", "adaptive")}
    hits = {cache: f"{runs.of('hit_ratio', setting, part, share, cache):.4f}" for cache in ("blocks", "hearth", "adaptive")}
    return row(setting, int(number(last.get("bodies"))), f"{int(number(last.get('memory')) / 1024)} KB ({share} %)", number_of(us["none"]),
               f"{number_of(us['blocks'])} ({block} B, {hits['blocks']})", f"{number_of(us['hearth'])} ({hits['hearth']})",
               f"{number_of(us['adaptive'])} ({hits['adaptive']})", over(us["none"], us["hearth"]), over(us["blocks"], us["hearth"]))


def goals(runs):
    yield from head("goal", "setting", "measured", "reached")
    for setting in runs.settings:
        for text, part, base, goal in (("5x over no cache (paper: up to ~5x)", "bare", "none", 5),
                                       ("3x over blocks (paper: up to ~3x), memory 50 %, nodes in order", "memory", "blocks", 3),
                                       ("3x over blocks (paper: up to ~3x), memory 50 %, nodes scattered", "scattered", "blocks", 3)):
            ratio = over(runs.us(setting, part, 50, base), runs.us(setting, part, 50, "hearth"))
            yield row(text, setting, f"{ratio}x", "-" if ratio == "-" else "yes" if number(ratio) >= goal else "**no**")


def by_memory(runs, part):
    yield from head(*TITLES)
    yield from (line(runs, setting, part, share) for setting in runs.settings for share in SHARES if runs.parts.rows(setting, part, share))


def sections(runs):
    yield from ("", "## All three", "", *head(*TITLES))
    yield from (line(runs, setting, "bare", 50) for setting in runs.settings)
    yield from ("", "## By memory", "", *by_memory(runs, "memory"))
    yield from ("", "## An index that is too small", "", *head(*TITLES))
    yield from (line(runs, setting, "index", 200) for setting in runs.settings)
    yield from (
        "",
        "## Nodes scattered in memory",
        "",
        "As in a program that allocates nodes from a heap while it inserts bodies in no particular order: nodes near in space are not near"
        " in memory, and a larger block fetches nothing useful.",
        "",
        *by_memory(runs, "scattered"),
    )


def report(folder, hosts):
    folder = Path(folder)
    table = read(folder / "runs.csv")
    runs, costs, differ = Runs(table), read(folder / "costs.csv").index("setting"), difference(table)
    gets = ", ".join(f"{costs.value('us_per_get', setting) or 0:.0f} us ({setting})" for setting in runs.settings)
    yield from (
        "# Barnes-Hut: no cache, a cache of blocks, Hearth",
        "",
        "Force time per body in microseconds, slowest rank, medians of all rounds; in parentheses the block size and the share of remote nodes"
        " that needed no get. Memory is that of the blocks with their tags and of Hearth's storage (its index comes on top, as |I_w| does in"
        " the paper), in percent of the part of the tree on other ranks. Adaptive starts there and may grow.",
        f"MPI.4: four ranks on two {'virtual hosts' if hosts == 'real' else 'emulated nodes of one host, over TCP'}. A get without a cache takes"
        + (f" {gets}" if gets else "")
        + ".",
        "",
        f"Results differ between runs: {differ}"
        if differ
        else "The bodies' states are bitwise equal in all runs of equal size, on any number of ranks.",
        "",
    )
    yield from goals(runs)
    yield from sections(runs)
    yield from (
        "",
        "## The paper",
        "",
        "Sec. IV-B, on Cray XC40/XC50 with one rank per node (20K bodies, 16 ranks): 1.53 ms per body without a cache; its cache of blocks,"
        " direct-mapped, ~820 us with 1 MB and ~400 us with 4 MB; CLaMPI, adaptive, converges to 1 MB.",
        "Weak scaling (Fig. 14, 16 to 128 ranks, 2 MB): up to ~5x over no cache and ~3x over blocks; the text says 8K bodies per rank, the"
        " caption 1.5K. (The abstract has 1.8x for Barnes-Hut and 5x for LCC, the conclusion and this section the reverse.)",
    )
