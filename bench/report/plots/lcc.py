"""Plots of lcc.sh: Figs. 3, 15 and 16 of the CLaMPI paper."""
from ..plot import Series, plot, points
from ..stats import divide
from ..table import number, read


def share(*columns):
    return lambda cells: divide(sum(number(cells[column]) for column in columns), number(cells["gets"]))


def plots(folder, mpi):
    sizes, runs = read(folder / "sizes.csv"), read(folder / "runs.csv")
    storage = "initial storage, % of the lists on other ranks"

    def series(title, config, y, x="share"):
        return Series(title, points(runs.select(mpi=mpi, config=config), x, y), "points")

    yield plot("fig3.svg", "Fig. 3: sizes of the gets of lcc, 2^16 vertices, 2^20 edges before removal of duplicates", "bytes", "gets",
               [Series("gets of a size", points(sizes.rows, "bytes", "gets"), "points")], log="xy", marks=(5120,))
    yield plot(
        "fig15.svg",
        f"Fig. 15: time per vertex by initial storage ({mpi}, 4 ranks on 2 hosts, TCP)",
        storage,
        "us per vertex",
        [
            series("without", "without", "us_per_vertex", lambda cells: 0.7),
            series("adaptive", "adaptive", "us_per_vertex"),
            series("fixed", "fixed", "us_per_vertex"),
        ],
        log="x",
        x_range=(0.5, 800),
        y_range=(0, None),
    )
    yield plot("fig16.svg", f"Fig. 16: shares of the gets ({mpi})", storage, "share of all gets",
               [series(f"{title}, {config}", config, value) for title, value in (
                   ("hits", "hit_ratio"), ("conflicting", share("conflicting")), ("capacity or failing", share("capacity", "failing")))
                for config in ("adaptive", "fixed")], log="x", x_range=(0.5, 800), y_range=(0, 1))
