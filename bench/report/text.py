"""Formats numbers and rows of tables for the reports. None stands for a value that was not measured."""


def plain(value):
    """A number without trailing zeros: 2, 0.5, 1.25."""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def times(value):
    if value is None:
        return "missing"
    return f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def percent(value):
    return "missing" if value is None else f"{100 * value:.0f} %"


def nanoseconds(value):
    if value is None:
        return "-"
    if value < 1000:
        return f"{value:.0f} ns"
    return f"{value / 1000:.4g} us" if value < 1e6 else f"{value / 1e6:.4g} ms"


def microseconds(value):
    return nanoseconds(None if value is None else 1000 * value)


def rate(value):
    """Megabytes per second."""
    if value is None:
        return "-"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def size(count):
    count = float(count)
    if count >= 1048576:
        return plain(count / 1048576) + " MB"
    return plain(count / 1024) + " KB" if count >= 1024 else plain(count) + " B"


def mpi_title(mpi):
    return {"openmpi": "Open MPI", "mpich": "MPICH"}.get(mpi, mpi)


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*titles):
    """The first two lines of a table."""
    return ["|" + "".join(f" {title} |" if title else " |" for title in titles), "|" + "---|" * len(titles)]


def verdict(reached):
    """None: no limit is set."""
    return "-" if reached is None else "reached" if reached else "**lost**"


def claim(what, limit, ours, reached, remark):
    """A row of the tables of limits."""
    return row(what, limit, ours, verdict(reached), remark)


def at_least(what, limit, got, remark):
    return claim(what, f"at least {plain(limit)}x", times(got), got is not None and got >= limit, remark)


def machine(folder):
    """The description of the machine that the bench wrote."""
    path = folder / "machine.md"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
