"""The report of dft.sh. Times are medians of the rounds, factors are medians of the factors of each round, in which
the compared runs followed each other; in brackets is the 95 % interval or, with fewer than six rounds, their range."""
from collections import namedtuple
from pathlib import Path

from .rounds import Rounds
from .stats import divide, interval
from .table import number, read
from .text import head, machine, plain, row

Key = namedtuple("Key", "part setting points")
COLUMNS = ("seconds", "get", "acc", "read_inc", "compute", "wait", "us_get", "us_acc", "us_read_inc")
FIGURES = (
    ("3", 'a message for each row against packed patches by the helper ("much shorter time when using CHT")', "rows", "helper"),
    ("3", "lists of rows against packed patches", "lists", "helper"),
    ("5", 'helper scheduled by the system against the paper\'s rule ("the advantage can be clearly seen")', "float", "rule"),
    ("6", "2 buffers of 3 KB against 4 of 128 KB", "2x3k", "4x128k"),
    ("6", "2 buffers of 4 KB against 4 of 128 KB", "2x4k", "4x128k"),
    ("6", "4 buffers of 16 KB against 4 of 128 KB", "4x16k", "4x128k"),
    ("7", "2 buffers of 3 KB, without intimation against with", "no-intimation", "intimation"),
    ("7", 'with intimation against 4 buffers of 128 KB ("performed as well as the large buffer case")', "intimation", "4x128k"),
)


def short(value):
    digits = 4 if value < 0.1 else 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def told(values, unit=""):
    if not values:
        return "-"
    found = interval(values)
    brackets = f" [{short(found.low)}, {short(found.high)}]" if len(values) > 1 else ""
    return short(found.middle) + unit + brackets


class Runs:
    def __init__(self, table):
        self.rounds = Rounds()
        self.ranks = {}
        self.last = max((int(number(cells["round"])) for cells in table.rows), default=0)
        for cells in table.rows:
            key = Key(cells["part"], cells["setting"], cells["points"])
            self.ranks.setdefault(key, number(cells["ranks"]))
            for column in COLUMNS:
                self.rounds.add((key, cells["config"], column), cells["round"], cells[column])

    def keys(self, *parts):
        return [key for key in self.ranks if key.part in parts]

    def value(self, key, config, column="seconds"):
        return told(self.rounds.list((key, config, column)))

    def against(self, key, slow, fast):
        """The factor and its text."""
        factors = self.rounds.ratios((key, slow, "seconds"), (key, fast, "seconds"))
        return (interval(factors).middle, told(factors, "x")) if factors else (None, "missing")


def differences(table):
    norms = [number(cells["norm"]) for cells in table.rows]
    for cells, norm in zip(table.rows, norms):
        if not abs(divide(norm, norms[0]) - 1) <= 1e-9:
            yield f"**Results differ**: {cells['setting']}, {cells['config']}, {cells['points']} points"


def goals(runs):
    yield from head("goal", "setting", "points in a task", "measured", "")
    for key in runs.keys("whole", "polls"):
        factor, text = runs.against(key, "stock", "helper")
        judged = runs.ranks[key] == 4 and key.part != "polls"
        goal = ("MPICH without yielding, whose ranks poll while they wait" if key.part == "polls" else
                "3x over ARMCI-MPI" if judged else "one rank on each host, for comparison")
        state = "" if not judged else "missing" if factor is None else "reached" if factor >= 3 else "**lost**"
        yield row(goal, key.setting, key.points, text, state)


def parts(runs):
    yield from (
        "",
        "## Where the time goes",
        "",
        "Seconds of a build, mean of the ranks; in parentheses microseconds of a call, local ones included.",
        "",
    )
    yield from head("setting", "points", "on", "in all", "get", "acc", "read_inc", "computing", "waiting for the last rank")
    for key in runs.keys("whole"):
        for config, name in (("stock", "ARMCI-MPI"), ("helper", "libarmci")):
            if runs.value(key, config) == "-":
                continue
            calls = [f"{runs.value(key, config, call)} ({runs.value(key, config, 'us_' + call)})" for call in ("get", "acc", "read_inc")]
            yield row(
                key.setting,
                key.points,
                name,
                runs.value(key, config),
                *calls,
                runs.value(key, config, "compute"),
                runs.value(key, config, "wait")
            )


def figures(runs):
    yield from ("", "## The paper's figures, right halves", "",
                "The paper gives curves of the same kernel in NWChem, without numbers. Seconds of a build.", "")
    yield from head("figure", "comparison", "setting", "first", "second", "first / second")
    for figure, words, slow, fast in FIGURES:
        for key in runs.keys("figures"):
            values = [runs.value(key, config) for config in (slow, fast)]
            if "-" not in values:
                yield row(figure, words, key.setting, *values, runs.against(key, slow, fast)[1])


def profile(sizes):
    yield from ("", "## Messages by size (Fig. 2)", "", "Of a build. The paper counts most between 2 and 4 KB.", "")
    yield from head("bytes, below", "get", "acc", "read_inc")
    index = sizes.index("call", "below")
    for below in sorted(sizes.distinct("below"), key=number):
        counts = [sum(number(cells["messages"]) for cells in index.rows(call, below)) for call in ("get", "acc", "read_inc")]
        yield row(below, *map(plain, counts))


def report(folder):
    folder = Path(folder)
    table, sizes = read(folder / "runs.csv"), read(folder / "sizes.csv")
    runs, differ = Runs(table), list(differences(table))
    yield from (
        "# The exchange-correlation kernel on Global Arrays: ARMCI-MPI, and libarmci with its helper thread",
        "",
        *machine(folder),
        "",
        f"At most {runs.last} rounds, in turns. A setting is MPI and ranks; 4 ranks are two on each of two hosts, 2 one on each. With more"
        " ranks than cores, ranks that wait in MPI poll and take cores from those that compute; those of libarmci sleep.",
        "",
        *(differ or ["The matrix has the same norm in all runs, to nine digits."]),
        "",
    )
    yield from goals(runs)
    yield from parts(runs)
    yield from figures(runs)
    if sizes.rows:
        yield from profile(sizes)
