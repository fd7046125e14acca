"""Plots of vgasnet.sh: Figs. 7 to 10 of the paper. A point is the mean of the rounds."""
from ..plot import Series, averaged, plot, points
from ..table import number, read

SIZE = (9, 5.6)
COOPERATIVE = {"1": "cooperative", "0": "not"}


def fetch_plot(table, rate):
    def series(title, config, case):
        rows = [cells for cells in table.select(config=config, case=case, row=0) if cells["page"] == cells["piece"]]
        return Series(title, averaged(points(rows, lambda cells: number(cells["page"]) / 1024, "mbps")))

    return plot(f"fig7_{rate}.svg", f"Fig. 7: fetching a page, NVM {'unthrottled' if rate == 'none' else rate}", "KB of a page", "MB/s",
                [series(case, rate, case) for case in ("nvm", "home", "coop")] + [series("GASNet", "plain", "plain")], SIZE, log="xy")


def walk_plot(table, rates, file, order, title):
    def series(rate, coop):
        rows = table.select(what="fig", coop=coop, nvm=rate, order=order)
        return Series(f"{COOPERATIVE[coop]}, {rate}", averaged(points(rows, lambda cells: number(cells["bytes"]) / 1048576, "mbps")))

    return plot(file, title, "MB of data", "MB/s", [series(rate, coop) for rate in rates for coop in COOPERATIVE], SIZE, log="xy")


def share_plot(table, rates):
    def series(rate, coop, write_back):
        rows = table.select(config="pages", coop=coop, small=0, write_back=write_back, nvm=rate, free=0)
        return Series(f"{COOPERATIVE[coop]}, {rate}, to {write_back}",
                      averaged(points(rows, lambda cells: 64 if cells["page"] == "64k" else 4096, "us")))

    return plot(
        "fig10.svg",
        "Fig. 10: false sharing, no small operations",
        "KB of a page",
        "us a put",
        [series(rate, coop, write_back) for rate in rates for coop in COOPERATIVE for write_back in ("nvm", "dram")],
        SIZE,
        log="xy",
    )


def plots(folder, rates):
    rates = rates.split()
    walks = read(folder / "walk.csv")
    yield from (fetch_plot(read(folder / "fetch.csv"), rate) for rate in rates)
    yield walk_plot(walks, rates, "fig8.svg", "sequence", "Fig. 8: sequential access")
    yield walk_plot(walks, rates, "fig9.svg", "shuffle", "Fig. 9: random access")
    yield share_plot(read(folder / "share.csv"), rates)
