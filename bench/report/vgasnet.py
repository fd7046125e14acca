"""The report of vgasnet.sh: segments on NVM behind pools of pages. A row per claim: the paper's words or the limit,
Hearth's value, and whether the claim is reached. "missing" stands for a job that failed."""
import math
from pathlib import Path

from .rounds import Rounds, mean, mean_rate
from .stats import median
from .table import number, read
from .text import claim, head, machine, microseconds, nanoseconds, percent, plain, rate, row, size, times

PLAIN_SHARE = ("plain", "-", "-", "-", "none", "64k")
SMALL_SHARE = ("pages", "1", "1k", "nvm", "paper", "64k")
HOLDERS = {
    "third": "another node has it",
    "changed": "another node has it, and has changed it",
    "both": "its home and another node have it",
    "home": "its home has it",
    "nvm": "no node has it",
}


class Data:
    """The tables, as values by key and round: times, and rates, whose mean is taken over times."""

    def __init__(self, tables, pool, paper_rate):
        self.tables, self.pool, self.paper_rate = tables, pool, paper_rate
        self.times, self.rates = Rounds(mean), Rounds(mean_rate)
        for cells in tables["link"].rows:
            name = {"sleep": "link", "spread": "spread", "bound": "bound"}[cells["config"]]
            self.times.add((name, cells["what"], cells["bytes"]), cells["round"], cells["us"])
            self.rates.add((name, cells["what"], cells["bytes"], cells["window"]), cells["round"], cells["mbps"])
        self.keep(self.times, "hit", "ns", "op", "bytes")
        self.keep(self.times, "small", "us", "config", "op", "where")
        self.keep(self.rates, "fetch", "mbps", "config", "case", "page", "piece", "row")
        share = ("config", "coop", "small", "write_back", "nvm", "page", "way", "free")
        for column in ("us", "low", "high"):
            self.keep(self.times, "share", column, *share, name="share " + column)
        self.keep_walks(tables["walk"])

    def keep(self, rounds, table, column, *columns, name=None):
        for cells in self.tables[table].rows:
            rounds.add((name or table, *(cells[key] for key in columns)), cells["round"], cells[column])

    def keep_walks(self, table):
        for cells in table.rows:
            if cells["what"] == "sweep":
                self.rates.add(("sweep", cells["order"], cells["piece"], cells["page"]), cells["round"], cells["mbps"])
                continue
            key = walk(cells["order"], cells["bytes"], cells["nvm"], cells["coop"])
            for name in (key, (*key, "first" if number(cells["pass"]) == 1 else "later")):
                self.rates.add(name, cells["round"], cells["mbps"])
            self.times.add((*key, "reads"), cells["round"], cells["nvm_reads"])

    def distinct_walks(self, column, order):
        return list(
            dict.fromkeys(cells[column] for cells in self.tables["walk"].select(what="fig", order=order) if cells["coop"] != "plain")
        )

    def distinct_shares(self, column):
        return self.tables["share"].distinct(column, config="pages", small=0)

    def fetch_rates(self):
        """The rates of the NVM under fetches."""
        return list(dict.fromkeys(cells["config"] for cells in self.tables["fetch"].rows if cells["config"] != "plain"))

    def pages(self):
        return list(
            dict.fromkeys(
                cells["page"] for cells in self.tables["fetch"].rows if not number(cells["row"]) and cells["page"] == cells["piece"]
            )
        )

    def nvm_name(self, nvm):
        return "NVM unthrottled" if nvm == "none" else f"NVM at {long(self.paper_rate if nvm == 'paper' else nvm)}/s"

    def in_pools(self, data):
        return plain(number(data) / self.pool)


def walk(order, data, nvm, coop):
    return "walk", order, str(data), nvm, str(coop)


def share(config, coop, small, write_back, nvm, page, way="put", free=0):
    return "share us", config, str(coop), str(small), write_back, nvm, page, way, str(free)


def fetch(config, case, page, piece, in_row=0):
    return "fetch", config, case, str(page), str(piece), str(in_row)


def long(word):
    """A size such as "64k" as "64 KB"."""
    return {"k": f"{word[:-1]} KB", "m": f"{word[:-1]} MB"}.get(word[-1:], word)


def compared(rounds, a, b, words=times):
    """The median ratio and its text with the range of the rounds."""
    ratios = rounds.ratios(a, b)
    ratio = median(ratios)
    spread = f" ({words(min(ratios))} to {words(max(ratios))})" if ratios and min(ratios) != max(ratios) else ""
    return ratio, words(ratio) + spread


# ---- Hearth's own figures ----


def walk_remark(data, on, off):
    def pair(part, words, rounds=data.rates):
        return " against ".join(words(rounds.of((*key, *part))) for key in (on, off))

    return (f"{pair((), rate)} MB/s; first pass {pair(('first',), rate)}, later ones {pair(('later',), rate)};"
            f" NVM reads in a pass {pair(('reads',), lambda value: f'{value or 0:.0f}', data.times)}")


def own_walk(data):
    """Judged only where the NVM is throttled: a disk of this machine may be faster than its network."""
    for size_ in data.distinct_walks("bytes", "sequence"):
        for nvm in data.distinct_walks("nvm", "sequence"):
            if number(size_) <= data.pool:
                continue
            on, off = (walk("sequence", size_, nvm, coop) for coop in (1, 0))
            ratio, text = compared(data.rates, on, off)
            judged = nvm != "none"
            yield claim(f"sequential, 4 ranks, data {data.in_pools(size_)} times a pool, {data.nvm_name(nvm)}: cooperative against not",
                        "at least 1.9x" if judged else "not set", text, ratio is not None and ratio >= 1.9 if judged else None,
                        walk_remark(data, on, off))


def share_row(data, page, nvm, write_back):
    on, off = (share("pages", coop, 0, write_back, nvm, page) for coop in (1, 0))
    ratio, text = compared(data.times, off, on)
    judged = write_back == "nvm" and nvm != "none"
    target = "the NVM" if write_back == "nvm" else "the home's memory"
    return claim(
        f"false sharing, no small operations, pages of {long(page)}, {data.nvm_name(nvm)}, write-back to {target}: cooperative against not",
        "at least 20x" if judged else "not set",
        text,
        ratio is not None and ratio >= 20 if judged else None,
        f"{microseconds(data.times.of(on))} against {microseconds(data.times.of(off))} a put",
    )


def own_share(data):
    for page in data.distinct_shares("page"):
        for nvm in data.distinct_shares("nvm"):
            for write_back in ("nvm", "dram"):
                if any(data.times.list(share("pages", coop, 0, write_back, nvm, page)) for coop in (1, 0)):
                    yield share_row(data, page, nvm, write_back)


def own_small_share(data):
    small, message, put = share(*SMALL_SHARE), share(*PLAIN_SHARE, "message"), share(*PLAIN_SHARE)
    ratio, text = compared(data.times, small, message)
    us = [microseconds(data.times.of(key)) for key in (small, message, put)]
    return claim("false sharing, with small operations, against active messages", "within 5x", text, ratio is not None and ratio <= 5,
                 f"{us[0]} against {us[1]}; GASNet's put takes {us[2]}: {times(data.times.ratio(small, put))} of it")


def own_hits(data):
    for name in ("get", "put"):
        for size_ in data.tables["hit"].distinct("bytes"):
            took, copy = (data.times.of(("hit", one, size_)) for one in (name, "memcpy"))
            most = None if copy is None else 100 + 1.1 * copy
            yield claim(
                f"hit: {name} of {size(size_)}",
                "100 ns + 1.1 memcpy" if most is None else f"at most {nanoseconds(most)}",
                nanoseconds(took),
                took is not None and most is not None and took <= most,
                f"memcpy {nanoseconds(copy)}",
            )


def rate_row(data, what, ours, window, goal):
    """Relative to bare messages from as much memory as the pages have. Messages from one buffer find it in the CPU's caches."""
    bare, cached = ((name, "stream", "1048576", window) for name in ("spread", "link"))
    ratio, text = compared(data.rates, ours, bare, percent)
    return claim(
        what, f"at least {goal} %", text, ratio is not None and 100 * ratio >= goal,
        f"{rate(data.rates.of(ours))} of {rate(data.rates.of(bare))} MB/s; from one buffer {rate(data.rates.of(cached))}"
    )


def own_rates(data):
    """A cooperative fetch does not read the NVM: any of its rates can be used."""
    nvm = (data.fetch_rates() or [""])[0]
    yield rate_row(
        data, "a single cooperative fetch of 1 MB, one page, relative to a single bare message of 1 MB",
        fetch(nvm, "coop", 1048576, 1048576), "1", 70
    )
    yield rate_row(data, "the same, 16 pages of 64 KB", fetch("none", "coop", 65536, 1048576), "1", 50)
    yield rate_row(data, "consecutive cooperative fetches of 1 MB, one page each, relative to consecutive bare messages of 1 MB",
                   fetch("none", "coop", 1048576, 1048576, 1), "4", 80)
    yield rate_row(data, "the same, 16 pages of 64 KB each", fetch("none", "coop", 65536, 1048576, 1), "4", 60)


def small_row(data, name, holder):
    key, trip = ("small", "pages", name, holder), ("link", "trip", "8")
    ratio, text = compared(data.times, key, trip)
    us = [microseconds(data.times.of(one)) for one in (key, trip, ("bound", "trip", "8"), ("small", "plain", name, "plain"),
                                                       ("small", "plain", "message", "home"))]
    judged = holder != "nvm"
    return claim(f"{name} of 8 bytes, {HOLDERS[holder]}", "at most 2 round trips" if judged else "not set", text,
                 ratio is not None and ratio <= 2 if judged else None,
                 f"{us[0]} against {us[1]} ({us[2]} without sleeping); plain GASNet {us[3]}, an active message with its reply {us[4]}")


# ---- the paper's ----


def fig7_rows(data, page, nvm):
    from_nvm, home, coop = (fetch(nvm, case, page, page) for case in ("nvm", "home", "coop"))
    get = fetch("plain", "plain", page, page)
    if data.rates.of(home) is None:
        return
    ratio, of = data.rates.ratio, data.rates.of
    more = "; comparable to or better than gasnet_get; the gap between them very small" if number(page) >= 1048576 else ""
    mbps = [rate(of(key)) for key in (from_nvm, home, coop, get)]
    yield claim(f"Fig. 7, pages of {size(page)}, {data.nvm_name(nvm)}", "home's cache and cooperative much better than NVM" + more,
                f"home {times(ratio(home, from_nvm))}, cooperative {times(ratio(coop, from_nvm))} of NVM", None,
                f"of gasnet_get: home {percent(ratio(home, get))}, cooperative {percent(ratio(coop, get))}; cooperative of home"
                f" {percent(ratio(coop, home))}; NVM {mbps[0]}, home {mbps[1]}, cooperative {mbps[2]}, gasnet_get {mbps[3]} MB/s")


def walk_rows(data, order, nvm, size_):
    on, off = (walk(order, size_, nvm, coop) for coop in (1, 0))
    ratio, text = compared(data.rates, on, off)
    if ratio is None:
        return
    gasnet = data.rates.of(walk("sequence", plain(2 * data.pool), "none", "plain"))
    remark = f"{rate(data.rates.of(on))} against {rate(data.rates.of(off))} MB/s" + ("" if gasnet is None else f"; GASNet {rate(gasnet)}")
    if order == "sequence":
        figure, paper = "Fig. 8, sequential", "1.34 to 1.92x" if number(size_) > data.pool else "below 1x: the protocol costs"
    else:
        figure, paper = "Fig. 9, random", "above 1x, also if the data fits"
        remark += f"; of the sequential rate {percent(data.rates.ratio(on, walk('sequence', size_, nvm, 1)))}"
    yield claim(f"{figure}, data {data.in_pools(size_)} times a pool, {data.nvm_name(nvm)}", paper, text, None, remark)


def fig10_rows(data, page, nvm):
    on, off = (share("pages", coop, 0, "nvm", nvm, page) for coop in (1, 0))
    gasnet = share(*PLAIN_SHARE)
    us = [microseconds(data.times.of(key)) for key in (on, off, gasnet)]
    if data.times.of(on) is None:
        return
    yield claim(
        f"Fig. 10, pages of {long(page)}, {data.nvm_name(nvm)}, no small operations",
        "cooperative 23.5 to 33.7x faster than not, and 138x slower than GASNet",
        f"{times(data.times.ratio(off, on))} faster, {times(data.times.ratio(on, gasnet))} slower",
        None,
        "{}, {}, {} a put".format(*us),
    )


def figures(data):
    yield from ("", "## The paper's figures", "", *head("what", "paper", "Hearth", "", "remark"))
    for nvm in data.fetch_rates():
        for page in data.pages():
            yield from fig7_rows(data, page, nvm)
    for order in ("sequence", "shuffle"):
        for nvm in data.distinct_walks("nvm", order):
            for size_ in data.distinct_walks("bytes", order):
                yield from walk_rows(data, order, nvm, size_)
    for nvm in data.distinct_shares("nvm"):
        for page in data.distinct_shares("page"):
            yield from fig10_rows(data, page, nvm)
    small, put = share(*SMALL_SHARE), share(*PLAIN_SHARE)
    yield claim("Fig. 10, with small operations", "138x slower than GASNet", f"{times(data.times.ratio(small, put))} slower", None,
                f"{microseconds(data.times.of(small))} against {microseconds(data.times.of(put))} a put")


# ---- the page size ----


def sweep(data):
    """Compares sizes by the geometric mean, over the kinds of access, of their share of the best."""
    table = data.tables["walk"]
    pages = table.distinct("page", what="sweep")
    kinds = list(dict.fromkeys((cells["order"], cells["piece"]) for cells in table.select(what="sweep")))
    if not pages:
        return
    rates = {(kind, page): data.rates.of(("sweep", *kind, page)) for kind in kinds for page in pages}
    best = {kind: max(rates[kind, page] or 0 for page in pages) for kind in kinds}
    shares = {
        page: [rates[kind, page] / best[kind] if best[kind] and rates[kind, page] is not None else None for kind in kinds] for page in pages
    }
    scores = {page: math.prod(one or 0 for one in shares[page]) ** (1 / len(kinds)) for page in pages}
    yield from (
        "",
        "## The page size",
        "",
        "Four ranks get from data of twice a pool, cooperative, NVM at 450 MB/s. MB/s of all ranks together, in parentheses relative to the best size.",
        "",
    )
    yield from head("page", *(f"{'in order' if order == 'sequence' else order}, {size(piece)}" for order, piece in kinds), "mean")
    for page in pages:
        yield row(
            size(page), *(f"{rate(rates[kind, page])} ({percent(one)})" for kind, one in zip(kinds, shares[page])), percent(scores[page])
        )
    chosen = max(scores, key=scores.get)
    if not scores[chosen]:
        return  # no size was measured with every kind of access
    count = number(chosen)
    setting = plain(count / 1048576) + "m" if count >= 1048576 else plain(count / 1024) + "k"
    yield from (
        "",
        f"**Recommendation: HEARTH_PAGE_SIZE={setting}**, with {percent(scores[chosen])} of the best of each kind of access, in geometric mean.",
    )


# ---- tables of the measurements ----


def walk_table(data):
    yield from ("", "### All get one segment: MB/s of all ranks, in all passes, the first, the later ones; NVM reads in a pass", "")
    yield from head("order", "data", "NVM", "cooperative", "all", "first", "later", "reads")
    for order in ("sequence", "shuffle"):
        for size_ in data.distinct_walks("bytes", order):
            for nvm in data.distinct_walks("nvm", order):
                for coop in (1, 0):
                    key = walk(order, size_, nvm, coop)
                    mbps = [rate(data.rates.of((*key, *part))) for part in ((), ("first",), ("later",))]
                    yield row(order, size(size_), nvm, "on" if coop else "off", *mbps, f"{data.times.of((*key, 'reads')) or 0:.0f}")


def share_table(data):
    yield from ("", "### False sharing: us of a put", "")
    yield from head("segments", "cooperative", "small operations", "write-back", "NVM", "page", "by", "rounds, or free", "us", "interval")
    columns = ("config", "coop", "small", "write_back", "nvm", "page", "way", "free")
    for key in dict.fromkeys(tuple(cells[name] for name in columns) for cells in data.tables["share"].rows):
        us, low, high = (data.times.of(("share " + column, *key)) or 0 for column in ("us", "low", "high"))
        yield row(*key[:7], "free" if number(key[7]) else "rounds", f"{us:.4g}", f"{low:.4g} to {high:.4g}")


# ---- the report ----


def introduction(folder, data, network_share, quick):
    yield from (
        "# vGASNet: segments on NVM, cooperating page caches",
        "",
        *machine(folder),
        "",
        "Times are medians over rounds in which the compared configurations took turns, in parentheses the range of the rounds. Each rank is a"
        f' node, with a pool of {size(data.pool)} where the data exceeds it. "NVM at {long(data.paper_rate)}/s" is 1/{network_share} of'
        " the network's rate in this run when all nodes got from one by plain GASNet, with as many nodes on these cores as in the"
        " measurements; the ratio of the paper's machine (FDR InfiniBand, SATA disks of about 450 MB/s) was about 1/15. The paper gives"
        " curves without numbers; its words are quoted, and its pages have 4 MB." + (" This was a quick run: fewer sizes and rounds." if quick else ""),
        "Numbers are valid only from an otherwise idle machine: see its load above.",
        "",
    )


def limits(data):
    yield from ("## Goals", "", *head("what", "limit", "Hearth", "", "remark"))
    yield from own_walk(data)
    yield from own_share(data)
    yield own_small_share(data)
    yield from own_hits(data)
    yield from own_rates(data)
    yield from (small_row(data, name, holder) for name in ("get", "put") for holder in HOLDERS)


def report(folder, pool, paper_rate, share, quick="0"):
    folder = Path(folder)
    data = Data(
        {name: read(folder / f"{name}.csv") for name in ("link", "hit", "small", "fetch", "walk", "share")}, number(pool), paper_rate
    )
    yield from introduction(folder, data, share, quick == "1")
    yield from limits(data)
    yield from figures(data)
    yield from sweep(data)
    yield from ("", "## The tables")
    yield from walk_table(data)
    yield from share_table(data)


def nvm_rate(folder, share):
    """The rate to which the NVM is throttled for the paper's ratio of NVM to network: 1/share of the rate of plain GASNet."""
    rates = sorted(number(cells["mbps"]) for cells in read(Path(folder) / "walk.csv").select(coop="plain"))
    yield f"{int(rates[len(rates) // 2] / number(share)) if rates else 100}m"
