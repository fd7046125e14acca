#!/usr/bin/env bash
# Checks that clang accepts all C sources without a warning, with the options of the build but without generating code: about half a
# minute on 2 cores. In the quick tier it checks what is installed, the libraries and the command.
#
#   lint_clang.sh [TREE]      TREE: a built tree, default: the first of build/openmpi, build/mpich
set -u
cd "$(dirname "$0")/../.." || exit 1
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "skipped: $clang is not installed" && exit 77; }
for tree in "${1:-build/openmpi}" "${1:-build/mpich}"; do
    [ -f "$tree/compile_commands.json" ] && break
done
[ -f "$tree/compile_commands.json" ] || { echo "skipped: no tree is built" && exit 77; }

python3 - "$tree" "$clang" <<'EOF'
import concurrent.futures, json, os, shlex, subprocess, sys

tree, clang = sys.argv[1:]

def command_of(entry):
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
    return [clang, *options, "-Wno-unknown-warning-option", "-Werror", "-fsyntax-only", entry["file"]]

def check(entry):
    done = subprocess.run(command_of(entry), cwd=entry["directory"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout

with open(os.path.join(tree, "compile_commands.json")) as file:
    entries = {entry["file"]: entry for entry in json.load(file) if entry["file"].endswith(".c")}
if os.environ.get("HEARTH_TEST_TIER") == "quick":
    entries = {name: entry for name, entry in entries.items() if os.path.relpath(name).startswith(("src/", "tools/"))}
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(check, entries.values()))
failed = [text for status, text in results if status]
print("".join(failed), end="")
print(f"{len(entries)} files, {len(failed)} with warnings" + (": the lines above" if failed else ""))
sys.exit(bool(failed))
EOF
