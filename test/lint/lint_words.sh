#!/bin/sh
# Checks that no file contains marks of unfinished work or paths of a developer's machine, that the product has no hooks that only
# tests use, and that no identifier contains a retired word.
set -u
cd "$(dirname "$0")/../.." || exit 1
unfinished='\b(TO''DO|FIX''ME|XX''X|HA''CK)\b'
private='(^|[^A-Za-z0-9_.~])/(home|root|work|Users)/'
if test/lint/sources.sh | xargs -r grep -nIE "$unfinished|$private" /dev/null; then
    echo "the lines above mark unfinished work, or name a path of one machine"
    exit 1
fi

# Tests inject faults from outside: by the linker's --wrap (test/CMakeLists.txt), by test/fault/calls/fail.h, or by a mutant of the library
# (hearth_mutant in test/CMakeLists.txt). settings.c and tune_result.c leave the names of variables of tests alone.
hooks='"HEARTH_TEST_|\b[a-z_]*(_fail_at|planned_failure|_disk_fault|_inject|_force_next)\b|/\*.*\b([Ff]or|[Oo]nly) tests\b|\ba test (makes|injects|forces)\b'
hooks_in() { xargs -r grep -nHE "$hooks" /dev/null | grep -vE '^(src/base/settings|tools/tune/tune_result)\.c:.*strncmp'; }
if test/lint/sources.sh '*.c' '*.h' '*.def' | grep -E '^(src|include|tools)/' | hooks_in; then
    echo "the lines above are hooks for tests in the product: inject faults from outside"
    exit 1
fi
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
printf '%s\n' 'void memory_fail_at(unsigned n);' 'getenv("HEARTH_TEST_X")' '/* For tests: the same */' 'int test_all(void); /* tests them all */' >"$sample"
[ "$(echo "$sample" | hooks_in | wc -l)" = 3 ] || { echo "lint_words.sh does not find the hooks of its sample" && exit 1; }

# Names of counters in reports are exempt, as programs read them, and so is MPI_LAND.
retired='baton|doze|kin|knock|habit|twin|deaf|foresees?|foresight|spoil(ed)?|doom(ed)?|disturb(ed|ance)?|parcels?|stripes?|bells?|rung|far|near|past|worth|measure|meet|meeting|news|quiet(ly)?|rests|land|intimations?|slowly|beside'
stays='^((LIVE_)?(armci|gas)_(far|near)|far_(gets|puts|memsets|get_bytes|put_bytes|memset_bytes)|so_far|ATOMICS_QUIET|(DATA_|MPI_)?LAND)$'
test/lint/sources.sh '*.c' '*.h' '*.def' | grep -E '^(src|tools)/' | xargs -r awk -v retired="^($retired)\$" -v stays="$stays" '
FNR == 1 { comment = 0 }
{
    text = $0
    gsub(/\\.|\047"\047/, "", text)
    if (text !~ /^[ \t]*#[ \t]*include/) gsub(/"[^"]*"/, "", text)
    code = ""
    while (text != "") {
        at = index(text, comment ? "*/" : "/*")
        if (!comment) code = code (at ? substr(text, 1, at - 1) " " : text)
        if (!at) break
        text = substr(text, at + 2)
        comment = !comment
    }
    gsub(/[^A-Za-z0-9_]+/, " ", code)
    n = split(code, name, " ")
    for (i = 1; i <= n; i++) {
        if (name[i] ~ stays) continue
        if (name[i] ~ /^far(_bytes)?$/ && FILENAME ~ /^src\/mpi\/messages\//) continue
        if (name[i] == "near" && FILENAME ~ /(live\.def|rpc_open\.c)$/) continue
        m = split(tolower(name[i]), word, "_")
        for (k = 1; k <= m; k++) if (word[k] ~ retired) { print FILENAME ":" FNR ": " name[i]; found = 1 }
    }
}
END { exit found }' || {
    echo "the identifiers above use retired words: use the terms of the field instead"
    exit 1
}
