#!/usr/bin/env bash
# Makes each call of Hearth's libraries to the system, to UCX and to MPI fail in turn (fail.h lists the kinds). The program
# succeeds, or ends with a line that names the failure; it never crashes, hangs or gives a wrong result.
#   test_calls.sh MPI TREE                              tier: full; timeout: 3600; alone: yes
#   test_calls.sh MPI TREE PROGRAM[:KIND[:K[:[on|every][:ends]]]]...    only these; KIND: also the name of an MPI call; K: as fail.c
#                                                                 counts, or N% of the calls of that kind; ends: the program must not
#                                                                 succeed
set -uo pipefail
mpi=$1 tree=$2 failed=0 tried=0
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ -e "$tree/test/fail.so" ] || { echo "no fail.so: make tests" && exit 1; }
each=${HEARTH_TEST_CALLS:-10} # of each program and kind, every one if there are few; all: every one
limit=${HEARTH_TEST_LIMIT:-120} # of each job, in seconds
seed=${HEARTH_TEST_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed (HEARTH_TEST_SEED)"

mpi_preload="--preload $tree/lib/libhearth-mpi.so"
serve="$mpi_preload --env HEARTH_WINDOWS=serve"
ucx='' # loaded later otherwise, and then its calls would not fail
[ ! -e "$tree/lib/libhearth-ucx.so" ] || ucx="--preload $tree/lib/libhearth-ucx.so"
exchanges="ring with_oneself replace_in_a_ring replace_with_oneself proc_null with_plain_calls"
programs=( # name, settings and preloads, program and arguments
    "cache|$mpi_preload --env HEARTH_BYPASS=never --env HEARTH_REPORT=$dir/smoke.json|$tree/test/mpi_smoke"
    "tables|$mpi_preload --env HEARTH_BYPASS=never --env HEARTH_NODE_RANKS=2|$tree/test/mpi_targets units_and_sizes_differ"
    "windows|$mpi_preload --env HEARTH_BYPASS=never --env HEARTH_REPORT=$dir/report.json|$tree/test/mpi_suite --seconds 1 --programs sync,writes,rget,requests,types,windows"
    "messages|$mpi_preload --env HEARTH_MATCH=on|$tree/test/p2p_sendrecv $exchanges"
    "host|$mpi_preload --env HEARTH_MATCH=on --env HEARTH_MATCH_NODE=off|$tree/test/p2p_sendrecv $exchanges"
    "communicators|$mpi_preload --env HEARTH_MATCH=on|$tree/test/p2p_comms split"
    "served|$serve --env HEARTH_TEST_CONFIG=tiny|$tree/test/mpi_writes put accumulate get_accumulate compare_and_swap"
    "helpers|$serve --env HEARTH_TEST_CONFIG=tiny $ucx --env HEARTH_NODE_RANKS=1|$tree/test/mpi_writes put accumulate get_accumulate compare_and_swap"
    "armci|$ucx --env HEARTH_NODE_RANKS=1|$tree/test/armci_handles"
    "direct|$ucx --env HEARTH_NODE_RANKS=1 --env HEARTH_DIRECT=on|$tree/test/armci_handles puts_then_gets_waited_for_backwards"
    "armcimpi|--env HEARTH_NODE_RANKS=1 --env HEARTH_NET=mpi|$tree/test/armci_handles"
    "memory|$ucx --env HEARTH_NODE_RANKS=1 --env HEARTH_NVM=off|$tree/test/gas_values"
    "memorympi|--env HEARTH_NODE_RANKS=1 --env HEARTH_NVM=off --env HEARTH_NET=mpi|$tree/test/gas_values"
    "pages|$ucx --env HEARTH_NODE_RANKS=1 --env HEARTH_NVM_DIR=$dir|$tree/test/gas_values"
    "pagesmpi|--env HEARTH_NODE_RANKS=1 --env HEARTH_NVM_DIR=$dir --env HEARTH_NET=mpi|$tree/test/gas_values"
)

launch() { # program of the list, options...
    local options program
    IFS='|' read -r _ options program <<<"$1"
    shift
    # shellcheck disable=SC2086 # several words
    "$here/launch.sh" "$mpi" 2 --timeout "$limit" $options --preload "$tree/test/fail.so" --env TEST_FAIL_RANK=0 "$@" $program 2>&1
}

# What Hearth or MPI says. Open MPI's launcher fails to print some of these messages, without Hearth too.
says_why='hearth(\[[0-9]+\])?: (error|warning)|MPI_ERRORS_ARE_FATAL|Fatal error in|Abort\([0-9]+\) on node|ORTE_ERROR_LOG: .*show_help\.c'

# Where a job ends, UCX 1.13 may crash in another rank: while that connects to the one that has ended, acknowledges a put of it that UCX
# emulates, or, inside MPICH, reads its memory.
ucx_fault='ucp_request\.c:.*got REP message|ucp_request\.inl:.*unexpected error: Endpoint timeout|process_vm_readv\(.*No such process'

judge() { # failed call, exit status, output
    local what=$1 status=$2 out=$3
    tried=$((tried + 1))
    if grep -qE "$ucx_fault" <<<"$out" && grep -qE 'hearth\[0\]: error: .*; the job is ended' <<<"$out"; then
        return 0
    elif grep -qE 'signal (4|6|7|8|11)\b|Segmentation|Bus error|EXIT CODE: (132|134|135|136|139)|Sanitizer|corrupted|free\(\)' <<<"$out"; then
        echo "FAIL $what: crashed"
    elif [ "$status" = 124 ] || [ "$status" = 137 ] || grep -q 'does not end' <<<"$out"; then
        echo "FAIL $what: did not end"
    elif grep -qE 'expected equal bytes|byte [0-9]+ of' <<<"$out"; then
        echo "FAIL $what: wrong data"
    elif grep -q 'Unknown error' <<<"$out"; then
        echo "FAIL $what: the cause is not a number of an error"
    elif [ "$status" != 0 ] && ! grep -qE "$says_why" <<<"$out"; then
        echo "FAIL $what: status $status without a line that says why"
    else
        return 0
    fi
    tail -n 25 <<<"$out" | sed 's/^/    | /'
    failed=1
}

chosen() { # number of calls: prints which of them are made to fail
    local i
    if [ "$each" = all ] || [ "$1" -le $((7 * each)) ]; then
        seq 1 "$1"
    else
        for ((i = 0; i < each && i < $1; i++)); do echo $((RANDOM % $1 + 1)); done
    fi
}

kinds=(memory files threads system ucx endpoints sends mpi polls windows) # in the order of fail.h

count_calls() { # program of the list: counts the calls of each kind, in $counts
    local out
    rm -f "$dir/count"
    if out=$(launch "$1" --env "TEST_FAIL_COUNT=$dir/count"); then
        mapfile -t counts < <(od -An -v -td8 -w8 "$dir/count" | tr -d ' ')
        return 0
    fi
    echo "FAIL ${1%%|*}: without any failure"
    sed 's/^/    | /' <<<"$out"
    failed=1
    return 1
}

try() { # program of the list, kind, which call, "" or ":on", "" or "ends"
    local out status handler=()
    case ${1%%|*}:$2 in # these programs do not expect their own calls to fail, which Hearth forwards
    communicators:mpi | windows:mpi | cache:windows | tables:windows | windows:windows | windows:polls) handler=(--env TEST_FAIL_HANDLER=1) ;;
    esac
    out=$(launch "$1" --env "TEST_FAIL=$2:$3$4" "${handler[@]}")
    status=$?
    judge "${1%%|*}: call $3 for $2${4:+ $4}" $status "$out"
    [ -z "${5:-}" ] || [ $status != 0 ] || { echo "FAIL ${1%%|*}: call $3 for $2: the program succeeded" && failed=1; }
}

try_all() { # program of the list, kind, or '' for all
    local i k from
    count_calls "$1" || return
    for i in "${!kinds[@]}"; do
        [ -z "$2" ] || [ "$2" = "${kinds[i]}" ] || continue
        for k in $(chosen "${counts[i]}"); do
            for from in '' :on; do try "$1" "${kinds[i]}" "$k" "$from"; done
        done
        echo "done ${1%%|*}: ${counts[i]} calls for ${kinds[i]}"
    done
}

try_some() { # PROGRAM[:KIND[:K[:[on][:ends]]]]
    local name kind k from must entry i
    IFS=: read -r name kind k from must <<<"$1"
    for entry in "${programs[@]}"; do
        [ "${entry%%|*}" = "$name" ] || continue
        if [ -z "$k" ]; then
            try_all "$entry" "$kind"
            return
        fi
        if [ "$k" != "${k%\%}" ]; then
            count_calls "$entry" || return
            for i in "${!kinds[@]}"; do
                [ "${kinds[i]}" != "$kind" ] || k=$((counts[i] * ${k%\%} / 100))
            done
        fi
        try "$entry" "$kind" "$k" "${from:+:$from}" "$must"
        return
    done
    echo "FAIL $1: no such program" && failed=1
}

if [ $# -gt 0 ]; then
    for one in "$@"; do try_some "$one"; done
else
    for entry in "${programs[@]}"; do try_all "$entry" ''; done
fi
echo "$tried jobs in which calls failed"
exit $failed
