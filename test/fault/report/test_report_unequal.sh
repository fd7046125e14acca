#!/usr/bin/env bash
# Tests settings that differ between the ranks, with which ranks would communicate: HEARTH_REPORT, HEARTH_MATCH*, HEARTH_WINDOWS,
# HEARTH_NODE_RANKS, HEARTH_NET, the sizes of buffers, and the info key hearth_windows. The job ends well, its collective calls have the
# right results, a line says what is off, and nothing is written. ARMCI and GASNet refuse some. If one rank runs without Hearth, the others
# say what they wait for.
#   test_report_unequal.sh MPI TREE       quick: openmpi; timeout: 180
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
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
differs @run.json @%r.json "${preload[@]}"

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

# A program with windows and messages: window [RANK VALUE], that rank gives the info key hearth_windows.
cat >"$dir/window.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
enum { MANY = 8000 };
static int sent[MANY], received[MANY];
int main(int argc, char **argv) {
    int rank, *base, got = 0, from = 0;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2 && atoi(argv[1]) == rank) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "hearth_windows", argv[2]);
    }
    MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win);
    *base = 7 + rank;
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Sendrecv(&got, 1, MPI_INT, 1 - rank, 1, &from, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != 8 - rank || from != 7 + rank)
        MPI_Abort(MPI_COMM_WORLD, 3);
    sent[MANY - 1] = 9 + rank;
    MPI_Sendrecv(sent, MANY, MPI_INT, 1 - rank, 1, received, MANY, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (received[MANY - 1] != 10 - rank)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
END
"$cc" -O1 "$dir/window.c" -o "$dir/window" || exit 1
program=("$dir/window")
unequal() { # variable, values of the ranks, what is off, options of launch.sh...
    job "$1" "${2% *}" "${2#* }" "${preload[@]}" "${@:4}"
    if told "$1" "$3" 1 $?; then echo "ok $1: $2"; else fail "$1: $2"; fi
}
all=('serve host' 'host serve' 'auto serve' 'serve ') quick=''
[ "${HEARTH_TEST_TIER:-full}" != quick ] || quick=yes all=('host serve' 'serve ') # either side
for values in "${all[@]}"; do
    unequal HEARTH_WINDOWS "$values" 'windows are left to MPI'
done
for values in '1 2' ' 1'; do
    [ "$quick$values" = 'yes 1' ] || unequal HEARTH_NODE_RANKS "$values" 'all ranks of a host are one node' --env HEARTH_WINDOWS=serve
    [ "$quick$values" = 'yes1 2' ] || unequal HEARTH_NODE_RANKS "$values" 'all ranks of a host are one node' --env HEARTH_MATCH=on
done
unequal HEARTH_NET 'mpi ' 'windows are left to MPI' --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1

unequal HEARTH_MATCH_NODE 'on off' 'messages inside a node go through MPI' --env HEARTH_MATCH=on
unequal HEARTH_MATCH_NODE 'off on' 'messages inside a node go through MPI' --env HEARTH_MATCH=on
unequal HEARTH_MATCH_REMOTE_EAGER '64k 1k' 'the smallest value counts' --env HEARTH_MATCH=on --env HEARTH_NODE_RANKS=1
unequal HEARTH_MATCH_REMOTE_EAGER '1k 64k' 'the smallest value counts' --env HEARTH_MATCH=on --env HEARTH_NODE_RANKS=1

# Ranks with other buffers would send blocks where there is no room for them.
for values in 'HELPERS 1 2' 'BUFFERS 64 4' 'BUFFER_SIZE 1k 64k' 'CREDIT_BUFFERS 0 16' 'CREDIT_BUFFER_SIZE 64k 1m' 'SIZE_HINT on off'; do
    name=HEARTH_${values%% *} values=${values#* }
    job "$name" "${values% *}" "${values#* }" "${preload[@]}" --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1
    if [ $? = 0 ] && [ "$(grep -c '^hearth\[' "$dir/log")" = 2 ] &&
        grep -qE "^hearth\[0\]: error: network: ranks 0 and 1 have different values of $name: give all ranks the same" "$dir/log" &&
        grep -q '^hearth\[0\]: warning: windows across nodes are left to MPI: the network cannot be used, see above' "$dir/log"; then
        echo "ok $name: $values"
    else
        fail "$name: $values"
    fi
done

# The info key of a window: HEARTH_WINDOWS of all ranks, the rank that gives another value, that value.
for values in 'host 0 serve' 'host 1 serve' 'host 1 auto' 'serve 0 host'; do
    read -r windows rank value <<<"$values"
    program=("$dir/window" "$rank" "$value")
    job HEARTH_WINDOWS "$windows" "$windows" "${preload[@]}"
    if [ $? = 0 ] && [ "$(grep -c '^hearth\[' "$dir/log")" = 1 ] &&
        grep -q '^hearth\[0\]: warning: info key hearth_windows is not the same on all ranks of a window: it is left to MPI' "$dir/log"; then
        echo "ok info key: $value on rank $rank, else $windows"
    else
        fail "info key: $value on rank $rank, else $windows"
    fi
done
program=("$dir/window")

# One notion of a node: messages between emulated nodes go through MPI.
job HEARTH_LOG info info "${preload[@]}" --env HEARTH_MATCH=on --env HEARTH_NODE_RANKS=1
if grep -q '1 of 2 processes are reached through shared memory' "$dir/log"; then echo 'ok matching has the same nodes'; else fail 'matching has the same nodes'; fi

for name in armci_groups gas_barrier; do
    program=("$tree/test/$name")
    [ -x "${program[0]}" ] || continue
    job HEARTH_NODE_RANKS 1 2 --env HEARTH_NVM=off
    if [ $? != 0 ] && grep -q 'error: HEARTH_NODE_RANKS is not the same on all ranks' "$dir/log"; then echo "ok $name: refused"; else fail "$name: not refused"; fi
    job HEARTH_BUFFERS 4 64 --env HEARTH_NVM=off --env HEARTH_NODE_RANKS=1
    if [ $? != 0 ] && grep -q 'error: network: ranks 0 and 1 have different values of HEARTH_BUFFERS' "$dir/log"; then echo "ok $name: buffers refused"; else fail "$name: buffers not refused"; fi
done

program=("$tree/test/gas_barrier")
if [ -x "${program[0]}" ]; then
    job HEARTH_NVM on off --env HEARTH_NVM_DIR="$dir"
    if [ $? != 0 ] && [ "$(grep -c '^hearth\[0\]: error: HEARTH_NVM is not the same on all ranks' "$dir/log")" = 1 ]; then
        echo 'ok gas_barrier: HEARTH_NVM refused'
    else
        fail 'gas_barrier: HEARTH_NVM not refused'
    fi
fi

if [ -z "$quick" ]; then # it waits for 10 s
    cat >"$dir/first" <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && export LD_PRELOAD="$1"
shift
exec "$@"
END
    chmod +x "$dir/first"
    "$here/launch.sh" "$mpi" 2 --timeout 15 "$dir/first" "$tree/lib/libhearth-mpi.so" "$dir/window" >"$dir/log" 2>&1 </dev/null
    if [ "$(grep -cE 'warning: (MPI_Init has waited for other ranks for 10 s|the ranks could not compare their settings in MPI_Init): is Hearth preloaded into all of them\?' "$dir/log")" = 1 ]; then
        echo 'ok a rank without Hearth is missed'
    else
        fail 'a rank without Hearth is missed'
    fi
fi

# The libraries that gather counters of their own, with and without libhearth-mpi.
for name in armci_groups gas_barrier; do
    program=("$tree/test/$name")
    [ -x "${program[0]}" ] || continue
    [ $name = gas_barrier ] || program+=(all_processes)
    [ "$quick$name" = yesgas_barrier ] || differs @run.json '' # in the quick tier each in one way
    [ "$quick$name" = yesarmci_groups ] || differs '' @run.json "${preload[@]}"
done
exit $failed
