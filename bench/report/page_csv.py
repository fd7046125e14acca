"""Every claim with its value, as a table."""
from .text import plain
from .wording import label, where

COLUMNS = "paper,figure,claim,setting,ours,low,high,pairs,where,unit,given,to_paper,goal,state"


def quoted(text):
    return '"' + str(text).replace('"', '""').replace("\n", " ") + '"'


def line(paper, figure, claim, result):
    names = [quoted(paper.name), quoted(figure.name), quoted(claim.name)]
    given = "" if claim.given is None else plain(claim.given)
    goal = quoted(claim.goal or "")
    if result is None:
        return ",".join(names + ["", "", "", "", "", "", quoted(claim.unit), given, "", goal, "not run"])
    values = [f"{value:.6g}" for value in (result.middle, result.low, result.high)]
    return ",".join(names + [quoted(label(claim, result)), *values, str(result.pairs or ""), quoted(where(claim, result)),
                             quoted(claim.unit), given, claim.to_paper(result), goal, result.state])


def page(papers):
    yield COLUMNS
    for paper in papers:
        for figure in paper.figures:
            for claim in figure.claims:
                for result in claim.results or [None]:
                    yield line(paper, figure, claim, result)
