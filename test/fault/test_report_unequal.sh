#!/usr/bin/env bash
# Tests settings that differ between the ranks, with which ranks would communicate: HEARTH_REPORT and HEARTH_MATCH. The job ends well, its
# collective calls have the right results, a line says what is off, and nothing is written.
#   test_report_unequal.sh MPI TREE       quick: openmpi; timeout: 180
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
cat >"$dir/sum.c" <<'END'
#include <mpi.h>
int main(void) {
    int rank, sum = 0, got = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i <= 10; i++) {
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        got = rank ? 0 : i;
        MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (sum != 2 * i || got != i)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return MPI_Finalize();
}
END
"$cc" -O1 "$dir/sum.c" -o "$dir/sum" || exit 1
cat >"$dir/each" <<'END'
#!/bin/sh
# each VARIABLE VALUE-OF-RANK-0 VALUE-OF-RANK-1 COMMAND...; an empty value unsets it
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && value=$2 || value=$3
[ -z "$value" ] && unset "$1" || export "$1=$value"
shift 3
exec "$@"
END
chmod +x "$dir/each"

job() { # variable, value of rank 0, value of rank 1, options of launch.sh...: its output is in log
    mkdir -p "$dir/out"
    "$here/launch.sh" "$mpi" 2 --timeout 25 "${@:4}" "$dir/each" "$1" "$2" "$3" "${program[@]}" >"$dir/log" 2>&1 </dev/null
}

told() { # name, what is off, whether it was expected, exit status
    local lines
    lines=$(grep -cE "^hearth\[0\]: warning: $1 is not the same on all ranks: $2; set it for all" "$dir/log")
    [ "$4" = 0 ] && [ "$lines" = "$3" ] && [ "$(grep -c '^hearth\[' "$dir/log")" = "$3" ]
}

fail() { # what
    echo "FAIL $1"
    sed 's/^/    | /' "$dir/log"
    ls "$dir/out"
    failed=1
}

differs() { # value of HEARTH_REPORT of rank 0, of rank 1, options of launch.sh...
    local what="${program[0]##*/}: HEARTH_REPORT is '$1' and '$2'" status
    job HEARTH_REPORT "${1/@/$dir\/out\/}" "${2/@/$dir\/out\/}" "${@:3}"
    status=$?
    if told HEARTH_REPORT 'no report is written' 1 $status && [ -z "$(ls "$dir/out")" ]; then echo "ok $what"; else fail "$what"; fi
    rm -rf "$dir/out"
}

preload=(--preload "$tree/lib/libhearth-mpi.so") program=("$dir/sum")
differs @run.json '' "${preload[@]}"
differs '' @run.json "${preload[@]}"
differs 1 @run.json "${preload[@]}"
differs @run.json @%r.json "${preload[@]}"
differs @run.json @run.txt "${preload[@]}"

job HEARTH_REPORT "$dir/out/a.json" "$dir/out/b.json" "${preload[@]}"
if told HEARTH_REPORT '' 0 $? && grep -q '"ranks": 2' "$dir/out/a.json" && [ ! -e "$dir/out/b.json" ]; then
    echo 'ok the name of rank 0 counts'
else
    fail 'the name of rank 0 counts'
fi
rm -rf "$dir/out"

for values in 'on ' ' on'; do
    job HEARTH_MATCH "${values% *}" "${values#* }" "${preload[@]}"
    if told HEARTH_MATCH 'messages are left to MPI' 1 $?; then echo "ok HEARTH_MATCH: $values"; else fail "HEARTH_MATCH: $values"; fi
done

# The libraries that gather counters of their own, with and without libhearth-mpi.
for name in armci_groups gas_barrier; do
    program=("$tree/test/$name")
    [ -x "${program[0]}" ] || continue
    [ $name = gas_barrier ] || program+=(all_processes)
    differs @run.json ''
    differs '' @run.json "${preload[@]}"
done
exit $failed
