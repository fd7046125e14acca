"""Plots of match.sh: Figs. 1 and 4 to 7 and Table 1 of the paper on matching and hot caching."""
from ..plot import Series, plot, points
from ..stats import divide
from ..table import number, read

STRUCTURES = ("list", "list-random", "lla-2", "lla-4", "lla-8", "lla-16", "lla-32", "lla-64", "fast")
SIZE = (9, 5.6)
HEATER = {"off": "", "on": " + heater"}


def depth(cells):
    return number(cells["depth"]) + 1


def rate(cells):
    """Million messages per second."""
    return divide(1000, number(cells["ns"]))


def bandwidth(cells):
    """MB/s."""
    return divide(number(cells["bytes"]) * 1000, number(cells["ns"]))


def bandwidth_plots(engine, through, mpi, configs):
    def show(file, title, series):
        return plot(file, title, "bytes", "MB/s", series, SIZE, log="xy")

    yield show(
        "fig4a_engine.svg",
        "Figs. 4a, 5a: engine alone, 1024 in front, cold",
        [
            Series(one, points(engine.select(kind="bandwidth", structure=one, heated=0, state="cold"), "bytes", bandwidth))
            for one in STRUCTURES
        ],
    )
    yield show("fig4a_mpi.svg", f"Figs. 4a, 5a: through {mpi}, 1024 in front, warm",
               [Series(config, points(through.select(kind="bandwidth", mpi=mpi, config=config), "bytes", bandwidth)) for config in configs])
    yield show("fig6a_engine.svg", "Figs. 6a, 7a: engine alone, 1024 in front, cold for 100 us, without and with the heater",
               [Series(one + HEATER[heater], points(engine.select(kind="bandwidth", structure=one, heated=1, state="cold", heater=heater),
                                                    "bytes", bandwidth))
                for one in ("list", "list-random", "lla-8", "fast") for heater in HEATER])


def rate_plots(engine, through, mpi, configs, sizes):
    def show(file, title, series):
        return plot(file, title, "entries in front + 1", "million messages/s", series, SIZE, log="xy")

    def alone(queue, size, state):
        return [
            Series(
                one,
                points(engine.select(kind="rate", queue=queue, structure=one, heated=0, bytes=size, state=state, gap_us=0), depth, rate),
            )
            for one in STRUCTURES
        ]

    for size in sizes:
        letter = "b" if size == "1" else "c"
        for state in ("cold", "warm"):
            yield show(
                f"fig4{letter}_engine_{state}.svg",
                f"Figs. 4, 5: engine alone, posted receives, {size} B, {state}",
                alone("posted", size, state),
            )
        for queue in ("posted", "unexpected"):
            yield show(
                f"fig4{letter}_mpi_{queue}.svg",
                f"Figs. 4, 5: through {mpi}, {queue} queue, {size} B, warm",
                [
                    Series(
                        config,
                        points(through.select(kind="rate", mpi=mpi, config=config, queue=queue, bytes=size, state="warm"), depth, rate),
                        "points",
                    )
                    for config in configs
                ],
            )
    yield show("fig4b_engine_unexpected.svg", "Engine alone, unexpected messages, 1 B, cold", alone("unexpected", 1, "cold"))
    for gap in (0, 10, 100, 1000):
        yield show(
            f"fig6b_engine_{gap}us.svg",
            f"Figs. 6b, 7b: engine alone, 1 B, cold for {gap} us, without and with the heater",
            [
                Series(
                    one + HEATER[heater],
                    points(
                        engine.select(
                            kind="rate", queue="posted", structure=one, heated=1, bytes=1, state="cold", gap_us=gap, heater=heater
                        ),
                        depth,
                        rate,
                    ),
                )
                for one in ("list", "list-random", "lla-2", "lla-8", "lla-64", "fast")
                for heater in HEATER
            ],
        )


def random_plot(table):
    def series(title, state, gap, heater):
        return Series(title, points(table.select(accesses="dependent", state=state, gap_us=gap, heater=heater), "bytes", "ns"))

    return plot("random.svg", "Sec. 4.3: dependent random accesses", "bytes", "ns per access",
                [series("warm", "warm", 0, "off")] + [series(f"cold, {gap} us{HEATER[heater]}", "cold", gap, heater)
                                                      for gap in (0, 10, 100, 1000) for heater in HEATER], SIZE, log="x")


def plots(folder, mpi, configs, sizes):
    table = {name: read(folder / f"{name}.csv") for name in ("engine", "mpi", "random", "stencil", "lengths")}
    configs, sizes = configs.split(), sizes.split()
    yield from bandwidth_plots(table["engine"], table["mpi"], mpi, configs)
    yield from rate_plots(table["engine"], table["mpi"], mpi, configs, sizes)
    yield random_plot(table["random"])
    yield plot("table1.svg", "Table 1: mean search depth", "queue length", "entries",
               [Series("paper", points(table["stencil"].rows, "length", "paper_depth"), "points"),
                Series("here", points(table["stencil"].rows, "length", "depth", "least", "most"), "points")], SIZE, log="xy")
    yield plot(
        "fig1.svg",
        "Fig. 1: length of the queue of receives that an arriving message searches",
        "below",
        "arrivals",
        [
            Series(f"halo {program}", points(table["lengths"].select(program=program), "below", "arrivals"))
            for program in ("cg", "fds", "stencil")
        ],
        SIZE,
        log="xy",
    )
