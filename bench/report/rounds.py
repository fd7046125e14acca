"""Values by round. Compared runs are in the same round, so that a slow minute affects all alike: ratios are computed
round by round."""
from .stats import divide, median
from .table import number


def first(values):
    return values[0]


def last(values):
    return values[-1]


def mean(values):
    return sum(values) / len(values)


def mean_rate(values):
    """The harmonic mean: the mean of rates is taken over times."""
    times = [1 / value for value in values if value]
    return divide(len(times), sum(times)) if times else None


class Rounds:
    """Values by key and round; combine reduces several values of one round to one. Round 0 is a trial run and does
    not count."""

    def __init__(self, combine=last):
        self.combine = combine
        self.values = {}

    def add(self, key, round_, value):
        if int(number(round_)) > 0:
            self.values.setdefault(key, {}).setdefault(int(number(round_)), []).append(number(value))

    def by_round(self, key):
        """One value for each round, as {round: value}."""
        combined = {round_: self.combine(values) for round_, values in sorted(self.values.get(key, {}).items())}
        return {round_: value for round_, value in combined.items() if value is not None}

    def list(self, key):
        return list(self.by_round(key).values())

    def of(self, key):
        """The median of the rounds; None if it was not measured."""
        return median(self.list(key))

    def ratios(self, a, b):
        """a / b of every round that has both."""
        over, under = self.by_round(a), self.by_round(b)
        return [over[round_] / under[round_] for round_ in over if under.get(round_)]

    def ratio(self, a, b):
        """The median of the ratios; None if no round has both."""
        return median(self.ratios(a, b))
