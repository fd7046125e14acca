"""Plots of clampi.sh: Figs. 7 to 11 of the paper, hits and streams."""
from ..plot import Panel, Plot, Series, averaged, plot, points
from ..table import number, read

KINDS = {
    "raw": "roomy",
    "hitting": "roomy",
    "direct": "roomy",
    "conflicting": "small-index",
    "capacity": "small-storage",
    "failing": "small-storage",
}
SCHEMES = ("full", "temporal", "positional")


def access_plots(table, mpi):
    def series(kind, *columns):
        return Series(kind, points(table.select(mpi=mpi, setting=KINDS[kind], kind=kind), "bytes", *columns))

    yield plot("fig7.svg", f"Fig. 7: latency by kind of access ({mpi}, TCP)", "bytes", "us",
               [series(kind, "latency_us", "low_us", "high_us") for kind in KINDS], log="xy")
    yield plot("fig8.svg", f"Fig. 8: share of the communication hidden by computation ({mpi}, TCP)", "bytes", "share",
               [series(kind, "share") for kind in ("raw", "direct", "capacity", "failing")], log="x", y_range=(0, 1))


def hit_plot(table, mpi):
    rows = table.select(mpi=mpi)
    return plot("hit.svg", f"Full hit + flush and bare copy ({mpi}, TCP)", "bytes", "ns", [
        Series("hit + flush", points(rows, "bytes", "hit_least_ns")),
        Series("60 + 1.06 x memcpy", points(rows, "bytes", lambda cells: 60 + 1.06 * number(cells["copy_least_ns"])), "lines"),
        Series("memcpy", points(rows, "bytes", "copy_least_ns")),
        Series("raw get", points(rows, "bytes", "raw_ns"))], log="xy")


def stream_plot(table, mpi):
    series = [Series(f"{window}, flush {'each' if flush == 'each' else 'for 8'}",
                     points(table.select(mpi=mpi, library="with", window=window, flush=flush), "bytes", "ratio", "low", "high"))
              for window in ("transparent", "always") for flush in ("each", "batch")]
    return plot(
        "stream.svg",
        f"Stream without reuse against an uncached window ({mpi}, TCP)",
        "bytes",
        "time / time uncached",
        series,
        log="x",
        lines=(("limit", 1.02),),
    )


def time_plot(table, mpi):
    series = [
        Series(
            f"{name}, {gets} gets", points(table.select(mpi=mpi, vary="index", strategy=strategy, gets=gets), "start", "seconds"), "points"
        )
        for strategy, name in (("off", "fixed"), ("on", "adaptive"))
        for gets in (20000, 100000)
    ]
    return plot("fig9.svg", f"Fig. 9: completion time by initial index size ({mpi}, TCP)", "slots", "seconds", series, log="xy",
                x_range=(64, 8192))


def storage_plot(table):
    return plot(
        "fig10.svg",
        "Fig. 10: occupied storage by get, 1.5 K slots, 1 MB",
        "get",
        "occupied share",
        [Series(scheme, points(table.select(scheme=scheme, run=0), "get", "occupied"), "lines") for scheme in SCHEMES],
        y_range=(0.5, 1),
    )


def victim_plot(table):
    def series(column, prefix="", value=None):
        return [Series(prefix + scheme, averaged(points(table.select(scheme=scheme), "slots", value or column))) for scheme in SCHEMES]

    free = series("occupied", "free, ", lambda cells: 1 - number(cells["occupied"]))
    return Plot("fig11.svg", [
        Panel("Fig. 11: visited slots per eviction", "slots", "slots", series("visited")),
        Panel("hit ratio", "slots", "share", series("hit_ratio")),
        Panel("free storage, and non-empty slots of those visited", "slots", "share", free + series("nonempty", "non-empty, "))], (8, 10))


def plots(folder, mpi):
    table = {name: read(folder / f"{name}.csv") for name in ("access", "hit", "stream", "fig9", "fig10", "fig11")}
    yield from access_plots(table["access"], mpi)
    yield hit_plot(table["hit"], mpi)
    yield stream_plot(table["stream"], mpi)
    yield time_plot(table["fig9"], mpi)
    yield storage_plot(table["fig10"])
    yield victim_plot(table["fig11"])
