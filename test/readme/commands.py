"""Reads the commands of README and doc, and writes a shell script for each page that runs them one after the other.

  commands.py pages                   the pages that have commands
  commands.py script PAGE TIER        the script: to be run in a copy of the repository, with HOME, PATH and a Hearth in $HOME/hearth
  commands.py check                   prints lines that look like commands and do not begin with `$`

A command is an indented line that begins with "$ "; lines after one that ends in a backslash continue it. All others in the block are
output. In the quick tier a command that stands on several pages is run on the first. RULES says which commands are not run as they stand, and why."""
import argparse
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "doc").glob("*.md")), "examples/README.md"]
COMMAND = re.compile(r"^ {4}(?:[A-Z_]+=\S+ )*(?:build/\S+/)?(hearth|make|mpirun\S*|mpiexec\S*|mpicc\S*|cmake|test/\S+|packaging/\S+|bench/\S+|doc/\S+\.\w+|export|module) ")


def options_of(help_of):
    """Only the options are checked: each is in the help."""
    def rule(command):
        words = re.findall(r"(?<= )(--?[a-z][\w-]*)", command.split("#")[0])
        tests = " && ".join(f"grep -q -- '{word}' <<<\"$help\"" for word in words) or "true"
        return f'help=$({help_of} 2>&1) && {tests}'
    return rule


def dry_make(command):
    return re.sub(r"^make\b", "make -n", command)


def listed(command):  # test_commands.sh has written the names of all tests
    words = shlex.split(command, comments=True)
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("tier", nargs="?", default="quick")
    for option in ("-k", "-m"):
        parser.add_argument(option, default="")
    parser.add_argument("-l", action="store_true")
    chosen = parser.parse_args(words[1:])
    return f'grep -E -e {quoted(chosen.k)} "$HOME/names.{chosen.tier}" | grep -q "{chosen.m}"'


def exists(command):
    return f"[ -x {command.split()[0]} ]"


def configures(command):  # the options are known
    names = re.findall(r"-D(\w+)=", command)
    return " && ".join(f"grep -rq '{name}' CMakeLists.txt cmake" for name in names)


def dry_run(command):
    return command.replace("hearth run", "hearth run --dry-run")


def diagnoses(command):  # 1: it has found a fault, of an MPI for example
    return command.split("#")[0] + "; [ $? -le 1 ]"


def finds_once(command):
    return command.split("#")[0].rstrip() + " --once -d 0"


RULES = (  # pattern, tiers in which it applies, what is run instead; the first that matches
    (r"^make\b", "quick full nightly", dry_make),  # takes minutes, or installs packages
    (r"^test/run\b", "quick full nightly", listed),  # takes minutes
    (r"^cmake -S", "quick full nightly", configures),
    (r"^packaging/setup\.sh", "quick full nightly", exists),  # installs packages
    (r"^test/(mpis|cluster|fault)/", "quick full nightly", exists),  # needs root, or takes minutes
    (r"^(test/launch\.sh|build/\w+/test/)", "quick full nightly", exists),  # the programs of the tests are not in the copy
    (r"\bhearth run .*nwchem", "quick", dry_run),  # takes many seconds on busy cores, and is a package of the full tier
    (r"^hearth tune\b", "quick", options_of("hearth tune --help")),  # runs the program many times
    (r"^hearth top .*--hosts", "quick full nightly", options_of("hearth top --help")),  # names hosts
    (r"^hearth top(?!.*--once)", "quick full nightly", finds_once),  # shows a screen
    (r"^hearth info --check", "quick", options_of("hearth info --help")),  # tries both MPIs, which takes 10 s
    (r"^hearth info --check", "full nightly", diagnoses),
)


def read(page):
    """Pairs of a line number and a command."""
    found, block, continues = [], False, False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if continues:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line.strip())
        elif line.startswith("    $ "):
            found.append((number, line[6:].strip()))
        else:
            continue
        continues = line.rstrip().endswith("\\")
    return found


def instead(command, tier):
    for pattern, tiers, change in RULES:
        if tier in tiers.split() and re.search(pattern, command):
            return change(command)
    return command


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bare(command):
    return command.split(" #")[0].strip()


def repeats(page, tier):
    """The commands that the quick tier has run on an earlier page: those that leave nothing behind but what they left there."""
    if tier != "quick":
        return set()
    return {bare(command) for earlier in PAGES[:PAGES.index(page)] for _, command in read(earlier) if re.match(r"(make|hearth)\b", command)}


def script(page, tier):
    seen = repeats(page, tier)
    for number, command in read(page):
        if bare(command) in seen:
            continue
        yield f"one {quoted(f'{page}:{number}')} {quoted(command)} {quoted(instead(command, tier))}"


def check():
    """Outputs that a page shows follow a command; other lines that look like commands would not be run."""
    for page in PAGES:
        for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
            if COMMAND.match(line):
                yield f"{page}:{number}: a command that is not run, as it does not begin with $: {line.strip()}"


def main(arguments):
    if arguments == ["pages"]:
        print("\n".join(page for page in PAGES if read(page)))
    elif len(arguments) == 3 and arguments[0] == "script":
        print("\n".join(script(*arguments[1:])))
    elif arguments == ["check"]:
        wrong = list(check())
        for line in wrong:
            print(line)
        return bool(wrong)
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


sys.exit(main(sys.argv[1:]))
