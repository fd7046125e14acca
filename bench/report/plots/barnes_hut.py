"""Plots of barnes_hut.sh: Figs. 2, 12 and 13 of the CLaMPI paper."""
from ..plot import Series, averaged, plot, points
from ..stats import divide
from ..table import number, read


def name(cache):
    return "fixed" if cache == "hearth" else cache


def share(*columns):
    """The share of the remote nodes."""
    return lambda cells: divide(sum(number(cells[column]) for column in columns), number(cells["remote"]))


def plots(folder, setting):
    repeats, runs = read(folder / "repeats.csv"), read(folder / "runs.csv")

    def series(title, part, cache, value, style="linespoints"):
        found = points(runs.select(setting=setting, part=part, cache=cache), "share", value)
        return Series(title, found if style == "points" else averaged(found), style)

    yield plot("fig2.svg", "Fig. 2: repetitions of the same get, 4 ranks, 4000 bodies", "times", "distinct gets",
               [Series("", points(repeats.rows, "times", "distinct"), "impulses")], log="y")
    yield plot(
        "fig12.svg",
        f"Fig. 12: force time per body by memory ({setting})",
        "memory, % of the tree on other ranks",
        "us per body",
        [series(name(cache), "memory", cache, "us_per_body") for cache in ("blocks", "hearth", "adaptive")]
        + [
            series(f"{name(cache)} (fewer bodies)", "bare", cache, "us_per_body", "points")
            for cache in ("none", "blocks", "hearth", "adaptive")
        ],
        log="xy",
    )
    yield plot(
        "fig13.svg",
        f"Fig. 13: shares of the gets ({setting})",
        "memory, % of the tree on other ranks",
        "share of the remote nodes",
        [series(f"hits, {name(cache)}", "memory", cache, lambda cells: 1 - share("gets")(cells)) for cache in ("hearth", "adaptive")]
        + [series(f"no room, {name(cache)}", "memory", cache, share("capacity", "failing")) for cache in ("hearth", "adaptive")]
        + [
            series(f"conflicting, small index, {name(cache)}", "index", cache, share("conflicting"), "points")
            for cache in ("hearth", "adaptive")
        ],
        log="x",
        y_range=(0, 1),
    )
