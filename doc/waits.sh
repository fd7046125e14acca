#!/bin/sh
# waits.sh: writes the table of calls in which MPI may wait for other processes into matching.md, from src/mpi/host/calls.def and
# src/mpi/waits.txt. With --check it only compares; with --names it prints the calls that need a test each.
#
# Each call is in one of the two lists, with a keyword that says how Hearth's messages progress during the call. The library is built from
# the same keywords, so the page cannot disagree with it.
set -eu
cd "$(dirname "$0")/.."
page=doc/matching.md
calls=src/mpi/host/calls.def
waits=src/mpi/waits.txt

hooked() { # keywords of calls.def: prints the calls that have them, without those for large counts
    grep -oE "^($1)\([A-Za-z_]+" $calls | sed 's/.*(//' | grep -v '_c$' || true
}

listed() { # keyword of waits.txt [, MPI]: prints the calls that have it
    awk -v way="$1" -v mpi="${2:-}" '
    /^(#|$)/ { next }
    $2 == way && (mpi == "" || index($0 " ", " " mpi " ")) { print $1 }' $waits
}

only() { # MPI: prints the calls that are replaced by the non-blocking equivalent elsewhere but not on this MPI
    listed nonblocking | while read -r call; do
        listed nonblocking "$1" | grep -qx "$call" || echo "$call"
    done
}

row() { # how messages progress; the names of the calls are on standard input
    names=$(sort -u | sed 's/.*/`&`/' | tr '\n' ' ' | sed 's/ $//; s/ /, /g')
    [ -z "$names" ] || printf '| %s | %s |\n' "$names" "$1"
}

table() {
    printf '%s\n' '| the process is in `MPI_` | between nodes, its large and synchronous messages progress |' '|---|---|'
    hooked 'POLL|PREBARRIER_WAIT' | row 'always: the call tests in a loop, with a round of progress in between'
    listed nonblocking openmpi | row 'always: the call is replaced by its non-blocking equivalent, which is tested in a loop'
    only openmpi | row 'MPICH: always, likewise. Open MPI, whose equivalents give other results: until all processes have entered the call, by a pre-barrier'
    { hooked 'PRE|PREBARRIER|PREBARRIER_WIN|PREBARRIER_FREE' && listed comm && listed file; } |
        row 'until all processes have entered the call: a pre-barrier by messages of Hearth precedes it'
    { hooked 'BLOCK|BLOCK_END' && listed when-done; } | row 'when the call returns'
}

case ${1:-} in
--names)
    hooked 'POLL|PREBARRIER_WAIT|PRE|PREBARRIER|PREBARRIER_WIN|PREBARRIER_FREE'
    listed nonblocking
    listed comm
    listed file
    exit
    ;;
esac

new=$(mktemp)
trap 'rm -f "$new"' EXIT
table >"$new.table"
awk -v table="$new.table" '
/^<!-- waits.sh: / { print; while ((getline line < table) > 0) print line; skip = 1; next }
/^<!-- end -->/ { skip = 0 }
!skip' $page >"$new"
rm -f "$new.table"
if [ "${1:-}" = --check ]; then
    cmp -s "$new" $page && exit
    echo "$page does not name the calls of $calls and $waits as they are: run doc/waits.sh"
    exit 1
fi
cat "$new" >$page
