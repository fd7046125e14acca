#!/usr/bin/env bash
# Tests hearth bisect with a script in the program's place, whose result and time the test chooses: it names the mechanism that
# changes them, several of them, none, and says when even all of them switched off do not help.
# test_bisect.sh MPI TREE      quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$here/tools/check_output.sh"
"$here/../packaging/mpis.sh" "$mpi" mpirun >/dev/null || exit 77
cd "$dir" || exit 1
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache
cat >app <<'END'
#!/bin/bash
# mode is `bare` without Hearth; is_off NAME: whether this mechanism is switched off.
mode=hearth
case ${LD_PRELOAD:-} in *libhearth-mpi*) ;; *) mode=bare ;; esac
unset LD_PRELOAD
is_off() { [ $mode = bare ] || { case $1 in mode | match | heater) [ "$(eval "echo \${HEARTH_${1^^}:-}")" = off ] ;; windows) [ "${HEARTH_WINDOWS:-}" = host ] ;; esac; }; }
text='result 42'
. ./behaviour
echo "$text"
END
chmod +x app

out='' status=0
bisect() { # behaviour, options of hearth bisect
    echo "$1" >behaviour
    out=$(PMI_RANK=0 timeout -k 5 100 "$tree/bin/hearth" bisect --mpi "$mpi" "${@:2}" ./app 2>&1 </dev/null) # as a rank: not a script that calls launchers
    status=$?
    left=$(find "$dir" -maxdepth 1 -name '.hearth-tune*')
    [ -z "$left" ] || { echo "FAIL left behind: $left" && failed=1; }
}

bisect true
check 'a program that Hearth leaves alone' 0 '^Hearth does not change the result.$'
bisect 'is_off match || exit 3'
check 'a mechanism that makes it fail: that it does' 1 '^With Hearth the program does not do what it does without: exit status 3'
check 'and which' 1 '^This changes the result: matching of messages. With HEARTH_MATCH=off it is as without Hearth.$'
check 'and no other' 1 '^This changes the result' 1
bisect 'is_off windows || text="result 41"'
check 'other output is no difference by itself' 0 '^Hearth does not change the result.$'
bisect 'is_off windows || text="result 41"' --same-output
check 'it is one on demand' 1 '^This changes the result: served windows. With HEARTH_WINDOWS=host'
bisect 'is_off mode || text="result 41"' --verify 'grep -q "result 42"'
check 'the output is verified' 1 '^This changes the result: the cache of gets. With HEARTH_MODE=off'
bisect '{ is_off mode && is_off match; } || exit 3'
check 'several' 1 '^Of several, this one changes the result: (the cache of gets|matching of messages) ' 2
bisect '[ $mode = bare ] || exit 3'
check 'none of them' 1 '^With all mechanisms off the result still differs'
bisect 'exit 3'
check 'a program that fails anyway' 1 '^hearth: error: the program does not run without Hearth: exit status 3'
for _ in 1 2 3 4; do # a busy machine may delay some of the runs
    bisect 'is_off match || sleep 0.5' --time
    [ $status = 0 ] || break
done
check 'a mechanism that costs time' 1 '^This costs time: matching of messages. With HEARTH_MATCH=off the program is [0-9.]+ times as fast.$'
bisect true --time --runs 3
check 'too few runs for times' 2 '^hearth: error: --runs 3: times of fewer than 5 runs tell nothing'
HEARTH=off bisect true
check 'HEARTH=off' 2 '^hearth: error: HEARTH=off is in the environment'
exit $failed
