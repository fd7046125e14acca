#!/usr/bin/env python3
"""Replaces every program of the benches. It prints the lines, or writes the JSON, of the program under whose name it is
started, with made-up numbers. test_tables.sh makes links to it with the names of the programs and of launch.sh.

The numbers are random and positive. They depend on the command line and the environment, and on how often this command
was started, so that rounds differ and a run can be repeated."""
import hashlib
import json
import os
import random
import sys

UNITS = {"k": 1024, "m": 1 << 20, "g": 1 << 30}


def number(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


class Arguments:
    def __init__(self, words):
        self.words = words

    def word(self, name, default=None):
        return self.words[self.words.index(name) + 1] if name in self.words else default

    def numbers(self, name, default):
        return [number(text) for text in self.word(name, default).split(",")]

    def names(self, name, every):
        return [one for one in every if one in self.word(name, ",".join(every)).split(",") or self.word(name) == "all"]


def some(low=1.0, high=100.0):
    return round(DICE.uniform(low, high), 3)


def spread(scale=1.0):
    """A median with its interval."""
    value = some() * scale
    return f"{value:.6g},{value * 0.97:.6g},{value * 1.04:.6g}"


def line(*cells):
    print(",".join(str(cell) for cell in cells))


def counts(how_many):
    return ",".join(str(DICE.randint(1, 100000)) for _ in range(how_many))


# ---- ARMCI ----

def armci_ops(a):
    for job in a.word("--ops").split(","):
        op, _, size = job.partition(":")
        size, _, row = size.partition("/")
        line(op, number(size), row or 0, 500, spread(20), some(2000, 3000))


def armci_link(a):
    for what, sizes in (("trip", "--trips"), ("stream", "--streams")):
        for size in a.numbers(sizes, "8"):
            line(what, size, 1 if what == "trip" else a.word("--window", 16), 500, spread(), some(100, 200), some(100, 3000))


def armci_patch(a):
    for kind in a.word("--kinds", "get,acc").split(","):
        for size in a.numbers("--sizes", "8"):
            row = size if a.word("--row") == "whole" else max(8, int(size ** 0.5) // 8 * 8)
            line(kind, size, row, a.word("--clients", 1), 1, 50, some(10, 3000), some())


def armci_busy(a):
    for pause in a.numbers("--pauses", "0,1000"):
        for op, size in (("get", 8), ("put", 8), ("acc", 8), ("rmw", 8), ("lock", 8), ("get", 65536), ("put", 65536), ("acc", 65536)):
            line(op, size, pause, 500, some(), some(100, 200), some(200, 300))


def armci_counter(_):
    line(os.environ["RANKS"], DICE.randint(1000, 9000), 0.5, some(1e4, 1e6), some(), some())


def armci_malloc(a):
    for who in ("all", "one"):
        for fill in (0, 1):
            for size in a.numbers("--sizes", "4k"):
                line(who, fill, size, 200, spread(100))


# ---- CLaMPI ----

def clampi_parts(_):
    for size in (4 ** i for i in range(9)):
        for part in ("lookup", "lookup-miss", "direct", "conflicting", "capacity", "copy"):
            line(part, size, some(5, 50), some(50, 90))
    line("failing", 65536, some(5, 50), some(50, 90))


def clampi_access(_):
    for kind in ("raw", "hitting", "direct", "conflicting", "capacity", "failing"):
        for size in (1 << i for i in range(17)):
            line(kind, size, 100, spread(), some(), some(), 30, some(), some(), some(0.1, 0.9), some(1, 1.2))


def clampi_time(a):
    for gets in sorted({20000, number(a.word("--gets", "100000"))}):
        line(gets, some(0.1, 2), some(2, 3), some(0.5, 0.9), counts(5))


def clampi_victims(a):
    for run in range(int(a.word("--runs", 3))):
        for get in range(0, 1000, 100):
            line("trace", run, get, some(0.5, 0.99))
        line("total", run, 1000, some(1, 3), *(some(0.1, 0.9) for _ in range(2)), some(1, 20), *(some(0.01, 0.9) for _ in range(4)), 900)


def clampi_hit(_):
    for size in (1 << i for i in range(17)):
        line(size, some(10, 40), some(40, 60), some(5, 30), some(30, 50), some(1000, 2000), some(0.9, 1), some(0.9, 1))


def clampi_stream(a):
    windows = ("one",) if a.word("--one") else ("off", "transparent", "always")
    for window in windows:
        for flush in ("each-filling", "batch-filling"):
            line(window, flush, 8, 100, some(1000, 2000), some(500, 900), spread(0.02), 0)
        for flush in ("each", "batch"):
            for size in (8 << i for i in range(14)):
                line(window, flush, size, 100, some(1000, 2000), some(500, 900), spread(0.02), 0)


def modes_loop(_):
    for pattern in ("stream", "reuse"):
        for size in (8, 1024, 16384):
            for way in ("bare", "off", "bare", "transparent", "acquire", "always"):
                line(pattern, way, size, 1200, some(500, 900), some(300, 500), spread(0.02), some(1, 50), some(0.1, 0.9))


def modes_count(a):
    for pattern in ("stream", "reuse"):
        for way in ("bare", "off", "transparent", "acquire", "always"):
            line(pattern, way, a.word("--gets"), some(500, 900))


def modes_step(a):
    with open(a.words[1], "w", encoding="utf-8") as out:
        for _ in range(10):
            print(counts(2), file=out)


# ---- matching ----

def match_lines(a, prefix, heaters):
    for queue in a.names("--queues", ("posted", "unexpected")):
        for size in a.numbers("--sizes", "1"):
            for depth in a.numbers("--depths", "0"):
                for state in a.names("--states", ("warm", "cold")):
                    for gap in a.numbers("--gaps", "0") if state == "cold" else (0,):
                        for heater in heaters:
                            line(queue, *prefix, size, depth, state, gap, heater, 100, spread(50))


def match_engine(a):
    heated = a.word("--heated", 0)
    for structure in ("list", "list-random", "lla-2", "lla-4", "lla-8", "lla-16", "lla-32", "lla-64", "fast"):
        match_lines(a, (structure, heated), ("off", "on") if heated == "1" else ("off",))


def match_mpi(a):
    match_lines(a, (a.word("--order", "fifo"),), ("off", "on") if a.word("--heater") == "1" else ("none",))


def match_random(a):
    for accesses in ("dependent", "independent"):
        for size in a.numbers("--bytes", "64k"):
            line(accesses, size, "warm", 0, "off", 100, spread())
            for gap in (0, 10, 100, 1000):
                for heater in ("off", "on"):
                    line(accesses, size, "cold", gap, heater, 100, spread())


def match_cost(a):
    for size in a.numbers("--bytes", "64k,1m,8m"):
        for kernel in ("arithmetic", "l2", "l3", "stream", "writes", "pause"):
            line(kernel, size, 20, spread(0.02), some(1000, 2000), some(1000, 2000))


def match_stencil(_):
    for block, points, receivers, senders, length, depth in (
            ("32x32", 5, 124, 128, 128, 32.51), ("64x32", 5, 188, 192, 192, 48.22), ("32x32", 9, 124, 132, 380, 85.18),
            ("64x32", 9, 188, 196, 572, 127.24), ("8x8x4", 7, 184, 256, 256, 65.85), ("1x1x128", 7, 128, 514, 514, 132.27),
            ("1x1x256", 7, 256, 1026, 1026, 259.08), ("8x8x4", 27, 184, 344, 2072, 410.02),
            ("1x1x128", 27, 128, 1042, 3074, 596.85), ("1x1x256", 27, 256, 2066, 6146, 1294.49)):
        line(block, f"{points}pt", receivers, senders, length, 10, some(20, 900), some(), some(900, 999), receivers, senders, length, depth)


# ---- vGASNet ----

def paged():
    return os.environ.get("HEARTH_NVM") != "off"


def vgasnet_hit(a):
    for size in a.numbers("--sizes", "8"):
        for op in ("get", "put", "memcpy"):
            line(op, 65536, size, 500, spread())


def vgasnet_small(_):
    for where in ("third", "changed", "both", "home", "nvm") if paged() else ("plain",):
        for op in ("get", "put"):
            line(op, where, 65536, 100, spread())
    line("message", "home", 65536, 100, spread())


def vgasnet_fetch(a):
    page = number(a.word("--page", "64k"))
    for case in ("nvm", "home", "coop") if paged() else ("plain",):
        line(case, page, number(a.word("--piece", str(page))), int("--row" in a.words), 32, spread(), some(10, 3000))


def vgasnet_walk(a):
    for pass_ in range(int(a.word("--passes", 1))):
        line(a.word("--order"), number(a.word("--page", "64k")), number(a.word("--piece", "64k")), number(a.word("--bytes")),
             os.environ["RANKS"], pass_, some(100, 3000), some(), counts(9))


def vgasnet_share(a):
    line(a.word("--way", "put"), int("--free" in a.words), os.environ["RANKS"], 100, spread(), counts(8))


def vgasnet_ex(_):
    for operation in ("get", "put", "message", "trip"):
        for interface in ("gasnet", "gex", "difference", "ratio"):
            line(operation, interface, 500, spread(), some())
    line("remote get", "gex", 500, spread(), some())
    for interface in ("gex", "difference", "ratio"):
        line("fetch", interface, 500, spread(), some())
    line("shared", "gex", 500, some(), "", "", "")


# ---- whole programs ----

def overhead(a):
    cases = a.words or ["accumulate", "rput", "iprobe", "probe", "dup", "create", "allocate", "puts", "gets", "locked"]
    for case in (word for word in cases if word[0] not in "-0123456789"):
        value = some(100, 2000)
        line(case, 100, value, value * 0.9, value * 1.1, value * 0.8)


def result_of(a):
    """All fields that a script reads; runs of one size must agree in their checksum and norm."""
    cached = "hearth" in os.environ.get("LD_PRELOAD", "") or a.word("--cache") == "hearth"
    fields = {name: some(0.2, 2) for name in (
        "seconds", "force", "get", "acc", "read_inc", "compute", "wait", "us_step", "us_exchange", "us_post", "gflops", "blas", "communication")}
    fields.update({name: some() for name in ("us_per_body", "us_per_vertex_max", "us_per_vertex_mean")})
    fields.update({name: DICE.randint(1000, 100000) for name in (
        "window_gets", "window_bytes", "bytes_served", "remote", "gets", "accs", "draws", "remote_gets", "hits", "misses", "smalls", "faults",
        "from_nvm", "from_home", "from_peers", "evicted", "written_back", "nvm_reads", "nvm_writes")})
    fields.update(vertices=4096, edges=65536, counted=100, size=1024, block=64, checksum="0x12345", norm=1.25, error=1e-12, result="right")
    if cached:
        fields["hit_ratio"] = some(0.3, 0.99)
        fields.update({name: DICE.randint(1, 1000) for name in (
            "direct", "conflicting", "capacity", "failing", "adjustments", "index_slots", "storage_bytes")})
    for call in ("get", "acc", "draw"):
        fields[call + "_bins"] = [DICE.randint(1, 99) for _ in range(15)]
    return fields


def program(a):
    if a.word("--json"):
        with open(a.word("--json"), "w", encoding="utf-8") as out:
            print("{", *(f'  "{name}": {json.dumps(value)},' for name, value in result_of(a).items()), '  "end": 0', "}", sep="\n", file=out)
    if "REUSE_FILE" in os.environ:
        for rank in range(int(os.environ["RANKS"])):
            with open(f"{os.environ['REUSE_FILE']}.{rank}", "w", encoding="utf-8") as out:
                for size in (64, 256, 5000, 20000):
                    print(size, DICE.randint(1, 20), DICE.randint(1, 500), sep=",", file=out)
    if os.environ.get("HEARTH_REPORT", "").endswith(".json"):
        with open(os.environ["HEARTH_REPORT"], "w", encoding="utf-8") as out:
            print('{"depth": [', *(f"{n}," for n in range(1, 9)), "9", "],", sep="\n", file=out)
            print('"posted_length": [1,2,3,4], "posted_most": 8, "unexpected_most": 4}', file=out)


def launch(words):
    """launch.sh MPI RANKS [OPTION]... PROGRAM [ARGUMENT]..."""
    os.environ["RANKS"] = words[1]
    os.environ["MPI"] = words[0]
    at = 2
    while words[at].startswith("--"):
        if words[at] == "--env":
            name, _, value = words[at + 1].partition("=")
            os.environ[name] = value
        elif words[at] == "--preload":
            os.environ["PRELOADED"] = os.environ.get("PRELOADED", "") + words[at + 1]
        at += 1 if words[at] == "--tcp" else 2
    return words[at], words[at + 1:]


def seed(words):
    """Returns a seed that depends on the command and on how often it was started: a file per command in the folder MADE_UP counts."""
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(("HEARTH_", "PRELOADED", "MPI", "RANKS", "OMPI"))]
    key = hashlib.sha1(" ".join([*words, *settings]).encode()).hexdigest()
    with open(os.path.join(os.environ["MADE_UP"], key), "a+b") as file:
        file.write(b".")
        file.flush()
        return key + str(file.tell())


def main():
    name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
    if name == "launch.sh":
        path, words = launch(words)
        name = os.path.basename(path)
    if "libhearth" in os.environ.get("PRELOADED", ""):
        os.environ["LD_PRELOAD"] = "libhearth"  # result_of reads it; no process is started
    DICE.seed(seed([name, *words]))
    globals().get(name.removesuffix("_stock").replace("-", "_"), program)(Arguments(words))


DICE = random.Random()
if __name__ == "__main__":
    main()
