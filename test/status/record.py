#!/usr/bin/env python3
"""Records a whole run of a tier that is not a tier of test/run, in test/status/TIER-PLATFORM.json.

  record.py TIER [OPTION]...

The counts are those of the options and of all logs together. A log has the lines that test/run prints: "N passed, N failed,
N skipped", "FAIL NAME: REASON", "flaky NAME: REASON", "skip NAME: REASON". The scripts of the tiers call this with RECORD=1."""
import argparse
import re
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from runner import status  # noqa: E402

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
LINE = re.compile(r"^(FAIL|flaky|skip) +([^:]+): (.*)$")


def pair(text):
    name, _, reason = text.partition(": ")
    return name, reason


def read(path, counts, failures, skips):
    """Adds what a log says. It names a failure when it happens and again at its end."""
    said, listed = [0, 0, 0], {"FAIL": {}, "flaky": {}, "skip": {}}
    for line in Path(path).read_text(errors="replace").splitlines():
        number, one = COUNTS.match(line.strip()), LINE.match(line.strip())
        if number:
            said = [a + int(b) for a, b in zip(said, number.groups())]
        elif one:
            listed[one.group(1)][one.group(2).strip()] = one.group(3)
    counts[:] = [a + b for a, b in zip(counts, said)]
    failures += [(name, f"{kind}: {reason}" if kind == "flaky" else reason) for kind in ("FAIL", "flaky") for name, reason in listed[kind].items()]
    skips += listed["skip"].items()


def read_junit(path, counts, failures, skips):
    for case in xml.etree.ElementTree.parse(path).getroot():
        name = case.get("name") + ("" if case.get("classname") == "all" else "." + case.get("classname"))
        failure, skip = case.find("failure"), case.find("skipped")
        counts[1 if failure is not None else 2 if skip is not None else 0] += 1
        if failure is not None:
            failures.append((name, f"{failure.get('type')}: {failure.get('message')}"))
        elif skip is not None:
            skips.append((name, skip.get("message")))


def main():
    parser = argparse.ArgumentParser(prog="test/status/record.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tier")
    parser.add_argument("--platform", help="default: processor architecture and distribution, such as x86_64-debian12")
    for name in ("passed", "failed", "skipped"):
        parser.add_argument(f"--{name}", type=int, default=0, metavar="N")
    parser.add_argument("--seconds", type=float, required=True, metavar="N", help="how long the run took")
    parser.add_argument("--log", action="extend", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--junit", metavar="FILE", help="the junit.xml of test/run")
    parser.add_argument("--failure", action="append", default=[], type=pair, metavar="NAME: REASON")
    parser.add_argument("--skip", action="append", default=[], type=pair, metavar="NAME: REASON")
    parser.add_argument("--mpi", action="append", metavar="VERSION", help="default: those that are installed")
    parser.add_argument("--note", metavar="TEXT", help="what else the run has shown")
    parser.add_argument("--folder", help=f"default: {status.FOLDER}")
    chosen = parser.parse_args()
    counts, failures, skips = [chosen.passed, chosen.failed, chosen.skipped], chosen.failure, chosen.skip
    for log in chosen.log:
        read(log, counts, failures, skips)
    if chosen.junit:
        read_junit(chosen.junit, counts, failures, skips)
    if sum(counts) == 0:
        parser.error("nothing was run: no counts")
    print(f"recorded in {status.write(chosen.tier, counts, failures, skips, chosen.seconds, chosen.platform, chosen.mpi, chosen.note, chosen.folder)}")


if __name__ == "__main__":
    main()
