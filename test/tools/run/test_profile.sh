#!/usr/bin/env bash
# Tests profiles: which file belongs to a program, the order of option, environment, profile and default, hearth info -c,
# and files that are not used: unknown settings, bad values, links, files and folders that others can write.
# test_profile.sh MPI TREE      quick: openmpi; timeout: 60
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
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 XDG_CONFIG_HOME=$dir/config
unset "${!HEARTH_@}" # the commands list them
umask 022
cd "$dir" || exit 1
"$cc" -D_GNU_SOURCE -O1 "$here/tools/run/rank.c" -o rank -ldl -Wl,--build-id=sha1 || exit 1
id=$(readelf -n rank | sed -n 's/.*Build ID: \(................\).*/\1/p')

out='' status=0
run() { # arguments of hearth
    out=$(timeout -k 5 30 "$hearth" "$@" 2>&1 </dev/null)
    status=$?
}
dry() { run run --dry-run "$@" "$launcher" -n 2 ./rank; }
place() { # arguments: a command; prints the file of its profile
    "$hearth" info -c -- "$@" 2>/dev/null | sed -n 's/^# Profile: .* is \(.*\)/\1/p'
}

# ---- the file ----

own=$(place "$launcher" -n 2 ./rank)
[ "$own" = "$dir/config/hearth/profiles/rank-$id-n2.conf" ] || { echo "FAIL place: $own, build id $id" && failed=1; }
cp rank copy
[ "$(place "$launcher" -np 2 env A=1 ./copy)" = "${own/rank-/copy-}" ] || { echo "FAIL a copy behind env" && failed=1; }
[ "$(place "$launcher" ./rank)" = "${own%n2.conf}any.conf" ] || { echo "FAIL place without -n" && failed=1; }
[ "$(place ./rank)" = "${own%n2.conf}n1.conf" ] || { echo "FAIL place of one process" && failed=1; }
both=$(place "$launcher" -n 1 ./rank : -n 1 ./copy)
{ [ "$both" != "$own" ] && [[ $both == */rank-*-n2.conf ]]; } || { echo "FAIL place of two programs: $both" && failed=1; }
objcopy --remove-section=.note.gnu.build-id rank bare
[[ $(place "$launcher" -n 2 ./bare) == */bare-[0-9a-f]*-n2.conf ]] || { echo "FAIL place without a build id" && failed=1; }
printf '#!/bin/sh\nexec ./rank\n' >script
chmod +x script
first=$(place "$launcher" -n 2 ./script)
echo '# changed' >>script
second=$(place "$launcher" -n 2 ./script)
{ [ "$first" != "$second" ] && [[ $first == */script-*-n2.conf ]]; } || { echo "FAIL scripts: $first $second" && failed=1; }
if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
    echo 'print(1)' >app.py
    [[ $(place "$launcher" -n 2 /usr/bin/python3 -u app.py 7) == */app.py-*-n2.conf ]] || { echo "FAIL Python" && failed=1; }
    run info -c -- "$launcher" -n 2 /usr/bin/python3 -c 'print(1)'
    check 'nothing identifies a program given by -c' 0 '^# Profile: none, as nothing identifies'
fi
differ() { # name, profiles...: each of them there, and no two the same
    local what=$1 all
    shift
    all=$(printf '%s\n' "$@" | sort -u | grep -c .)
    [ "$all" = $# ] || { echo "FAIL $what: $*" && failed=1; }
}
none() { # name, command: nothing identifies it
    run info -c -- "${@:2}"
    check "$1" 0 '^# Profile: none, as nothing identifies'
}
mkdir shims bin
printf '#!/bin/sh\nexec /usr/bin/python3 "$@"\n' >shims/python3 # as of pyenv, which has no MPI beside it
printf '#!/bin/sh\nexec "$@"\n' | tee bind.sh >other.sh
chmod +x shims/python3 bind.sh other.sh
echo 'print(1)' | tee a.py >b.py
echo 1 >input.dat
echo 1 >inner.sh
python=$dir/shims/python3
differ 'Python programs' "$(place "$launcher" -n 2 "$python" a.py)" "$(place "$launcher" -n 2 "$python" -u -W ignore b.py)"
[ "$(place "$launcher" -n 2 "$python" a.py)" = "$(place "$launcher" -n 2 "$python" -uB a.py input.dat b.py)" ] ||
    { echo "FAIL arguments of a Python program" && failed=1; }
differ 'programs behind a wrapper' "$(place "$launcher" -n 2 ./bind.sh "$python" a.py)" "$(place "$launcher" -n 2 ./bind.sh "$python" b.py)" \
    "$(place "$launcher" -n 2 ./other.sh "$python" a.py)" "$(place "$launcher" -n 2 ./bind.sh ./script)" \
    "$(place "$launcher" -n 2 bash inner.sh)"
none 'a command in an argument' "$launcher" -n 2 bash -c './rank say'
none 'the same, with other options' "$launcher" -n 2 bash -o pipefail -ec './rank say' input.dat
none 'a Python module' "$launcher" -n 2 "$python" -m a input.dat
none 'Python code' "$launcher" -n 2 "$python" -uc 'import a' input.dat
none 'a module behind a wrapper' "$launcher" -n 2 ./bind.sh "$python" -m a
none 'a program without MPI, and its input' "$launcher" -n 2 sleep input.dat
printf '#!/bin/sh\n' >bin/jsrun
chmod +x bin/jsrun
jsrun() { PATH=$dir/bin:$PATH place jsrun "$@" ./rank | sed 's/.*-//'; }
[ "$(jsrun -n 2 -a 21) $(jsrun -n2 -a4) $(jsrun --nrs=2 --tasks_per_rs 3) $(jsrun -p 6) $(jsrun -n 2)" = 'n42.conf n8.conf n6.conf n6.conf any.conf' ] ||
    { echo "FAIL ranks of jsrun" && failed=1; }
dry
check 'no profile: nothing is said' 0 '^hearth' 0

# ---- the order ----

mkdir -p "${own%/*}"
printf '# rank, 2 ranks\n\nHEARTH_MODE=acquire\r\n  HEARTH_CACHE_SIZE=16m \nHEARTH_MATCH=on\n' >"$own"
dry
check 'it is used, and says so in one line' 0 "^hearth: profile $own: HEARTH_MODE=acquire HEARTH_CACHE_SIZE=16m HEARTH_MATCH=on; --no-profile runs"
check 'and the ranks get it' 0 "LD_PRELOAD=.* HEARTH_MODE=acquire HEARTH_CACHE_SIZE=16m HEARTH_MATCH=on ./rank"
HEARTH_CACHE_SIZE=1m dry --mode user
check 'options, then the environment, come first' 0 'HEARTH_CACHE_SIZE=1m HEARTH_MATCH=on HEARTH_MODE=user [.]/rank'
check 'and only the rest is named' 0 "^hearth: profile .*: HEARTH_MATCH=on; --no-profile"
HEARTH_CACHE_SIZE='' dry
check 'an empty variable counts as unset' 0 'HEARTH_CACHE_SIZE=16m.* ./rank'
dry --no-profile
check '--no-profile' 0 'HEARTH_MODE|profile' 0
echo HEARTH_MODE=off >other
dry --profile other
check '--profile' 0 '^hearth: profile other: HEARTH_MODE=off$|HEARTH_MODE=off ./rank' 2
run run --dry-run "$launcher" -n 1 ./rank
check 'another number of ranks: none' 0 'profile' 0
HEARTH_SEED=7 run info -c -- --mode user "$launcher" -n 2 ./rank
check 'info -c: the profile' 0 "^# Profile: $own$"
out=$(sed -n '/^HEARTH_\(MODE\|CACHE_SIZE\|SEED\|NET_TIMEOUT\)=/{N;s/\n */ /;s/;.*//;p}' <<<"$out")
check 'info -c: sources' 0 '^HEARTH_MODE=user option|^HEARTH_CACHE_SIZE=16m profile|^HEARTH_SEED=7 environment|^HEARTH_NET_TIMEOUT=60 default' 4
run info -c
check 'info -c without a command' 0 '^    profile' 0
[ "$mpi" = mpich ] || export OMPI_MCA_rmaps_base_oversubscribe=1
run run "$launcher" -n 2 ./rank
check 'a real run' 0 '^rank [01] of 2 loaded yes mode acquire' 2

# ---- files that are not used ----

aside() { # name, reason
    dry
    check "$1" 0 "^hearth: warning: profile $own is not used: $2"
    check "$1: the job starts without it" 0 'LD_PRELOAD=[^ ]* ./rank'
}
echo HEARTH_MODEE=acquire >"$own"
aside 'an unknown setting' 'line 1: HEARTH_MODEE is not a setting of Hearth; did you mean HEARTH_MODE\?'
printf 'HEARTH_MATCH=on\nHEARTH_MODE=fast\n' >"$own"
aside 'a bad value' 'line 2: HEARTH_MODE=fast is not one of'
echo hello >"$own"
aside 'a line that is no setting' 'line 1 is not NAME=value: hello'
head -c 70000 /dev/zero >"$own"
aside 'a large file' 'it is too large'
head -c 100 /dev/zero >"$own"
aside 'a binary file' 'it is not a text file'
rm "$own" && mkdir "$own"
aside 'a folder' 'it is not a plain file'
rmdir "$own" && mkfifo "$own"
aside 'a pipe' 'it is not a plain file'
rm "$own" && ln -s "$dir/other" "$own"
aside 'a link' 'it is a link'
rm "$own" && echo HEARTH_MODE=acquire >"$own" && chmod o+w "$own"
aside 'a file that others can write' 'other users can write to it'
chmod o-w,g+w "$own"
aside 'a file that the group can write' 'other users can write to it'
chmod g-w "$own" && chmod o+w "${own%/*}"
aside 'a folder that others can write' "other users can write in ${own%/*}"
chmod o-w "${own%/*}"
if [ "$(id -u)" != 0 ]; then
    chmod 0 "$own"
    aside 'a file that cannot be read' 'Permission denied'
fi
for bad in 'missing: No such file' 'bad: line 1: .*is not one of' "$dir: it is not a plain file"; do
    echo HEARTH_MODE=fast >bad
    dry --profile "${bad%%: *}"
    check "--profile ${bad%%: *} is refused" 2 "^hearth: error: --profile ${bad%%: *}: ${bad#*: }"
done
dry --profile other --no-profile
check 'both options' 2 'exclude each other'
exit $failed
