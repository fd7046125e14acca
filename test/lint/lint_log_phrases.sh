#!/bin/sh
# Checks that README, CONTRIBUTING, doc, man and the comments of sources state what is true now, and keep no log of runs: such phrases,
# and dates. Runs belong to the data of test/status and bench/results, the pages made of them, and commit bodies. Tests itself.
set -u
cd "$(dirname "$0")/../.." || exit 1
phrases='pass(es)? since|(did not|hung|failed|flaky|crashed|differed) at first|at first (it|they|the test|the run)s? (failed|hung|crashed|passed)'
phrases="$phrases|beside (other tests|other work|builds?\b|a build)|by (a )?faults? of (a|the) tests?|after a fix of|passed when repeated|(was|is|were) fixed since"
phrases="$phrases|corrected since|seen once|in the first design|an? earlier (goal|version of (this|the) page)|has not failed since"
flaky='\bflaky\b'
date='\b20[2-9][0-9]-[01][0-9]-[0-3][0-9]\b'

# Pages that are generated from data, changes, decisions, and what describes the runner, which calls tests flaky.
generated='doc/status.md|doc/results.md|CHANGELOG.md|doc/adr/.*'
runner='doc/testing.md|test/runner/.*|test/lint/lint_(log_phrases|status).sh|test/mpis/mpis.sh|test/x86/.*|test/status/.*|doc/status.py'

texts() { # those that are read as texts
    test/lint/sources.sh 'README.md' 'CONTRIBUTING.md' 'doc/*' 'man/*' 'examples/*' | grep -vxE "$generated|$runner|.*\.svg"
}

sources() { # those whose comments are read
    test/lint/sources.sh '*.c' '*.h' '*.def' '*.sh' '*.py' '*.F90' '*.f90' '*.txt' '*.cmake' Makefile | grep -E '^(src|include|tools|apps|bench|sim|test|packaging|cmake|model|Makefile)' |
        grep -vxE "$runner|bench/results/.*|test/fuzz/seeds/.*|test/lint/lint_log_phrases.sh"
}

check() { # list of texts, list of sources: prints what is wrong
    xargs -r grep -nHIiE "$phrases|$flaky" /dev/null <"$1"
    xargs -r grep -nHIE "^([^ ]| {1,3}[^ ]).*$date|^$date" /dev/null <"$1" # not in output that a page shows
    xargs -r grep -nHIE '(/\*|^ \*|^\*|#|//|!|").*' /dev/null <"$2" | grep -iE "($phrases|$flaky)"
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
texts >"$dir/texts" && sources >"$dir/sources"
if check "$dir/texts" "$dir/sources"; then
    echo "the lines above read like the log of a work: state what is true now; runs belong to test/status, bench/results and commits"
    exit 1
fi

printf '%s\n' 'Three failed, and pass since.' 'It was measured on 2026-11-17.' 'It took 9 minutes beside other tests.' 'One was flaky.' \
    'The test, by a fault of the test, hung.' 'It hung at first.' '    @ Start time : 2026-11-17' >"$dir/bad.md"
printf '%s\n' 'Memory is backed when it is touched at first.' 'They run side by side.' 'Version 2026.1 passes.' >"$dir/good.md"
printf '%s\n' 'int a; /* it failed at first */' ' * seen once in a job' 'int b; /* 0 at first */' >"$dir/bad.c"
ls "$dir"/*.md >"$dir/texts" && ls "$dir"/*.c >"$dir/sources"
found=$(check "$dir/texts" "$dir/sources" | sed "s,$dir/,,; s/:\([0-9]*\):.*/ \1/" | tr '\n' ' ')
want='bad.md 1 bad.md 3 bad.md 4 bad.md 5 bad.md 6 bad.md 2 bad.c 1 bad.c 2 '
[ "$found" = "$want" ] || { echo "lint_log_phrases.sh finds '$found' instead of '$want'" && exit 1; }
