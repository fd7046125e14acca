"""The report of match.sh: matching and hot caching. A row per claim: the paper's value where its text gives one,
Hearth's value, and whether the claim is reached. "missing" stands for a job that failed."""
from pathlib import Path

from .stats import divide, median
from .table import number, read
from .text import at_least, claim, head, machine, row, size, times

ARRAYS = ("lla-2", "lla-4", "lla-8", "lla-16", "lla-32", "lla-64")
STRUCTURES = ("list-random", "list", *ARRAYS, "fast")
HOSTS = {"openmpi": "Open MPI ob1"}


def over(a, b):
    return None if a is None or not b else a / b


def ns(value):
    if value is None:
        return "-"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def mbps(size_, nanoseconds):
    return f"{number(size_) * 1000 / nanoseconds:.4g}" if nanoseconds else "-"


def place(where):
    return "engine" if where == "engine" else f"through {where}"


# ---- the tables ----


class Engine:
    """Nanoseconds per message of the queues alone."""

    def __init__(self, table):
        self.index = table.index("kind", "queue", "structure", "heated", "bytes", "depth", "state", "gap_us", "heater")
        self.structures = table.distinct("structure")
        self.depths = table.distinct("depth", kind="rate")
        self.sizes = {kind: table.distinct("bytes", kind=kind) for kind in ("rate", "bandwidth")}
        self.gaps = table.distinct("gap_us", kind="rate", heated=1, state="cold")

    def ns(self, kind, structure, queue="posted", size_=1, depth=1024, state="cold", heated=0, gap=0, heater="off"):
        return self.index.value("ns", kind, queue, structure, heated, size_, depth, state, gap, heater)

    def rate(self, structure, **setting):
        return self.ns("rate", structure, **setting)

    def warmed(self, structure, depth, gap):
        """The factor by which a search is faster with the heater."""
        without, with_ = (self.rate(structure, depth=depth, heated=1, gap=gap, heater=heater) for heater in ("off", "on"))
        return over(without, with_)


class ThroughMpi:
    """Nanoseconds per message through MPI, medians of the rounds."""

    COLUMNS = ("kind", "mpi", "config", "queue", "bytes", "depth", "state", "gap_us", "heater")

    def __init__(self, table):
        self.table = table
        self.index = table.index(*self.COLUMNS)

    def distinct(self, column, kind):
        return self.table.distinct(column, kind=kind)

    def rows(self, kind, mpi, config, queue="posted", size_=1, depth=1024, state="warm", gap=0, heater="none"):
        return self.index.rows(kind, mpi, config, queue, size_, depth, state, gap, heater)

    def ns(self, kind, mpi, config, **setting):
        return median(number(cells["ns"]) for cells in self.rows(kind, mpi, config, **setting))

    def paired(self, combine, mpi, a, b, size_, depth):
        """The median over the rounds of the ratio of two configurations in the same round."""
        first, second = ({cells["round"]: number(cells["ns"]) for cells in self.rows("size", mpi, config, size_=size_, depth=depth)}
                         for config in (a, b))
        return median(combine(first[round_], second[round_]) for round_ in first if round_ in second)

    def ratio(self, mpi, a, b, size_, depth):
        return self.paired(divide, mpi, a, b, size_, depth)


class Random:
    """Nanoseconds of a random access."""

    def __init__(self, table):
        self.index = table.index("accesses", "bytes", "state", "gap_us", "heater")
        self.sizes = table.distinct("bytes")
        self.gaps = table.distinct("gap_us", state="cold")

    def ns(self, accesses, size_, state, gap, heater):
        return self.index.value("ns", accesses, size_, state, gap, heater)


# ---- Hearth's own figures ----


def against_list(engine, state, structure):
    """The gain over a list in random order, and the times behind it."""
    times_of = {
        (name, queue): engine.rate(name, queue=queue, state=state)
        for name in ("list-random", structure)
        for queue in ("posted", "unexpected")
    }
    slow, fast = times_of["list-random", "posted"], times_of[structure, "posted"]
    slow_unexpected, fast_unexpected = times_of["list-random", "unexpected"], times_of[structure, "unexpected"]
    return over(slow, fast), (f"{ns(slow)} against {ns(fast)} ns; unexpected queue {times(over(slow_unexpected, fast_unexpected))}"
                              f" ({ns(slow_unexpected)} against {ns(fast_unexpected)})")


def spread(engine, queue, state):
    """The slowest divided by the fastest of all long queues."""
    values = [engine.rate("fast", queue=queue, depth=depth, state=state) for depth in engine.depths if number(depth) >= 256]
    return max(values) / min(values) if values and None not in values and max(values) else None


def flat_row(engine, queue):
    warm = spread(engine, queue, "warm")
    return claim(f"engine, {queue} queue: fast from 256 to 16384 entries", "within 2x", times(warm), warm is not None and warm <= 2,
                 f"warm; cold {times(spread(engine, queue, 'cold'))}")


def own_engine(engine):
    for state, structure, limit in (("cold", "lla-8", 4), ("cold", "fast", 50), ("warm", "fast", 80)):
        yield at_least(
            f"engine, 1024 entries, {state}: {structure} against list in random order", limit, *against_list(engine, state, structure)
        )
    yield flat_row(engine, "posted")
    yield flat_row(engine, "unexpected")


def heater_remark(engine, structure):
    pairs = [(gap, *(engine.rate(structure, heated=1, gap=gap, heater=heater) for heater in ("off", "on"))) for gap in engine.gaps]
    text = ", ".join(f"{gap} us: {ns(without)} to {ns(with_)}" for gap, without, with_ in pairs)
    warm, limit = (ns(engine.rate(structure, state=state, heated=1)) for state in ("warm", "read"))
    return f"{text} ns; warm {warm}; after another core has read all memory of the process: {limit}"


def own_heater(engine):
    for structure in ("list", "list-random", "lla-2", "lla-8", "lla-64"):
        yield at_least(
            f"heater, engine, 1024 entries, 1 ms after the caches were emptied: {structure}",
            2,
            engine.warmed(structure, 1024, 1000),
            heater_remark(engine, structure),
        )


def pair_remark(through, mpi, config, depth):
    host, ours = (through.ns("size", mpi, name, depth=depth) for name in ("host", config))
    return f"{ns(host)} against {ns(ours)} ns per message"


def own_node(through, mpi):
    host = HOSTS.get(mpi, "MPICH")
    found = {size_: through.ratio(mpi, "fast", "host", size_, 0) for size_ in (1, 8, 64, 512, 4096, 16384, 65536)}
    ratios = {size_: ratio for size_, ratio in found.items() if ratio is not None}
    worst = max(ratios, key=ratios.get, default=None)
    yield claim(
        f"drop-in, one node, {host}, nothing in front, 1 B to 64 KB",
        "never slower",
        "missing" if worst is None else f"{ratios[worst]:.2f} x its time (worst: {size(worst)})",
        worst is not None and ratios[worst] <= 1,
        "time / host's: " + ", ".join(f"{size(size_)}: {ratio:.2f}" for size_, ratio in ratios.items()),
    )
    yield at_least(f"drop-in, one node, {host}, 1024 in front, 1 B", 40, through.ratio(mpi, "host", "fast", 1, 1024),
                   pair_remark(through, mpi, "fast", 1024))


def own_over_host(through, mpi):
    host = HOSTS.get(mpi, "MPICH")
    slower = through.paired(lambda a, b: a - b, mpi, "over-host", "host", 1, 0)
    yield claim(
        f"drop-in over the host's messages, {host}, nothing in front, 1 B",
        "at most 60 ns slower",
        "missing" if slower is None else f"{slower:+.0f} ns",
        slower is not None and slower <= 60,
        pair_remark(through, mpi, "over-host", 0),
    )
    yield at_least(f"drop-in over the host's messages, {host}, 1024 in front, 1 B", 15, through.ratio(mpi, "host", "over-host", 1, 1024),
                   pair_remark(through, mpi, "over-host", 1024))


# ---- the paper's ----


class Places:
    """The same comparison on the queues alone and through an MPI."""

    def __init__(self, engine, through):
        self.engine, self.through = engine, through

    def ns(self, where, kind, structure, size_, state):
        if where == "engine":
            return self.engine.ns(kind, structure, size_=size_, state=state)
        return self.through.ns(kind, where, structure, size_=size_, state=state)

    def sizes(self, where):
        return self.engine.sizes["bandwidth"] if where == "engine" else self.through.distinct("bytes", "bandwidth")

    def gain(self, where, state, wanted):
        """The largest gain of arrays of 8 over the list, over the given sizes."""
        gains = [over(*(self.ns(where, "bandwidth", structure, size_, state) for structure in ("list", "lla-8")))
                 for size_ in self.sizes(where) if wanted(number(size_))]
        return max((gain for gain in gains if gain is not None), default=None)


def bandwidth_row(places, where, state):
    small = places.gain(where, state, lambda size_: size_ <= 65536)
    large = places.gain(where, state, lambda size_: size_ == 1048576)
    return claim(f"Figs. 4a, 5a: lla-8 against list, {place(where)}, {state}", "up to 2x for small and medium messages", times(small),
                 small is not None and small >= 2, f"1024 in front; 1 MB, where the paper sees little: {times(large)}")


def rate_rows(places, where, size_, state, figure):
    by_name = {name: places.ns(where, "rate", name, size_, state) for name in STRUCTURES}
    if by_name["lla-8"] is None:
        return
    gains = [f"{a} to {b} {times(over(by_name[a], by_name[b]))}" for a, b in (("list", "lla-2"), ("list", "lla-8"), ("lla-8", "lla-64"))
             if by_name[a] is not None and by_name[b] is not None]
    yield claim(f"{figure}: {size(size_)}, {place(where)}, {state}", "a jump from the list to arrays, no gain beyond 8; not given",
                ", ".join(gains), None,
                "ns, 1024 in front: " + ", ".join(f"{name} {ns(value)}" for name, value in by_name.items() if value is not None))


def best_row(engine):
    best, where = None, ""
    for structure in ARRAYS:
        for depth in engine.depths:
            for state in ("warm", "cold"):
                gain = over(*(engine.rate(name, depth=depth, state=state) for name in ("list", structure)))
                if gain is not None and gain > (best or 0):
                    best, where = gain, f"{structure}, {depth} in front, {state}"
    return claim("Abstract: micro-benchmarks, arrays against the list", "up to 4x", times(best), best is not None and best >= 4,
                 where + "; the list in the order of its allocation")


def random_row(random):
    without, with_ = (random.ns("dependent", 1048576, "cold", 1000, heater) for heater in ("off", "on"))
    gain = over(without, with_)
    warm = ns(random.ns("dependent", 1048576, "warm", 0, "off"))
    return claim("Sec. 4.3: random accesses with the heater", "47.5 to 22.9 ns (2.07x), 38.5 to 22.8 ns (1.69x)",
                 "missing" if gain is None else f"{without:.1f} to {with_:.1f} ns ({times(gain)})", gain is not None and gain >= 1.69,
                 f"1 MB, dependent accesses, 1 ms after the caches were emptied; warm {warm} ns")


def heater_rows(engine):
    for structure in ("list", "lla-8"):
        gains = {depth: engine.warmed(structure, depth, 100) for depth in engine.depths}
        text = ", ".join(f"{depth}: {times(gain)}" for depth, gain in gains.items() if gain is not None)
        yield claim(f"Figs. 6b, 7b: the heater by entries in front, {structure}",
                    "gains for short and medium queues on one machine, a slight loss on the other; not given", text or "missing", None,
                    "engine, 1 B, 100 us after the caches were emptied")


def table1_rows(stencil):
    exact = sum(
        all(number(cells[name]) == number(cells["paper_" + name]) for name in ("receivers", "senders", "length")) for cells in stencil.rows
    )
    apart = {}
    for cells in stencil.rows:
        ratio = divide(number(cells["depth"]), number(cells["paper_depth"]))
        apart[f"{cells['block']} {cells['stencil']}"] = 1 / ratio if 0 < ratio < 1 else ratio
    worst = max(apart, key=apart.get, default=None)
    yield claim("Table 1: threads and queue lengths", "as given", f"{exact} of {len(stencil.rows)} rows equal",
                bool(stencil.rows) and exact == len(stencil.rows), "computed from the decomposition")
    yield claim(
        "Table 1: mean search depth",
        "as given",
        f"at most a factor of {apart[worst]:.2f} apart ({worst})" if worst else "missing",
        None,
        "from concurrent threads; see below",
    )


# ---- tables of the measurements ----


def table(title, first, columns, lines):
    """lines: pairs of a first cell and the others."""
    yield from ("", f"### {title}", "")
    yield from head(first, *columns)
    yield from (row(name, *cells) for name, cells in lines)


def engine_rates(engine, queue, size_, state):
    return table(f"Engine, {queue} queue, {size(size_)}, {state}: ns per message", "in front", engine.structures,
                 ((depth, [ns(engine.rate(name, queue=queue, size_=size_, depth=depth, state=state)) for name in engine.structures])
                  for depth in engine.depths))


def engine_heater(engine, queue, gap):
    """gap: microseconds after the caches were emptied; None: warm."""
    state = dict(queue=queue, heated=1, state="warm" if gap is None else "cold", gap=gap or 0)
    return table(
        f"Engine beside the heater, {queue} queue, 1 B, {'warm' if gap is None else f'cold, {gap} us'}: ns without / with",
        "in front",
        engine.structures,
        (
            (
                depth,
                [
                    " / ".join(ns(engine.rate(name, depth=depth, heater=heater, **state)) for heater in ("off", "on"))
                    for name in engine.structures
                ],
            )
            for depth in engine.depths
        ),
    )


def engine_bandwidth(engine, state, heated):
    beside = dict(heated=1, gap=100, heater="on") if heated else {}
    return table(f"Engine, 1024 in front, {state}{', beside the heater, 100 us' if heated else ''}: MB/s", "bytes", engine.structures,
                 ((size_, [mbps(size_, engine.ns("bandwidth", name, size_=size_, state=state, **beside)) for name in engine.structures])
                  for size_ in engine.sizes["bandwidth"]))


def mpi_table(through, title, first, kind, column, cell):
    """A table with a column per configuration and a row per value of a column: cell(config, value)."""
    configs = through.distinct("config", kind)
    return table(title, first, configs, ((value, [cell(config, value) for config in configs]) for value in through.distinct(column, kind)))


def mpi_tables(through, mpi):
    yield from mpi_table(through, f"{mpi}, nothing in front, warm: ns per message", "bytes", "size", "bytes",
                         lambda config, size_: ns(through.ns("size", mpi, config, size_=size_, depth=0)))
    for queue in ("posted", "unexpected"):
        for size_ in through.distinct("bytes", "rate"):
            yield from mpi_table(through, f"{mpi}, {queue} queue, {size(size_)}, warm: ns per message", "in front", "rate", "depth",
                                 lambda config, depth: ns(through.ns("rate", mpi, config, queue=queue, size_=size_, depth=depth)))
    yield from mpi_table(through, f"{mpi}, 1024 in front, warm: MB/s", "bytes", "bandwidth", "bytes",
                         lambda config, size_: mbps(size_, through.ns("bandwidth", mpi, config, size_=size_)))
    yield from mpi_cold(through, mpi, "posted")
    yield from mpi_cold(through, mpi, "unexpected")
    if through.distinct("config", "cold-bandwidth"):
        yield from mpi_table(
            through,
            f"{mpi}, 1024 in front, cold, 100 us: MB/s without / with the heater",
            "bytes",
            "cold-bandwidth",
            "bytes",
            lambda config, size_: " / ".join(
                mbps(size_, through.ns("cold-bandwidth", mpi, config, size_=size_, state="cold", gap=100, heater=heater))
                for heater in ("off", "on")
            ),
        )


def mpi_cold(through, mpi, queue):
    configs = through.distinct("config", "cold")

    def cell(config, depth, gap):
        heaters = ("none",) if config.startswith("host") else ("off", "on")
        return " / ".join(
            ns(through.ns("cold", mpi, config, queue=queue, depth=depth, state="cold", gap=gap, heater=heater)) for heater in heaters
        )

    return table(
        f"{mpi}, {queue} queue, 1 B, cold: ns, without / with the heater, by us after the caches were emptied",
        "in front, us",
        configs,
        (
            (f"{depth}, {gap}", [cell(config, depth, gap) for config in configs])
            for depth in through.distinct("depth", "cold")
            for gap in through.distinct("gap_us", "cold")
        ),
    )


def random_tables(random):
    states = [("warm", 0)] + [("cold", gap) for gap in random.gaps]
    for accesses in ("dependent", "independent"):
        yield from table(f"Random accesses, {accesses}: ns each, without / with the heater, by us after the caches were emptied", "bytes",
                         ["warm", *random.gaps],
                         ((size(size_), [" / ".join(f"{random.ns(accesses, size_, *state, heater) or 0:.1f}" for heater in ("off", "on"))
                                         for state in states]) for size_ in random.sizes))


def cost_table(cost):
    index, sizes = cost.index("kernel", "bytes"), cost.distinct("bytes")

    def cell(kernel, size_):
        ratio, low, high = (index.value(column, kernel, size_) or 0 for column in ("ratio", "low", "high"))
        return f"{ratio:.3f} [{low:.3f}, {high:.3f}]"

    return table("Cost of the heater for a computing thread: its time with / without, by the bytes kept warm", "kernel", sizes,
                 ((kernel, [cell(kernel, size_) for size_ in sizes]) for kernel in cost.distinct("kernel")))


def stencil_table(stencil):
    def cells(one):
        pairs = [f"{one['paper_' + name]} / {one[name]}" for name in ("receivers", "senders", "length", "depth")]
        return [one["stencil"], *pairs[:3], f"{pairs[3]} ({one['least']} to {one['most']})"]

    return table("Table 1: threads that receive and send, queue length, mean depth (minimum and maximum of the trials); paper / Hearth", "block",
                 ["stencil", "receive", "send", "length", "depth"], ((one["block"], cells(one)) for one in stencil.rows))


# ---- the report ----


def introduction(folder, quick):
    yield from (
        "# Matching and hot caching",
        "",
        *machine(folder),
        "",
        'Times are medians. Cold: emptied from all caches by address. The paper\'s values are those that its text gives; "not given" means'
        " that they could only be read off a plot." + (" This was a quick run: fewer depths, sizes and rounds." if quick else ""),
        "Numbers are valid only from an otherwise idle machine: see its load above.",
        "",
    )


def limits(engine, through, mpis):
    yield from ("## Goals", "", *head("what", "limit", "Hearth", "", "remark"))
    yield from own_engine(engine)
    yield from own_heater(engine)
    for mpi in mpis:
        yield from own_node(through, mpi)
        yield from own_over_host(through, mpi)


def figures(engine, through, random, stencil, mpis):
    places = Places(engine, through)
    yield from ("", "## The paper's figures", "", *head("what", "paper", "Hearth", "", "remark"))
    yield best_row(engine)
    for where, state in [("engine", "warm"), ("engine", "cold")] + [(mpi, "warm") for mpi in mpis]:
        yield bandwidth_row(places, where, state)
    yield from rate_rows(places, "engine", 1, "cold", "Figs. 4b, 5b")
    yield from rate_rows(places, "engine", 1, "warm", "Figs. 4b, 5b")
    yield from rate_rows(places, "engine", 4096, "cold", "Figs. 4c, 5c")
    for mpi in mpis:
        yield from rate_rows(places, mpi, 1, "warm", "Figs. 4b, 5b")
        yield from rate_rows(places, mpi, 4096, "warm", "Figs. 4c, 5c")
    yield from heater_rows(engine)
    yield random_row(random)
    yield from table1_rows(stencil)


def engine_tables(engine):
    for queue in ("posted", "unexpected"):
        for size_ in engine.sizes["rate"]:
            yield from engine_rates(engine, queue, size_, "warm")
            yield from engine_rates(engine, queue, size_, "cold")
        for gap in [None, *engine.gaps]:
            yield from engine_heater(engine, queue, gap)
    for state, heated in (("warm", 0), ("cold", 0), ("cold", 1)):
        yield from engine_bandwidth(engine, state, heated)


def report(folder, mpis, quick="0"):
    folder, mpis = Path(folder), mpis.split()
    tables = {name: read(folder / f"{name}.csv") for name in ("engine", "random", "cost", "stencil", "mpi")}
    engine, through, random, stencil = Engine(tables["engine"]), ThroughMpi(tables["mpi"]), Random(tables["random"]), tables["stencil"]
    yield from introduction(folder, quick == "1")
    yield from limits(engine, through, mpis)
    yield from figures(engine, through, random, stencil, mpis)
    yield from ("", "## The tables")
    yield from engine_tables(engine)
    for mpi in mpis:
        yield from mpi_tables(through, mpi)
    yield from random_tables(random)
    yield from cost_table(tables["cost"])
    yield from stencil_table(stencil)
