"""Plots of armci.sh: Figs. 3, 5, 6 and 7 of the paper, left halves. A point is the mean of the rounds."""
from ..plot import Series, averaged, plot, points
from ..table import read

KINDS = {"get": "non-contiguous get", "acc": "accumulate"}


def plots(folder, mpi, ways, buffers):
    patches = read(folder / "patch.csv")

    def show(file, figure, configs, kind, title, clients=1):
        series = [
            Series(
                config, averaged(points(patches.select(figure=figure, mpi=mpi, config=config, kind=kind, clients=clients), "bytes", "mbps"))
            )
            for config in configs
        ]
        return plot(file, title, "bytes", "MB/s", series, (9, 5.6), log="xy")

    for kind, words in KINDS.items():
        yield show(f"fig3_{kind}.svg", "fig3", ways.split(), kind, f"Fig. 3: {words}, {mpi}")
        yield show(f"fig5_{kind}.svg", "fig5", ("rule", "rule-often", "float"), kind, f"Fig. 5: {words}, {mpi}")
        yield show(f"fig6_{kind}.svg", "fig6", buffers.split(), kind, f"Fig. 6: {words}, {mpi}")
        for clients in (1, 2):
            yield show(f"fig7_{kind}_{clients}.svg", "fig7", ("intimation", "no-intimation", "4x128k"), kind,
                       f"Fig. 7: {words}, {clients} clients live, {mpi}", clients)
