"""Figures of the papers and what they claim, evaluated on the tables of the benches. The lists are in claims/.

A claim is a value of some rows of a table, or the ratio of two such values. rows() selects rows; least(), most() and total() reduce all
selected rows to one value. Filters are named after columns: a value, a tuple of values, or a bound such as at_least(64).

  over, under  what is measured; without under the claim is the value of over itself; same() names only the differences
  pair         columns: rows of over and under that agree in them were measured side by side, and make one ratio each
  each         columns: the claim is made for each of their values, and all must hold
  pick         highest() or lowest() of some columns: only the value with the highest or lowest median counts. With three pairs or
               more, each pair contributes the value that is the highest or lowest by the other pairs: chance alone would make the
               worst of several equal values look worse than they are
  best         the same for the rows of under alone: which of several alternatives over is compared with
  unit         "x", "%" or a word; % multiplies by 100
  goal         at_least(), at_most(), above() or below(); without it the claim is shown and not judged
  given        the number in the paper's prose

The interval is that of the median by order statistics of the pairs, or the one that the program gave (low and high of rows()).
A claim without rows is "not run"; no value is assumed."""
import operator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional, Union

from .rounds import mean
from .stats import Interval, interval, median
from .table import number
from .text import plain

FOLDERS = {  # the folder below bench/ of the script that writes build/results/NAME
    "clampi": "clampi", "lcc": "clampi", "barnes-hut": "clampi", "modes": "clampi", "match": "match", "halo": "match",
    "armci": "armci", "dft": "armci", "vgasnet": "vgasnet", "dgemm": "vgasnet", "pgas": "vgasnet", "windows": "windows"}
BOUNDS = {"at least": operator.ge, "at most": operator.le, "above": operator.gt, "below": operator.lt}
REDUCTIONS = {"mean": mean, "total": sum, "least": min, "most": max}
ANY = "*"  # matches any value of a column that the table does not have, or that a filter fixes


@dataclass(frozen=True)
class Bound:
    """A limit: the goal of a claim, or a condition on a column."""
    kind: str
    limit: float

    def holds(self, value):
        return BOUNDS[self.kind](value, self.limit)

    def __str__(self):
        return f"{self.kind} {plain(self.limit)}"


def at_least(limit):
    return Bound("at least", limit)


def at_most(limit):
    return Bound("at most", limit)


def above(limit):
    return Bound("above", limit)


def below(limit):
    return Bound("below", limit)


class Pick(NamedTuple):
    want: str
    columns: tuple


def highest(*columns):
    return Pick("highest", columns)


def lowest(*columns):
    return Pick("lowest", columns)


@dataclass
class Operand:
    """One side of a claim: which rows of which table, and how they are reduced."""
    table: str
    column: str
    filters: dict
    reduce: str = "mean"  # of the rows of a pair; least, most and total: of all rows
    low: Optional[str] = None
    high: Optional[str] = None
    inverse: bool = False

    def columns(self):
        return [self.column, *(name for name in (self.low, self.high) if name), *self.filters]

    def fixes(self, name):
        return name in self.filters and not isinstance(self.filters[name], (tuple, Bound))

    def accepts(self, cells):
        return all(matches(cells[name], wanted) for name, wanted in self.filters.items())

    def value(self, cells):
        """None if the row does not count."""
        if cells[self.column] == "" or not self.accepts(cells):
            return None
        value = number(cells[self.column])
        if self.inverse:
            return 1 / value if value else None
        return value


def matches(text, wanted):
    if isinstance(wanted, Bound):
        return wanted.holds(number(text))
    return text in map(str, wanted) if isinstance(wanted, tuple) else text == str(wanted)


def rows(table, column, low=None, high=None, **filters):
    return Operand(table, column, filters, low=low, high=high)


def inverse(table, column, **filters):
    """The reciprocal of each value, so that a mean of rates is taken over times."""
    return Operand(table, column, filters, inverse=True)


def least(table, column, **filters):
    return Operand(table, column, filters, "least")


def most(table, column, **filters):
    return Operand(table, column, filters, "most")


def total(table, column, **filters):
    return Operand(table, column, filters, "total")


@dataclass
class Same:
    """The other side of a claim, by what differs: another column, or other values of filters."""
    column: Optional[str]
    filters: dict

    def of(self, operand):
        return replace(operand, column=self.column or operand.column, filters={**operand.filters, **self.filters})


def same(column=None, **filters):
    return Same(column, filters)


@dataclass
class Result:
    """The result of a claim for one value of its columns in each. pairs is 0 where the program gave the interval."""
    label: tuple
    where: tuple
    middle: float
    low: float
    high: float
    pairs: int
    state: str


@dataclass
class Claim:
    name: str
    over: Operand
    under: Union[Operand, Same, None] = None
    pair: tuple = ()
    each: tuple = ()
    pick: Optional[Pick] = None
    best: Optional[Pick] = None
    unit: str = ""
    goal: Optional[Bound] = None
    given: Optional[float] = None
    results: list = field(default_factory=list)

    def __post_init__(self):
        if isinstance(self.under, Same):
            self.under = self.under.of(self.over)

    def state(self):
        """Lost if one of its results is."""
        states = [result.state for result in self.results]
        return next((state for state in ("lost", "reached", "shown") if state in states), "not run")

    def to_paper(self, result):
        return f"{result.middle / self.given:.2f}" if self.given else ""

    def script(self):
        """The script that writes its table."""
        name = self.over.table.split("/")[0]
        folder = FOLDERS[name] + "/" if name in FOLDERS else ""
        return f"bench/{folder}{name.replace('-', '_')}.sh"


@dataclass
class Figure:
    """why is always printed, lost only if a claim is lost."""
    name: str
    section: str
    shows: str
    quote: str
    claims: list
    setting: str = ""
    plot: tuple = ()
    why: str = ""
    lost: str = ""

    def state(self):
        """Lost if one of its claims is; claims that were not run do not count."""
        states = [claim.state() for claim in self.claims]
        return next((state for state in ("lost", "reached", "shown") if state in states), "not run")


@dataclass
class Paper:
    name: str
    title: str
    figures: list
    notes: tuple = ()


# ---- selecting ----


class Group:
    """The rows of an operand that share a key: values by pair, and the interval that the program gave."""

    def __init__(self):
        self.pairs = {}
        self.given = None

    def add(self, pair, value, given):
        self.pairs.setdefault(pair, []).append(value)
        self.given = given

    def value(self, pair, how):
        return REDUCTIONS[how](self.pairs[pair])


def key_of(operand, table, cells, columns, reduced=False):
    known = [name for name in columns if name in table.columns and not operand.fixes(name) and not reduced]
    return tuple(cells[name] if name in known else ANY for name in columns)


def select(claim, operand, pick, tables):
    """The groups of an operand by (values of each, values of pick); None if the table or a column is not there."""
    table = tables.get(operand.table)
    if table is None or not set(operand.columns()) <= set(table.columns):
        return None
    groups = {}
    reduced = operand.reduce != "mean"
    for position, cells in enumerate(table.rows):
        value = operand.value(cells)
        if value is None:
            continue
        case = key_of(operand, table, cells, pick.columns if pick else (), reduced)
        pair = key_of(operand, table, cells, claim.pair, reduced) if claim.pair or reduced else position
        given = (number(cells[operand.low]), number(cells[operand.high])) if operand.low else None
        groups.setdefault((key_of(operand, table, cells, claim.each), case), Group()).add(pair, value, given)
    return groups


def select_under(claim, tables):
    """The groups of the other side; with best, one for each label, which is compared with every case of pick."""
    groups = select(claim, claim.under, claim.best or claim.pick, tables) or {}
    if claim.best is None:
        return groups
    chosen = {}
    for label in dict.fromkeys(label for label, _ in groups):
        of_label = [group for (known, _), group in groups.items() if known == label]
        best = extreme(claim.best)(of_label, key=lambda group: alone(claim.under, group).interval.middle)
        chosen[label, (ANY,) * len(claim.pick.columns if claim.pick else ())] = best
    return chosen


def extreme(pick):
    return min if pick.want == "lowest" else max


def alike(a, b):
    return all(x == y or ANY in (x, y) for x, y in zip(a, b))


def merged(a, b):
    """Merges two keys that agree."""
    return tuple(y if x == ANY else x for x, y in zip(a, b))


# ---- comparing ----


class Measured(NamedTuple):
    interval: Interval
    pairs: int
    values: dict  # by pair; empty if the sides were not measured in pairs


class Candidate(NamedTuple):
    """What was measured for one label and one case of pick."""
    where: tuple
    measured: Measured


def alone(operand, group, paired=False):
    """One side by itself."""
    values = {pair: group.value(pair, operand.reduce) for pair in group.pairs}
    found = interval(values.values())
    if len(values) == 1 and group.given:
        return Measured(Interval(found.middle, *group.given), 0, {})
    return Measured(found, len(values), values if paired else {})


def apart(claim, group, other):
    """The ratio of two medians; its interval is the widest that theirs allow. None if the divisor is 0."""
    (a, count, _), (b, other_count, _) = alone(claim.over, group), alone(claim.under, other)
    if not b.middle:
        return None
    middle = a.middle / b.middle
    # one side may be a single number, as least() is
    pairs = other_count if count == 1 or (other_count != 1 and other_count < count) else count
    return Measured(Interval(middle, a.low / b.high if b.high else middle, a.high / b.low if b.low else middle), pairs, {})


def partner(pair, pairs):
    if pair in pairs:
        return pair
    return next((one for one in pairs if alike(one, pair)), None)


def side_by_side(claim, group, other):
    """The ratio of values measured side by side: one for each pair."""
    ratios = {}
    for pair in group.pairs:
        match = partner(pair, other.pairs)
        value = other.value(match, claim.under.reduce) if match is not None else 0
        if value:
            ratios[pair] = group.value(pair, claim.over.reduce) / value
    if len(ratios) < 2:
        return apart(claim, group, other) if ratios else None
    return Measured(interval(ratios.values()), len(ratios), ratios)


# ---- claims ----


def evaluate(claim, tables):
    """Sets the results of a claim."""
    claim.results = []
    for label, candidates in candidates_of(claim, tables).items():
        where, measured = picked(claim.pick, candidates)
        factor = 100 if claim.unit == "%" else 1
        middle, low, high = (value * factor for value in measured.interval)
        claim.results.append(Result(label, where, middle, low, high, measured.pairs, judge(claim.goal, middle)))


def candidates_of(claim, tables):
    """By label."""
    found = {}
    groups = select(claim, claim.over, claim.pick, tables) or {}
    if claim.under is None:
        for (label, where), group in groups.items():
            found.setdefault(label, []).append(Candidate(where, alone(claim.over, group, bool(claim.pair))))
        return found
    others = select_under(claim, tables)
    compare = side_by_side if claim.pair else apart
    for key, group in groups.items():
        for other_key, other in others.items():
            measured = compare(claim, group, other) if alike(key[0] + key[1], other_key[0] + other_key[1]) else None
            if measured:
                label, where = merged(key[0], other_key[0]), merged(key[1], other_key[1])
                found.setdefault(label, []).append(Candidate(where, measured))
    return found


def picked(pick, candidates):
    """The highest or lowest candidate; without pick the highest, if one label has several."""
    choose = extreme(pick) if pick else max
    one = choose(candidates, key=lambda candidate: candidate.measured.interval.middle)
    values = by_the_others(choose, [candidate.measured.values for candidate in candidates])
    return Candidate(one.where, Measured(interval(values), len(values), {})) if pick and values else one


def by_the_others(choose, measured):
    """For each pair the value of the case that is the highest or lowest by the medians of the other pairs. Empty with fewer than three
    pairs of each case."""
    if min(len(values) for values in measured) < 3:
        return []
    found = []
    for pair in dict.fromkeys(pair for values in measured for pair in values):
        cases = [values for values in measured if pair in values]
        found.append(choose(cases, key=lambda values: median(value for other, value in values.items() if other != pair))[pair])
    return found


def judge(goal, value):
    if goal is None:
        return "shown"
    return "reached" if goal.holds(value) else "lost"


def evaluate_all(papers, tables):
    for paper in papers:
        for figure in paper.figures:
            for claim in figure.claims:
                evaluate(claim, tables)
