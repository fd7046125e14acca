# Shared by the benches of programs on segments in NVM, dgemm.sh and pgas.sh, which source this file after common.sh:
#
#   nvm_open                  creates the folders: work, and nvm, which holds the segments of a run
#   nvm_run PREFIX ...        runs a program, and adds its line to runs.csv: PREFIX, nvm_rate, and the fields named in `fields`
#   nvm_measure FUNCTION      machine.md, and rounds of FUNCTION ROUND, within the time; then the report
#
# The program is of the first MPI: all measured traffic goes through Hearth's own network.

nvm_open() {
    work=$(mktemp -d)
    nvm=$out/nvm
    trap 'rm -rf "$work" "$nvm"' EXIT
}

value() { # FIELD: of the last run; empty if it left no results
    [ ! -e "$work/run.json" ] || sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/run.json" | head -n 1
}

# nvm_run PREFIX RANKS PROGRAM [OPTION]...: `launch` has the options of launch.sh
nvm_run() {
    local prefix=$1 ranks=$2 program=$3 field row
    shift 3
    ! over "$prefix" || return 0
    rm -rf "$work/run.json" "$nvm"
    mkdir -p "$nvm"
    if ! "$here/../test/launch.sh" "$first" "$ranks" "${launch[@]}" --env HEARTH_NVM_DIR="$nvm" --env HEARTH_NVM_THROTTLE="$nvm_rate" \
        --timeout 120 "$build/$first/bin/$program" --json "$work/run.json" "$@" >>"$out/errors.log" 2>&1 || ! grep -qs '^}' "$work/run.json"; then
        fail "$prefix; see $out/errors.log"
        return 0
    fi
    row=$prefix,$nvm_rate
    for field in $fields; do row=$row,$(value "$field"); done
    echo "$row" >>"$out/runs.csv"
}

nvm_describe() { # WITHOUT-HOSTS DATA: the nodes where there are no virtual hosts; the sizes of data and pools, or nothing
    echo "- $(cores)"
    echo "- $(versions)"
    [ "$CLUSTER_KIND" = real ] || echo "- **no virtual hosts**: this system allows none; $1"
    [ -z "$2" ] || echo "- $2"
    echo "- NVM: a folder on $(df --output=source,fstype "$out" | tail -n 1 | tr -s ' ' | sed 's/ /, /'), throttled to $nvm_rate bytes/s on each node"
    echo "- load of the last minute at the start: $(busy)"
}

nvm_measure() { # FUNCTION MOST WITHOUT-HOSTS DATA
    local n most=$2
    say "the NVM is throttled to $nvm_rate bytes/s on each node"
    nvm_describe "$3" "$4" >"$out/machine.md"
    for n in $(seq "$most"); do
        [ "$n" = 1 ] || ! late "$(pick 80 60)" || break
        say "round $n of at most $most"
        "$1" "$n"
    done
    echo "- load of the last minute at the end: $(busy); of which this bench is about 2 to 4" >>"$out/machine.md"
    bench_report "$bench" "$out" >"$out/results.md"
    cat "$out/results.md"
    finish
}
