"""report_check.py WHAT FILE...: compares the output of hearth report with the JSON of the run.

  text RUN.json TEXT        the tables of the text
  page RUN.json PAGE        a page, as written or as dumped by a browser
  fuzz RUN.json HEARTH DIR  damages the JSON at random: the command must print a report or one line, and never crash
"""
import json, os, random, re, subprocess, sys, time
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
        equal("served", int(row[4]), total(records, "bytes_served"))
        equal("fetched", int(row[5]), total(records, "bytes_fetched"))
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
    check_page_ranks(run, page)
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
    ratios = {}
    for attributes, row in page.of("td", "curve", "data-ratio"):
        ratios.setdefault(int(row["data-window"]), []).append(float(attributes["data-ratio"]))
    assert ratios, "no curve"
    for window, values in ratios.items():
        for i, value in enumerate(values):
            near("curve", value, curve(run, window, 65536 * 8 ** i), 1e-5)


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
        command = [hearth, "report", broken] + (["--html", page] if i % 2 else [])
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
        check_text(run, source) if what == "text" else check_page(run, source)
