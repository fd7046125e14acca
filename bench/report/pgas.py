"""The report of pgas.sh. Times are medians of the rounds, with their minimum and maximum; factors are medians of the ratios of two lines
in the same round."""
from pathlib import Path

from .rounds import Rounds
from .stats import median
from .table import number, read
from .text import head, machine, row

PROGRAMS = {"dht": "distributed hash table, finding values", "stencil": "stencil, steps after the first"}
LINES = {"coop": "cooperative", "alone": "not cooperative", "dram": "segments in memory (HEARTH_NVM=off)"}
GOAL = 1.5


def verdict(times, program):
    factors = [factor for factor in times.ratios((program, "alone"), (program, "coop")) if factor > 0]
    factor = median(factors)
    text = "not measured" if factor is None else f"{factor:.2f} ({min(factors):.2f} to {max(factors):.2f}, {len(factors)} rounds)"
    state = "not measured" if factor is None else "reached" if factor >= GOAL else "**lost**"
    return row(PROGRAMS[program], text, f"at least {GOAL}", state)


def line_row(key, runs):
    seconds = [number(cells["seconds"]) for cells in runs]
    pages = [int(median([number(cells[column]) for cells in runs])) for column in ("nvm_reads", "nvm_writes", "from_home", "from_peers", "smalls")]
    return row(key[0], LINES.get(key[1], ""), f"{median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})", *pages)


def report(folder):
    folder = Path(folder)
    table = read(folder / "runs.csv")
    times = Rounds()
    for cells in table.rows:
        times.add((cells["program"], cells["line"]), cells["round"], cells["seconds"])
    yield from ("# C++ programs on GASNet-EX, data of four times a pool", "", *machine(folder), "")
    yield from head("cooperative against not", "times faster", "goal", "")
    yield from (verdict(times, program) for program in PROGRAMS)
    yield ""
    yield from head("", "line", "s", "pages: from the NVM", "to the NVM", "from home", "from other nodes", "small operations")
    yield from (line_row(key, runs) for key, runs in table.index("program", "line").groups.items())
    yield from ("", "Pages are counted over the whole job, including the insertion of the values and the verification of the grid.")
