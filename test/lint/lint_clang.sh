#!/usr/bin/env bash
# Checks that clang accepts all C sources without a warning, with the options of the build but without generating code. In the quick
# tier it checks what is installed, the libraries and the command, beside another job.   timeout: 240
#
# A process of clang needs as long to start as to check a file. So one process checks many files that have the same options: clang's
# own front end (-cc1) accepts several, where the command starts one front end for each. And headers take most of the time, so those that many of these
# files include are compiled once. That a file includes what it needs is seen by the compiler of the build. The quick tier does not check again what was accepted
# before: build/lint-clang.json has a sum of the options and of all files of ours that a source includes.
#
#   lint_clang.sh [TREE]      TREE: a built tree, with what it takes of build/common; default: the first of build/openmpi, build/mpich
set -u
cd "$(dirname "$0")/../.." || exit 1
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "skipped: $clang is not installed" && exit 77; }
for tree in "${1:-build/openmpi}" "${1:-build/mpich}"; do
    [ -f "$tree/compile_commands.json" ] && break
done
[ -f "$tree/compile_commands.json" ] || { echo "skipped: no tree is built" && exit 77; }

trees=("$tree")
[ ! -f build/common/compile_commands.json ] || trees+=(build/common)
python3 - "$clang" "${trees[@]}" <<'EOF'
import collections, concurrent.futures, functools, hashlib, json, os, re, shlex, subprocess, sys, tempfile

clang, *trees = sys.argv[1:]
BATCH = 80
FEW = 6  # files for which a precompiled header pays
ACCEPTED = "build/lint-clang.json"

def options_of(entry):
    """The compiler's options without those that say what to write, or that clang does not know."""
    words = iter(shlex.split(entry["command"]))
    options = []
    for word in words:
        if word == "-o":
            next(words)
        elif word.startswith("-") and word != "-c" and not word.startswith("-O"):
            options.append(word)
            if word in ("-isystem", "-include", "-I", "-D"):
                options.append(next(words))
    return (*options, "-Wno-unknown-warning-option", "-Werror", "-fsyntax-only")

def run(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout

def front_end(options, folder, file):
    """The command that clang starts for a file with these options, without the file; None if it is not understood."""
    lines = [line for line in run([clang, *options, "-###", file], folder)[1].splitlines() if '"-cc1"' in line]
    words = shlex.split(lines[0]) if len(lines) == 1 else []
    if words[-1:] != [file] or "-main-file-name" not in words:
        return None
    name = words.index("-main-file-name")
    words = [word for word in words[:name] + words[name + 2:-1] if word != "-disable-free"]  # it would keep what it knows of every file
    return [*words, "-Wno-strict-prototypes"]  # headers of GASNet exclude it by a pragma, which does not count from the second file on

def headers_of(file, folders):
    """All headers that it includes, itself or by others, in the order in which they begin."""
    found = {}
    def visit(at):
        for name in content(at)[1]:
            places = (os.path.normpath(os.path.join(folder, name[1:-1])) for folder in (os.path.dirname(at), *folders) if name[0] == '"')
            path = next(filter(os.path.exists, places), None)
            if name[0] == "<":
                found[name] = None
            elif path and f'"{path}"' not in found:
                found[f'"{path}"'] = None
                visit(path)
    visit(file)
    return [name for name in found if name.endswith(('.h"', ".h>"))]

def precompiled(command, options, folder, files, place):
    """Options that take what a quarter of the files include from one precompiled header; none if there is no such header."""
    counts = collections.Counter(name for file in files for name in headers_of(file, folders_of(options)))
    header, result = os.path.join(place, "common.h"), os.path.join(place, "common.pch")
    with open(header, "w") as out:
        out.writelines(f"#include {name}\n" for name, count in counts.items() if 4 * count >= len(files))
    words = ["-emit-pch" if word == "-fsyntax-only" else word for word in command]
    words[words.index("-x") + 1] = "c-header"
    return ["-include-pch", result] if run([*words, "-o", result, header], folder)[0] == 0 else []

def check(batch):
    """Results of files with the same options. One that fails hides what is wrong with those behind it: then each is checked alone."""
    (folder, options, _), files = batch
    command = front_end(options, folder, files[0]) if len(files) > 1 else None
    with tempfile.TemporaryDirectory() as place:
        more = precompiled(command, options, folder, files, place) if command and len(files) >= FEW else []
        if command and (run([*command, *more, *files], folder)[0] == 0 or more and run([*command, *files], folder)[0] == 0):
            return [(0, "")] * len(files)
    return [run([clang, *options, file], folder) for file in files]

@functools.cache
def content(file):
    """A sum of the file, and what it includes."""
    with open(file, "rb") as source:
        text = source.read()
    return hashlib.sha256(text).hexdigest(), re.findall(r'^ *# *include (".*"|<.*>)', text.decode(errors="replace"), re.M)

def folders_of(options):
    return [word[2:] or following for word, following in zip(options, (*options[1:], "")) if word.startswith("-I")]

def sum_of(file, options, version):
    folders = folders_of(options)
    seen, left = {}, [file]
    while left:
        at = left.pop()
        if at not in seen and os.path.exists(at):
            seen[at], names = content(at)
            left += [os.path.normpath(os.path.join(folder, name[1:-1])) for folder in (os.path.dirname(at), *folders) for name in names if name[0] == '"']
    return hashlib.sha256(json.dumps([version, options, sorted(seen.items())]).encode()).hexdigest()

entries = {}
for tree in trees:
    with open(os.path.join(tree, "compile_commands.json")) as file:
        for entry in json.load(file):
            if entry["file"].endswith(".c"):
                entries.setdefault(entry["file"], entry) # the first of each: of a library
cores = os.cpu_count()
if os.environ.get("HEARTH_TEST_TIER") == "quick":
    cores = 1
    entries = {name: entry for name, entry in entries.items() if os.path.relpath(name).startswith(("src/", "tools/"))}
count, sums, groups, accepted = len(entries), {}, {}, {}
if os.environ.get("HEARTH_TEST_TIER") == "quick":
    version = run([clang, "--version"], ".")[1]
    sums = {name: sum_of(name, options_of(entry), version) for name, entry in entries.items()}
    if os.path.exists(ACCEPTED):
        with open(ACCEPTED) as file:
            accepted = json.load(file)
    entries = {name: entry for name, entry in entries.items() if accepted.get(name) != sums[name]}
for name, entry in entries.items():
    part = os.path.relpath(name).split("/")[:2]  # the files of a folder use the same headers
    groups.setdefault((entry["directory"], options_of(entry), tuple(part)), []).append(name)
batches = [(key, files[i:i + BATCH]) for key, files in groups.items() for i in range(0, len(files), BATCH)]
with concurrent.futures.ThreadPoolExecutor(cores) as pool:
    results = [result for results in pool.map(check, batches) for result in results]
unbuilt = [text for status, text in results if status and "file not found" in text]  # generated by targets that were not built
failed = [text for status, text in results if status and "file not found" not in text]
if sums and not failed and not unbuilt:
    with open(ACCEPTED, "w") as file:
        json.dump(sums, file)
print("".join(failed), end="")
print(f"{count} files, {count - len(entries)} of them accepted before, {len(unbuilt)} without their generated headers, {len(failed)} with warnings" + (": the lines above" if failed else ""))
sys.exit(bool(failed))
EOF
