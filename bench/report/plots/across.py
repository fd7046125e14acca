"""Plots of the page of results from tables of several benches, each only if its tables exist. A point is a run."""
from ..plot import Series, averaged, plot, points
from ..table import number, read

PLACES = ("openmpi.node.2", "openmpi.node.4", "openmpi.hosts.4", "mpich.node.2", "mpich.node.4", "mpich.hosts.4")
WAYS = ("stock", "helper", "rows", "lists", "rule", "float", "2x3k", "2x4k", "4x16k", "4x128k", "intimation", "no-intimation")
LINES = ("dram", "memory", "memory-alone", "out", "out-alone")


def place(column, names, shift=0.0):
    """The position of a name on the x axis; rows with other names are skipped."""
    return lambda cells: names.index(cells[column]) + 1 + shift if cells[column] in names else None


def thousandth(column):
    return lambda cells: number(cells[column]) / 1000


def latency_plot(loops, hits):
    def series(mpi, window, library, title):
        rows = loops.select(mpi=mpi, window=window, library=library, pattern="stream", way="bare")
        return Series(f"{mpi}, {title}", averaged(points(rows, "bytes", "ns")))

    return plot(
        "figures/clampi-1.svg",
        "Fig. 1: latency of a get by distance, without a cache",
        "bytes",
        "ns",
        [
            series(mpi, window, library, title)
            for window, library, title in (("tcp", "without", "TCP"), ("create", "with", "shared memory"))
            for mpi in ("openmpi", "mpich")
        ]
        + [Series("memcpy", points(hits.select(mpi="openmpi"), "bytes", "copy_least_ns"), "lines")],
        log="xy",
    )


def halo_plot(runs, file, title, mode, case):
    series = [
        Series(
            config,
            points(runs.select(mode=mode, case=case, config=config), place("setting", PLACES, shift), thousandth("us_step")),
            "points",
        )
        for config, shift in (("host", -0.2), ("list", 0), ("fast", 0.2))
    ]
    return plot(file, title, "", "ms per step", series, ticks=PLACES, x_range=(0, len(PLACES) + 1), y_range=(0, None))


def dft_plots(sizes, runs):
    yield plot("figures/armci-2.svg", "Fig. 2: messages of dft by size", "bytes, below", "messages",
               [Series(call, points(sizes.select(call=call), "below", "messages")) for call in ("get", "acc", "read_inc")], log="x")
    series = [Series(mpi, points(runs.select(mpi=mpi, ranks=4, points=128), place("config", WAYS, shift), "seconds"), "points")
              for mpi, shift in (("openmpi", -0.1), ("mpich", 0.1))]
    yield plot(
        "figures/armci-dft.svg",
        "Figs. 3, 5 to 8, right halves: dft on 4 ranks, tasks of 128 points",
        "",
        "seconds",
        series,
        ticks=WAYS,
        x_range=(0, len(WAYS) + 1),
        y_range=(0, None),
    )


def dgemm_plot(runs):
    series = [Series(setting, points(runs.select(setting=setting), place("line", LINES), "gflops"), "points")
              for setting in ("hosts.4", "node.1", "node.2")]
    return plot(
        "figures/vgasnet-11.svg", "Fig. 11: DGEMM", "", "GFLOP/s", series, ticks=LINES, x_range=(0, len(LINES) + 1), y_range=(0, None)
    )


def plots(folder):
    loops, hits, halo = read(folder / "modes/loop.csv"), read(folder / "clampi/hit.csv"), read(folder / "halo/runs.csv")
    sizes, dft, dgemm = read(folder / "dft/sizes.csv"), read(folder / "dft/runs.csv"), read(folder / "dgemm/runs.csv")
    if loops.rows and hits.rows:
        yield latency_plot(loops, hits)
    if halo.rows:
        yield halo_plot(
            halo, "figures/matching-10.svg", "Fig. 10: a program in the style of FDS, time of a step", "fds", "10x10x10 shuffled"
        )
        yield halo_plot(
            halo,
            "figures/matching-9.svg",
            "Fig. 9: conjugate gradients with 2048 other posted receives, time of an iteration",
            "cg",
            "pad 2048",
        )
    if sizes.rows or dft.rows:
        yield from dft_plots(sizes, dft)
    if dgemm.rows:
        yield dgemm_plot(dgemm)
