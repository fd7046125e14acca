#!/usr/bin/env bash
# Tests hearth tune. A real MPI program over a slow network gains by acquire mode, which is found and kept. Then a script in the
# program's place, whose time, result and report the test chooses: settings that are slower, fail, print something else, do not
# verify or are stale are not kept; a signal ends the job.
# test_tune.sh MPI TREE      quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$here/tools/check_output.sh"
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
hearth=$tree/bin/hearth
path=$("$here/../packaging/mpis.sh" "$mpi" mpirun) || exit 77
launcher=${path##*/} PATH=${path%/*}:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export XDG_CONFIG_HOME=$dir/config HEARTH_BYPASS=never
cd "$dir" || exit 1
# The slow network lies behind Hearth, as a library of the program.
"$cc" -O1 -shared -fPIC "$here/tools/slow_network.c" -o libslow.so || exit 1
"$cc" -O1 "$here/tools/saved.c" -Wl,--no-as-needed -L. -lslow -Wl,-rpath,"$dir" -o saved || exit 1

out='' status=0
tune() { # arguments of hearth tune
    out=$(timeout -k 5 200 "$hearth" tune --runs 3 "$@" 2>&1 </dev/null)
    status=$?
    left=$(find "$dir" -maxdepth 1 -name '.hearth-tune*')
    [ -z "$left" ] || { echo "FAIL left behind: $left" && failed=1; }
}
profiles() { find "$dir/config" -name '*.conf' 2>/dev/null | wc -l; }

# ---- a program ----

tune --output ./saved "$launcher" -n 2 ./saved 80 3 0
check 'the program is not replaced' 2 '^hearth: error: --output ./saved would replace a file that is no profile'

for _ in 1 2 3 4; do # a busy machine may delay some of the runs
    tune --same-output --output kept.conf "$launcher" -n 2 ./saved 80 3 0
    [ ! -e kept.conf ] || break
done
check 'the time is told first' 0 '^hearth: a run takes [0-9.]+ s without Hearth; at most 40 runs: up to '
checks=$(grep -c '^Acquire mode: ' <<<"$out") # two, if an addition to it is faster still
check 'acquire mode is checked' 0 '^Acquire mode: [1-9][0-9]* hits were checked, none was stale' $((checks > 1 ? checks : 1))
check 'it is clearly faster' 0 '^  HEARTH_MODE=acquire +[0-9.]+ +[0-9.]+ to [0-9.]+ +[0-9.]+ times as fast'
check 'it is kept' 0 '^Clearly faster: .* with HEARTH_MODE=acquire'
grep -q '^HEARTH_MODE=acquire$' kept.conf || { echo "FAIL the profile: $(cat kept.conf)" && failed=1; }
grep -q "^# Command: $launcher -n 2 ./saved 80 3 0$" kept.conf || { echo "FAIL its head: $(cat kept.conf)" && failed=1; }
grep -q '^# Environment: HEARTH_BYPASS=never$' kept.conf || { echo "FAIL its conditions: $(cat kept.conf)" && failed=1; }
[ "$(profiles)" = 0 ] || { echo "FAIL a profile beside --output" && failed=1; }
# ---- a script whose behaviour is chosen ----

for mode in transparent acquire; do
    "$hearth" run --mode $mode --report $mode.json "$launcher" -n 2 ./saved 30 2 0 >/dev/null 2>&1
    [ -s $mode.json ] || { echo "FAIL no report" && exit 1; }
done
cat >app <<'END'
#!/bin/bash
# mode is `bare` without Hearth. The report says that acquire mode would save most of the time.
mode=${HEARTH_MODE:-transparent}
case ${LD_PRELOAD:-} in *libhearth-mpi*) ;; *) mode=bare ;; esac
unset LD_PRELOAD
[ -z "${HEARTH_REPORT:-}" ] || cp $mode.json "$HEARTH_REPORT"
seconds=0.01 text='result 42'
. ./behaviour
[ "${HEARTH_WINDOWS:-host}" = host ] || sleep 0.1 # never clearly faster by chance
if [ -n "${HEARTH_CHECK:-}" ]; then # a line of each of its two ranks
    echo "hearth[0]: warning: HEARTH_CHECK: ${stale:-none of 96 hits was stale}" >&2
    [ -n "${silent:-}" ] || echo "hearth[1]: warning: HEARTH_CHECK: none of 0 hits was stale" >&2
fi
sleep "$seconds"
echo "$text"
END
chmod +x app
app() { # behaviour, options of hearth tune; the settings that were tried are in `tried`
    echo "echo \"\$mode \${HEARTH_CHECK:-}\" >>tried; $1" >behaviour
    rm -f tried
    tune --mpi "$mpi" "${@:2}" ./app
}

# Repeats it until a line of the output matches: a busy machine may delay some of the runs.
until_seen() { # regular expression, arguments of app
    for _ in 1 2 3 4; do
        app "${@:2}"
        grep -qE -- "$1" <<<"$out" && return
    done
}

until_seen '^Written to' 'seconds=0.5; [ $mode != acquire ] || seconds=0.01' --same-output --verify 'grep -q "result 42"'
check 'the script gains' 0 '^Clearly faster: .* with HEARTH_MODE=acquire'
check 'its profile is written' 0 "^Written to $dir/config/hearth/profiles/app-.*-n1.conf"
out=$(PMI_RANK=0 "$hearth" run --mpi "$mpi" --dry-run ./app 2>&1) # as a rank: else it would be a script that calls launchers
check 'hearth run uses it' 0 'profile .*: HEARTH_MODE=acquire[ ;]'
until_seen '^Acquire mode is not safe' 'seconds=0.6; [ $mode != acquire ] || seconds=0.3; [ "${HEARTH_WINDOWS:-host}$mode" != serveacquire ] || seconds=0.01
[ "${HEARTH_WINDOWS:-host}$mode" != servetransparent ] || seconds=0.3; [ "$HEARTH_CHECK$HEARTH_WINDOWS" != onserve ] || stale="1 of 9 hits were stale: not safe"'
check 'what is kept has been checked as it is' 0 '^Acquire mode is not safe for this program: 1 of 9 hits were stale'
check 'and else is not kept' 0 'No settings are kept'
[ "$(profiles)" = 0 ] || { echo "FAIL the old profile is still there" && failed=1; }
until_seen 'no profile is needed' 'seconds=0.5; [ $mode = bare ] || seconds=0.01; [ -z "$HEARTH_REPORT" ] || cp acquire.json "$HEARTH_REPORT"'
check 'a program that sets its modes itself' 0 '^Clearly faster: .* with hearth run and its default settings; no profile is needed'
app '[ $mode != acquire ] || stale="3 of 96 hits were stale: this mode is not safe"'
check 'stale hits: acquire mode is not tried' 0 '^Acquire mode is not safe for this program: 3 of 96 hits were stale'
check 'nothing is kept' 0 'No settings are kept'
[ "$(grep -c '^acquire $' tried)" = 0 ] || { echo "FAIL it ran in acquire mode" && failed=1; }
app '[ $mode != acquire ] || stale=none'
check 'a check that says nothing does not count' 0 '^Acquire mode: 1 of 2 ranks reported their hits: not checked'
app 'silent=1'
check 'nor does one of some ranks' 0 '^Acquire mode: 1 of 2 ranks reported their hits: not checked'
[ "$(grep -c '^acquire $' tried)" = 0 ] || { echo "FAIL it ran in acquire mode" && failed=1; }
app 'stale="none of 0 hits was stale"'
check 'nor does one without hits' 0 '^Acquire mode had no hits to check'
app '[ "$mode" != acquire ] || [ -n "${HEARTH_CHECK:-}" ] || { echo broken >&2; exit 3; }'
check 'settings with which it fails' 0 '^  HEARTH_MODE=acquire +failed: exit status 3: broken'
check 'are not kept' 0 'No settings are kept'
app '[ $mode != acquire ] || [ -n "${HEARTH_CHECK:-}" ] || text="result 41"' --same-output
check 'settings with which it prints something else' 0 'HEARTH_MODE=acquire +failed: its output differs'
app '[ $mode != acquire ] || [ -n "${HEARTH_CHECK:-}" ] || text="result 41"' --verify 'grep "result 42"'
check 'settings that do not verify' 0 'HEARTH_MODE=acquire +failed: --verify ended with 1'
app '[ $mode = bare ] || seconds=0.1'
check 'settings that are slower' 0 '^Nothing is clearly faster than without Hearth'
app 'text=$RANDOM$RANDOM' --same-output
check 'a program whose output varies' 1 'error: the program does not run with Hearth.s default settings: its output differs'
app 'exit 3'
check 'a program that fails' 1 'error: the program does not run without Hearth: exit status 3'
app '[ $mode = bare ] || exit 4'
check 'a program that fails with Hearth' 1 "error: the program does not run with Hearth's default settings: exit status 4"
app 'rm -f "${HEARTH_REPORT:-x}"'
check 'no report' 1 'error: the run wrote no report'

# ---- signals ----

end_in_job() { # behaviour, on standard input, which writes its process to `job` and stays: hearth tune gets SIGTERM in this run
    cat >behaviour
    rm -f job
    "$hearth" tune --mpi "$mpi" ./app >log 2>&1 </dev/null &
    local tuner=$!
    until [ -s job ]; do sleep 0.02; done
    kill -TERM "$tuner"
    wait "$tuner"
    status=$?
}

end_in_job <<<'echo $$ >job; sleep 60'
out=$(cat log; kill -0 "$(cat job)" 2>&1; find . -name '.hearth-tune*')
check 'SIGTERM ends the job, and leaves nothing' 143 'No such process'
check 'no file' 143 'hearth-tune' 0
end_in_job <<'END'
[ -n "$HEARTH_REPORT" ] || exit 0
mkdir "$HEARTH_REPORT.parts" && echo part >"$HEARTH_REPORT.parts/0.123" # as ranks do, which the launcher then kills
echo $$ >job; sleep 60
END
out=$(find . -name '.hearth-tune*')
check 'no parts of a report' 143 'hearth-tune' 0

# ---- refused ----

tune "$launcher" -n 2 ./missing
check 'a program that does not exist' 2 'error: there is no program ./missing'
tune --runs 2 "$launcher" -n 2 ./saved
check 'too few runs' 2 'error: --runs 2 is not a number from 3 to 100'
tune
check 'no program' 2 'error: hearth tune: no program'
exit $failed
