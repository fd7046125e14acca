#!/bin/sh
# Checks that README and CONTRIBUTING have not outgrown a page that one reads, and that every link inside the documentation leads to
# a file, and to a heading in it. Tests itself on small pages.
set -u
cd "$(dirname "$0")/../.." || exit 1
python3 -B - <<'P'
import os
import re
import subprocess
import sys
import tempfile

LIMITS = {"README.md": 9216, "CONTRIBUTING.md": 8192}


def prose(text):
    """The text without code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return "\n".join("" if line.startswith("    ") else re.sub(r"`[^`]*`", lambda code: " " * len(code.group()), line) for line in text.splitlines())


def anchors(text):
    """As GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def broken_links(root, pages):
    for page in pages:
        with open(os.path.join(root, page), encoding="utf-8") as file:
            lines = prose(file.read()).splitlines()
        for number, line in enumerate(lines, 1):
            for target in re.findall(r"\]\(([^()\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(root, os.path.dirname(page), path)) if path else os.path.join(root, page)
                if not os.path.exists(full):
                    yield f"{page}:{number}: {target} does not exist"
                elif anchor:
                    with open(full, encoding="utf-8") as file:
                        if anchor not in anchors(file.read()):
                            yield f"{page}:{number}: {path or page} has no heading #{anchor}"


def too_long(root):
    for name, most in LIMITS.items():
        size = os.path.getsize(os.path.join(root, name))
        if size > most:
            yield f"{name} has {size} bytes, and should have at most {most}: move details to a page of doc/"


def test():
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(root + "/doc")
        for name, text in {"README.md": "# A b, c\n[1](doc/x.md) [2](doc/no.md) [3](#a-b-c)\n[4](#none) [5](doc/x.md#in-it) `[6](gone)`\n    [7](gone)\n",
                           "doc/x.md": "## In it\n[8](../README.md) [9](y.md) [10](https://no.example)\n", "CONTRIBUTING.md": "x" * 8193}.items():
            with open(f"{root}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        found = list(broken_links(root, ["README.md", "doc/x.md"])) + list(too_long(root))
        want = ["README.md:2: doc/no.md does not exist", "README.md:3: README.md has no heading #none", "doc/x.md:2: y.md does not exist",
                "CONTRIBUTING.md has 8193 bytes, and should have at most 8192: move details to a page of doc/"]
        return [] if found == want else ["lint_texts.sh does not find what it should: " + "; ".join(found)]


pages = subprocess.run(["test/lint/sources.sh", "*.md"], capture_output=True, text=True, check=True).stdout.split()
faults = test() + list(too_long(".")) + list(broken_links(".", pages))
print("\n".join(faults))
sys.exit(bool(faults))
P
