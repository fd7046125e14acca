#!/usr/bin/env bash
# Counts the functions of Global Arrays that the programs here call:   coverage.sh [-v]      -v lists the others
#
# In C these are the functions declared in ga.h and ga-mpi.h, in Fortran those declared in global.fh. A function is
# called if an object leaves it undefined. Synonyms (GA_Sync, NGA_Sync) and widths (NGA_Put, NGA_Put64) count
# separately, as each is an entry point. The sources are compiled for the first MPI that is installed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
verbose=0
[ "${1:-}" != -v ] || { verbose=1 && shift; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mpi=$("$here/../../packaging/mpis.sh" | head -n 1)
cc=$("$here/../../packaging/mpis.sh" "$mpi") || exit 77
echo '#include <ga.h>' | "$cc" -fsyntax-only -x c - 2>/dev/null || { echo "no ga.h here: libglobalarrays-dev" && exit 77; }

compile() { # all sources, for the first MPI
    local source
    for source in $(find "$here" -name '*.c'); do
        "$cc" -std=gnu11 -D_GNU_SOURCE -I"$here" -I"$here/.." -c "$source" -o "$dir/$(basename "$source").o" || return 1
    done
    for source in $(find "$here" -name '*.F90'); do
        "$("$here/../../packaging/mpis.sh" "$mpi" mpifort)" -w -std=legacy -fdefault-integer-8 -c "$source" -o "$dir/$(basename "$source").o" -J "$dir" || return 1
    done
}

compile || exit 1
nm -u "$dir"/*.o | awk '$1 == "U" { print tolower($2) }' | sort -u >"$dir/called"

share() { # name, file with the declared functions
    local declared exercised
    sort -u "$2" >"$2.sorted"
    tr '[:upper:]' '[:lower:]' <"$2.sorted" | sort -u >"$2.lower"
    declared=$(wc -l <"$2.lower")
    exercised=$(comm -12 "$2.lower" "$dir/called" | wc -l)
    echo "functions of $1 exercised: $exercised of $declared ($((100 * exercised / declared)) %)"
    [ $verbose = 0 ] || comm -23 "$2.lower" "$dir/called" | grep -ixFf - "$2.sorted" | column -c 120
}

printf '#include <ga.h>\n#include <ga-mpi.h>\n' | "$cc" -E -P -x c - | grep -oE '\bN?GA_[A-Za-z0-9_]+ *\(' | tr -d ' (' >"$dir/c"
share 'ga.h and ga-mpi.h' "$dir/c"
echo '#include <global.fh>' | "$cc" -E -P -x c - 2>/dev/null |
    sed -nE 's/^ *external +(n?ga_[a-z0-9_]+) *$/\1_/p' >"$dir/fortran"
share global.fh "$dir/fortran"
