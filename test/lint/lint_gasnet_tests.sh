#!/bin/sh
# Checks that the tests of test/gas/ex call every function and every macro with arguments of GASNet-EX that the headers have, and that
# one that no test calls is found. The sources are preprocessed, because tests make the names of many calls by macros.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Names that are followed by a parenthesis in the preprocessed tests: those in lines of the headers, and in lines of the tests.
names() { # HEADERS
    for source in test/gas/ex/*.c; do
        gcc -E -std=c11 -DGASNET_PAR=1 -I"$1" -Iinclude -Itest -Itest/gas -Itest/gas/ex "$source" || exit 1
    done | awk -v headers="$1/" '
        /^# [0-9]+ "/ { from = index($0, headers) ? "declared" : index($0, "\"test/") ? "used" : ""; next }
        from != "" {
            for (line = $0; match(line, /gex_[A-Za-z0-9_]+ *\(/); line = substr(line, RSTART + RLENGTH)) {
                name = substr(line, RSTART, RLENGTH)
                sub(/ *\($/, "", name)
                print from, name
            }
        }' | sort -u
}

macros() { # HEADERS: used, not by the headers themselves
    sed -n 's/^#define \(gex_[A-Za-z0-9_]*\)(.*/\1/p' "$1"/*.h | while read -r name; do
        grep -q "\<$name(" test/gas/ex/*.c || echo "$name"
    done
}

unused() { # HEADERS
    names "$1" >"$dir/names"
    awk '$1 == "declared" { declared[$2] } $1 == "used" { used[$2] } END { for (name in declared) if (!(name in used)) print name }' "$dir/names"
    macros "$1"
}

unused include/hearth/gasnet | sort >"$dir/unused"
[ "$(grep -c '^declared' "$dir/names")" -gt 250 ] || { echo "the headers declare fewer functions than they should" && exit 1; }
if [ -s "$dir/unused" ]; then
    echo 'no test in test/gas/ex calls:'
    cat "$dir/unused"
    exit 1
fi

cp -r include/hearth/gasnet "$dir/gasnet"
sed -i 's/^int gex_Event_Test(/int gex_Event_Untested(int n);\n&/; s/^#define gex_AM_ReplyShort(/#define gex_AM_Untested(x) x\n&/' "$dir"/gasnet/*.h
[ "$(unused "$dir/gasnet" | sort | tr '\n' ' ')" = 'gex_AM_Untested gex_Event_Untested ' ] || { echo 'a function that no test calls is not found' && exit 1; }
