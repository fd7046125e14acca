"""The report of clampi.sh: the micro-benchmark of the CLaMPI paper, and the limits that Hearth sets itself. A row per
claim: the paper's value where its text gives one, Hearth's value, and whether the claim is reached. "missing" stands
for a job that failed."""
from pathlib import Path

from .stats import divide
from .table import number, read
from .text import head, row, size

SIZES = [1 << power for power in range(17)]
STREAM_SIZES = SIZES[3:]
KINDS = ("raw", "hitting", "direct", "conflicting", "capacity", "failing")
PARTS = ("lookup", "lookup-miss", "direct", "conflicting", "capacity", "failing", "copy")
SCHEMES = ("full", "temporal", "positional")
VARIED = ("index", "storage")


def verdict(reached):
    return "yes" if reached else "**no**"


def flush_words(how):
    return "a flush each" if how == "each" else "a flush for 8 gets"


# ---- the tables ----


class Access:
    """Latencies by MPI, kind and size; a kind is read from the setting that produces it."""

    SETTINGS = {"conflicting": "small-index", "capacity": "small-storage", "failing": "small-storage"}

    def __init__(self, table):
        self.index = table.index("mpi", "setting", "kind", "bytes")

    def find(self, mpi, kind, size_):
        return self.index.last(mpi, self.SETTINGS.get(kind, "roomy"), kind, size_)

    def value(self, column, mpi, kind, size_):
        return number((self.find(mpi, kind, size_) or {}).get(column))

    def beyond_raw(self, mpi, kind, size_):
        """Microseconds beyond the raw get of the same setting, as printed; None if no such access occurred."""
        found = self.find(mpi, kind, size_)
        if found is None:
            return None
        raw = self.index.last(mpi, found["setting"], "raw", size_) or {}
        return f"{number(found['latency_us']) - number(raw.get('latency_us')):+.1f}"

    def hidden(self, mpi, kind, size_):
        """The share that computation hides."""
        found = self.find(mpi, kind, size_) or {}
        return f"{100 * number(found['share']):.0f} %" if found.get("share") else "none seen"


class Times:
    """Completion times: the minimum of all rounds; the other counts are those of the last round."""

    def __init__(self, table):
        self.index = table.index("mpi", "vary", "start", "strategy", "gets")
        self.starts = {vary: table.distinct("start", vary=vary) for vary in VARIED}

    def seconds(self, *key):
        found = [number(cells["seconds"]) for cells in self.index.rows(*key)]
        return min(found) if found else None

    def last(self, column, *key):
        return number((self.index.last(*key) or {}).get(column))

    def best_fixed(self, mpi, gets):
        found = [self.seconds(mpi, vary, start, "off", gets) for vary in VARIED for start in self.starts[vary]]
        return min((seconds for seconds in found if seconds), default=0)


class Victims:
    """Means over the runs of a scheme with this number of slots."""

    def __init__(self, table):
        self.index = table.index("scheme", "slots")
        self.slots = table.distinct("slots")
        self.to_data = number(table.rows[-1]["storage_to_data"]) if table.rows else 0

    def runs(self, scheme, slots):
        return len(self.index.rows(scheme, slots))

    def mean(self, column, scheme, slots):
        found = [number(cells[column]) for cells in self.index.rows(scheme, slots)]
        return sum(found) / len(found) if found else 0


class Streams:
    """Streams without reuse: alternating in one launch, and launches with against launches without the library."""

    def __init__(self, table):
        self.index = table.index("mpi", "library", "window", "flush", "bytes")
        self.launches = table.index("mpi", "library", "flush", "bytes")
        self.table = table

    def find(self, *key):
        return self.index.last(*key) or {}

    def ratio(self, *key):
        return number(self.find(*key).get("ratio"))

    def spread(self, *key):
        found = self.find(*key)
        return f"{number(found['low']):.3f}, {number(found['high']):.3f}" if found else ""

    def launch_ns(self, mpi, library, how, size_):
        return min((number(cells["tenth_ns"]) for cells in self.launches.rows(mpi, library, how, size_)), default=0)

    def launch_ratio(self, mpi, window, how, size_):
        without = self.launch_ns(mpi, "launch-without", how, size_)
        return self.launch_ns(mpi, "launch-" + window, how, size_) / without if without else 0

    def hits(self, mpi):
        return max((number(cells["hits"]) for cells in self.table.select(mpi=mpi, library="with")), default=0)


# ---- the figures of the paper ----


def hit_row(access, mpi, size_, paper):
    what = f"Fig. 7: hit of {size(size_)} against the raw get, {mpi}"
    if access.find(mpi, "hitting", size_) is None:
        return row(what, "IV-A1", f"{paper}x", "missing", "", "", verdict(False), "")
    hit, raw = access.value("latency_us", mpi, "hitting", size_), access.value("latency_us", mpi, "raw", size_)
    got = divide(raw, hit)
    return row(what, "IV-A1", f"{paper:.1f}x faster than foMPI", f"{got:.1f}x ({hit:.2f} us against {raw:.2f} us)", f"{got / paper:.2f}",
               "4 K slots, 16 MB, fixed", verdict(got >= paper),
               "the raw get is TCP here, Aries there; each timing holds two clock readings and a cold cache")


def span_row(parts, what, paper, kinds, base, limit, remark):
    index = parts.index("part", "bytes")
    values = [number(cells["least_ns"]) - (index.value("least_ns", base, cells["bytes"]) or 0 if base else 0)
              for kind in kinds for cells in parts.select(part=kind)]
    least, most = min(values, default=1e9), max(values + [0])
    return row(what, "IV-A1", paper, f"{least:.0f} .. {most:.0f} ns over all sizes", "not given", "cache alone, without MPI",
               verdict(most <= limit * least) if limit else "-", remark)


def failing_row(access, mpi):
    extra = {kind: access.beyond_raw(mpi, kind, 65536) for kind in ("direct", "capacity", "failing")}
    told = {kind: f"{value} us" if value else "none seen" for kind, value in extra.items()}
    return row(f"Fig. 7: a failing access copies nothing, {mpi}", "IV-A1", "no copy phase; us not given",
               f"64 KB beyond the raw get: direct {told['direct']}, capacity {told['capacity']}, failing {told['failing']}", "not given",
               "1.5 K slots, 1 MB, fixed", verdict(extra["failing"] is not None and number(extra["failing"]) < number(extra["direct"])),
               "each against the raw gets of its own launch")


def fig7(parts, access, mpis):
    for mpi in mpis:
        yield hit_row(access, mpi, 4096, 9.3)
        yield hit_row(access, mpi, 16384, 3.7)
    yield span_row(parts, "Fig. 7: lookup, all kinds of access", "constant, ns not given", ("lookup", "lookup-miss"), "", 2,
                   "hit and miss, 1 B to 64 KB")
    yield span_row(parts, "Fig. 7: eviction of a conflicting access", "constant, ns not given", ("conflicting",), "direct", 2,
                   "beyond the direct access; walks a path of up to 32 slots")
    yield span_row(parts, "Fig. 7: eviction of a capacity access", "by the sample's size, ns not given", ("capacity",), "direct", 0,
                   "beyond the direct access; samples 16 slots")
    for mpi in mpis:
        yield failing_row(access, mpi)


def fig8(access, mpis):
    for mpi in mpis:
        raw, direct = (access.value("share", mpi, kind, 65536) for kind in ("raw", "direct"))
        yield row(f"Fig. 8: raw get of 64 KB, overlapped, {mpi}", "IV-A1", "85 %", f"{100 * raw:.0f} %", f"{raw / 0.85:.2f}",
                  "computation 1.25 x raw get", "-",
                  "without Hearth: over TCP the host MPI moves data only inside its calls, Aries moves it in hardware")
        yield row(f"Fig. 8: direct, capacity, failing of 64 KB, {mpi}", "IV-A1", "direct and capacity alike, failing higher; not given",
                  f"{100 * direct:.0f} %, {access.hidden(mpi, 'capacity', 65536)}, {access.hidden(mpi, 'failing', 65536)}", "not given",
                  "as Fig. 7", verdict(direct >= 0.9 * raw), "bounded by the raw get's share above; direct: at least 0.9 of it")


def small_index_row(times, mpi):
    best = times.best_fixed(mpi, 20000)
    start = (times.starts["index"] or [""])[0]
    small = times.seconds(mpi, "index", start, "off", 20000) or 0
    raw = times.seconds(mpi, "none", 0, "raw", 20000) or 0
    return row(f"Fig. 9: fixed with too small an index, {mpi}", "IV-A2", "poor for 200 <= slots < N = 1 K; not given",
               f"{start} slots: {small / best:.1f} x the best fixed time" if best else "missing", "not given", "Z = 20 K, 16 MB",
               verdict(best and small > 1.15 * best), f"raw, without the library: {raw / best:.1f} x" if best and raw else "")


def adaptive_row(times, mpi, vary, gets):
    best = times.best_fixed(mpi, gets)
    found = {start: times.seconds(mpi, vary, start, "on", gets) for start in times.starts[vary]}
    ratios = {start: seconds / best for start, seconds in found.items() if seconds is not None and best}
    worst = max(ratios, key=ratios.get, default=None)
    return row(
        f"Fig. 9: adaptive from any {vary}, Z = {gets // 1000} K, {mpi}",
        "IV-A2",
        "similar to the best fixed (IV-C1); not given here",
        "missing" if worst is None else f"{ratios[worst]:.2f} x the best fixed time (from {worst})",
        "limit 1.15",
        "16 MB to start" if vary == "index" else "2 K slots to start",
        verdict(worst is not None and ratios[worst] <= 1.15),
        ", ".join(f"{start}: {ratio:.2f}" for start, ratio in ratios.items()),
    )


def fig9(times, mpis):
    for mpi in mpis:
        yield small_index_row(times, mpi)
        for gets in (20000, 100000):
            for vary in VARIED:
                yield adaptive_row(times, mpi, vary, gets)


def occupied_row(victims, scheme, paper, reached, remark):
    occupied, measured = victims.mean("occupied", scheme, 1500), bool(victims.runs(scheme, 1500))
    data = f" = {100 * victims.to_data:.0f} % of the data" if measured else ""
    return row(
        f"Fig. 10: occupied storage, {scheme}",
        "IV-A3",
        paper,
        f"{100 * occupied:.1f} %" if measured else "missing",
        "not given" if "90" not in paper else f"{occupied / 0.9:.2f}" if measured else "",
        f"1.5 K slots, 1 MB{data}, Z = 100 K",
        verdict(reached),
        remark,
    )


def fig10(victims):
    full, positional, temporal = (victims.mean("occupied", scheme, 1500) for scheme in ("full", "positional", "temporal"))
    yield occupied_row(victims, "full", "around 90 %", full >= 0.88, "mean since the first capacity or failing access")
    yield occupied_row(victims, "positional", "around 90 %", positional >= 0.88, "")
    yield occupied_row(victims, "temporal", "falling, below the others; not given", victims.runs("temporal", 1500) and temporal < full,
                       "best fit and merging lose less to fragmentation than the paper's storage")


def fig11(victims):
    slots, mean = victims.slots, victims.mean
    first, last = (slots[0], slots[-1]) if slots else ("", "")
    hits = {count: [mean("hit_ratio", scheme, count) for scheme in SCHEMES] for count in slots}
    best = sum(hits[count][0] >= max(hits[count]) for count in slots)
    free = sum(mean("occupied", "temporal", count) <= min(mean("occupied", scheme, count) for scheme in SCHEMES) for count in slots)
    worst = max((mean("conflicting", "full", count) for count in slots), default=0)
    visited, nonempty = ([mean(column, "full", count) for count in (first, last)] for column in ("visited", "nonempty"))
    by_slots = ", ".join(f"{count}: " + "/".join(f"{100 * hit:.1f}" for hit in hits[count]) for count in slots)
    yield row("Fig. 11: full has the best hit ratio", "IV-A3", "for all index sizes; not given", f"for {best} of {len(slots)}", "not given",
              "1 MB, Z = 100 K", verdict(slots and best == len(slots)), "hits in %, full/temporal/positional, by slots: " + by_slots)
    yield row(
        "Fig. 11: visited slots per eviction",
        "IV-A3",
        "16, more with a larger index; not given",
        f"{visited[0]:.2f} to {visited[1]:.2f} ({first} to {last} slots)",
        "not given",
        "M = 16",
        verdict(slots and visited[1] >= visited[0]),
        "",
    )
    yield row("Fig. 11: non-empty of the visited", "IV-A3", "falls with a larger index; not given",
              f"{100 * nonempty[0]:.0f} % to {100 * nonempty[1]:.0f} %", "not given", "", verdict(slots and nonempty[1] < nonempty[0]), "")
    yield row(
        "Fig. 11: temporal leaves the most free",
        "IV-A3",
        "the highest free space; not given",
        f"for {free} of {len(slots)}",
        "not given",
        "",
        verdict(slots and free == len(slots)),
        "",
    )
    yield row("Fig. 11: conflicting accesses, slots >= N", "IV-A3", "below 5 %", f"at most {100 * worst:.2f} %", f"{worst / 0.05:.2f}", "",
              verdict(slots and worst < 0.05), "")


# ---- Hearth's own ----


def hit_limit_row(hits, mpi):
    beyond = {size_: hits.value("hit_least_ns", mpi, size_) - 1.06 * hits.value("copy_least_ns", mpi, size_)
              for size_ in SIZES if hits.last(mpi, size_)}
    missing = len(beyond) < len(SIZES)
    worst = max(beyond, key=beyond.get, default=None)
    value = 1e9 if missing else beyond[worst]
    return row(f"full hit + flush, 1 B to 64 KB, {mpi}", "own", "60 ns + 1.06 x memcpy",
               "missing" if missing else f"{value:.0f} ns + 1.06 x memcpy (worst: {size(worst)})",
               "" if missing else f"{value / 60:.2f}", "always, over TCP",
               verdict(value <= 60), "4 entries in turn, least of the batches, memcpy alternating with the hits, same sizes and alignment")


def own_hits(hits, mpis):
    for mpi in mpis:
        yield hit_limit_row(hits, mpi)
        hit, raw = (hits.value(column, mpi, 4096) or 0 for column in ("hit_least_ns", "raw_ns"))
        faster = raw / hit if hit else 0
        yield row(
            f"full hit of 4 KB + flush against the raw get, {mpi}",
            "own",
            "at least 60x",
            f"{faster:.0f}x ({hit:.0f} ns against {raw / 1000:.1f} us)",
            f"{faster / 60:.2f}",
            "always, over TCP",
            verdict(faster >= 60),
            "raw: the median",
        )


def stream_row(streams, mpi, window, how):
    ratios = {
        size_: streams.ratio(mpi, "with", window, how, size_) for size_ in STREAM_SIZES if streams.find(mpi, "with", window, how, size_)
    }
    worst = max(ratios, key=ratios.get, default=None)
    missing = len(ratios) < len(STREAM_SIZES)
    remark = "against an uncached window in the same launch"
    if ratios:
        noise = max(abs(streams.ratio(mpi, "without", window, how, size_) - 1) for size_ in ratios)
        launch = max(streams.launch_ratio(mpi, window, how, size_) for size_ in ratios)
        remark += (f"; three plain windows without the library differ by up to {100 * noise:.1f} %;"
                   f" launches with against without, their fastest tenths: at most {100 * (launch - 1):+.1f} %")
    text = "missing" if missing else (f"{100 * (ratios[worst] - 1):+.1f} % (worst: {size(worst)},"
                                      f" [{streams.spread(mpi, 'with', window, how, worst)}])")
    return row(
        f"stream without reuse, {window}, {flush_words(how)}, {mpi}",
        "own",
        "at most 2 % slower",
        text,
        "",
        "default sizes, 8 B to 64 KB",
        verdict(not missing and ratios[worst] <= 1.02),
        remark,
    )


def filling_row(streams, mpi, how):
    """Shown without a verdict: not part of the limit."""
    always, transparent = (streams.ratio(mpi, "with", window, how + "-filling", 8) for window in ("always", "transparent"))
    return row(f"the same while an empty cache fills, {flush_words(how)}, {mpi}", "own", "-",
               f"always {100 * (always - 1):+.1f} %, transparent {100 * (transparent - 1):+.1f} %" if always else "missing", "",
               "the first 10 K gets, of 8 B", "-",
               "data that fits is kept in case it is reused: this ends after the first 8 K entries or 4 MB")


def own_streams(streams, mpis):
    for mpi in mpis:
        for window in ("transparent", "always"):
            for how in ("each", "batch"):
                yield stream_row(streams, mpi, window, how)
        for how in ("each", "batch"):
            yield filling_row(streams, mpi, how)


# ---- tables of the measurements ----


def parts_table(parts):
    index = parts.index("part", "bytes")
    yield from ("", "## Fig. 7: the parts, in ns, on the cache alone", "", "lookup + reserve + settle, without the copy.", "")
    yield from head("bytes", *PARTS)
    for size_ in SIZES[::2]:
        yield row(size_, *((index.last(part, size_) or {}).get("least_ns", "") for part in PARTS))


def access_cell(access, mpi, kind, size_):
    found = access.find(mpi, kind, size_)
    if found is None:
        return "none seen"
    latency, low, high = (number(found[column]) for column in ("latency_us", "low_us", "high_us"))
    hidden = "" if kind == "hitting" or found["share"] == "" else f" ({100 * number(found['share']):.0f} %)"
    return f"{latency:.2f} [{low:.2f}, {high:.2f}]{hidden}"


def access_table(access, mpis):
    for mpi in mpis:
        yield from ("", f"## Figs. 7 and 8: {mpi}, latency in us and (share that computation hides)", "")
        yield from head("bytes", *KINDS)
        for size_ in SIZES:
            yield row(size_, *(access_cell(access, mpi, kind, size_) for kind in KINDS))


def time_cell(times, strategy, *key):
    seconds = times.seconds(*key[:3], strategy, key[3])
    if seconds is None:  # a fixed cache that is too small runs for 20 K gets only
        return "missing" if times.seconds(*key[:3], strategy, 20000) is None else "-"
    slots, end, adjusted = (times.last(column, *key[:3], strategy, key[3]) for column in ("slots", "bytes", "adjustments"))
    return f"{1000 * seconds:.1f}" + (f" ({int(slots)}, {int(end / 1024)}; {int(adjusted)})" if strategy == "on" else "")


def hit_cell(times, *key):
    return "-" if times.seconds(*key) is None else f"{100 * times.last('hit_ratio', *key):.1f} %"


def time_table(times, mpis):
    for mpi in mpis:
        yield from (
            "",
            f"## Fig. 9: {mpi}, completion time in ms, the sum of the fastest pieces of all runs (slots and KB at the end; adjustments)",
            "",
        )
        yield from head("start", "fixed, 20 K gets", "adaptive, 20 K", "fixed, 100 K", "adaptive, 100 K", "hits of fixed, of adaptive")
        for vary in VARIED:
            for start in times.starts[vary]:
                cells = [time_cell(times, strategy, mpi, vary, start, gets) for gets in (20000, 100000) for strategy in ("off", "on")]
                hits = [hit_cell(times, mpi, vary, start, strategy, 100000) for strategy in ("off", "on")]
                yield row(f"{vary} {start}", *cells, ", ".join(hits))


def victim_table(victims):
    yield from ("", "## Figs. 10 and 11: since the first capacity or failing access", "")
    yield from head("slots", "scheme", "hits", "occupied", "visited per eviction", "non-empty", "conflicting", "capacity", "failing")
    for slots in victims.slots:
        for scheme in SCHEMES:
            mean = {column: victims.mean(column, scheme, slots)
                    for column in ("hit_ratio", "occupied", "visited", "nonempty", "conflicting", "capacity", "failing")}
            yield row(
                slots,
                scheme,
                f"{100 * mean['hit_ratio']:.2f} %",
                f"{100 * mean['occupied']:.1f} %",
                f"{mean['visited']:.2f}",
                f"{100 * mean['nonempty']:.1f} %",
                *(f"{100 * mean[column]:.2f} %" for column in ("conflicting", "capacity", "failing")),
            )


def hit_table(hits, mpis):
    for mpi in mpis:
        yield from ("", f"## Full hit + flush, {mpi}, in ns", "")
        yield from head("bytes", "hit, least", "median", "memcpy, least", "median", "60 + 1.06 x memcpy", "raw get")
        for size_ in SIZES:
            found = hits.last(mpi, size_) or {}
            columns = [found.get(column, "") for column in ("hit_least_ns", "hit_median_ns", "copy_least_ns", "copy_median_ns")]
            yield row(size_, *columns, f"{60 + 1.06 * number(found.get('copy_least_ns')):.1f}", found.get("raw_ns", ""))


def stream_cells(streams, mpi, how, size_):
    yield streams.find(mpi, "with", "uncached", how, size_).get("ns", "")
    for window in ("transparent", "always"):
        key = (mpi, "with", window, how, size_)
        yield f"{streams.ratio(*key):.3f} [{streams.spread(*key)}] ({streams.launch_ratio(mpi, window, how, size_):.3f})"


def stream_table(streams, mpis):
    for mpi in mpis:
        yield from (
            "",
            f"## Stream without reuse, {mpi}: time against no cache",
            "",
            "In one launch: median of the ratios of neighbouring turns [95 %]; in parentheses the fastest tenth of launches with the library"
            f" against that of launches without. Hits seen: {int(streams.hits(mpi))}.",
            "",
        )
        yield from head("bytes", "uncached, flush each, ns", "transparent", "always", "uncached, flush for 8, ns", "transparent", "always")
        for size_ in STREAM_SIZES:
            yield row(size_, *stream_cells(streams, mpi, "each", size_), *stream_cells(streams, mpi, "batch", size_))


def report(folder, mpis, quick="0"):
    folder, mpis = Path(folder), mpis.split()
    tables = {name: read(folder / f"{name}.csv") for name in ("parts", "access", "fig9", "fig11", "hit", "stream")}
    parts, hits = tables["parts"], tables["hit"].index("mpi", "bytes")
    access, times, victims, streams = Access(tables["access"]), Times(tables["fig9"]), Victims(tables["fig11"]), Streams(tables["stream"])
    yield from (
        "# The CLaMPI micro-benchmark",
        "",
        "Two ranks over TCP on one machine; the target waits in MPI while the initiator measures. N = 1 K gets of 2^0 .. 2^16 bytes, drawn"
        " from N(N/2, N/4).",
        'The paper\'s values are those that its text gives; "not given" means that they could only be read off a plot. Ratio: Hearth\'s'
        " value to the paper's or to the limit." + (" This was a quick run: fewer gets, settings and rounds." if quick == "1" else ""),
        "",
    )
    yield from head("figure", "section", "paper, or limit", "Hearth", "ratio", "setting", "reached", "remark")
    for part in (own_hits(hits, mpis), own_streams(streams, mpis), fig7(parts, access, mpis), fig8(access, mpis), fig9(times, mpis),
                 fig10(victims), fig11(victims), parts_table(parts), access_table(access, mpis), time_table(times, mpis),
                 victim_table(victims), hit_table(hits, mpis), stream_table(streams, mpis)):
        yield from part
