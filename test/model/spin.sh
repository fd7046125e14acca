# spin.sh: explores the states of a model. Sourced by tests, which set `model` and, for options of gcc, `optimize`.
# Sets here, dir and failed.
failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v spin >/dev/null || { echo "spin is not installed" && exit 77; }
command -v gcc >/dev/null || { echo "gcc is not installed, which spin needs" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Explores all states, within 3 GB of memory and a time limit; writes the verifier's output to out.txt. Its status is
# 0 even if it finds an error.
explore() { # limit in seconds, options of gcc, of pan, of spin
    local limit=$1 build=$2 run=$3
    shift 3
    # shellcheck disable=SC2086 # several words
    (cd "$dir" && rm -f ./*.trail && spin -a "$@" "$here/model/$model" >out.txt 2>&1 &&
        gcc -w -DMEMLIM=3000 -DCOLLAPSE $optimize $build -o pan pan.c >>out.txt 2>&1 &&
        timeout -k 5 "$limit" ./pan -m400000 $run >>out.txt 2>&1)
}

numbers() {
    sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1 states/p' "$dir/out.txt"
}

holds() { # name, limit, options of gcc, of pan, of spin
    local what=$1
    shift
    if explore "$@" && grep -q 'errors: 0' "$dir/out.txt" &&
        ! grep -q 'max search depth too small\|out of memory' "$dir/out.txt"; then
        echo "ok $what (${*:4}): $(numbers)"
    else
        echo "FAIL $what (${*:4}):"
        tail -n 30 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    fi
}

found() { # mutant, options of spin: an error must be found
    local mutant=$1
    shift
    if explore 60 -DSAFETY "" -DMUTANT="$mutant" "$@" && grep -qE '^pan:1: (assertion violated|invalid end state)' "$dir/out.txt"; then
        echo "ok mutant $mutant: $(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$dir/out.txt")"
    else
        echo "FAIL mutant $mutant is not found with $*"
        tail -n 30 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    fi
}

mutants() { # the numbers of all faults in the model
    sed -nE 's/^#(el)?if MUTANT [!=]= ([0-9]+).*/\2/p' "$here/model/$model" | sort -nu
}
