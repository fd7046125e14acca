#!/bin/sh
# Checks that no file contains marks of unfinished work or paths of a developer's machine, and that no identifier contains
# a retired word.
set -u
cd "$(dirname "$0")/../.." || exit 1
unfinished='\b(TO''DO|FIX''ME|XX''X|HA''CK)\b'
private='(^|[^A-Za-z0-9_.~])/(home|root|work|Users)/'
if test/lint/sources.sh | xargs -r grep -nIE "$unfinished|$private" /dev/null; then
    echo "the lines above mark unfinished work, or name a path of one machine"
    exit 1
fi

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
