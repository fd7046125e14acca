"""The report of halo.sh. Times are medians of the rounds, with their minimum and maximum; factors are medians of the
factors of each round, in which the compared runs followed each other."""
from collections import namedtuple
from pathlib import Path

from .rounds import Rounds
from .stats import median
from .table import number, read
from .text import head, machine, row

Key = namedtuple("Key", "setting mode case")


def short(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def summary(values, unit=""):
    if not values:
        return "-"
    spread = f" ({short(min(values))} to {short(max(values))})" if len(values) > 1 else ""
    return short(median(values)) + unit + spread


class Runs:
    def __init__(self, table):
        self.rounds = Rounds()
        self.keys = []
        self.last = max((int(number(cells["round"])) for cells in table.rows), default=0)
        for cells in table.rows:
            key = Key(cells["setting"], cells["mode"], cells["case"])
            if key not in self.keys:
                self.keys.append(key)
            for column in ("us_step", "us_exchange"):
                self.rounds.add((key, cells["config"], column), cells["round"], cells[column])
            if cells["depth"] != "" and key.mode != "cg":
                self.rounds.add((key, "depth"), cells["round"], cells["depth"])

    def times(self, key, config):
        return summary([us / 1000 for us in self.rounds.list((key, config, "us_step"))])

    def factors(self, key, slow, fast, column="us_step"):
        return self.rounds.ratios((key, slow, column), (key, fast, column))

    def factor(self, key, slow, fast, column="us_step"):
        factors = self.factors(key, slow, fast, column)
        return summary(factors, "x") if factors else "missing"


def problem(cells):
    """Runs that must have the same result: neither padding nor numbers of meshes change it."""
    case = {"cg": "", "fds": cells["case"].split(" ")[0]}.get(cells["mode"], cells["case"])
    return cells["mode"], cells["setting"].split(".")[2:3], case


def differences(table):
    sums = {}
    for cells in table.rows:
        same = str(problem(cells))
        if sums.get(same, cells["checksum"]) != cells["checksum"]:
            yield f"**Results differ**: {cells['setting']}, {cells['mode']}, {cells['case']}, {cells['config']}"
        sums[same] = cells["checksum"]


def verdict(factors, goal):
    return "missing" if not factors else "reached" if median(factors) >= goal else "**lost**"


def goals(runs):
    yield from head("goal", "setting", "measured", "")
    for key in runs.keys:
        if (key.mode, key.case) == ("fds", "10x10x10 shuffled"):
            for text, base in (("FDS style: 2x with Hearth (host over fast)", "host"),
                               ("FDS style: the queues alone (list over fast); the paper has 2x", "list")):
                yield row(text, key.setting, runs.factor(key, base, "fast"), verdict(runs.factors(key, base, "fast"), 2))


def section(runs, mode, title, per):
    yield from ("", f"## {title}", "")
    yield from head(
        "setting", "", f"host, ms per {per}", "list", "fast", "host / fast", "list / fast", "exchange alone: host / fast", "searched"
    )
    for key in runs.keys:
        if key.mode == mode:
            yield row(
                key.setting,
                key.case,
                *(runs.times(key, config) for config in ("host", "list", "fast")),
                runs.factor(key, "host", "fast"),
                runs.factor(key, "list", "fast"),
                runs.factor(key, "host", "fast", "us_exchange"),
                summary(runs.rounds.list((key, "depth")))
            )


def other_library(runs):
    found = [key for key in runs.keys if runs.times(key, "ucx") != "-"]
    if found:
        yield from ("", "The same with Open MPI's pml ucx, whose queues have hash bins:", "")
        yield from head("setting", "", "ucx, ms per step", "host / ucx", "ucx / fast")
    for key in found:
        yield row(key.setting, key.case, runs.times(key, "ucx"), runs.factor(key, "host", "ucx"), runs.factor(key, "ucx", "fast"))


def report(folder):
    folder = Path(folder)
    table = read(folder / "runs.csv")
    runs, differ = Runs(table), list(differences(table))
    yield from (
        "# Halo exchanges: the MPI library's matching, and Hearth's",
        "",
        *machine(folder),
        "",
        f"At most {runs.last} round{'' if runs.last == 1 else 's'}. In parentheses their minimum and maximum. A setting is MPI, place and ranks."
        " host: the program alone; list: with Hearth, with lists as queues; fast: with Hearth. searched: the mean number of receives that a"
        " message was compared with in a list; it means nothing for conjugate gradients, where most messages are those that release the"
        " padding.",
        "",
        *(differ or ["The computed results are bitwise equal in all configurations."]),
        "",
    )
    yield from goals(runs)
    yield from section(runs, "fds", "In the style of FDS (Fig. 10)", "step")
    yield from other_library(runs)
    yield from section(runs, "cg", "Conjugate gradients with other posted receives (Fig. 9; the paper has 2.3 % at 2048)", "iteration")
    yield from section(runs, "stencil", "Blocks of threads (Table 1)", "step")
    yield from (
        "",
        "In Table 1 the mean depths are, in its order, 32.51, 48.22, 85.18, 127.24, 65.85, 132.27, 259.08, 410.02, 596.85, 1294.49.",
    )
