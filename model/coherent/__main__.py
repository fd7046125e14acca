"""A checked model of reuse by validation: copies stay valid across synchronisation because readers ask what has changed.

The owner of a window part keeps a counter, and for each range the counter's value at its last change: stores of the owner are listed by
the kernel page by page, puts are stamped by Hearth as it executes them. A process that has synchronised asks the home of a copy, before
it uses the copy, what has changed since its last question. rules.py has the rules, state.py and steps.py what happens, programs.py the
programs. Every interleaving is explored. A read of a version that is older than one which happened before is a stale hit.

    python3 -m coherent                      the programs have no stale hit, and can always end; prints the numbers of states
    python3 -m coherent mutants              each rule is needed: without it one of the programs reads stale data
    python3 -m coherent random COUNT SEED    random programs have no stale hit
    python3 -m coherent search COUNT SEED    random programs find the mutants, within COUNT programs for each

What a state lacks: a store that the kernel does not see (doc/consistency.md names them), failures, and lock fairness."""
import random
import sys

from .programs import PROGRAMS, random_program
from .rules import RULES, Rules
from .state import start
from .steps import Stale, Steps

ALL, PART = 10**7, 5000  # states to look at: of a program above; of a random one


def explore(program, rules, most=ALL):
    """The number of states, what was stale (or None), and whether some interleaving cannot end."""
    steps, first = Steps(program, rules), start(program)
    seen, todo, stuck = {first}, [first], False
    while todo and len(seen) < most:
        s, has_next = todo.pop(), False
        try:
            for after in steps.successors(s):
                has_next = True
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        except Stale as stale:
            return len(seen), str(stale), stuck
        stuck |= not has_next and not steps.is_finished(s)
    return len(seen), None, stuck


def check_programs():
    bad = 0
    for name, program in PROGRAMS.items():
        states, stale, stuck = explore(program, Rules())
        bad += bool(stale) or stuck
        print("%-45s %7d states  %s" % (name, states, stale or ("cannot always end" if stuck else "ok")))
    return bad


def find(rule, programs, most):
    for name, program in programs:
        stale = explore(program, Rules(without=rule), most)[1]
        if stale:
            return name, stale, program
    return None


def check_mutants():
    missed = 0
    for rule in RULES:
        found = find(rule, PROGRAMS.items(), ALL)
        missed += not found
        print("%-25s %s" % (rule, 'needed by "%s": %s' % found[:2] if found else "NOT FOUND"))
    return missed


def random_programs(count, seed):
    rng = random.Random(seed)
    return (("program %d" % n, random_program(rng)) for n in range(count))


def show(program):
    for process, operations in program.threads:
        print("    process %d: %s" % (process, ", ".join(" ".join(map(str, o)) for o in operations)))
    print("    nodes %s, limit %d" % (program.nodes, program.limit))


def check_random(count, seed):
    states = 0
    for name, program in random_programs(count, seed):
        n, stale, _ = explore(program, Rules(), PART)
        states += n
        if stale:
            print("%s of seed %d: %s" % (name, seed, stale))
            show(program)
            return 1
    print("%d random programs of seed %d, %d states: ok" % (count, seed, states))
    return 0


def search_mutants(count, seed):
    missed = 0
    for rule in RULES:
        found = find(rule, random_programs(count, seed), PART)
        missed += not found
        print("%-25s %s" % (rule, "%s: %s" % found[:2] if found else "not found"))
    print("seed %d: %d of %d mutants not found" % (seed, missed, len(RULES)))
    return missed


def main(words):
    if words == ["mutants"]:
        return check_mutants()
    if len(words) == 3 and words[0] in ("random", "search"):
        return (check_random if words[0] == "random" else search_mutants)(int(words[1]), int(words[2]))
    if words:
        print(__doc__, file=sys.stderr)
        return 2
    return check_programs()


sys.exit(min(main(sys.argv[1:]), 100))
