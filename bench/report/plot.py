"""Plots of the tables, as SVG. A Plot of Series of points is plain data; draw() passes it to matplotlib, if it is installed."""
import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .table import number


class Series(NamedTuple):
    """Points (x, y) or (x, y, low, high). style: linespoints, lines, points or impulses."""
    title: str
    points: list
    style: str = "linespoints"


@dataclass
class Panel:
    """One pair of axes. log: which of them are logarithmic; ticks: names of the positions 1, 2, ... on the x axis."""
    title: str
    x: str
    y: str
    series: list
    log: str = ""
    x_range: tuple = (None, None)
    y_range: tuple = (None, None)
    ticks: tuple = ()
    lines: tuple = ()  # (title, y) of horizontal lines
    marks: tuple = ()  # x of vertical lines

    def points(self):
        return sum(len(series.points) for series in self.series)


@dataclass
class Plot:
    file: str
    panels: list = field(default_factory=list)
    size: tuple = (8, 5)  # hundreds of pixels


def plot(file, title, x, y, series, size=(8, 5), **options):
    """A plot with one panel."""
    return Plot(file, [Panel(title, x, y, series, **options)], size)


def points(rows, x, y, low=None, high=None):
    """Points of rows; x and y are columns, or functions of a row. Rows with an empty cell are skipped."""
    def value(cells, what):
        return what(cells) if callable(what) else number(cells[what]) if cells[what] != "" else None

    wanted = [what for what in (x, y, low, high) if what is not None]
    found = [tuple(value(cells, what) for what in wanted) for cells in rows]
    return [point for point in found if None not in point]


def averaged(found):
    """One point for each x, the mean of its values, in order."""
    groups = {}
    for x, y in found:
        groups.setdefault(x, []).append(y)
    return [(x, sum(values) / len(values)) for x, values in sorted(groups.items())]


# ---- drawing ----


def draw_series(axes, series):
    x, y = [point[0] for point in series.points], [point[1] for point in series.points]
    if series.style == "impulses":
        axes.vlines(x, 0.8 if axes.get_yscale() == "log" else 0, y, label=series.title)
    elif series.points and len(series.points[0]) == 4:
        below, above = ([max(0, point[1] - point[2]) for point in series.points], [max(0, point[3] - point[1]) for point in series.points])
        axes.errorbar(x, y, yerr=[below, above], label=series.title, marker="." if series.style == "linespoints" else "x",
                      linestyle="-" if series.style == "linespoints" else "none", linewidth=1, capsize=2)
    else:
        marker = {"linespoints": ".", "points": "x"}.get(series.style, "")
        axes.plot(x, y, label=series.title, marker=marker, linestyle="none" if series.style == "points" else "-", linewidth=1)


def draw_panel(axes, panel):
    axes.set_title(panel.title, fontsize=11)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if "x" in panel.log:
        axes.set_xscale("log", base=2)
    if "y" in panel.log:
        axes.set_yscale("log")
    for series in panel.series:
        if series.points:
            draw_series(axes, series)
    for title, y in panel.lines:
        axes.axhline(y, label=title, color="black", linewidth=1)
    for x in panel.marks:
        axes.axvline(x, color="grey", linestyle=":")
    axes.set_xlim(*panel.x_range)
    axes.set_ylim(*panel.y_range)
    if panel.ticks:
        axes.set_xticks(range(1, len(panel.ticks) + 1), panel.ticks, rotation=30, ha="right")
    axes.grid(True, alpha=0.4)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)


def write(pyplot, folder, one):
    figure, axes = pyplot.subplots(len(one.panels), 1, figsize=one.size, dpi=100, squeeze=False)
    for position, panel in enumerate(one.panels):
        draw_panel(axes[position][0], panel)
    figure.tight_layout()
    path = folder / one.file
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight")
    pyplot.close(figure)


def pyplot_of():
    """None if matplotlib is not installed."""
    try:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
        from matplotlib import pyplot
        return pyplot
    except ImportError:
        return None


def draw(folder, plots_):
    """Draws the plots that have points; returns the lines to print about it."""
    pyplot = pyplot_of()
    if pyplot is None:
        return ["no plots: matplotlib is not installed (package python3-matplotlib)"]
    said = []
    for one in plots_:
        if sum(panel.points() for panel in one.panels):
            write(pyplot, Path(folder), one)
        else:
            said.append(f"a plot has nothing to show: {one.file}")
    return said


def plots(folder, bench, **settings):
    """A command: the plots of one bench."""
    module = importlib.import_module(".plots." + bench.replace("-", "_"), __package__)
    return draw(folder, module.plots(Path(folder), **settings))
