"""Formats the results of a claim, the same on every page: "Open MPI 9.31x [9.2, 9.4], n = 9, at bytes 4096"."""
from .figures import ANY
from .text import mpi_title


def number(value, unit=""):
    size = abs(value)
    if size >= 99.95 or size == 0:
        text = f"{value:.0f}"
    elif size >= 9.995:
        text = f"{value:.1f}"
    else:
        text = f"{value:.2f}" if size >= 0.1 else f"{value:.2g}"
    return text + unit_suffix(unit)


def unit_suffix(unit):
    return unit if unit in ("", "x") else " " + unit


def setting_name(text):
    """Of MPI.RANKS or MPI.WHERE.RANKS."""
    part = text.split(".")
    if len(part) < 2 or not part[-1].isdigit():
        return text
    where = "" if len(part) != 3 else " on 2 hosts" if part[1] == "hosts" else " on one node"
    return f"{mpi_title(part[0])}, {part[-1]} ranks{where}"


def label(claim, result):
    """For which value of the columns in each."""
    names = {"mpi": mpi_title, "setting": setting_name}
    known = [(name, value) for name, value in zip(claim.each, result.label) if value != ANY]
    return ", ".join(names[name](value) if name in names else f"{name} {value}" for name, value in known)


def where(claim, result):
    """Which value was picked."""
    columns = claim.pick.columns if claim.pick else ()
    return ", ".join(f"{name} {value}" for name, value in zip(columns, result.where) if value != ANY)


def ours(claim, result):
    text = number(result.middle, claim.unit)
    if result.pairs != 1:
        text += f" [{number(result.low)}, {number(result.high)}]"
    if result.pairs > 0:
        text += f", n = {result.pairs}"
    picked = where(claim, result)
    return text + (f", at {picked}" if picked else "")
