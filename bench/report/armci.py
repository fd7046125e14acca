"""The report of armci.sh: ARMCI with a helper thread. A row per claim: the paper's words or the limit, Hearth's
value, and whether the claim is reached. "missing" stands for a job that failed."""
from pathlib import Path

from .rounds import Rounds, first
from .table import number, read
from .text import at_least, claim, head, machine, microseconds, mpi_title, nanoseconds, percent, rate, row, size, times

KINDS = ("get", "acc")
BUSY = {
    "node": "target computes, one node, all cores",
    "nodes": "target computes, two nodes, all cores of its node",
    "all": "target computes, two nodes, all cores of both",
    "nice": "target computes, two nodes, all cores of both at nice 19",
}


class Data:
    """The tables, as values by key and round."""

    def __init__(self, tables):
        self.rounds = Rounds(first)
        self.of, self.ratio = self.rounds.of, self.rounds.ratio
        self.patches, self.ops, self.mallocs = tables["patch"], tables["ops"], tables["malloc"]
        self.keep("ops", tables["ops"], "ns", "where", "mpi", "config", "op", "bytes", "row")
        self.keep("trip", tables["link"], "us", "mpi", "net", "what", "bytes")
        self.keep("link rate", tables["link"], "mbps", "mpi", "net", "what", "bytes")
        self.keep("patch", tables["patch"], "mbps", "figure", "mpi", "config", "kind", "bytes", "clients")
        for column in ("us", "p99", "most"):
            self.keep("busy " + column, tables["busy"], column, "where", "mpi", "config", "op", "bytes", "pause_us")
        self.keep("counter", tables["counter"], "rate", "where", "mpi", "config", "ranks")
        self.keep("counter last", tables["counter"], "last_us", "where", "mpi", "config", "ranks")
        self.keep("malloc", tables["malloc"], "ns", "mpi", "config", "who", "filled", "bytes")

    def keep(self, name, table, column, *columns):
        for cells in table.rows:
            self.rounds.add((name, *(cells[key] for key in columns)), cells["round"], cells[column])

    def configs(self, figure):
        return self.patches.distinct("config", figure=figure)

    def sizes(self, figure):
        return self.patches.distinct("bytes", figure=figure)

    def row_bytes(self, size_):
        """The row of a patch of this size; more than one if figures differ."""
        found = [cells["row"] for cells in self.patches.select(bytes=size_) if cells["figure"] != "rate"]
        return " ".join(dict.fromkeys(found))


def op(where, mpi, config, name, size_, row_bytes):
    return "ops", where, mpi, config, name, str(size_), str(row_bytes)


def patch(figure, mpi, config, kind, size_, clients):
    return "patch", figure, mpi, config, kind, str(size_), str(clients)


def busy(column, where, mpi, config, name, size_, pause):
    return "busy " + column, where, mpi, config, name, str(size_), str(pause)


def smaller(*values):
    return min((value for value in values if value is not None), default=None)


def larger(*values):
    return max((value for value in values if value is not None), default=None)


# ---- Hearth's own figures ----


def near_row(data, mpi, what, name, size_, row_bytes, limit):
    """An operation by itself and with a fence: both must be faster by this factor. Only MPICH's is judged; Open MPI
    has windows in plain shared memory."""
    def compare(operation):
        stock, ours = (op("near", mpi, config, operation, size_, row_bytes) for config in ("stock", "node"))
        return data.ratio(stock, ours), nanoseconds(data.of(ours)), nanoseconds(data.of(stock))

    gain, ours, stock = compare(name)
    remark = f"{ours} against ARMCI-MPI's {stock}"
    fenced = None
    if name in ("put", "acc"):
        fenced, ours, stock = compare(name + "+")
        remark += f"; with a fence {times(fenced)}: {ours} against {stock}"
    title = f"same node, {mpi_title(mpi)}: {what}"
    if mpi == "mpich":
        return at_least(title, limit, smaller(gain, fenced), remark)
    return claim(title, "not set", times(smaller(gain, fenced)), None, remark)


def own_near(data, mpi):
    for what, name in (("8-byte get", "get"), ("8-byte put", "put"), ("8-byte accumulate", "acc"), ("fetch-and-add", "rmw")):
        yield near_row(data, mpi, what, name, 8, 0, 5)
    for what, name in (("get", "get"), ("put", "put"), ("accumulate", "acc")):
        yield near_row(data, mpi, f"{what} of 64 KB in 8-byte rows", name, 65536, 8, 2)
    copy, get = (op("near", mpi, "node", name, 1048576, 0) for name in ("memcpy", "get"))
    share = data.ratio(copy, get)
    yield claim(f"same node, {mpi_title(mpi)}: get of 1 MB", "80 % of memcpy", percent(share), share is not None and share >= 0.8,
                f"{nanoseconds(data.of(get))} against {nanoseconds(data.of(copy))}")


def far_row(data, mpi, net, name, what):
    """The time of the network alone, and of ARMCI on it."""
    trip, ours = ("trip", mpi, net, "trip", "8"), op("far", mpi, net, name, 8, 0)
    ratio = data.ratio(ours, trip)
    ratio = None if ratio is None else ratio * 1e-3  # ns to us
    stock = nanoseconds(data.of(op("far", mpi, "stock-tcp", name, 8, 0)))
    return claim(
        f"other node, {mpi_title(mpi)}, {net}: {what}",
        "within 1.3x of a bare round trip",
        times(ratio),
        ratio is not None and ratio <= 1.3,
        f"{nanoseconds(data.of(ours))} against {microseconds(data.of(trip))}; ARMCI-MPI over TCP, its target in MPI: {stock}",
    )


def rate_row(data, mpi, net, kind, what):
    bare, ours = ("link rate", mpi, net, "stream", "65536"), patch("rate", mpi, net, kind, 65536, 1)
    share = data.ratio(ours, bare)
    reached = None if kind != "acc" else share is not None and share >= 0.5
    return claim(
        f"other node, {mpi_title(mpi)}, {net}: {what}",
        "50 % of the bare rate",
        percent(share),
        reached,
        f"{rate(data.of(ours))} of {rate(data.of(bare))} MB/s; ARMCI-MPI over TCP {rate(data.of(patch('rate', mpi, 'stock-tcp', kind, 65536, 1)))}",
    )


def own_far(data, mpi):
    for net in ("ucx", "mpi"):
        for name, what in (("get", "8-byte get"), ("put+", "8-byte put and fence"), ("acc+", "8-byte accumulate and fence"), ("rmw", "fetch-and-add")):
            yield far_row(data, mpi, net, name, what)
        for kind, what in (("acc", "64 KB accumulate"), ("get", "64 KB get"), ("put", "64 KB put")):
            yield rate_row(data, mpi, net, kind, what)


def naive_row(data, mpi, kind, size_):
    keys = {config: patch("fig3", mpi, config, kind, size_, 1) for config in ("helper", "rows", "lists", "stock-tcp")}
    values = {config: rate(data.of(key)) for config, key in keys.items()}
    return at_least(f"other node, {mpi_title(mpi)}: {kind} of {size(size_)}, rows of {data.row_bytes(size_)}, helper against row by row", 3,
                    data.ratio(keys["helper"], keys["rows"]),
                    f"{values['helper']} against {values['rows']} MB/s; lists {values['lists']}, ARMCI-MPI over TCP {values['stock-tcp']}")


def intimation_rows(data, mpi, kind, clients):
    with_, without = (patch("fig7", mpi, config, kind, 131072, clients) for config in ("intimation", "no-intimation"))
    title = f"{mpi_title(mpi)}, 128 KB {kind}, {clients} live: "
    yield at_least(title + "2 x 3 KB and a pool of 4 x 32 KB, with intimation against without", 3, data.ratio(with_, without),
                   f"{rate(data.of(with_))} against {rate(data.of(without))} MB/s")
    if kind != "acc" or clients != 1:
        return
    long_, same_ = (patch("fig7", mpi, config, kind, 1048576, clients) for config in ("intimation", "4x32k"))
    share = data.ratio(long_, same_)
    yield claim(f"{mpi_title(mpi)}, 1 MB {kind}: the same against 4 x 32 KB for each", "at least 90 %", percent(share),
                share is not None and share >= 0.9, f"{rate(data.of(long_))} against {rate(data.of(same_))} MB/s")


def busy_row(data, where, mpi, config, name, size_, limit, stock):
    """The slower of the two: back to back, or with a sleep in between."""
    def value(column, pause):
        return data.of(busy(column, where, mpi, config, name, size_, pause))

    def told(pause):
        return microseconds(value("us", pause)), microseconds(value("p99", pause)), microseconds(value("most", pause))

    worst = larger(value("p99", 0), value("p99", 200))
    stock_us = microseconds(data.of(busy("us", "node" if stock == "stock" else "nodes", mpi, stock, name, size_, 0)))
    title = f"{BUSY[where]}, {mpi_title(mpi)}{'' if config == 'node' else f', {config}'}: {name} of {size(size_)}"
    return claim(title, f"p99 within {limit} ms", microseconds(worst), worst is not None and worst <= limit * 1000,
                 "median {}, p99 {}, most {}; with pauses {}, {}, {}; ARMCI-MPI {}".format(*told(0), *told(200), stock_us))


def busy_rows(data, where, mpi, config, stock):
    for name in ("get", "put", "acc", "rmw", "lock"):
        yield busy_row(data, where, mpi, config, name, 8, 1, stock)
    for name in ("get", "put", "acc"):
        yield busy_row(data, where, mpi, config, name, 65536, 5, stock)


def own_busy(data, mpi, quick):
    yield from busy_rows(data, "node", mpi, "node", "stock")
    for where in ("nodes", "all") if quick else ("nodes", "all", "nice"):
        yield from busy_rows(data, where, mpi, "ucx", "stock-tcp")
    yield from busy_rows(data, "nodes", mpi, "mpi", "stock-tcp")


def counter_row(data, where, mpi, config, stock, ranks):
    ours, theirs = (where, mpi, config, str(ranks)), (where, mpi, stock, str(ranks))
    rates = [data.of(("counter", *key)) or 0 for key in (ours, theirs)]
    lasts = [microseconds(data.of(("counter last", *key))) for key in (ours, theirs)]
    last = data.ratio(("counter last", *theirs), ("counter last", *ours))
    return at_least(f"fetch-and-add by all of {ranks} ranks, {'one node' if where == 'node' else 'two nodes'}, {mpi_title(mpi)}", 2,
                    data.ratio(("counter", *ours), ("counter", *theirs)),
                    f"{rates[0]:.3g} against {rates[1]:.3g} a second; of the last rank {times(last)}: {lasts[0]} against {lasts[1]} each")


def malloc_rows(data, mpi):
    """A pair of ARMCI_Malloc and ARMCI_Free must not take longer than ARMCI-MPI's, at any size."""
    for who, filled, size_ in dict.fromkeys((cells["who"], cells["filled"], cells["bytes"]) for cells in data.mallocs.rows):
        stock, ours = (("malloc", mpi, config, who, filled, size_) for config in ("stock", "node"))
        yield at_least(f"ARMCI_Malloc and ARMCI_Free of {size(size_)} by {'one of' if who == 'one' else 'each of'} 2 ranks"
                       f"{', filled' if number(filled) else ''}, {mpi_title(mpi)}", 1, data.ratio(stock, ours),
                       f"{nanoseconds(data.of(ours))} against {nanoseconds(data.of(stock))}")


# ---- the paper's ----


def by_size(data, figure, mpi, a, b, kind, clients, least_size=8):
    """The ratio between two configurations for every size from least_size on."""
    found = {size_: data.ratio(patch(figure, mpi, a, kind, size_, clients), patch(figure, mpi, b, kind, size_, clients))
             for size_ in data.sizes(figure) if number(size_) >= least_size}
    return {size_: ratio for size_, ratio in found.items() if ratio is not None}


def span(data, figure, mpi, a, b, kind, clients):
    ratios = by_size(data, figure, mpi, a, b, kind, clients).values()
    return f"{times(min(ratios))} to {times(max(ratios))}" if ratios else "missing"


def fig3_rows(data, figure, mpi, kind):
    if not data.configs(figure):
        return
    ratios = by_size(data, figure, mpi, "helper", "rows", kind, 1, 64)
    worst = min(ratios, key=ratios.get, default=None)
    title = f"Fig. 3{'' if figure == 'fig3' else ', 4 ranks on fewer cores'}, {kind}, {mpi_title(mpi)}"
    yield claim(title, "the helper thread is more suitable than many messages; curves not given",
                "missing" if worst is None else (f"at least {times(ratios[worst])} ({size(worst)}),"
                                                 f" {span(data, figure, mpi, 'helper', 'rows', kind, 1)} over all sizes"),
                worst is not None and ratios[worst] >= 1, "sizes of more than one row")
    yield claim(title, "scatter/gather lists are not much better than many messages (its network does them in software)",
                f"lists against rows {span(data, figure, mpi, 'lists', 'rows', kind, 1)}", None,
                f"helper against lists {span(data, figure, mpi, 'helper', 'lists', kind, 1)}")


def fig5_row(data, mpi, kind):
    return claim(
        f"Fig. 5, {kind}, {mpi_title(mpi)}",
        'in this tight loop the rule is slower: "the opposite" of the application\'s gain; not given',
        f"rule against float {span(data, 'fig5', mpi, 'rule', 'float', kind, 1)}",
        None,
        f"moving 100 times as readily: {span(data, 'fig5', mpi, 'rule-often', 'float', kind, 1)}",
    )


def best_row(title, paper, ratios, limit, remark):
    best = max(ratios, key=ratios.get, default=None)
    return claim(title, paper, "missing" if best is None else f"up to {times(ratios[best])} ({size(best)})",
                 best is not None and ratios[best] >= limit, remark)


def fig6_row(data, mpi, kind):
    return best_row(f"Fig. 6, {kind}, {mpi_title(mpi)}", "more and larger buffers: in some cases the bandwidth was doubled",
                    by_size(data, "fig6", mpi, "4x128k", "2x4k", kind, 1), 2,
                    f"4 x 128 KB against 2 x 4 KB for each client: {span(data, 'fig6', mpi, '4x128k', '2x4k', kind, 1)}")


def fig7_row(data, mpi, kind, clients):
    return best_row(f"Fig. 7, {kind}, {clients} live, {mpi_title(mpi)}", "improved by three fold",
                    by_size(data, "fig7", mpi, "intimation", "no-intimation", kind, clients), 3,
                    f"over all sizes {span(data, 'fig7', mpi, 'intimation', 'no-intimation', kind, clients)};"
                    f" against 4 x 128 KB {span(data, 'fig7', mpi, 'intimation', '4x128k', kind, clients)}")


# ---- tables of the measurements ----


def table(title, first_title, columns, lines):
    yield from ("", f"### {title}", "")
    yield from head(first_title, *columns)
    yield from (row(name, *cells) for name, cells in lines)


def patch_table(data, figure, mpi, kind, clients, title):
    configs, sizes = data.configs(figure), data.sizes(figure)
    if not configs or data.of(patch(figure, mpi, configs[0], kind, sizes[0], clients)) is None:
        return []
    beside = f", {clients} clients" if clients > 1 else ""
    return table(
        f"{title}, {kind}, {mpi_title(mpi)}{beside}: MB/s",
        "bytes (row)",
        configs,
        (
            (f"{size_} ({data.row_bytes(size_)})", [rate(data.of(patch(figure, mpi, config, kind, size_, clients))) for config in configs])
            for size_ in sizes
        ),
    )


def ops_table(data, where, mpi, configs):
    found = dict.fromkeys((cells["op"], cells["bytes"], cells["row"]) for cells in data.ops.select(where=where))
    return table(f"Single operations, {'same node' if where == 'near' else 'other node'}, {mpi_title(mpi)}", "operation", configs,
                 ((f"{name} of {size(size_)}{f' in rows of {row_bytes}' if number(row_bytes) else ''}",
                   [nanoseconds(data.of(op(where, mpi, config, name, size_, row_bytes))) for config in configs])
                  for name, size_, row_bytes in found))


# ---- the report ----


def introduction(folder, quick):
    yield from (
        "# ARMCI with a helper thread",
        "",
        *machine(folder),
        "",
        "This machine emulates two nodes: they share no core (except where all cores compute, and in Fig. 5), and communicate through the"
        " loopback device, over TCP or with MPI messages. Times are medians over rounds in which the compared configurations took turns."
        " The targets of ARMCI-MPI wait in MPI, except where they compute. The paper gives curves without numbers; its words are"
        " quoted." + (" This was a quick run: fewer sizes and rounds." if quick else ""),
        "Numbers are valid only from an otherwise idle machine: see its load above.",
        "",
    )


def limits(data, mpis, figure_mpis, quick):
    yield from ("## Goals", "", *head("what", "limit", "Hearth", "", "remark"))
    for own in (own_near, own_far):
        for mpi in mpis:
            yield from own(data, mpi)
    yield from (naive_row(data, mpi, kind, size_) for mpi in figure_mpis for kind in KINDS for size_ in (4096, 65536))
    for mpi in figure_mpis:
        for kind in KINDS:
            for clients in (1, 2):
                yield from intimation_rows(data, mpi, kind, clients)
    for mpi in mpis:
        yield from own_busy(data, mpi, quick)
    for mpi in mpis:
        for ranks in (2, 4):
            yield counter_row(data, "node", mpi, "node", "stock", ranks)
            yield counter_row(data, "nodes", mpi, "ucx", "stock-tcp", ranks)
    for mpi in mpis:
        yield from malloc_rows(data, mpi)


def figures(data, figure_mpis):
    yield from ("", "## The paper's figures", "", *head("what", "paper", "Hearth", "", "remark"))
    for mpi in figure_mpis:
        for kind in KINDS:
            yield from fig3_rows(data, "fig3", mpi, kind)
            yield from fig3_rows(data, "fig3-4", mpi, kind)
            yield fig5_row(data, mpi, kind)
            yield fig6_row(data, mpi, kind)
            yield fig7_row(data, mpi, kind, 1)
            yield fig7_row(data, mpi, kind, 2)


def tables_behind(data, mpis, figure_mpis):
    yield from ("", "## The tables")
    for mpi in mpis:
        yield from ops_table(data, "near", mpi, ["node", "stock"])
        yield from ops_table(data, "far", mpi, ["ucx", "mpi", "stock-tcp"])
    for mpi in figure_mpis:
        for kind in KINDS:
            for figure, clients, title in (("fig3", 1, "Fig. 3"), ("fig3-4", 1, "Fig. 3, 4 ranks on fewer cores"), ("fig5", 1, "Fig. 5"),
                                           ("fig6", 1, "Fig. 6"), ("fig7", 1, "Fig. 7"), ("fig7", 2, "Fig. 7")):
                yield from patch_table(data, figure, mpi, kind, clients, title)


def report(folder, mpis, quick="0"):
    folder, mpis = Path(folder), mpis.split()
    data = Data({name: read(folder / f"{name}.csv") for name in ("ops", "link", "patch", "busy", "counter", "malloc")})
    figure_mpis = data.patches.distinct("mpi", figure="fig3")
    yield from introduction(folder, quick == "1")
    yield from limits(data, mpis, figure_mpis, quick == "1")
    yield from figures(data, figure_mpis)
    yield from tables_behind(data, mpis, figure_mpis)
