"""The page of results as one self-contained HTML file."""
import base64
import re

from .text import plain
from .wording import label, ours, unit_suffix

STYLE = """\
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:1400px;color:#1b1b1b;background:#fff}
table{border-collapse:collapse;width:100%;table-layout:fixed;margin:1rem 0}thead th{text-align:left;background:#f1f1ee}
th,td{border-top:1px solid #c9c9c4;padding:.5rem;vertical-align:top;text-align:left;font-weight:normal;overflow-wrap:anywhere}
th:nth-child(1){width:13%}th:nth-child(2){width:20%}th:nth-child(3){width:31%}th:nth-child(4){width:14%}
th small{display:block;margin-top:.3rem}.number{font-weight:bold;font-size:1.1rem}ol{margin:0;padding-left:1.3rem}li{margin-bottom:.4rem}
.value{font-variant-numeric:tabular-nums}.plots td{border-top:0}.plots img{width:100%;max-width:620px;height:auto}
.state{border-radius:.6rem;padding:0 .5rem;font-size:.85rem;white-space:nowrap;text-decoration:none;color:#1b1b1b;background:#e4e4e0}
.state.reached{background:#cdebd0}.state.lost{background:#f6cfcb;font-weight:bold}.state.none{background:#fff;outline:1px dashed #777}nav p{margin:.3rem 0}nav a{display:inline-block;margin:.1rem}
@media(max-width:800px){body{padding:.6rem;font-size:15px}thead{display:none}table,tbody,tr,th,td{display:block;width:auto!important;box-sizing:border-box}
th[scope=row]{border-top:3px solid #777}td[data-label]::before{content:attr(data-label);display:block;font-size:.8rem;color:#555}td{border-top:0;padding:.3rem .5rem}}
@media print{body{max-width:none;font-size:9pt}tbody{break-inside:avoid}.plots img{max-width:9cm}.state{outline:1px solid #777}}"""
INTRODUCTION = (
    "The figures of the four papers, by number, beside Hearth's measurements. The papers' values are those that their texts give, quoted"
    " with the section; values in plots are not read off. Hearth's are medians with their 95&nbsp;% intervals in brackets, by order statistics, and n,"
    " the number of pairs of runs side by side; fewer than six pairs cannot give 95&nbsp;%, and the brackets then hold their range."
    " Where the worst or best of several cases counts, each pair contributes the case that is the worst or best by the other pairs, because"
    " chance alone would make the worst of equal cases look worse than they are."
    " A figure is lost if one of its numbered lines is. Simulated values are marked as such."
)


def html(text):
    for plain_text, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "<br>")):
        text = text.replace(plain_text, entity)
    return text


def class_of(state):
    return "none" if state == "not run" else state


def badge(state):
    return f'<span class="state {class_of(state)}">{state}</span>'


def anchor(paper, figure):
    return re.sub("[^a-z0-9-]", "-", f"{paper.name}-{figure.name}".lower())


def result_item(claim, result):
    name = label(claim, result)
    text = (html(name) + ": " if name else "") + f"<b>{html(ours(claim, result))}</b>"
    if claim.given:
        text += f" <small>= {claim.to_paper(result)} of the paper's {html(plain(claim.given) + unit_suffix(claim.unit))}</small>"
    return f'<div class="value">{text}</div>'


def claim_item(claim):
    goal = f" <small>({html(str(claim.goal) + unit_suffix(claim.unit))})</small>" if claim.goal else ""
    values = "".join(result_item(claim, result) for result in claim.results)
    missing = f'<div class="value">not run: <code>{html(claim.script())}</code></div>'
    return f"<li><div>{html(claim.name)}{goal} {badge(claim.state())}</div>{values or missing}</li>"


def picture(path, text):
    """A plot as an image inside the page: element names of several SVG drawings would collide if they were inlined."""
    if path.is_file() and path.stat().st_size:
        data = base64.b64encode(path.read_bytes()).decode()
        yield f'<img alt="{html(text)}" src="data:image/svg+xml;base64,{data}">'


def figure_row(paper, figure, folder):
    state = figure.state()
    differ = [html(figure.why)] if figure.why else []
    if state == "lost" and figure.lost:
        differ.append("<b>Lost:</b> " + html(figure.lost))
    yield f'<tbody id="{anchor(paper, figure)}"><tr>'
    yield (f'<th scope="row"><span class="number">{html(figure.name)}</span> {badge(state)}<small>{html(figure.shows)}'
           f" <i>({html(figure.section)})</i></small></th>")
    yield f'<td data-label="paper">{html(figure.quote)}</td>'
    yield '<td data-label="Hearth"><ol>'
    yield from map(claim_item, figure.claims)
    yield "</ol></td>"
    yield f'<td data-label="setting">{html(figure.setting)}</td>'
    yield f'<td data-label="differences">{"<br>".join(differ)}</td></tr>'
    yield '<tr class="plots"><td colspan="5">'
    for plot in figure.plot:
        yield from picture(folder / plot, f"{paper.name} {figure.name}: {figure.shows}")
    yield "</td></tr></tbody>"


def overview(papers):
    yield "<nav>"
    for paper in papers:
        links = "".join(f' <a class="state {class_of(figure.state())}" href="#{anchor(paper, figure)}">{html(figure.name)}</a>'
                        for figure in paper.figures)
        yield f"<p><b>{html(paper.name)}</b>{links}</p>"
    yield "</nav>"


def page(papers, machine, folder):
    yield "<!DOCTYPE html>"
    yield ('<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f"<title>Hearth: results</title><style>\n{STYLE}\n</style></head><body>")
    yield from ("<h1>Results</h1>", f"<p>{INTRODUCTION}</p>", "<ul>")
    yield from (f"<li>{html(text[2:])}</li>" for text in machine if text.startswith("- "))
    yield "</ul>"
    yield from overview(papers)
    for paper in papers:
        yield f"<h2>{html(paper.name)}</h2>"
        yield f"<p>{html(paper.title)}</p>"
        if paper.notes:
            yield f"<p>{'<br>'.join(map(html, paper.notes))}</p>"
        yield "<table><thead><tr><th>figure</th><th>paper</th><th>Hearth</th><th>setting</th><th>differences, and reasons</th></tr></thead>"
        for figure in paper.figures:
            yield from figure_row(paper, figure, folder)
        yield "</table>"
    yield "</body></html>"
