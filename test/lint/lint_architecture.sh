#!/bin/sh
# Checks that doc/architecture.md names files and functions that exist, and that no folder of src, tools and test holds more files than a
# reader looks over: 32, in src/base 20. Data of tests (seeds) may be more. Tests itself on a page and on folders that are wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
python3 -B - <<'P'
import collections
import re
import subprocess
import sys

# Words in code marks that are no functions of ours: variables, programs and tests have other forms.
FUNCTION = re.compile(r"[a-z][a-z0-9]*(_[A-Za-z0-9]+)+")
FILE = re.compile(r"[a-z0-9_./]+\.(c|h|def|txt|sh|md|py)")


def listing(*patterns):
    return subprocess.run(["test/lint/sources.sh", *patterns], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def missing(page, files, words):
    """What the page names and the sources do not have. A file may be named by its path, relative to the root or to src/."""
    for mark in sorted(set(re.findall(r"`([^`\n]+)`", page))):
        if FILE.fullmatch(mark) and mark != "mpi.h" and not {mark, "src/" + mark} & files and not ("/" not in mark and any(f.endswith("/" + mark) for f in files)):
            yield f"no file {mark}"
        elif FUNCTION.fullmatch(mark) and mark not in words:
            yield f"nothing of the name {mark}"


def crowded(files):
    """The folders with too many files."""
    counts = collections.Counter(f.rpartition("/")[0] for f in files if f.startswith(("src/", "tools/", "test/")) and "/seeds/" not in f)
    for folder, count in sorted(counts.items()):
        most = 20 if folder == "src/base" else 32
        if count > most:
            yield f"{folder}: {count} files, of {most} at most: sort them into folders by topic"


planted = [f"{folder}/{i}" for folder in ("src/base", "src/net", "test/fuzz/seeds/top", "doc") for i in range(33)]
if [line.split(":")[0] for line in crowded(planted)] != ["src/base", "src/net"] or list(crowded(planted[:20])):
    sys.exit(f"planted two crowded folders; found: {list(crowded(planted))}")
files = set(listing())
words = set()
for name in files:
    words.add(name.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    if name.endswith((".c", ".h", ".def")):
        with open(name, encoding="utf-8") as source:
            text = source.read()
        words |= set(re.findall(r"\w+", text))
        if name.endswith("/calls.def"):
            words |= {"hook_" + call for call in re.findall(r"^[A-Z_]+\((\w+),", text, re.M)}
planted = list(missing("`match/lost.c` `src/match/match.c` `match_lost_one` `match_post` `match.c` `lint_texts`", files, words))
if planted != ["no file match/lost.c", "nothing of the name match_lost_one"]:
    sys.exit(f"planted two names that do not exist; found: {planted}")
with open("doc/architecture.md", encoding="utf-8") as page:
    found = [f"doc/architecture.md: {what}" for what in missing(page.read(), files, words)]
found += crowded(files)
print(*found, sep="\n", end="\n" if found else "")
sys.exit(bool(found))
P
