#!/bin/sh
# Checks that doc/architecture.md names files and functions that exist, and tests itself on a page with names that do not.
set -u
cd "$(dirname "$0")/../.." || exit 1
python3 -B - <<'P'
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
    found = list(missing(page.read(), files, words))
print(*(f"doc/architecture.md: {what}" for what in found), sep="\n", end="\n" if found else "")
sys.exit(bool(found))
P
