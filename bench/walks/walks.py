#!/usr/bin/env python3
"""walks.py: how far single calls walk through Hearth's code.

    walks.py NAMES TRACE [--path NAME]      NAMES: the output of walks_call.c; TRACE: that of modes_step.c, with MODES_STEP_TRACE

Prints a line per call: its name and the medians of the instructions, of the functions (inlined ones too), of their files, and of the times
that the walk passes from one file to another. With --path the functions of the first call of this name, in order.
"""
import statistics
import subprocess
import sys


def read_walks(path):
    walks, walk = [], []
    for line in open(path):
        if line.strip():
            offset, library = line.split(maxsplit=1)
            walk.append((library.strip(), offset))
        else:
            walks.append(walk)
            walk = []
    return walks


def resolve(library, offsets):
    """The function and the file of each instruction; an inlined function is the innermost."""
    lines = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", library], input="\n".join(offsets), text=True, check=True,
                           capture_output=True).stdout.splitlines()
    places, i = {}, 0
    while i < len(lines):
        address = lines[i][2:].lstrip("0") or "0"
        places[address] = lines[i + 1], lines[i + 2].rsplit("/", 1)[-1].split(":")[0]
        i += 3
        while i < len(lines) and not lines[i].startswith("0x"):
            i += 1
    return places


def resolve_all(walks):
    by_library = {}
    for walk in walks:
        for library, offset in walk:
            by_library.setdefault(library, set()).add(offset)
    return {library: resolve(library, sorted(offsets)) for library, offsets in by_library.items()}


def measure(walk, places):
    steps = [places[library][offset] for library, offset in walk]
    handovers = sum(a[1] != b[1] for a, b in zip(steps, steps[1:]))
    return len(steps), len(set(steps)), len({file for _, file in steps}), handovers


def show_path(walk, places):
    last, count = None, 0
    for library, offset in walk + [(None, None)]:
        place = places[library][offset] if library else None
        if place != last and last:
            print(f"{count:5}  {last[0]}  {last[1]}")
            count = 0
        last = place
        count += 1


def main(names_path, trace_path, wanted=None):
    names, walks = open(names_path).read().splitlines(), read_walks(trace_path)
    if len(names) != len(walks) or not names:
        sys.exit(f"walks.py: {len(names)} calls were announced, {len(walks)} traced")
    places = resolve_all(walks)
    if wanted:
        show_path(walks[names.index(wanted)], places)
        return
    for name in dict.fromkeys(names):
        medians = zip(*(measure(walk, places) for at, walk in enumerate(walks) if names[at] == name))
        print(name, *(round(statistics.median(values)) for values in medians), sep=",")


if __name__ == "__main__":
    args = [arg for arg in sys.argv[1:] if arg != "--path"]
    if len(args) not in (2, 3):
        sys.exit(__doc__)
    main(*args)
