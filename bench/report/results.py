"""The page of results: all figures of the papers beside Hearth's, from the tables that the benches have left.
Measures nothing."""
import runpy
from collections import Counter
from pathlib import Path

from . import page_csv, page_html, page_md, plot
from .figures import evaluate_all
from .plots import across, vgasnet
from .table import read_folder


def papers_of(path):
    """PAPERS of a Python file, by default of claims/."""
    if path is None:
        from .claims import PAPERS
        return PAPERS
    try:
        return runpy.run_path(str(path))["PAPERS"]
    except (TypeError, NameError, SyntaxError, KeyError, OSError) as error:
        raise SystemExit(f"results: {path}: not a list of figures: {error}") from error


def describe(folder):
    """The machine as the benches found it, when they ran, and their failures."""
    machines = sorted(folder.glob("*/machine.md"))
    lines = machines[0].read_text(encoding="utf-8").splitlines()[:2] if machines else []
    if (folder / "bench.md").exists():
        lines += (folder / "bench.md").read_text(encoding="utf-8").splitlines()
    for log in sorted(folder.glob("*/failed.log")):
        count = len(log.read_text(encoding="utf-8").splitlines())
        if count:
            lines.append(f"- {log.parent.name}: {count} of its jobs failed or ran out of time, and are missing below")
    return lines


def draw(folder):
    """Plots of tables of several benches, and of a bench that was ended before it drew its own."""
    said = plot.draw(folder, across.plots(folder))
    pages = folder / "vgasnet"
    if (pages / "walk.csv").exists() and not list(pages.glob("*.svg")):
        said += plot.draw(pages, vgasnet.plots(pages, rates="none 450m paper"))
    return dict.fromkeys(said)


def write(path, lines):
    new = path.with_name(path.name + ".new")
    new.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    new.replace(path)


def results(folder, figures=None):
    folder = Path(folder).resolve()
    papers = papers_of(figures)
    evaluate_all(papers, read_folder(folder))
    machine = describe(folder)
    yield from (f"results: {text}" for text in draw(folder))
    write(folder / "results.csv", page_csv.page(papers))
    write(folder / "results.md", page_md.page(papers, machine))
    write(folder / "results.html", page_html.page(papers, machine, folder))
    states = [state for paper in papers for figure in paper.figures for claim in figure.claims
              for state in [result.state for result in claim.results] or ["not run"]]
    count = Counter(states)
    yield (f"results: of {len(states)} lines {count['reached']} reached, {count['lost']} lost, {count['shown']} shown,"
           f" {count['not run']} not run: {folder / 'results.html'}")
