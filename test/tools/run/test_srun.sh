#!/usr/bin/env bash
# Tests hearth run with a real srun: ranks connect, Hearth is preloaded into them and not into srun; exit codes and
# --multi-prog.
#   test_srun.sh MPI TREE       tier: full; timeout: 300
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ -n "${SLURM_CONF:-}" ] || exec "$here/tools/run/slurm.sh" "${BASH_SOURCE[0]}" "$@"
mpi=$1 tree=$2 failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -O1 "$here/tools/gets.c" -o "$dir/gets" || exit 1
case $mpi in openmpi) way=pmix ;; *) way=pmi2 ;; esac
slurm=(srun "--mpi=$way" --overcommit)
timeout 60 "${slurm[@]}" -n 2 "$dir/gets" >"$dir/log" 2>&1 || {
    echo "$mpi does not run under srun here: $(tail -n 1 "$dir/log")"
    exit 77
}

check() { # name, exit code, regular expression or '', arguments of hearth run
    local what=$1 code=$2 text=$3 status=0
    shift 3
    HEARTH_BYPASS=never timeout -k 5 90 "$tree/bin/hearth" run "$@" >"$dir/log" 2>&1 || status=$?
    if [ $status = "$code" ] && { [ -z "$text" ] || grep -qE -- "$text" "$dir/log"; }; then
        echo "ok $what"
    else
        echo "FAIL $what: exit code $status instead of $code, or nothing like: $text"
        sed 's/^/    | /' "$dir/log"
        failed=1
    fi
}

two_ranks() { # name: the last job wrote a report of two ranks
    "$tree/bin/hearth" report "$dir/run.json" >"$dir/log" && grep -q '^@ Ranks .*: 2 on' "$dir/log" && rm "$dir/run.json" && return
    echo "FAIL $1, by its report: $(cat "$dir/log")" && failed=1
}

check 'two ranks of srun' 0 '' --report "$dir/run.json" "${slurm[@]}" -n 2 "$dir/gets"
two_ranks 'two ranks of srun'
check 'its own --export' 0 '' --report "$dir/run.json" "${slurm[@]}" -n 2 --export=ALL,OTHER=1 "$dir/gets"
two_ranks 'its own --export'
check 'srun itself has no preload' 0 '^srun .*LD_PRELOAD' --dry-run "${slurm[@]}" -n 2 "$dir/gets"
check 'an exit code' 3 '' --mpi "$mpi" "${slurm[@]}" -n 1 sh -c 'exit 3'
printf '0-1 %s\n' "$dir/gets" >"$dir/programs"
check 'programs from a file' 0 '' --report "$dir/run.json" "${slurm[@]}" -n 2 --multi-prog "$dir/programs"
two_ranks 'programs from a file'
exit $failed
