"""Plots of sim.sh; those of a simulation that was not run are omitted."""
from ..plot import Series, plot, points
from ..stats import divide
from ..table import number, read


def share(*columns):
    return lambda cells: divide(sum(number(cells[column]) for column in columns), number(cells["gets"]))


def scaling_plot(table, file, title, y):
    return plot(
        file,
        title,
        "ranks",
        y,
        [Series(mode, points(table.select(mode=mode), "ranks", "us")) for mode in ("off", "fixed", "adaptive")],
        log="x",
    )


def share_plot(table):
    series = [Series(f"{name}, {mode}", points(table.select(mode=mode), "ranks", share(*columns)))
              for name, columns in (("direct", ("direct",)), ("no room", ("capacity", "failing")), ("conflicting", ("conflicting",)))
              for mode in ("fixed", "adaptive")]
    return plot("fig18.svg", "Fig. 18: LCC, shares of the gets, simulated", "ranks", "share", series, log="x", y_range=(0, 1))


def page_plots(table):
    for pattern, file, title in (("seq", "fig8_pages.svg", "Fig. 8: sequential access, simulated"),
                                 ("random", "fig9_pages.svg", "Fig. 9: random access, simulated")):
        series = [
            Series(
                f"{'cooperative' if mode == 'cc' else 'not'}, {data} pools",
                points(
                    [cells for cells in table.select(pattern=pattern, mode=mode) if number(cells["data_in_pools"]) == data], "nodes", "mbps"
                ),
            )
            for data in (0.5, 2)
            for mode in ("cc", "nocc")
        ]
        yield plot(file, title, "nodes", "MB/s", series, log="xy")
    puts = [Series(mode, points(table.select(pattern="false", mode=mode, page_bytes=4194304), "nodes", "operations_per_s"), "points")
            for mode in ("cc", "nocc", "hearth", "gasnet")]
    yield plot("fig10_pages.svg", "Fig. 10: false sharing, simulated", "nodes", "puts/s", puts, log="xy")


def plots(folder):
    bodies, lists, pages = (read(folder / f"{name}.csv") for name in ("barnes-hut", "lcc", "pages"))
    if bodies.rows:
        yield scaling_plot(bodies, "fig14.svg", "Fig. 14: Barnes-Hut, weak scaling, simulated", "us per body")
    if lists.rows:
        yield scaling_plot(lists, "fig17.svg", "Fig. 17: LCC, weak scaling, simulated", "us per vertex")
        yield share_plot(lists)
    if pages.rows:
        yield from page_plots(pages)
