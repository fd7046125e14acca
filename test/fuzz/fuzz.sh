#!/usr/bin/env bash
# Fuzzes all readers of untrusted bytes with libFuzzer, as many at a time as there are cores:   fuzz.sh [SECONDS] [TARGET...]
#   SECONDS   of CPU time per target, default 600          TARGET   a NAME of fuzz_NAME.c, default all
#   --merge TARGET...   instead: rebuilds seeds/NAME from the corpus, at most 20 small files
#
# The tree is build/fuzz, made by clang. Inputs that reach new code are kept in build/fuzz/corpus/NAME, where the next
# run begins; findings are in build/fuzz/findings, the output of each target in build/fuzz/logs. The exit status is 1
# if there was a finding.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2

tree=build/fuzz
export ASAN_OPTIONS=detect_leaks=0 # the leak search takes seconds on aarch64
most_seeds=20
ticks=$(getconf CLK_TCK)
sanitizers=address,undefined,float-cast-overflow,fuzzer-no-link

usage() {
    sed -n '2,4s/^# \{0,1\}//p' test/fuzz/fuzz.sh >&2
    exit 2
}

seconds=600 merge=0
case ${1:-} in
--merge) merge=1 && shift ;;
-*) usage ;;
[0-9]*) seconds=$1 && shift ;;
esac
case $seconds in *[!0-9]*) usage ;; esac

targets=("$@") all=0 found_in=()
if [ ${#targets[@]} = 0 ]; then
    all=1
    for file in test/fuzz/fuzz_*.c; do
        name=$(basename "$file" .c)
        [ "$name" = fuzz_help ] || targets+=("${name#fuzz_}")
    done
fi

configure() {
    local mpi clang
    [ ! -f $tree/Makefile ] || return 0
    clang=$(command -v clang || command -v clang-14) || {
        echo "clang is not installed: install clang and its runtime libraries (Debian: clang, libclang-rt-14-dev)" >&2
        return 1
    }
    mpi=$(packaging/mpis.sh | sed q)
    cmake -S . -B $tree -G "Unix Makefiles" -DCMAKE_C_COMPILER="$clang" -DHEARTH_MPI="$mpi" \
        -DHEARTH_MPICC="$(packaging/mpis.sh "$mpi")" -DHEARTH_FUZZ=ON -DHEARTH_SANITIZE=$sanitizers \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-fno-sanitize-recover=all >/dev/null
}

# Inputs count as slow only at the time limit: on a busy machine any of them may take seconds.
options() { # name
    echo "-timeout=120 -report_slow_units=120 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=65536"
    [ ! -f "test/fuzz/fuzz_$1.dict" ] || echo "-dict=test/fuzz/fuzz_$1.dict"
}

# The last status line of libFuzzer, shortened.
progress() { # log
    sed -n 's/^\(#[0-9]*\)\t[A-Z]*  *\(cov: [0-9]*\).*\(corp: [0-9]*\).*\(exec\/s: [0-9]*\).*/\1  \2  \3  \4/p' "$1" | tail -1
}

cpu_seconds() { # pid
    local fields
    read -ra fields 2>/dev/null <"/proc/$1/stat" && echo $(((fields[13] + fields[14]) / ticks))
}

declare -A pids=() used=() # of the running targets, by name

start() { # name
    local name=$1 log=$tree/logs/$1.log
    mkdir -p $tree/corpus/"$name"
    touch "$log.began"
    # shellcheck disable=SC2046
    nice -n 10 "$tree/test/fuzz_$name" -max_total_time=$((100 * seconds)) -artifact_prefix=$tree/findings/"$name"- \
        -print_final_stats=1 $(options "$name") $tree/corpus/"$name" test/fuzz/seeds/"$name" >"$log" 2>&1 </dev/null &
    pids[$name]=$! used[$name]=0
}

finish() { # name
    local name=$1 log=$tree/logs/$1.log status=0 file found=0
    wait "${pids[$name]}" || status=$?
    printf "${clear}%-16s %4d s  %s  %s\n" "$name" "${used[$name]}" "$(progress "$log")" \
        "$([ $status = 0 ] && echo 'no finding' || echo "ended with status $status, see $log")"
    for file in $tree/findings/"$name"-*; do
        [ -f "$file" ] && [ ! "$log.began" -nt "$file" ] || continue # of this run
        found=1
        echo "  finding; to repeat: $tree/test/fuzz_$name $file"
    done
    unset "pids[$name]" "used[$name]"
    [ $status = 0 ] && [ $found = 0 ]
}

# One line for all that run: each second on a terminal, each minute elsewhere.
show() { # seconds since the start
    local name line=''
    [ -t 1 ] || [ $(($1 % 60)) = 0 ] || return 0
    for name in "${!pids[@]}"; do line+="$name ${used[$name]} s of $seconds  "; done
    printf "${clear}%s%d to come${end}" "$line" $((${#targets[@]} - begun))
}

# As many targets at a time as there are cores.
fuzz() {
    local name failed=0 now=0
    begun=0
    trap 'kill "${pids[@]}" 2>/dev/null; echo; echo stopped; exit 130' INT TERM HUP
    while [ $begun -lt ${#targets[@]} ] || [ ${#pids[@]} -gt 0 ]; do
        while [ $begun -lt ${#targets[@]} ] && [ ${#pids[@]} -lt "$(nproc)" ]; do start "${targets[begun++]}"; done
        sleep 1
        for name in "${!pids[@]}"; do
            if ! kill -0 "${pids[$name]}" 2>/dev/null; then
                finish "$name" || { failed=1 && found_in+=("$name"); }
                continue
            fi
            used[$name]=$(cpu_seconds "${pids[$name]}" || echo "${used[$name]}")
            [ "${used[$name]}" -lt "$seconds" ] || kill -USR1 "${pids[$name]}" 2>/dev/null # libFuzzer then ends as if its time were over
        done
        [ ${#pids[@]} = 0 ] || show $((++now))
    done
    return $failed
}

# Hand-made seeds, whose names are words, stay; those of the fuzzer, named by their hashes, are replaced.
merge() { # name
    local name=$1 seeds=test/fuzz/seeds/$1 merged=$tree/merged/$1 kept file
    rm -rf "$merged" && mkdir -p "$merged" $tree/corpus/"$name" "$seeds"
    # shellcheck disable=SC2046
    "$tree/test/fuzz_$name" -merge=1 -use_counters=0 $(options "$name") "$merged" "$seeds" $tree/corpus/"$name" \
        >$tree/logs/"$name".merge.log 2>&1 || return 1
    find "$seeds" -type f | grep -E '/[0-9a-f]{40}$' | xargs -r rm
    kept=$(find "$seeds" -type f | wc -l)
    # The largest of the small ones reach the most code.
    find "$merged" -type f -size -3 -printf '%s %p\n' | sort -rn | cut -d' ' -f2 | while read -r file; do
        [ "$kept" -lt $most_seeds ] || break
        find "$seeds" -type f -exec cmp -s "$file" {} \; -print | grep -q . && continue
        cp "$file" "$seeds/$(basename "$file")" && kept=$((kept + 1))
    done
    echo "$name: $(find "$seeds" -type f | wc -l) seeds of $(find "$merged" -type f | wc -l) that differ"
}

clear='' end='\n'
[ ! -t 1 ] || clear='\r\033[K' end=''
configure || exit 2
for name in "${targets[@]}"; do
    [ -f "test/fuzz/fuzz_$name.c" ] || { echo "no target $name: there is no test/fuzz/fuzz_$name.c" >&2 && exit 2; }
done
cmake --build $tree -j "$(nproc)" --target "${targets[@]/#/fuzz_}" >$tree/build.log 2>&1 ||
    { tail -20 $tree/build.log >&2 && echo "not built: see $tree/build.log" >&2 && exit 2; }
mkdir -p $tree/logs $tree/findings
# libFuzzer ends without the functions of atexit, so the files of the targets are removed here.
TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
record_run() {
    local failures=() name
    [ -n "${RECORD:-}" ] && [ $all = 1 ] && [ "$seconds" -ge 600 ] || return 0
    for name in "${found_in[@]}"; do failures+=(--failure "$name: a finding, or an exit status that is not 0"); done
    test/status/record.py fuzz --seconds $SECONDS --passed $((${#targets[@]} - ${#found_in[@]})) --failed ${#found_in[@]} "${failures[@]}" \
        --note "$seconds s of CPU time for each target"
}

if [ $merge = 0 ]; then
    status=0
    fuzz || status=1
    record_run
    exit $status
fi
failed=0
for name in "${targets[@]}"; do merge "$name" || failed=1; done
exit $failed
