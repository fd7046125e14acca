"""The report of dgemm.sh. Speeds are medians of the rounds, with their minimum and maximum; factors are medians of
the ratios of two lines in the same round."""
from pathlib import Path

from .rounds import Rounds
from .stats import median
from .table import number, read
from .text import head, machine, row

LINES = {
    "dram": "segments in memory (HEARTH_NVM=off)",
    "memory": "in memory, cooperative",
    "memory-alone": "in memory, not cooperative",
    "out": "out of core, cooperative",
    "out-alone": "out of core, not cooperative",
}


def verdict(speeds, what, setting, line, other, goal, paper):
    factors = [factor for factor in speeds.ratios((setting, line), (setting, other)) if factor > 0]
    factor = median(factors)
    text = "not measured" if factor is None else f"{factor:.2f} ({min(factors):.2f} to {max(factors):.2f}, {len(factors)} rounds)"
    state = "" if not goal else "not measured" if factor is None else "reached" if factor >= goal else "**lost**"
    return row(what, text, f"at least {goal}" if goal else "", paper, state)


def verdicts(speeds):
    yield from head("", "here", "goal", "the paper", "")
    for what, setting, line, other, goal, paper in (
            ("out of core, cooperative against not", "hosts.4", "out", "out-alone", 1.5, "1.25 to 1.53"),
            ("in memory, cooperative against not", "hosts.4", "memory", "memory-alone", None, "1.12 to 1.59"),
            ("one node, 1 rank, in memory against HEARTH_NVM=off", "node.1", "memory", "dram", 0.9, "0.49"),
            ("one node, 2 ranks, in memory against HEARTH_NVM=off", "node.2", "memory", "dram", 0.9, "0.49"),
            ("two nodes, in memory against HEARTH_NVM=off", "hosts.4", "memory", "dram", None, "not given")):
        yield verdict(speeds, what, setting, line, other, goal, paper)


def line_row(key, runs):
    values = {column: [number(cells[column]) for cells in runs]
              for column in ("gflops", "blas", "communication", "nvm_reads", "nvm_writes", "from_home", "from_peers")}
    speeds = values["gflops"]
    shares = [f"{100 * median(values[column]):.0f} %" for column in ("blas", "communication")]
    pages = [int(median(values[column])) for column in ("nvm_reads", "nvm_writes", "from_home", "from_peers")]
    return row(key[0], LINES.get(key[1], ""), f"{median(speeds):.2f} ({min(speeds):.2f} to {max(speeds):.2f})", *shares, *pages)


def report(folder):
    folder = Path(folder)
    table = read(folder / "runs.csv")
    speeds = Rounds()
    for cells in table.rows:
        speeds.add((cells["setting"], cells["line"]), cells["round"], cells["gflops"])
    yield from ("# DGEMM by SUMMA (vGASNet, Fig. 11)", "", *machine(folder), "")
    yield from verdicts(speeds)
    yield ""
    yield from head("", "line", "GFLOP/s", "in BLAS", "communication", "pages: from the NVM", "to the NVM", "from home",
                    "from other nodes")
    yield from (line_row(key, runs) for key, runs in table.index("setting", "line").groups.items())
    yield from ("", "Pages are counted over the whole job, including filling the matrices and verifying the product.")
    wrong = sum(not number(cells["error"]) < 1 for cells in table.rows)
    if wrong:
        yield from ("", f"**{wrong} products were wrong.**")
