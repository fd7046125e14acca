# Shared by the tests of programs on segments in NVM, test_dgemm.sh and test_pgas.sh, which source this file with MPI and TREE. Sets mpi,
# tree, failed, and dir, a folder that is removed at the end.
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

. "$here/tools/check_files.sh"

run_program() { # PROGRAM NAME RANKS [K=V]... -- [OPTION]...: writes exit status and output to $dir/NAME.*
    local program=$1 name=$2 ranks=$3 launch=()
    shift 3
    while [ "$1" != -- ]; do launch+=(--env "$1") && shift; done
    shift
    "$here/launch.sh" "$mpi" "$ranks" --env HEARTH_NVM_DIR="$dir" ${launch[@]+"${launch[@]}"} --timeout 90 \
        "$tree/bin/$program" --json "$dir/$name.json" "$@" >"$dir/$name.out" 2>&1
    echo $? >"$dir/$name.status"
}

value() { # NAME FIELD
    sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$dir/$1.json" 2>/dev/null | head -n 1
}

holds() { # an awk condition
    awk "BEGIN { exit !($1) }"
}

ended() { # NAME STATUS
    [ "$(cat "$dir/$1.status")" = "$2" ]
}

says() { # PROGRAM NAME WORDS: the program prints exactly one line, with these words
    [ "$(grep -c "^$1: " "$dir/$2.out")" = 1 ] && grep -q "^$1: .*$3" "$dir/$2.out"
}

check_refused() { # PROGRAM OPTIONS...: each ends the program with status 2 and one line
    local program=$1 option bad=0
    shift
    for option; do
        # shellcheck disable=SC2086
        run_program "$program" bad 2 HEARTH_NVM=off -- $option
        ended bad 2 && says "$program" bad . || { echo "not refused in one line: $option" && bad=1 && cat "$dir/bad.out"; }
    done
    check 'bad options are refused in one line' [ $bad = 0 ]
}
