#!/usr/bin/env bash
# Tests the simulation programs: the same seed gives the same output, the numbers support the statements in the
# documents, and wrong options are refused with a message.   test_sim.sh MPI TREE      once: yes; timeout: 60
set -uo pipefail
tree=$2 failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() { # what
    echo "FAIL $1"
    failed=1
}

ok() { # what
    echo "ok $1"
}

simulate() { # name of the CSV, program, options
    local name=$1 program=$2
    shift 2
    timeout -k 5 30 "$tree/sim/$program" --csv "$dir/$name.csv" "$@" >"$dir/$name.txt" 2>"$dir/$name.err" ||
        fail "$program $*: exit status $?: $(tail -n 1 "$dir/$name.err")"
}

same() { # program, options: twice with one seed, and once with another
    simulate one "$@" --seed 7
    simulate two "$@" --seed 7
    simulate other "$@" --seed 8
    if ! cmp -s "$dir/one.csv" "$dir/two.csv"; then
        fail "$1: two runs with one seed differ"
    elif cmp -s "$dir/one.csv" "$dir/other.csv"; then
        fail "$1: another seed makes no difference"
    elif ! grep -q 'seed 7$' "$dir/one.txt"; then
        fail "$1: the seed is not printed"
    else
        ok "$1: the same with the same seed"
    fi
    rm -f "$dir"/*.csv
}

refused() { # message, program, options
    local said=$1 program=$2
    shift 2
    "$tree/sim/$program" "$@" >"$dir/out" 2>&1
    if [ $? = 2 ] && grep -q "$said" "$dir/out"; then
        ok "$program $*: refused"
    else
        fail "$program $*: $(head -n 2 "$dir/out")"
    fi
}

# The value of a column, in the rows that an awk condition selects: value FILE COLUMN CONDITION
value() {
    awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        '"$3"' { print $at[column]; exit }' "$dir/$1.csv"
}

holds() { # name, condition with numbers
    if awk "BEGIN { exit !($2) }"; then ok "$1: $2"; else fail "$1: $2"; fi
}

same sim_flow --clients 300 --cases mix,all --operations 2
same sim_pages --patterns random --nodes 5 --data 2 --scale 128

# ---- 180 000 clients: the buffers fit, no client starves, and size hints pay off ----
simulate flow sim_flow --clients 180k --cases one,eight --bytes 128k
share=$(value flow buffer_memory '$at["scheme"] == "intimation"')
holds "180 000 clients: buffers take less than 5 % of 16 GB" "$share / 17179869184 < 0.05"
plain=$(value flow mbps '$at["scheme"] == "credits" && $at["case"] == "one"')
told=$(value flow mbps '$at["scheme"] == "intimation" && $at["case"] == "one"')
holds "180 000 clients, one speaks: intimation is at least three times as fast" "$told >= 3 * $plain"
fair=$(value flow fairness '$at["scheme"] == "intimation" && $at["case"] == "eight"')
holds "180 000 clients, eight speak: fair" "$fair > 0.95"

simulate mix sim_flow --clients 2k --cases mix --schemes credits,release
small=$(value mix small_longest_us '$at["scheme"] == "credits"')
pool=$(value mix small_longest_us '$at["scheme"] == "release"')
holds "small operations beside streams wait less with credits than with requests" "$small < $pool"

# ---- pages: the paper's ranking ----
simulate false sim_pages --patterns false --nodes 8 --puts 100
cc=$(value false operations_per_s '$at["mode"] == "cc"')
nocc=$(value false operations_per_s '$at["mode"] == "nocc"')
hearth=$(value false operations_per_s '$at["mode"] == "hearth"')
holds "false sharing, 8 nodes: cooperation pays" "$cc > 5 * $nocc"
holds "false sharing, 8 nodes: small operations pay" "$hearth > 5 * $cc"
simulate seq sim_pages --patterns seq --nodes 32 --data 2 --scale 32 --modes cc,nocc
holds "sequential, 32 nodes: cooperation pays" "$(value seq mbps '$at["mode"] == "cc"') > 1.3 * $(value seq mbps '$at["mode"] == "nocc"')"
simulate third sim_pages --patterns third --modes hearth,bare --puts 50
third=$(value third mean_us '$at["mode"] == "hearth"')
bare=$(value third mean_us '$at["mode"] == "bare"')
holds "8 bytes on a page of a third node: at most 2.2 bare round trips" "$bare > 0 && $third > $bare && $third <= 2.2 * $bare"
holds "the same: three messages until the answer, and one to the home after it" \
    "$(value third messages '$at["mode"] == "hearth"') == 4 * 50 && $third < 3.1 / 2 * $bare"

# ---- memory ----
simulate memory sim_memory --ranks 1000,1000000
window=$(value memory value '$0 ~ /"a window, with the targets/ && $at["ranks"] == 1000000')
table=$(value memory value '$0 ~ /"the same, all different/ && $at["ranks"] == 1000000')
holds "a window of a million ranks takes less than 2 MB of a rank" "$window > 0 && $window < 64 * 300 + 2000000"
holds "and its table at most 16 bytes per rank, once per node" "$table > 0 && $table * 16 <= 16 * 1000000 * 1.01"
served=$(value memory value '$0 ~ /"a served window, in addition/ && $at["ranks"] == 1000000')
holds "a served window takes less than 0.3 KB more for each target, and a bit for each node" \
    "$served > 0 && $served < (64 + 16) * 300 + 62500 / 8"

for program in sim_flow sim_pages sim_memory; do
    "$tree/sim/$program" --help | grep -q '^usage: ' && ok "$program --help" || fail "$program --help"
    refused "no option --nonsense" "$program" --nonsense 1
done
refused "a number is wanted" sim_flow --seed x
refused "no scheme" sim_flow --schemes magic --clients 8
refused "no mode" sim_pages --modes magic
refused "a pool holds" sim_pages --patterns third --puts 100000
refused "too small" sim_pages --scale 100000
exit $failed
