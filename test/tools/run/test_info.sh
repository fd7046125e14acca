#!/usr/bin/env bash
# Tests hearth info: every setting with its value and source, the node, the probes, leftovers of dead jobs; and the
# help texts of all subcommands.   test_info.sh MPI TREE      timeout: 180; busy: mpich
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../fault/own_shm.sh"
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
holder='' # a process that has files open
trap '[ -z "$holder" ] || kill "$holder" 2>/dev/null; rm -rf "$dir"' EXIT
hearth=$tree/bin/hearth tier=${HEARTH_TEST_TIER:-}
for name in ${!HEARTH_*}; do unset "$name"; done

out='' status=0
run() { # arguments of hearth
    out=$(timeout -k 5 120 "$hearth" "$@" 2>&1 </dev/null)
    status=$?
}

fail() { # name, reason
    echo "FAIL $1: $2"
    head -n 40 <<<"$out" | sed 's/^/    | /'
    failed=1
}

check() { # name, exit code, regular expression that a line must match
    if [ "$status" != "$2" ]; then
        fail "$1" "exit code $status instead of $2"
    elif ! grep -qE -- "$3" <<<"$out"; then
        fail "$1" "no line like: $3"
    else
        echo "ok $1"
    fi
}

refused() { # name, regular expression: one line, exit code 2
    check "$1" 2 "^hearth: error: $2"
    [ "$(wc -l <<<"$out")" = 1 ] || fail "$1" 'more than one line'
}

# ---- help ----

run --help
check 'help: run' 0 '^  hearth run +run an MPI program'
check 'help: info' 0 '^  hearth info +show build'
run help run
check 'help on run' 0 '^usage: hearth run '
expected=$out
for option in --mode --cache-size --match --check --report --mpi --verbose --dry-run; do
    grep -qe "$option" <<<"$out" || fail 'help on run' "nothing about $option"
done
run run --help
[ "$out" = "$expected" ] || fail 'help on run' 'hearth run --help says something else'
run help info
for option in -v -c -t -n --check --strict --mpi --timeout --clean --scale; do
    grep -qe "^  $option\|, $option" <<<"$out" || fail 'help on info' "nothing about $option"
done
for option in --mode --cache-size --match --check --strict --report --mpi --dry-run --clean --scale; do
    grep -qe "${option//-/\\\\-}" "$here/../man/hearth.1" || fail 'the manual' "nothing about $option"
done
run --version
check 'the version' 0 '^hearth [0-9]+\.[0-9]+'
run
refused 'no command' 'no command is given: see hearth --help'
run dance
refused 'an unknown command' 'unknown command dance: the commands are run, tune, bisect, info'
run help dance
refused 'help on an unknown command' 'unknown command dance'
run --dance
refused 'an unknown option' 'unknown option --dance'
run info --dance
refused 'an unknown option of info' 'unknown option --dance: see hearth help info'
run info dance
refused 'an argument' 'hearth info takes no argument such as dance'
run info --mpi lam
refused 'an unknown MPI' '--mpi lam is unknown'
run info --check --timeout 0
refused 'no time at all' '--timeout 0 is not a number of seconds'
for ranks in 0 x -1 99999999; do
    run info -t -n $ranks
    refused "$ranks ranks" "-n $ranks is not a number of ranks"
done
for scale in 0 x -1 999999999 8: 8:0 8:x 8:9 8:4x; do
    run info --scale $scale
    refused "--scale $scale" "--scale $scale is not RANKS or RANKS:PER_NODE"
done
if [ -w /dev/full ]; then
    out=$("$hearth" --help 2>&1 >/dev/full)
    status=$?
    check 'output that does not arrive' 1 'cannot write all of the output: No space left'
fi

# ---- memory at scale ----

bytes_of() { # column from the right, start of a row, from $out; "-" is 0
    sed -E ':again; s/ -( |$)/ 0 B\1/; t again; s/ +meanwhile$//' <<<"$out" | awk -v row="$2" -v column="$1" '
        index($0, row) == 1 { n = NF - 2 * (column - 1); print $(n - 1) * ($n == "GB" ? 1e9 : $n == "MB" ? 1e6 : $n == "KB" ? 1e3 : 1) }'
}

at_most() { # name, value, limit
    awk -v value="$2" -v limit="$3" 'BEGIN { exit !(value != "" && value > 0 && value <= limit) }' || fail "$1" "$2, not at most $3"
}

run info --scale 1000000:8
check 'scale' 0 '^1000000 ranks on 125000 nodes of 8; each uses 64 others$'
for part in CLaMPI matching network ARMCI vGASNet; do
    check "scale: $part" 0 "^$part "
done
# A window: under 2 MB, with what the node shares, and 0.3 KB for each of the 64 targets.
once=$(bytes_of 1 'CLaMPI    the same, all different')
state=$(bytes_of 3 'CLaMPI    a window, with')
at_most 'scale: what a node shares of a window' "$once" 16000000
at_most 'scale: a window' "$(awk -v a="$once" -v b="$state" 'BEGIN { print a / 8 + b }')" $((2000000 + 64 * 300))
# A served window has the same table.
equal=$(bytes_of 1 "CLaMPI    a window's addresses, sizes and units")
served=$(bytes_of 3 'CLaMPI    a served window, in addition')
at_most 'scale: a served window adds' "$served" $(((64 + 8) * 300 + 125000 / 8))
at_most 'scale: a served window' "$(awk -v a="$equal" -v b="$state" -v c="$served" 'BEGIN { print a / 8 + b + c }')" $((2000000 + 64 * 300))
many=$out
run info --scale 1000:8
[ "$(grep 'a window, with' <<<"$many")" != "$(grep 'a window, with' <<<"$out")" ] || fail 'scale' 'the same for 1000 ranks'
run info --scale 4
check 'scale: without ranks per node' 0 '^4 ranks on '

# ---- version and settings ----

run info -v
check 'the library of this MPI' 0 "^$mpi +$(realpath "$tree")/lib/libhearth-mpi.so, for /.*libmpi"
check 'the build' 0 '^build +[A-Za-z]'
check 'the machine' 0 "^machine +$(uname -m), pages of $(($(getconf PAGESIZE) / 1024)) KB, vectors [A-Z0-9a-z]+, clock "
case $mpi in mpich) abi='MPICH, libmpi 12' ;; *) abi='Open MPI, libmpi [0-9]+' ;; esac
check 'the MPI and its ABI' 0 "^ +[A-Z].*; ABI of $abi"
case $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null) in
tsc | arch_sys_counter) clock="the CPU's counter" ;;
*) clock='.' ;;
esac
check 'the clock' 0 "^machine .*, clock $clock"
expected=$out
run info
[ "$out" = "$expected" ] || fail 'info without options' 'says something else than with -v'

source_of() { # setting, from $out: "value source"
    awk -v name="$1" '$0 ~ "^" name "=" { sub(/^[^=]*=/, ""); value = $0; getline; sub(/[;( ].*/, "", $1); print value, $1 }' <<<"$out"
}

run info -c
names=$(grep -oE '^(SETTING|EXPERT|EXPERIMENT)\([a-z]+, [a-z0-9_]+, "HEARTH_[A-Z0-9_]+"' "$here/../src/base/settings.def" | grep -oE 'HEARTH_[A-Z0-9_]+')
[ "$(wc -w <<<"$names")" -gt 40 ] || fail 'settings' 'the list was not read'
for name in $names; do
    grep -q " default$" <<<"$(source_of "$name")" || fail "setting $name" "is \"$(source_of "$name")\""
done
count=$(grep -cE '^HEARTH_[A-Z0-9_]+=' <<<"$out")
[ "$count" = "$(wc -w <<<"$names")" ] || fail 'settings' "$count are listed, of $(wc -w <<<"$names")"
listed=$(sed -n '/^# Experiments/,$p' <<<"$out" | grep -oE '^HEARTH_[A-Z0-9_]+')
[ "$listed" = "$(grep -oE '^EXPERIMENT\([a-z]+, [a-z0-9_]+, "HEARTH_[A-Z0-9_]+' "$here/../src/base/settings.def" | grep -oE 'HEARTH_.*')" ] ||
    fail 'experiments' 'are not listed apart'
first=$(sed -n '/^# For experts/q;p' <<<"$out" | grep -oE '^HEARTH_[A-Z0-9_]+')
[ "$(wc -w <<<"$first")" = 8 ] && grep -qx HEARTH_MODE <<<"$first" || fail 'the settings that a user needs' "are $(wc -w <<<"$first"), first"
[ $(($(wc -w <<<"$names") - $(wc -w <<<"$listed"))) -le 50 ] || fail 'settings' 'more than 50 are documented'
[ "$(source_of HEARTH_CACHE_SIZE)" = '4m default' ] || fail 'a default' "$(source_of HEARTH_CACHE_SIZE)"
HEARTH_CACHE_SIZE=8192 HEARTH_MODE=Always HEARTH_REPORT='a b.json' HEARTH_BUFFER_MEMORY=0.25 run info -c
for line in 'CACHE_SIZE 8k environment' 'MODE always environment' 'REPORT a b.json environment' \
    'BUFFER_MEMORY 0.25 environment' 'SCORE full default'; do
    [ "$(source_of "HEARTH_${line%% *}")" = "${line#* }" ] ||
        fail "HEARTH_${line%% *}" "is \"$(source_of "HEARTH_${line%% *}")\" instead of \"${line#* }\""
done
HEARTH_MODE=sometimes run info -c
check 'a value that cannot be used is reported' 0 'warning: HEARTH_MODE=sometimes is not one of'
[ "$(source_of HEARTH_MODE)" = 'transparent default' ] || fail 'a value that cannot be used' "$(source_of HEARTH_MODE)"
HEARTH_MODUS=always run info -c
check 'a misspelt setting is reported' 0 'HEARTH_MODUS is not a setting of Hearth; did you mean HEARTH_MODE'

# ---- the node ----

run info -t
check 'the node' 0 "^node +$(uname -n), $(uname -m)"
check 'its cores' 0 '^cores +[1-9][0-9]* usable: [0-9]'
check 'its memory' 0 '^memory +[0-9.]+ [GT]B'
check 'the helper' 0 '^helper +1 thread per node, affinity auto; with [1-9]'
run info -t -n 1000
check 'whether the kernel records stores' 0 '^stores +(recorded by the kernel; to ask for those to 64 MB takes [0-9]+ us|not recorded by the kernel: )'
check 'no core for the heater' 0 '^heater +with 1000 ranks on this node: none, as it would take a core'
HEARTH_HEATER=off HEARTH_HELPERS=2 HEARTH_HELPER_AFFINITY=stay run info -n 1
check 'the heater switched off' 0 '^heater .* none, as HEARTH_HEATER=off'
check 'two helpers that stay' 0 '^helper +2 threads per node, affinity stay; with 1 rank on'
cores=$(sed -n 's/^cores *\([0-9]*\) usable.*/\1/p' <<<"$out")
if [ "$cores" -gt 1 ]; then
    run info -n 1
    check 'a core that no rank uses' 0 'ranks bound to a core each: on [0-9,-]+, which no rank uses'
fi

# ---- the checks ----

mkdir "$dir/nvm"
HEARTH_NVM_DIR=$dir/nvm run info --check --mpi "$mpi"
status=$((status & ~1)) # a check may fail on this machine
for what in /dev/shm 'locked memory' 'file descriptors' io_uring userfaultfd 'NVM folder' 'thread level' \
    'window of one process' 'window alignment on a node' 'window alignment over TCP' 'passive progress on a node, MPI_Win_allocate' \
    'passive progress on a node, MPI_Win_create' 'passive progress over TCP, MPI_Win_allocate' \
    'passive progress over TCP, MPI_Win_create' leftovers; do
    check "check of $what" 0 "^(ok|note|warn|BAD) +$what: ."
done
check 'progress in milliseconds' 0 'passive progress .* took [0-9.]+ ms'
case $out in
*'MPICH Version: 4.0'*)
    check 'the fault of MPICH 4.0' 0 '^warn +window alignment on a node'
    strict=$(HEARTH_NVM_DIR=$dir/nvm "$hearth" info --check --strict --mpi "$mpi") && fail 'with --strict a warning counts' "$strict"
    check 'a window of one process' 0 '^ok +window of one process'
    ;;
*'Open MPI v4.1'*)
    check 'no such fault' 0 '^ok +window alignment on a node'
    check 'no window of one process' 0 '^note +window of one process: refused'
    ;;
esac
[ -z "$(ls -A "$dir/nvm")" ] || fail 'NVM folder' "something was left in it"
[ "$mpi" = mpich ] && other=openmpi || other=mpich
! grep -q "^----- $other" <<<"$out" || fail '--mpi' "$other was tried out too"

mkdir "$dir/bin"
printf '#!/bin/sh\necho the network is on holiday >&2\nexit 1\n' >"$dir/bin/mpirun.$mpi"
chmod +x "$dir/bin/mpirun.$mpi"
PATH=$dir/bin:$PATH HEARTH_NVM_DIR=$dir/nothing run info --check --mpi "$mpi"
check 'an MPI that does not work' 1 '^BAD +two ranks: they fail: the network is on holiday'
check 'an NVM folder that is not there' 1 '^BAD +NVM folder: cannot write in .*: No such file'
hangs() {
    cat >"$dir/bin/mpirun.$mpi" <<END
#!/bin/sh
trap '' TERM
sleep 300 &
echo "\$$ \$!" >>"$dir/processes"
wait
END
    PATH=$dir/bin:$PATH run info --check --mpi "$mpi" --timeout 1.5
    check 'an MPI that hangs' 1 '^BAD +two ranks: they hang: not done in 1.5 s'
    [ "$(wc -w <"$dir/processes")" = 4 ] || fail 'an MPI that hangs' 'it was not started twice'
    running() { # an ended process may not have been reaped yet
        xargs -n 1 <"$dir/processes" | while read -r process; do
            grep -qsv ' Z ' "/proc/$process/stat" && echo "$process"
        done >"$dir/running"
        [ -s "$dir/running" ]
    }
    for ((i = 0; i < 300; i++)); do running && sleep 0.1 || break; done
    [ ! -s "$dir/running" ] || fail 'an MPI that hangs' "still there: $(paste -sd ' ' - <"$dir/running")"
}
# The launcher is a script. In the quick tier one MPI is enough for it, if both are there.
[ "$mpi.$tier" = mpich.quick ] && "$here/../packaging/mpis.sh" openmpi >/dev/null 2>&1 || hangs
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/mpirun.$mpi"
out=$(ulimit -n 200 && PATH=$dir/bin:$PATH "$hearth" info --check --mpi "$mpi" 2>&1)
check 'few file descriptors' 1 '^BAD +file descriptors: 200'

# ---- leftovers ----

[ "$TEST_OWN_SHM" = yes ] || exit $failed

old() { # names: makes them look like those of dead jobs
    for name; do
        echo "$name" >"/dev/shm/$name"
        chmod 600 "/dev/shm/$name"
        touch -d '5 minutes ago' "/dev/shm/$name"
    done
}

left() { # names that must still exist
    for name; do [ -e "/dev/shm/$name" ] || [ -L "/dev/shm/$name" ] || fail "$name" 'was removed'; done
}

cat >"$dir/hold.c" <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int c, char **v) { /* maps the first file, without keeping it open, and keeps the second open */
    int file = open(v[1], O_RDWR);
    if (mmap(0, 1, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) return 1;
    close(file);
    if (open(v[2], O_RDONLY) < 0) return 1;
    write(1, "ready\n", 6);
    sleep(100);
    return c == 0;
}
END
gcc -w "$dir/hold.c" -o "$dir/hold" || exit 1
old vader_segment.node.0.1.0 mpich_abc ucx_shm_posix_12 vader_segment.node.0.2 vader_segment.node.0.2.0 osc_rdma.held my_own_data
bash -c 'umask 077 && echo dead >"$1" && touch -d "1 hour ago" "$1" && kill -9 $$' - "/dev/shm/vader_segment.node.0.9.$$" 2>/dev/null
echo young >"/dev/shm/vader_segment.node.0.3.0"
ln -s "/dev/shm/my_own_data" "/dev/shm/vader_segment.link"
mkdir "/dev/shm/vader_segment.folder"
mkfifo "$dir/ready"
"$dir/hold" "/dev/shm/vader_segment.node.0.2.0" "/dev/shm/osc_rdma.held" >"$dir/ready" &
holder=$!
read -r _ <"$dir/ready"
touch -d '5 minutes ago' "/dev/shm/vader_segment.node.0.2.0"
foreign=''
if [ "$(id -u)" = 0 ]; then
    old vader_segment.foreign
    chown 12345 /dev/shm/vader_segment.foreign 2>/dev/null && foreign=vader_segment.foreign || rm /dev/shm/vader_segment.foreign
fi

PATH=$dir/bin:$PATH run info --check --mpi "$mpi"
check 'leftovers are counted' 1 '^note +leftovers: 5 files of dead jobs'
check 'leftovers are listed' 1 '^ +mpich_abc$'
left vader_segment.node.0.1.0 mpich_abc ucx_shm_posix_12
run info --clean
check 'a leftover is removed' 0 '^removed .*/mpich_abc, [0-9]+ KB'
for name in vader_segment.node.0.1.0 vader_segment.node.0.2 mpich_abc ucx_shm_posix_12 "vader_segment.node.0.9.$$"; do
    [ ! -e "/dev/shm/$name" ] || fail "$name" 'is still there'
done
[ "$(grep -c '^removed' <<<"$out")" = 5 ] || fail '--clean' 'removed another number of files than 5'
left vader_segment.node.0.2.0 osc_rdma.held my_own_data vader_segment.node.0.3.0 vader_segment.link vader_segment.folder $foreign
kill "$holder" && wait "$holder" 2>/dev/null
holder=''
run info --clean
check 'what was in use is removed when it is not' 0 '^removed .*/vader_segment.node.0.2.0'
run info --clean
check 'nothing left to remove' 0 '^no files of dead jobs in'
left my_own_data vader_segment.node.0.3.0 vader_segment.link vader_segment.folder $foreign
exit $failed
