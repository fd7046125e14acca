"""Computes whether the 95 % intervals of a table are within 5 % of their medians, which ends the rounds of a bench.
The table has a column round."""
from .rounds import Rounds, mean
from .stats import interval
from .table import read

ENOUGH = 0.05
UNKNOWN = 9  # fewer than six rounds cannot give 95 %


def names(text):
    return [name for name in text.split(",") if name]


def width(values):
    found = interval(values)
    if len(values) < 6:
        return UNKNOWN
    return (found.high - found.low) / found.middle if found.middle else 0


def widest(file, value, keys="", base="", apart="", only=""):
    """The widest interval as a share of its median.

    value  the column
    keys   columns: rows that agree in them are one series, with a value for each round (the mean, if a round has several)
    base   COLUMN=VALUE: each value counts as a multiple of the base's in the same round, which must agree in the keys
    apart  further columns that distinguish series; the base need not agree in them
    only   COLUMN=VALUE: no other rows"""
    table = read(file)
    base_column, _, base_value = base.partition("=")
    rows = table.select(**dict([only.split("=", 1)])) if only else table.rows
    series, groups = Rounds(mean), {}
    for cells in rows:
        if cells[value] == "":
            continue
        group = tuple(cells[name] for name in names(keys))
        is_base = base and cells[base_column] == base_value
        key = (
            ("base", *group) if is_base else ("series", *group, *(cells[name] for name in names(apart)), cells[base_column] if base else "")
        )
        series.add(key, cells["round"], cells[value])
        if not is_base:
            groups[key] = ("base", *group)
    found = [series.ratios(key, groups[key]) if base else series.list(key) for key in groups]
    return max((width(values) for values in found if values), default=UNKNOWN)


def narrow(file, **settings):
    """A command: its exit status is the answer."""
    if widest(file, **settings) > ENOUGH:
        raise SystemExit(1)
    return []
