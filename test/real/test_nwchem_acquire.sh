#!/usr/bin/env bash
# Runs Debian's NWChem in mode acquire: benzene by DFT on 2 ranks over TCP, with its matrices distributed over the
# ranks. The energy equals that without Hearth to 10 digits, no hit is stale, and of the remote gets of rank 1 that
# the rule of mode acquire allows to hit, 9 of 10 do.   test_nwchem_acquire.sh MPI TREE      tier: full; alone: yes; timeout: 3600
#
# The gets that the rule allows depend on the order in which tasks are drawn, so they are determined from the run
# itself: trace.c is preloaded in front of Hearth and records the gets and the sync events, and trace.awk replays them
# with an unlimited cache. Ranks other than 1 make few remote gets: rank 0 owns most of the data that is read. NWChem
# draws its tasks from a shared counter, and a draw is a sync event unless HEARTH_ATOMICS=quiet.
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/nwchem.sh"

write_input "$dir/input.nw" benzene 'dft
 xc b3lyp
end
task dft energy' <<'N'
 C  0.000  1.396  0.000
 C  1.209  0.698  0.000
 C  1.209 -0.698  0.000
 C  0.000 -1.396  0.000
 C -1.209 -0.698  0.000
 C -1.209  0.698  0.000
 H  0.000  2.479  0.000
 H  2.147  1.240  0.000
 H  2.147 -1.240  0.000
 H  0.000 -2.479  0.000
 H -2.147 -1.240  0.000
 H -2.147  1.240  0.000
N

# Sets energy and seconds; the output is in out.txt.
run() { # options of launch.sh
    local start=$EPOCHREALTIME
    rm -rf "$dir/run" && mkdir "$dir/run" && cp "$dir/input.nw" "$dir/run"
    (cd "$dir/run" && "$here/launch.sh" mpich 2 --tcp --timeout 300 --env ARMCI_USE_WIN_ALLOCATE=0 "$@" \
        nwchem.mpich input.nw >"$dir/out.txt" 2>&1)
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    energy=$(sed -n 's/.*Total DFT energy = *\(-[0-9.]*\).*/\1/p' "$dir/out.txt")
    [ -n "$energy" ]
}

fail() { # what
    echo "FAIL $1"
    tail -n 15 "$dir/out.txt" | sed 's/^/    | /'
    failed=1
}

same_energy() { # 10 digits of 232.2437598: a difference below 1e-7
    awk -v a="$energy" -v b="$bare" 'BEGIN { d = a - b; exit !(d < 1e-7 && d > -1e-7) }'
}

hits() { # RANK
    awk -F: -v rank="$1" '/"rank"/ { r = $2 + 0 } /"(full|partial|pending)_hits"/ && r == rank { n += $2 } END { print n + 0 }' "$dir/report.json"
}

acquire() { # rule for atomics: the options of launch.sh, after those of libraries in front
    hearth=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MODE=acquire --env HEARTH_ATOMICS="$1")
}

# Without what depends on measured times: a busy machine would change which gets the cache leaves to MPI.
check_share() { # rule for atomics
    local gets allowed unwritten small served quiet=0 hearth
    [ "$1" != quiet ] || quiet=1
    rm -f "$dir"/trace.* "$dir/report.json"
    acquire "$1"
    if ! run --preload "$tree/test/trace.so" --env TRACE_FILE="$dir/trace" "${hearth[@]}" --env HEARTH_BYPASS=never --env HEARTH_SUSPEND=0 \
        --env HEARTH_REPORT="$dir/report.json"; then
        fail "atomics $1: no energy"
        return
    fi
    same_energy || fail "atomics $1: energy $energy, without Hearth $bare"
    read -r gets allowed unwritten small < <(awk -f "$here/real/trace.awk" -v quiet=$quiet "$dir/trace.1")
    served=$(hits 1)
    if [ "$allowed" -gt 100 ] && [ $((10 * served)) -ge $((9 * allowed)) ]; then
        echo "ok atomics $1: of rank 1's $gets remote gets $served served ($((100 * served / gets)) %); the rule allows $allowed" \
            "($unwritten but for own writes); $small more were of one element; energy $energy"
    else
        fail "atomics $1: of rank 1's $gets remote gets $served served; the rule allows $allowed: expected 90 % of these"
    fi
}

check_stale() { # rule for atomics
    local hearth
    acquire "$1"
    run "${hearth[@]}" --env HEARTH_CHECK=1 || fail "atomics $1, checked: no energy"
    same_energy || fail "atomics $1, checked: energy $energy, without Hearth $bare"
    if [ "$(grep -c 'HEARTH_CHECK: none of [0-9]* hits was stale' "$dir/out.txt")" = 2 ] &&
        grep -q 'HEARTH_CHECK: none of [1-9][0-9]* hits' "$dir/out.txt"; then
        echo "ok atomics $1, checked: $(grep -o 'none of [0-9]* hits was stale' "$dir/out.txt" | paste -sd ';' -)"
    else
        fail "atomics $1, checked"
    fi
}

median() { # three numbers
    printf '%s\n' "$@" | sort -n | sed -n 2p
}

# The time is printed and not checked: it depends on the load of the machine.
print_times() {
    local hearth without=() strict=() quiet=() round
    for round in 1 2 3; do
        run || fail "round $round: no energy"
        without+=("$seconds")
        acquire acquire
        run "${hearth[@]}" || fail "round $round, acquire: no energy"
        strict+=("$seconds")
        acquire quiet
        run "${hearth[@]}" || fail "round $round, quiet: no energy"
        quiet+=("$seconds")
    done
    echo "seconds, medians of 3: $(median "${without[@]}") without Hearth, $(median "${strict[@]}") in acquire mode," \
        "$(median "${quiet[@]}") with quiet atomics"
}

run || { fail "no energy without Hearth" && exit 1; }
bare=$energy
echo "without Hearth: energy $bare"
check_share acquire
check_share quiet
check_stale acquire
check_stale quiet
print_times
exit $failed
