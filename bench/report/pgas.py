"""The report of pgas.sh: each figure with its goal, then the times. Times and factors are medians of the rounds, with their minimum and
maximum; factors of programs are ratios of two lines in the same round, those of calls medians of neighbouring batches in a round."""
from pathlib import Path
from typing import NamedTuple

from .rounds import Rounds
from .stats import median
from .table import number, read
from .text import head, machine, row

PROGRAMS = {"dht": "distributed hash table, finding values", "stencil": "stencil, steps after the first"}
LINES = {"coop": "cooperative", "alone": "not cooperative", "dram": "segments in memory (HEARTH_NVM=off)"}
GOAL = 1.5


class Call(NamedTuple):
    shows: str
    config: str
    operation: str
    interface: str
    most: float
    unit: str


CALLS = (
    Call("8-byte get that hits, gex_RMA_GetBlocking less gasnet_get", "nodes", "get", "difference", 10, " ns"),
    Call("the same inside a node, segments in memory", "node", "get", "difference", 10, " ns"),
    Call("active message and reply to oneself, against GASNet-1", "nodes", "message", "ratio", 1.05, "x"),
    Call("the same inside a node", "node", "trip", "ratio", 1.05, "x"),
    Call("the same between nodes", "nodes", "trip", "ratio", 1.05, "x"),
    Call("fetch-and-add at the owner, against a bare round trip", "nodes", "fetch", "ratio", 1.3, "x"),
)


def figure(shows, values, unit, goal, reached):
    values = [value for value in values if value is not None]
    if not values:
        return row(shows, "not measured", goal, "not measured")
    middle = median(values)
    text = f"{middle:.3g}{unit} ({min(values):.3g} to {max(values):.3g}, {len(values)} rounds)"
    return row(shows, text, goal, "reached" if reached(middle) else "**lost**")


def call_row(table, call):
    values = [number(cells["value"]) for cells in table.rows
              if (cells["config"], cells["operation"], cells["interface"]) == (call.config, call.operation, call.interface)]
    return figure(call.shows, values, call.unit, f"at most {call.most:g}{call.unit}", lambda value: value <= call.most)


def program_row(times, program):
    factors = [factor for factor in times.ratios((program, "alone"), (program, "coop")) if factor > 0]
    return figure(f"{PROGRAMS[program]}: cooperative against not", factors, "x", f"at least {GOAL}x", lambda value: value >= GOAL)


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
    calls = read(folder / "calls.csv")
    yield from ("# GASNet-EX: its calls, and C++ programs on data of four times a pool", "", *machine(folder), "")
    yield from head("figure", "measured", "goal", "")
    yield from (call_row(calls, call) for call in CALLS)
    yield from (program_row(times, program) for program in PROGRAMS)
    yield ""
    yield from head("", "line", "s", "pages: from the NVM", "to the NVM", "from home", "from other nodes", "small operations")
    yield from (line_row(key, runs) for key, runs in table.index("program", "line").groups.items())
    yield from ("", "Pages are counted over the whole job, including the insertion of the values and the verification of the grid.")
