#!/usr/bin/env bash
# Explores the model of reuse by validation: its programs, each mutant, and random programs.
#   test_coherent.sh MPI TREE                   tier: full; once: yes; timeout: 600; coverage: no
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../model" || exit 1
failed=0
seed=${HEARTH_TEST_SEED:-$RANDOM}

holds() { # name, words of the model
    local what=$1 out
    shift
    if out=$(/usr/bin/python3 -B -m coherent "$@"); then
        echo "ok $what: $(tail -n 1 <<<"$out")"
    else
        echo "FAIL $what:"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

holds 'the programs'
holds 'each rule is needed' mutants
holds "random programs (HEARTH_TEST_SEED=$seed)" random 1000 "$seed"
exit $failed
