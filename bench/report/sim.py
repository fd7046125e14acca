"""A table of sim.sh: weak scaling on a simulated machine, with times, speedups, and the outcomes of the gets."""
from pathlib import Path

from .table import number, read
from .text import head, row


def values(table, ranks, mode):
    """Of the last run; zeros if there is none."""
    cells = (table.select(ranks=ranks, mode=mode) or [{}])[-1]
    found = {
        column: number(cells.get(column))
        for column in ("us", "hit_ratio", "gets", "conflicting", "capacity", "failing", "adjustments", "storage_bytes")
    }
    found["no room"] = (found["conflicting"] + found["capacity"] + found["failing"]) / (found["gets"] or 1)
    return found


def faster(off, with_):
    return f"{off['us'] / with_['us']:.2f}x" if with_["us"] else "missing"


def report(folder, table):
    runs = read(Path(folder) / f"{table}.csv")
    yield from head("ranks", "off", "fixed", "adaptive", "off / fixed", "off / adaptive", "hits fixed, adaptive",
                    "no room, conflicts: fixed, adaptive", "adjustments of all ranks, storage of one")
    for ranks in runs.distinct("ranks"):
        off, fixed, adaptive = (values(runs, ranks, mode) for mode in ("off", "fixed", "adaptive"))
        yield row(ranks, *(f"{one['us']:.2f} us" for one in (off, fixed, adaptive)), faster(off, fixed), faster(off, adaptive),
                  *(f"{100 * fixed[column]:.1f} %, {100 * adaptive[column]:.1f} %" for column in ("hit_ratio", "no room")),
                  f"{int(adaptive['adjustments'])}, {adaptive['storage_bytes'] / number(ranks) / 1000:.0f} KB")
