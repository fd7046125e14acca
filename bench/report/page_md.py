"""The page of results as Markdown: a table for each paper, a row for each figure."""
from collections import Counter

from .text import head, plain, row
from .wording import label, ours, unit_suffix

INTRODUCTION = (
    "The figures of the four papers, by number, beside Hearth's measurements. The papers' values are those that their texts give, quoted"
    " with the section; values in plots are not read off. Hearth's are medians with their 95 % intervals in brackets, by order statistics, and n,"
    " the number of pairs of runs side by side; fewer than six pairs cannot give 95 %, and the brackets then hold their range."
    " Where the worst or best of several cases counts, each pair contributes the case that is the worst or best by the other pairs, because"
    " chance alone would make the worst of equal cases look worse than they are."
    " The ratio is Hearth's value to the paper's number. A figure is lost if one of its numbered lines is. Simulated values are marked as such.")
TITLES = ("figure", "what it shows (section)", "paper", "Hearth", "ratio", "setting", "state", "differences, and reasons")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", "<br>")


def mark(state):
    return {"lost": "**lost**", "not run": "*not run*"}.get(state, state)


def claim_ours(number, claim):
    goal = f" ({cell(str(claim.goal))}{unit_suffix(claim.unit)})" if claim.goal else ""
    values = "; ".join(f"{label(claim, result)} {ours(claim, result)}".strip() for result in claim.results)
    return f"{number}. {cell(claim.name)}{goal}: " + (values or f"not run: `{claim.script()}`")


def claim_ratios(number, claim):
    for result in claim.results:
        if claim.given:
            of_paper = f"{claim.to_paper(result)} of {plain(claim.given)}{unit_suffix(claim.unit)}"
            yield f"{number}. " + f"{label(claim, result)} {of_paper}".strip()


def remark(figure):
    lost = figure.lost if figure.state() == "lost" else ""
    return "\n".join(text for text in (figure.why, lost) if text)


def figure_row(figure):
    numbered = list(enumerate(figure.claims, 1))
    return row(cell(figure.name), f"{cell(figure.shows)} ({cell(figure.section)})", cell(figure.quote),
               "<br>".join(claim_ours(number, claim) for number, claim in numbered),
               "<br>".join(text for number, claim in numbered for text in claim_ratios(number, claim)) or "-",
               cell(figure.setting), "<br>".join(f"{number}. {mark(claim.state())}" for number, claim in numbered), cell(remark(figure)))


def summary(papers):
    states = [(paper, figure, figure.state()) for paper in papers for figure in paper.figures]
    count = Counter(state for _, _, state in states)
    lost = ", ".join(f"{paper.name} {figure.name}" for paper, figure, state in states if state == "lost")
    return (f"{len(states)} figures: {count['reached']} reached, {count['lost']} lost, {count['shown']} shown (no goal),"
            f" {count['not run']} not run." + (f" Lost, wholly or in part: {lost}." if lost else ""))


def page(papers, machine):
    yield from ("# Results", "", INTRODUCTION, *machine, "", summary(papers), "")
    for paper in papers:
        yield from (f"## {paper.name}", "", paper.title, "")
        for note in paper.notes:
            yield from (note, "")
        yield from head(*TITLES)
        yield from map(figure_row, paper.figures)
        yield ""
