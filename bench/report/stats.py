"""Medians with their 95 % intervals by order statistics, as in sample.c: without an assumption about the distribution."""
import math
from collections import namedtuple

Interval = namedtuple("Interval", "middle low high")


def divide(a, b):
    """a / b in IEEE arithmetic: a table with a zero in it must not end the report."""
    if b:
        return a / b
    return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a)


def median(values):
    """None without values."""
    values = sorted(values)
    count = len(values)
    if not count:
        return None
    return values[count // 2] if count % 2 else (values[count // 2 - 1] + values[count // 2]) / 2


def interval(values):
    """The median and its 95 % interval. Fewer than six values cannot give 95 %: then it is the range of all."""
    values = sorted(values)
    count = len(values)
    centre, spread = (count - 1) / 2, 0.98 * math.sqrt(count)
    low = max(0, int(centre - spread))
    high = min(count - 1, math.ceil(centre + spread))
    return Interval(median(values), values[low], values[high])
