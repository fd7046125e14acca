"""The report of programs.sh: programs without Hearth and on windows that Hearth executes."""
from pathlib import Path

from .stats import median
from .table import number, read
from .text import at_least, claim, head, mpi_title, row

TITLES = {"halo": "Coarray Fortran, halo, s", "table": "Coarray Fortran, table, s", "ga": "Global Arrays, get from a rank that computes, p99, us",
          "nwchem": "NWChem, benzene, DFT, s"}
PLACES = {"node": "one node", "nodes": "two nodes"}
GOAL, MILLISECOND = 1.5, 1000


class Runs:
    def __init__(self, table):
        self.index = table.index("program", "mpi", "place", "way")

    def median(self, *key):
        return median([number(cells["value"]) for cells in self.index.rows(*key)])

    def results(self, *key):
        return {cells["result"] for way in ("bare", "serve") for cells in self.index.rows(*key, way)}

    def ratio(self, *key):
        bare, serve = self.median(*key, "bare"), self.median(*key, "serve")
        return bare / serve if bare and serve else None


def target(runs, program, mpi, place):
    name = f"{TITLES[program].rsplit(',', 1)[0]}, {mpi_title(mpi)}, {PLACES[place]}"
    remark = "results equal" if len(runs.results(program, mpi, place)) == 1 else "results differ"
    if program == "ga":
        got = runs.median(program, mpi, place, "serve")
        return claim(name, "below 1 ms", "-" if got is None else f"{got / MILLISECOND:.3f} ms", got is not None and got < MILLISECOND, remark)
    return at_least(name, GOAL, runs.ratio(program, mpi, place), remark)


def report(folder):
    table = read(Path(folder) / "runs.csv")
    runs = Runs(table)
    places = list(dict.fromkeys(key[:3] for key in runs.index.groups))
    yield from head("target", "limit", "measured", "verdict", "remark")
    for place in places:
        yield target(runs, *place)
    yield ""
    yield from head("program", "MPI", "place", "without Hearth", "served", "ratio")
    for program, mpi, place in places:
        ratio = runs.ratio(program, mpi, place)
        yield row(TITLES[program], mpi_title(mpi), PLACES[place], *(shown(runs.median(program, mpi, place, way)) for way in ("bare", "serve")),
                  "-" if ratio is None else f"{ratio:.2f}")


def shown(value):
    return "-" if value is None else f"{value:.3g}"
