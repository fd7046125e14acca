#!/usr/bin/env python3
"""Checks the layers by definition: symbols.py [--root ROOT] TREE...

Every symbol that an object of these trees needs and another object defines is a use of the file that defines it. So is a declaration: a
header whose function is defined above would let the files below use it, and layers.sh, which reads the includes, does not see that.

Calls of MPI are no use of the file that interposes them, and neither are weak references, which the process may leave unresolved.

A use is refused if it goes up in layers.txt, or between folders that do not use each other. Folders whose order
layers.txt does not give may use each other, but not in a cycle. If several files define a symbol, as those of different libraries may,
one that may be used suffices. Prints each refused use; fails if there is one.
"""
import argparse, collections, json, os, re, shlex, subprocess, sys

parser = argparse.ArgumentParser()
parser.add_argument("--root", help="of the sources, if they are not those of this script")
parser.add_argument("trees", nargs="+")
chosen = parser.parse_args()
trees = chosen.trees
root = os.path.realpath(chosen.root or os.path.join(os.path.dirname(__file__), "../.."))

PROTOTYPE = re.compile(r"^(?!static|typedef|#|\s)(?![^;{]*\bweak\b)[^;{}()#]*?\b(\w+)\([^{};]*\)[^{};]*;", re.M)
CALL_OF_MPI = re.compile(r"P?MPIX?_")
uses, order, known = {}, {}, {}
with open(os.path.join(os.path.dirname(__file__), "layers.txt")) as table:
    for line in table:
        kind, *words = line.split("#")[0].split() or [""]
        if kind == "uses":
            uses[words[0]] = set(words[1:])
        elif kind == "order":
            order[words[0]] = words[1:]
        elif kind == "known":
            known[words[0]] = False


def objects():
    """Pairs of an object that was built and its source, relative to the root."""
    for tree in trees:
        with open(os.path.join(tree, "compile_commands.json")) as commands:
            entries = json.load(commands)
        for entry in entries:
            source = os.path.relpath(os.path.realpath(entry["file"]), root)
            words = shlex.split(entry["command"])
            built = os.path.join(entry["directory"], words[words.index("-o") + 1])
            if source.startswith(("src/", "tools/")) and os.path.exists(built):
                yield built, source


def folder_of(source):
    """The folder in which the layers of a source are looked up: of src/mpi/messages/a.c mpi/messages, of tools/probe/a.c probe."""
    where = os.path.dirname(source)
    if where.startswith("src/"):
        return where[len("src/"):]
    return "probe" if where.startswith("tools/probe") else "tools"


def place_of(within, folder):
    """The place of a folder among the parts of `within`, in which it lies; None: it is not listed."""
    part = folder[len(within):].strip("/").split("/")[0]
    parts = order[within]
    return len(parts) if not part else parts.index(part) if part in parts else None


def is_refused(user, used):
    """Whether files of one folder may not use those of another; None: the table does not say."""
    if user == used:
        return False
    top, bottom = user.split("/")[0], used.split("/")[0]
    if top != bottom:
        return bottom not in uses.get(top, ())
    within = os.path.commonpath([user, used])
    if within not in order:
        return None
    places = place_of(within, user), place_of(within, used)
    for folder, place in zip((user, used), places):
        if place is None:
            sys.exit(f"src/{folder} is not among the parts of {within} in layers.txt: add it")
    return places[0] < places[1]


def read_symbols():
    """Of each symbol the files that define it, and of each file the symbols that it needs."""
    source_of = dict(objects())
    if not source_of:
        sys.exit(f"{' '.join(trees)}: no object is built")
    listing = subprocess.run(["nm", "-A", *source_of], stdout=subprocess.PIPE, text=True, check=True).stdout
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for line in listing.splitlines():
        built, kind, name = re.match(r"(.*?):[0-9a-f]*\s+(\S) (\S+)", line).groups()
        if kind == "U" and not CALL_OF_MPI.match(name):
            needed[source_of[built]].add(name)
        elif kind.isupper() and kind != "U":
            defined[name].add(source_of[built])
    return defined, needed


def reachable(graph, start):
    """The folders that a folder uses, directly or through others."""
    found, left = set(), [start]
    while left:
        for used in graph.get(left.pop(), {}):
            if used not in found:
                found.add(used)
                left.append(used)
    return found


def cycles(graph):
    """The uses between folders that are part of a cycle, as (user, used)."""
    reach = {folder: reachable(graph, folder) for folder in graph}
    return [(user, used) for user in sorted(graph) for used in sorted(graph[user]) if user in reach.get(used, ())]


def declarations():
    """Pairs of a header of src/ and a function that it declares."""
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in sorted(names):
            if name.endswith(".h"):
                with open(os.path.join(folder, name), encoding="utf-8") as header:
                    text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
                for function in PROTOTYPE.findall(text):
                    yield os.path.relpath(os.path.join(folder, name), root), function


defined, needed = read_symbols()
refused, graph = [], collections.defaultdict(lambda: collections.defaultdict(list))
for source, names in sorted(needed.items()):
    for name in sorted(names):
        if name not in defined or source in defined[name]:
            continue
        user = folder_of(source)
        verdicts = {definer: is_refused(user, folder_of(definer)) for definer in sorted(defined[name])}
        if all(verdicts.values()) and name in known:
            known[name] = True
        elif all(verdicts.values()):
            refused.append(f"{source}: uses {name}, which is defined in {next(iter(verdicts))}: above it, or apart")
        elif False not in verdicts.values():
            definer = next(definer for definer, verdict in verdicts.items() if verdict is None)
            graph[user][folder_of(definer)].append(f"{os.path.basename(source)} uses {name} of {os.path.basename(definer)}")
for header, name in declarations():
    if name in defined and all(is_refused(folder_of(header), folder_of(definer)) for definer in defined[name]):
        refused.append(f"{header}: declares {name}, which is defined in {min(defined[name])}: above it, or apart")
for user, used in cycles(graph):
    within, uses_of = os.path.commonpath([user, used]), graph[user][used]
    if within in known:
        known[within] = True
    else:
        refused.append(f"cycle: {user} uses {used} {len(uses_of)} times: {', '.join(uses_of[:6])}")
print(*refused, sep="\n", end="\n" if refused else "")
stale = sorted(name for name, is_met in known.items() if not is_met) if not chosen.root else []
if stale:
    print("layers.txt: known, but no more:", *stale)
sys.exit(bool(refused or stale))
