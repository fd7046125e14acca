#!/usr/bin/env bash
# Runs lcc and barnes-hut with the library linked in, on a simulated machine: correct results, the same times in each
# run, and shorter times with the cache.   test_smpi.sh MPI TREE      once: yes; tier: full; timeout: 120
set -uo pipefail
tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ ! -e "$tree/sim/sim_lcc" ] || ! command -v smpirun >/dev/null; then
    echo "SimGrid is not installed (libsimgrid-dev), or was not when this was configured"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HEARTH_BYPASS=never HEARTH_SUSPEND=0 SIM_WORK_NS=0.2

ranks=8
run() { # name, program, arguments
    local name=$1 program=$2
    shift 2
    timeout -k 5 60 "$here/sim/smpi.sh" $ranks "$tree/sim/$program" --progress none --json "$dir/$name.json" "$@" >"$dir/$name.txt" 2>&1 && return
    echo "FAIL $program $*: exit status $?"
    tail -n 5 "$dir/$name.txt" | sed 's/^/    | /'
    failed=1
}

number() { # name, field
    sed -nE "s/^ *\"$2\": *([-0-9.e+]+),?$/\1/p" "$dir/$1.json" 2>/dev/null | head -n 1 | grep . || echo 0
}

text() { # name, field
    sed -nE "s/^ *\"$2\": *\"(.*)\",?$/\1/p" "$dir/$1.json" 2>/dev/null
}

holds() { # name, condition
    if awk "BEGIN { exit !($2) }"; then echo "ok $1: $2"; else echo "FAIL $1: $2" && failed=1; fi
}

run off sim_lcc --scale 8 --mode off
run one sim_lcc --scale 8 --mode always --verify
run two sim_lcc --scale 8 --mode always --verify
export HEARTH_CACHE_SIZE=64k HEARTH_INDEX_SIZE=64
run full sim_lcc --scale 8 --mode always
run again sim_lcc --scale 8 --mode always
unset HEARTH_CACHE_SIZE HEARTH_INDEX_SIZE
if setarch -R true 2>/dev/null; then
    if [ -s "$dir/full.json" ] && cmp -s "$dir/full.json" "$dir/again.json"; then echo "ok lcc: also where entries are replaced"; else echo "FAIL lcc: two runs differ where entries are replaced" && failed=1; fi
fi
if [ -s "$dir/one.json" ] && cmp -s "$dir/one.json" "$dir/two.json"; then echo "ok lcc: two runs are the same"; else echo "FAIL lcc: two runs differ" && failed=1; fi
[ -n "$(text one checksum)" ] && [ "$(text one checksum)" = "$(text off checksum)" ] || { echo "FAIL lcc: other results with a cache" && failed=1; }
holds "lcc: the cache serves" "$(number one hit_ratio) > 0.3 && $(number off hit_ratio) == 0"
holds "lcc: and is faster" "$(number one us_per_vertex_mean) < 0.8 * $(number off us_per_vertex_mean)"
ranks=128
run many sim_lcc --scale 8 --mode always
ranks=8
holds "lcc: the cache serves 128 ranks" "$(number many hit_ratio) > 0.1"
# 32 vertices per rank: the time of a get follows from the number of gets of a rank and its time
holds "a get takes about 2 us" "$(number off us_per_vertex_mean) * $(number off counted) / $(number off window_gets) > 1.2 && $(number off us_per_vertex_mean) * $(number off counted) / $(number off window_gets) < 3"

if [ -e "$tree/sim/sim_barnes-hut" ]; then
    run none sim_barnes-hut --bodies 200 --steps 0 --cache none
    run hearth sim_barnes-hut --bodies 200 --steps 0 --cache hearth
    [ -n "$(text none checksum)" ] && [ "$(text none checksum)" = "$(text hearth checksum)" ] || { echo "FAIL barnes-hut: other results with a cache" && failed=1; }
    holds "barnes-hut: faster with the cache" "$(number hearth us_per_body) < 0.7 * $(number none us_per_body)"
fi
exit $failed
