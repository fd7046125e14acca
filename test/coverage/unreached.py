#!/usr/bin/env python3
"""Compares the lines that the quick tests do not reach with those that unreached.txt names.

  unreached.py COUNTS.json [LIST]  COUNTS.json of gcovr --json: prints each function with lines that are neither reached nor named,
                                   each entry that is stale, and the counts; exit status 1 if there are any
  unreached.py --lint              checks the list alone: its form, and that its files and functions exist
  unreached.py --list COUNTS.json  prints the functions with lines that are not reached, and these lines"""
import collections
import json
import os
import re
import sys

LIST = "test/coverage/unreached.txt"  # its head explains the form
ENTRY = re.compile(r"(\S+\.[ch]) (\w+|-) (\d+)(~?) (.*)")  # -: lines of a header that belong to no function of this compilation


class Entry:
    def __init__(self, number, fields):
        self.number = number
        self.file, self.function, lines, sometimes, self.reason = fields
        self.lines, self.sometimes = int(lines), bool(sometimes)

    def key(self):
        return self.file, self.function


def read_list(path):
    """The entries by file and function, and the mistakes in the list."""
    entries, reasons, used, wrong = {}, {}, set(), []
    for number, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            name, _, text = line.partition(" ")
            reasons[name] = (number, text)
            continue
        found = ENTRY.fullmatch(line)
        if not found:
            wrong.append(f"{path}:{number}: not an entry: {line}")
            continue
        entry = Entry(number, found.groups())
        if entry.key() in entries:
            wrong.append(f"{path}:{number}: {entry.function} of {entry.file} is named twice")
        entries[entry.key()] = entry
        name = entry.reason.split()[0]
        if name.startswith("@"):
            used.add(name)
            if name not in reasons:
                wrong.append(f"{path}:{number}: no reason is called {name}")
    wrong += [f"{path}:{number}: no entry has the reason {name}" for name, (number, _) in reasons.items() if name not in used]
    return entries, wrong


def lint():
    entries, wrong = read_list(LIST)
    texts = {}
    for entry in entries.values():
        if entry.file not in texts:
            texts[entry.file] = open(entry.file).read() if os.path.exists(entry.file) else None
        if texts[entry.file] is None:
            wrong.append(f"{LIST}:{entry.number}: no file {entry.file}")
        elif entry.function != "-" and not re.search(rf"\b{entry.function}\b", texts[entry.file]):
            # the name may be put together by a macro
            tail = entry.function.split("_", 1)[-1]
            if not re.search(rf"\b{tail}\b", texts[entry.file]):
                wrong.append(f"{LIST}:{entry.number}: no function {entry.function} in {entry.file}")
    return wrong


def read_counts(path):
    """The lines that are not reached, by file and function. A line belongs to the last function that begins before it."""
    unreached = collections.defaultdict(list)
    for file in json.load(open(path))["files"]:
        text = open(file["file"]).read() if os.path.exists(file["file"]) else ""
        # a test may compile a file a second time, with other names: those that the file has come last
        for f in file["functions"]:  # src/core_names.h gives what libhearth-core exports a prefix
            f["name"] = f["name"].removeprefix("hearth_core_")
        begins = sorted((f["lineno"], re.search(rf"\b{f['name']}\b", text) is not None, f["name"]) for f in file["functions"])
        for line in file["lines"]:
            if line["count"] or line.get("gcovr/noncode"):
                continue
            before = [name for begin, _, name in begins if begin <= line["line_number"]]
            unreached[file["file"], before[-1] if before else "-"].append(line["line_number"])
    return unreached


def ranges(numbers):
    """For example 3, 7-9."""
    parts = []
    for n in sorted(numbers):
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def compare(counts, path):
    entries, wrong = read_list(path)
    unreached = read_counts(counts)
    named = unnamed = stale = 0
    for key, lines in sorted(unreached.items()):
        entry = entries.get(key)
        if entry and len(lines) <= entry.lines:
            named += len(lines)
            continue
        unnamed += 1
        more = f", of which {entry.lines} are named" if entry else ""
        print(f"not reached and not named: {key[0]} {key[1]}: {len(lines)} lines{more}: {ranges(lines)}")
    for key, entry in entries.items():
        least = 0 if entry.sometimes else entry.lines
        if len(unreached.get(key, [])) < least:
            stale += 1
            print(f"{path}:{entry.number}: stale: {entry.function} of {entry.file}: {len(unreached.get(key, []))} lines are not reached, "
                  f"{entry.lines} are named")
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"coverage: {sum(map(len, unreached.values()))} lines of {len(unreached)} functions are not reached; {named} are named with a "
          f"reason; {unnamed} functions with others, {stale} stale entries")
    return 1 if unnamed or stale or wrong else 0


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    if sys.argv[1:] == ["--lint"]:
        wrong = lint()
        print("\n".join(wrong), end="\n" if wrong else "")
        return 1 if wrong else 0
    if len(sys.argv) == 3 and sys.argv[1] == "--list":
        for (file, function), lines in sorted(read_counts(sys.argv[2]).items()):
            print(f"{file} {function} {len(lines)} lines {ranges(lines)}")
        return 0
    if not 2 <= len(sys.argv) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    return compare(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else LIST)


if __name__ == "__main__":
    sys.exit(main())
