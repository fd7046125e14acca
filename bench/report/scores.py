"""The table of scores.sh for one MPI: medians, and the ratios of the median and the minimal time to those without scores."""
from .stats import divide, median
from .table import number, read


def line(share, score, runs, base):
    took = [number(cells["us_per_vertex"]) for cells in runs]
    without = [number(cells["us_per_vertex"]) for cells in base] or took
    hits = median(number(cells["hit_ratio"]) for cells in runs)
    served = median(divide(number(cells["bytes_served"]), number(cells["window_bytes"])) for cells in runs)
    return (f"{'':8} {share:>5}%  {score:7} {hits:10.4f} {100 * served:12.1f}% {median(took):14.1f}"
            f" {100 * (median(took) / median(without) - 1):+7.1f}% {100 * (min(took) / min(without) - 1):+7.1f}%")


def report(file, mpi):
    runs = read(file)
    groups = runs.index("share", "score").groups
    yield f"{mpi:8} {'cache':>6}  {'score':7} {'hit ratio':>10} {'bytes served':>13} {'us per vertex':>14} {'median':>8} {'least':>8}"
    for (share, score), found in groups.items():
        yield line(share, score, found, groups.get((share, "none"), []))
    if len(runs.distinct("checksum")) > 1:
        yield "scores: FAILED: the results of the runs differ"
