"""The picture of doc/results.md, from results.csv: a bar for each program."""
import math

from .table import number, read

LEFT, WIDTH, HEIGHT, TOP = 330, 420, 46, 44
BARS = (  # figure, claim, setting, title, note
    (
        "lcc",
        "without the library against its default settings",
        "Open MPI",
        "Local Clustering Coefficient",
        "gets cached, MPI_Get on Open MPI",
    ),
    ("barnes-hut", "no cache against Hearth, fixed", "Open MPI, 4 ranks", "Barnes-Hut", "gets cached, memory for half of the tree"),
    (
        "halo",
        "without the library against with, 4 ranks on 2 hosts",
        "Open MPI, 4 ranks on 2 hosts",
        "many meshes, as in a fire simulation",
        "messages matched, on Open MPI",
    ),
    ("halo", "without the library against with, 4 ranks on 2 hosts", "MPICH, 4 ranks on 2 hosts", "the same", "messages matched, on MPICH"),
    (
        "dft",
        "ARMCI-MPI against libarmci, 4 ranks",
        "Open MPI",
        "exchange-correlation kernel",
        "Global Arrays on libarmci, against ARMCI-MPI",
    ),
    ("dgemm", "out of core, cooperative against not", "", "matrix product out of core", "vGASNet, caches that cooperate against not"),
)
STYLE = (
    "<style>.title{font-size:15px;fill:#222}.note{font-size:12px;fill:#666}.value{font-size:15px;fill:#222;font-weight:bold}.bar{fill:#d2691e}"
    ".line{stroke:#ccc}.spread{stroke:#222;stroke-width:2}</style>"
)


def at(value):
    """The position of a factor from 1 to 100."""
    return LEFT + math.log10(value) / 2 * WIDTH


def text(x, y, anchor, class_, words):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" class="{class_}">{words}</text>'


def bar(y, title, note, cells):
    value, low, high = (number(cells[column]) for column in ("ours", "low", "high"))
    yield text(LEFT - 12, y + 12, "end", "title", title)
    yield text(LEFT - 12, y + 28, "end", "note", note)
    yield f'<rect x="{LEFT}" y="{y + 2}" width="{at(value) - LEFT:.0f}" height="22" class="bar"/>'
    yield f'<line x1="{at(max(low, 1)):.0f}" x2="{at(high):.0f}" y1="{y + 13}" y2="{y + 13}" class="spread"/>'
    yield text(at(max(high, value)) + 8, y + 18, "start", "value", f"{value:.1f}x")


def picture(file):
    index = read(file).index("paper", "figure", "claim", "setting")
    found = [(title, note, index.last("Programs", *key)) for *key, title, note in BARS]
    found = [one for one in found if one[2] and one[2]["ours"]]
    bottom = TOP + len(found) * HEIGHT
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 70} {bottom + 40}" font-family="sans-serif">'
    yield STYLE
    yield '<rect width="100%" height="100%" fill="#fff"/>'
    yield text(12, 20, "start", "note", "times as fast with Hearth; 4 ranks on 2 virtual hosts over TCP; the line: over all rounds")
    for tick in (1, 2, 5, 10, 20, 50, 100):
        yield f'<line x1="{at(tick):.0f}" x2="{at(tick):.0f}" y1="{TOP - 12}" y2="{bottom}" class="line"/>'
        yield text(at(tick), bottom + 18, "middle", "note", f"{tick}x")
    for position, one in enumerate(found):
        yield from bar(TOP + position * HEIGHT, *one)
    yield "</svg>"
