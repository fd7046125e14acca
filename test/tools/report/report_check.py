"""report_check.py WHAT FILE...: compares the output of hearth report with the JSON of the run.

  text RUN.json TEXT        the tables of the text
  page RUN.json PAGE        a page, as written or as dumped by a browser
  csv RUN.json CSV          the rows of CSV
  targets RUN.json CSV      the matrix of test/tools/report/targets.c
  matrix RUN.json TEXT      bytes and time by origin and target, in the text
  fuzz RUN.json HEARTH DIR  damages the JSON at random: the command must print a report or one line, and never crash
"""
import collections, csv, json, os, random, re, subprocess, sys, time
from html.parser import HTMLParser

KINDS = {"hit": "full_hits", "partial": "partial_hits", "pending": "pending_hits", "direct": "direct",
         "conflicting": "conflicting", "capacity": "capacity", "failing": "failing", "bypassed": "bypassed"}


def hits(r):
    return r["full_hits"] + r["partial_hits"] + r["pending_hits"]


def total(records, field):
    return sum(r[field] for r in records)


def by(records, key):
    groups = {}
    for r in records:
        groups.setdefault(r[key], []).append(r)
    return groups


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got} instead of {wanted}"


def near(what, got, wanted, by=1e-4):
    assert abs(got - wanted) <= by, f"{what}: {got} instead of {wanted}"


def in_bytes(what, words, wanted):
    """A number of three digits and its unit."""
    got = float(words[0]) * 1024 ** ["B", "KB", "MB", "GB", "TB"].index(words[1])
    near(what, got, wanted, 0.006 * wanted)


def curve(run, window, size):
    """The hit ratio of a window if each rank had a cache of that size."""
    found = [c for p in run["processes"] for c in p["reuse"] if c["window"] == window]
    gets = total(found, "gets")
    return min(1, sum(h for c in found for b, h in zip(c["cache_bytes"], c["hits"]) if b <= size) / gets) if gets else 0


def check_recording(run):
    """The recorded numbers add up to the counted ones."""
    for p in run["processes"]:
        own = [r for r in run["windows"] if r["rank"] == p["rank"]]
        equal("gets over time", sum(p["series"]["gets"]), total(own, "gets"))
        equal("hits over time", sum(p["series"]["hits"]), sum(map(hits, own)))
        equal("bytes served over time", sum(p["series"]["bytes_served"]), total(own, "bytes_served"))
        equal("bytes fetched over time", sum(p["series"]["bytes_fetched"]), total(own, "bytes_fetched"))
        equal("gets by size", sum(p["sizes"]), total(own, "gets"))
        assert len(p["series"]["gets"]) * p["series"]["step_seconds"] >= 0.9 * p["seconds"], p
        equal("gets by target", sum(p["targets"]["gets"]) + p["targets"]["others"]["gets"], total(own, "gets"))
        near("gets by place", sum(c["gets"] for c in p["callers"]) + p["callers_others"], total(own, "gets"), 0.1 * total(own, "gets"))


def check_text(run, text):
    rows = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("@---"):
            section = line.split("--- ")[1].split()[0]
        elif section == "Gets" and re.match(r" +(\d+|\*) ", line):
            rows[line.split()[0]] = line.split()[1:]
        elif section == "Top" and re.match(r" +\d+ +\d+( +\d\.\d{4}){8}$", line):
            rows["window " + line.split()[0]] = line.split()[1:]
    ranks = by(run["windows"], "rank")
    for rank, records in list(ranks.items()) + [("*", run["windows"])]:
        row = rows[str(rank)]
        equal("gets", int(row[0]), total(records, "gets"))
        equal("hits", int(row[1]), sum(map(hits, records)))
        near("ratio", float(row[2]), sum(map(hits, records)) / total(records, "gets"))
        equal("elided", int(row[3]), total(records, "elided"))
        in_bytes("served", row[4:6], total(records, "bytes_served"))
        in_bytes("fetched", row[6:8], total(records, "bytes_fetched"))
    for window, records in by(run["windows"], "window").items():
        gets = total(records, "gets")
        if gets:
            row = rows[f"window {window}"]
            equal("gets", int(row[0]), gets)
            for got, kind in zip(row[1:], KINDS.values()):
                near(kind, float(got), total(records, kind) / gets)


class Page(HTMLParser):
    """The elements with the sections that they are in, and whether all were closed."""
    void = {"meta", "link", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.found, self.words, self.wrong = [], [], "", []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        ids = [a["id"] for _, a in self.open if "id" in a]
        row = next((a for t, a in reversed(self.open) if t == "tr"), {})
        self.found.append((tag, attributes, ids, row))
        if tag not in self.void:
            self.open.append((tag, attributes))

    def handle_startendtag(self, tag, attributes):
        ids = [a["id"] for _, a in self.open if "id" in a]
        self.found.append((tag, dict(attributes), ids, {}))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words += data if not any(t == "style" for t, _ in self.open) else ""

    def of(self, tag, section, attribute):
        return [(a, row) for t, a, ids, row in self.found if t == tag and section in ids and attribute in a]


def check_page(run, source):
    page = Page()
    page.feed(source)
    assert not page.wrong and not page.open, f"not closed: {page.wrong} {page.open}"
    assert not any(t == "script" for t, *_ in page.found), "a script"
    names = {r["name"] for r in run["windows"] if r["gets"]}
    for name in names:
        assert name in page.words, f"the page does not show {name}"
    for tag, attributes, *_ in page.found:
        assert not any(k.startswith("on") for k in attributes), attributes
        assert all(":" not in attributes.get(k, "") or attributes[k] == "data:," for k in ("src", "href")), attributes
    facts = [a for t, a, *_ in page.found if a.get("id") == "facts"][0]
    equal("gets", int(facts["data-gets"]), total(run["windows"], "gets"))
    equal("hits", int(facts["data-hits"]), sum(map(hits, run["windows"])))
    if len(run["processes"]) <= 64:
        check_page_ranks(run, page)
    check_page_mpi(run, page)
    check_page_windows(run, page)
    if any("series" in p for p in run["processes"]):
        check_page_charts(run, page)
    return page


def check_page_ranks(run, page):
    for rank, records in by(run["windows"], "rank").items():
        cells = {}
        for tag, attributes, ids, row in page.found:
            if tag == "td" and "ranks" in ids and row.get("data-rank") == str(rank):
                cells.update(attributes)
        equal("gets", int(cells["data-gets"]), total(records, "gets"))
        equal("hits", int(cells["data-hits"]), sum(map(hits, records)))
        equal("served", int(cells["data-served"]), total(records, "bytes_served"))
        equal("fetched", int(cells["data-fetched"]), total(records, "bytes_fetched"))


def check_page_mpi(run, page):
    """Time in MPI: the bars and the table, whose rows are ranks, nodes or groups of ranks, with means."""
    hosts, ranks = by(run["processes"], "host"), by(run["processes"], "rank")
    rows, table = {}, {}
    for a, _ in page.of("rect", "mpi-ranks", "data-seconds"):
        rows[a["data-row"]] = rows.get(a["data-row"], 0) + float(a["data-seconds"])
    for a, row in page.of("td", "mpi-ranks", "data-mpi"):
        table[row.get("data-row") or row["data-node"]] = float(a["data-mpi"])
    assert rows, "no bars"
    for name, seconds in rows.items():
        first, _, last = name.partition(" to ")
        order, keys = (hosts, list(hosts)) if first in hosts else ({str(r): p for r, p in ranks.items()}, [str(r) for r in ranks])
        wanted = [p for k in keys[keys.index(first):keys.index(last or first) + 1] for p in order[k]]
        mean = sum(p["mpi"]["seconds"] for p in wanted) / len(wanted)
        near("time in MPI of " + name, seconds, mean, 1e-3 * mean)
        near("time in MPI of " + name, table[name], mean, 1e-3 * mean)
    few = len(ranks) <= 64
    things = len(hosts) if not few and len(hosts) > 1 else len(ranks)
    equal("rows", len(rows), -(-things // -(-things // 64)))
    if few and len(hosts) > 1:
        for host in hosts:
            mean = sum(p["mpi"]["seconds"] for p in hosts[host]) / len(hosts[host])
            near("time in MPI of " + host, table[host], mean, 1e-3 * mean)
            gets = [int(a["data-gets"]) for a, row in page.of("td", "ranks", "data-gets") if row.get("data-node") == host]
            equal("gets of " + host, gets, [total([r for r in run["windows"] if r["rank"] in {p["rank"] for p in hosts[host]}], "gets")])


def check_page_windows(run, page):
    groups = by(run["windows"], "window")
    for window, records in groups.items():
        cells = {}
        for tag, attributes, ids, row in page.found:
            if tag == "td" and "windows" in ids and row.get("data-window") == str(window):
                cells.update(attributes)
        for name, field in (("gets", "gets"), ("storage", "storage_bytes"), ("used", "used_bytes"), ("entries", "entries"),
                            ("evictions", "evictions"), ("invalidations", "invalidations")):
            equal(field, int(cells["data-" + name]), total(records, field))
    busy = {w: r for w, r in groups.items() if total(r, "gets")}
    drawn = {}
    for attributes, _ in page.of("rect", "windows", "data-type"):
        kind = attributes["data-type"]
        drawn[kind] = drawn.get(kind, 0) + int(attributes["data-count"])
    for kind, field in KINDS.items(): # each window, and all of them if there are several
        equal("drawn " + kind, drawn.get(kind, 0), total(run["windows"], field) * (2 if len(busy) > 1 else 1))


def check_page_charts(run, page):
    check_recording(run)
    for chart in ("hit-map", "byte-map"):
        cells = [a for a, _ in page.of("rect", chart, "data-gets")]
        equal("gets in " + chart, sum(int(a["data-gets"]) for a in cells), total(run["windows"], "gets"))
        equal("hits in " + chart, sum(int(a["data-hits"]) for a in cells), sum(map(hits, run["windows"])))
        equal("bytes in " + chart, sum(int(a["data-bytes"]) for a in cells),
              total(run["windows"], "bytes_served") + total(run["windows"], "bytes_fetched"))
    sizes = {}
    for p in run["processes"]:
        for i, n in enumerate(p["sizes"]):
            sizes[i] = sizes.get(i, 0) + n
    for attributes, _ in page.of("rect", "sizes", "data-class"):
        equal("size", int(attributes["data-count"]), sizes[int(attributes["data-class"])])
    check_page_matrix(run, page)
    ratios = {}
    for attributes, row in page.of("td", "curve", "data-ratio"):
        ratios.setdefault(int(row["data-window"]), []).append(float(attributes["data-ratio"]))
    assert ratios, "no curve"
    for window, values in ratios.items():
        for i, value in enumerate(values):
            near("curve", value, curve(run, window, 65536 * 8 ** i), 1e-5)


def check_page_matrix(run, page):
    """Every map of origins and targets adds up to the operations of all ranks."""
    rows = [p["targets"] for p in run["processes"]]
    several = len({p["host"] for p in run["processes"]}) > 1
    for chart in ("matrix-bytes", "matrix-time") + (("node-matrix-bytes", "node-matrix-time") if several else ()):
        cells = [a for a, _ in page.of("rect", chart, "data-gets")]
        for name, fields in (("gets", ["gets"]), ("puts", ["puts"]), ("messages", ["messages"]),
                             ("bytes", ["get_bytes", "put_bytes", "message_bytes"])):
            equal(f"{name} in {chart}", sum(int(a["data-" + name]) for a in cells), sum(sum(t[f]) for t in rows for f in fields))
        seconds = sum(sum(t["nanoseconds"]) for t in rows) / 1e9
        near("time in " + chart, sum(float(a["data-seconds"]) for a in cells), seconds, 1e-6 * seconds)


def check_targets(run, source):
    """What test/tools/report/targets.c did, by ranks of MPI_COMM_WORLD; the time is less than all the time in MPI."""
    check_csv(run, source)
    for p in run["processes"]:
        r, t = p["rank"], p["targets"]
        kinds = ("gets", "get_bytes", "puts", "put_bytes", "messages", "message_bytes")
        found = {rank: tuple(t[k][i] for k in kinds) for i, rank in enumerate(t["ranks"])}
        following, before = (r + 1) % 3, (r + 2) % 3
        wanted = {following: (10 * (r + 1), 80 * (r + 1), 7, 88, 4, 104), r: (5, 120, 0, 0, 0, 0), before: (0, 0, 0, 0, 1, 16)}
        equal(f"targets of rank {r}", found, wanted)
        calls = {c["call"]: c for c in p["mpi"]["calls"]}
        named = sum(calls[c]["seconds"] for c in ("MPI_Get", "MPI_Put", "MPI_Accumulate", "MPI_Fetch_and_op", "MPI_Win_flush",
                                                  "MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Sendrecv_replace"))
        received = calls["MPI_Recv"]["seconds"]  # one of two names its source
        seconds = sum(t["nanoseconds"]) / 1e9
        assert 0.999 * named - 1e-6 <= seconds <= 1.001 * (named + received) + 1e-6, (seconds, named, received)


def check_matrix(run, text):
    """The text's table of bytes, and of time, by origin and target: of ranks, or of nodes if `text` says so; or the heaviest pairs."""
    node_of = {p["rank"]: p["host"] for p in run["processes"]}
    pairs, times = collections.Counter(), collections.Counter()
    for p in run["processes"]:
        t = p["targets"]
        for i, target in enumerate(t["ranks"]):
            pairs[p["rank"], target] += t["get_bytes"][i] + t["put_bytes"][i] + t["message_bytes"][i]
            times[p["rank"], target] += t["nanoseconds"][i] / 1e9
    ranks, hosts = len(run["processes"]), list(dict.fromkeys(node_of.values()))
    sections = {title.strip(" -"): body.splitlines() for title, body in re.findall(r"^@--- (.*?)\n-+\n(.*?)(?=\n-{50}|\Z)", text, re.S | re.M)}
    by_rank, by_node = (f"{{}} by origin (rows) and target (columns), by {what}" for what in ("rank", "node"))
    for what, sums in (("Bytes", pairs), ("Time in calls", times)):
        equal(f"a matrix of ranks, {what}", by_rank.format(what) in sections, ranks <= 16)
        equal(f"a matrix of nodes, {what}", by_node.format(what) in sections, ranks > 16 and 1 < len(hosts) <= 16)
        for title, names in ((by_rank, sorted(node_of)), (by_node, hosts)):
            for row in sections.get(title.format(what), [])[1 : 1 + len(names)]:
                label, *cells = re.split(r"  +", row.strip())
                origin = names.index(int(label) if title == by_rank else label)
                for target, cell in enumerate(cells):
                    wanted = sum(v for (a, b), v in sums.items()
                                 if (a, b) == (origin, target) or (title == by_node and (node_of[a], node_of[b]) == (hosts[origin], hosts[target])))
                    number, unit = cell.split(" ") if cell != "-" else (0, "B")
                    scale = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
                    near(f"{what} from {origin} to {target}", float(number) * scale, wanted, 0.01 * wanted + 1e-12)
                equal(f"columns of {title}", len(cells), len(names))
    heaviest = sections.get("Pairs of ranks with most bytes", [])
    equal("heaviest pairs", bool(heaviest), ranks > 16)
    for row, wanted in zip(heaviest[1:], sorted(pairs.values(), reverse=True)[:16]):
        cells = re.split(r"  +", row.strip())
        equal("the bytes of a pair", pairs[int(cells[0]), int(cells[1])], wanted)


def check_csv(run, source):
    """Every record of the JSON is a row, with the same values, and there are no others."""
    rows = list(csv.DictReader(source.splitlines(keepends=True), strict=True))
    hosts = {p["rank"]: p["host"] for p in run["processes"]}
    unit = lambda field: field + (" [B]" if "bytes" in field else "")
    found = {}
    for row in rows:
        assert None not in row and None not in row.values(), row
        equal("node", row["node"], hosts[int(row["rank"])])
        found.setdefault(row["table"], []).append(row)
    for kind, key, wanted in (("rank", ("rank",), run["processes"]), ("window", ("rank", "window"), run["windows"]),
                              ("call", ("rank", "call"), [{"rank": p["rank"], **c} for p in run["processes"] for c in p["mpi"]["calls"]])):
        by_key = {tuple(row[k] for k in key): row for row in found.get(kind, [])}
        equal("rows of " + kind, len(found.get(kind, [])), len(wanted))
        for record in wanted:
            row = by_key[tuple(str(record[k]) for k in key)]
            if kind == "rank":
                near("run time", float(row["run_time [s]"]), record["seconds"], 1e-6 * record["seconds"])
                near("time in MPI", float(row["mpi_time [s]"]), record["mpi"]["seconds"], 1e-6 * record["seconds"])
            elif kind == "call":
                equal("calls", int(row["calls"]), record["count"])
                near("time", float(row["time [s]"]), record["seconds"], 1e-6 * record["seconds"])
                near("longest", float(row["longest [s]"]), record["longest"], 1e-6 * record["longest"])
            else:
                equal("name", row["window_name"], record["name"])
                for field in ("gets", *KINDS.values(), "bytes_served", "bytes_fetched", "elided", "storage_bytes", "evictions"):
                    equal(field, int(row[unit(field)]), record[field])
    flows = {(p["rank"], t): {k: p["targets"][k][i] for k in p["targets"] if k != "others"}
             for p in run["processes"] if "targets" in p for i, t in enumerate(p["targets"]["ranks"])}
    equal("rows of target", len(found.get("target", [])), len(flows))
    for row in found.get("target", []):
        flow = flows[int(row["rank"]), int(row["target"])]
        for field in ("gets", "get_bytes", "puts", "put_bytes", "messages", "message_bytes"):
            equal(field, int(row[unit(field)]), flow[field])
        near("time", float(row["time [s]"]), flow["nanoseconds"] / 1e9, 1.5e-9)
        equal("target's node", row["target_node"], hosts.get(int(row["target"]), ""))


def check_fuzz(path, hearth, folder):
    seed = int(os.environ.get("HEARTH_TEST_SEED", time.time_ns() % 1000000))
    print(f"HEARTH_TEST_SEED={seed}")
    dice = random.Random(seed)
    whole = open(path, "rb").read()
    broken, page = os.path.join(folder, "broken.json"), os.path.join(folder, "broken.html")
    refused = 0
    for i in range(int(os.environ.get("HEARTH_TEST_ROUNDS", 150))):
        text = bytearray(whole)
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(text))
            match dice.randrange(5):
                case 0: text[at] = dice.randrange(256)
                case 1: del text[at:at + dice.randrange(1, 200)]
                case 2: text[at:at] = text[at:at + dice.randrange(1, 200)]
                case 3: text = text[:at + 1]
                case 4:
                    numbers = list(re.finditer(rb"\b\d+\b", text))
                    if numbers:
                        n = dice.choice(numbers)
                        text[n.start():n.end()] = dice.choice([b"0", b"18446744073709551615", b"-1", b"1e300", b"null", b'""', b"[]"])
        open(broken, "wb").write(text)
        if os.path.exists(page):
            os.unlink(page)
        command = [hearth, "report", broken] + ([[], ["--html", page], ["--csv"], [broken]][i % 4])
        got = subprocess.run(command, capture_output=True, timeout=20)
        lines = got.stderr.decode(errors="replace").splitlines()
        assert got.returncode in (0, 2), (i, got.returncode, lines)
        assert (got.returncode == 2) == (len(lines) == 1 and lines[0].startswith("hearth: error: ")), (i, lines)
        if got.returncode == 2:
            refused += 1
            assert not got.stdout and not os.path.exists(page), i
    assert refused, "nothing was refused"


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what == "fuzz":
        check_fuzz(path, *rest)
    else:
        run = json.load(open(path))
        source = open(rest[0], encoding="utf-8").read()
        {"text": check_text, "page": check_page, "csv": check_csv, "targets": check_targets, "matrix": check_matrix}[what](run, source)
