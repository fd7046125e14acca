#!/usr/bin/env bash
# Tests hearth run: C, C++, Fortran and Python programs, command lines with colons, exit codes, preloading into ranks
# and not into the launcher, srun (here a script; test_srun.sh uses the real one), and refused command lines.
# test_run.sh MPI TREE      timeout: 180
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
hearth=$tree/bin/hearth
path=$("$here/../packaging/mpis.sh" "$mpi" mpirun) || exit 77
launcher=${path##*/} PATH=${path%/*}:$PATH
case $mpi in
openmpi) launch=("$launcher" --oversubscribe --bind-to none) other=mpich ;;
*) launch=("$launcher") other=openmpi ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HEARTH_TEST_ABOVE=$$ XDG_CACHE_HOME=$dir/cache
# A script in place of srun: starts -n ranks, each a job of its own, and sets the variables of --export.
mkdir "$dir/bin"
cat >"$dir/bin/srun" <<'END'
#!/usr/bin/env bash
n=1 set=() file=''
while [[ ${1:-} == -* ]]; do
    case $1 in
    -n) n=$2 && shift ;;
    -n*) n=${1#-n} ;;
    --export=*) IFS=, read -ra set <<<"${1#--export=}" && [ "${set[0]}" = ALL ] && unset 'set[0]' ;;
    --multi-prog) file=1 ;;
    esac
    shift
done
[ -z "$file" ] || set -- $(sed -n '1s/^[^ ]* //p' "$1")
echo "srun itself: ${LD_PRELOAD:-nothing}"
for ((i = 0; i < n; i++)); do env "${set[@]}" "$@" || exit; done
END
chmod +x "$dir/bin/srun"
ends=() # between hosts MPICH may hang in MPI_Finalize
[ "$mpi" != mpich ] || ends=(-rdynamic "$here/cluster/nofin.c")
# In the quick tier MPICH leaves out what is the same with every launcher, if Open MPI is there to test it.
quick='' elsewhere=''
[ "${HEARTH_TEST_TIER:-}" != quick ] || quick=yes
[ "$mpi.$quick" != mpich.yes ] || ! "$here/../packaging/mpis.sh" openmpi >/dev/null 2>&1 || elsewhere=yes
"$cc" -D_GNU_SOURCE -O1 "$here/tools/run/rank.c" "${ends[@]}" -o "$dir/rank" -ldl || exit 1

out='' status=0 preload=''
run() { # arguments of hearth run
    out=$(cd "$dir" && timeout -k 5 60 env ${preload:+"LD_PRELOAD=$preload"} "$hearth" run "$@" 2>&1 </dev/null)
    status=$?
}

check() { # name, exit code, regular expression, number of lines that match it, or `some`
    local count
    count=$(grep -cE -- "$3" <<<"$out")
    if [ "$status" = "$2" ] && { [ "$count" = "${4:-1}" ] || { [ "${4:-}" = some ] && [ "$count" != 0 ]; }; }; then
        echo "ok $1"
    else
        echo "FAIL $1: exit code $status instead of $2, or $count lines instead of ${4:-1} like: $3"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

refused() { # name, regular expression: one line, exit code 2
    check "$1" 2 "^hearth: error: $2"
    [ "$(wc -l <<<"$out")" = 1 ] || { echo "FAIL $1: more than one line" && failed=1; }
}

# ---- programs ----

run "${launch[@]}" -n 2 ./rank
check 'a C program is preloaded' 0 '^rank [01] of 2 loaded yes mode unset' 2
check 'its launcher is not' 0 '^rank [01]: some above it, 0 with Hearth$' 2
preload=$tree/lib/libhearth-mpi.so run "${launch[@]}" -n 2 ./rank
check 'nor is it if the user preloads all' 0 '^rank [01]: some above it, 0 with Hearth$' 2
run --mode always "${launch[@]}" -n 2 ./rank say 'a  b' "it's" '' '*'
check 'settings and arguments arrive whole' 0 "loaded yes mode always arguments \[a  b\] \[it's\] \[\] \[\*\]$" 2
HEARTH_MODE=user run -- "${launch[@]}" -n 1 ./rank
check 'so do settings of the environment' 0 'mode user'
HEARTH_MODE=user run --mode off -- "${launch[@]}" -n 1 ./rank
check 'options come first' 0 'mode off'
run -n 2 ./rank
check 'without a launcher, that of the MPI is taken' 0 '^rank [01] of 2 loaded yes' 2
run ./rank
check 'a single process' 0 '^rank 0 of 1 loaded yes'
if (ulimit -c 0 && timeout 30 "${launch[@]}" -n 1 true : -n 1 true) >"$dir/log" 2>&1; then
    run "${launch[@]}" -n 1 ./rank say a : -n 1 ./rank say b
    check 'a line with a colon' 0 'rank [01] of 2 loaded yes mode unset arguments \[[ab]\]' 2
else # as that of Open MPI 5.0.7, which crashes
    echo "skip a line with a colon: the launcher fails without Hearth, too"
fi
run timeout 30 "${launch[@]}" -n 2 ./rank
check 'a command before the launcher' 0 'of 2 loaded yes' 2
run "${launch[@]}" -n 2 /usr/bin/nice -n 1 ./rank
check 'a command before the program' 0 'of 2 loaded yes' 2
run "${launch[@]}" -n 2 env -i PATH="$PATH" HOME="$dir" OMPI_ALLOW_RUN_AS_ROOT=1 env ./rank
[ "$mpi" = openmpi ] || check 'an environment that is cleared' 0 'loaded yes' 2
mkdir "$dir/elsewhere"
mv "$dir/rank" "$dir/elsewhere/"
run "${launch[@]}" -wdir "$dir/elsewhere" -n 2 ./rank
check 'a program in the folder of -wdir' 0 'of 2 loaded yes' 2
mv "$dir/elsewhere/rank" "$dir/"
printf '#!/bin/sh\nexec ./rank\n' >"$dir/script"
chmod +x "$dir/script"
run "${launch[@]}" -n 2 ./script
check 'a script, by its launcher' 0 'of 2 loaded yes' 2

for program in cpp fortran_mpifh fortran_mpi fortran_f08; do
    [[ $program.$quick != fortran_mpi*.yes ]] || continue # to the loader as fortran_f08
    [ -x "$tree/test/mpi_$program" ] || continue
    run --report "$program.json" "${launch[@]}" -n 2 "$tree/test/mpi_$program"
    check "mpi_$program" 0 . some
    grep -q '"gets"' "$dir/$program.json" || { echo "FAIL mpi_$program: no report, so it was not preloaded" && failed=1; }
done
if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py, numpy' 2>/dev/null; then
    run -v --report python.json "${launch[@]}" -n 2 /usr/bin/python3 "$(find "$here/mpi" -name cache.py)"
    check 'a Python program' 0 'uses openmpi: .*mpi4py/MPI.*\.so needs'
    grep -q '"gets"' "$dir/python.json" || { echo "FAIL Python: no report, so it was not preloaded" && failed=1; }
    run /usr/bin/python3 -c 'import ctypes; print("loaded", hasattr(ctypes.CDLL(None), "CLAMPI_Get_stats"))'
    check 'Python without a launcher' 0 'loaded True'
    run --dry-run mpirun.mpich -n 2 /usr/bin/python3 x.py
    ! command -v mpirun.mpich >/dev/null || refused 'Python with the wrong launcher' '.*python3 uses openmpi .*mpi4py'
fi

# ---- other launchers: scripts in their place, which start -n ranks, each a job of its own ----

printf 'a\n' >"$dir/data"
own=(mpiexec.hydra)
[ "$mpi" = mpich ] || own=(orterun prterun)
others=(aprun jsrun prun ibrun flux ccc_mprun mpiexec.slurm)
[ -z "$elsewhere" ] || others=(ibrun)
for name in "${others[@]}" "${own[@]}"; do
    cat >"$dir/bin/$name" <<'END'
#!/usr/bin/env bash
[ "${0##*/}" != flux ] || { [ "$1" = run ] && shift; } || exit 9
n=1 set=()
while [[ ${1:-} == -* ]]; do
    case ${0##*/}:$1 in
    *:-n) n=$2 && shift ;;
    *:-n*) n=${1#-n} ;;
    aprun:-e | jsrun:-E) set+=("$2") && shift ;;
    flux:--env=*) set+=("${1#--env=}") ;;
    *) shift ;;
    esac
    shift
done
echo "${0##*/} itself: ${LD_PRELOAD:-nothing}"
for ((i = 0; i < n; i++)); do env "${set[@]}" "$@" || exit; done
END
    chmod +x "$dir/bin/$name"
    words=("$name") && [ $name != flux ] || words+=(run)
    PATH=$dir/bin:$PATH run --mode always "${words[@]}" -n 2 -N 2 ./rank say x
    check "$name" 0 '^rank 0 of 1 loaded yes mode always arguments \[x\]' 2
    check "$name itself is not preloaded" 0 "^$name itself: nothing"
done
cp "$dir/bin/ibrun" "$dir/bin/my_launcher"
PATH=$dir/bin:$PATH run my_launcher -n 2 ./rank
refused 'a launcher that is not known' 'my_launcher looks like a launcher that hearth does not know: .*hearth run PROGRAM'
PATH=$dir/bin:$PATH run env my_launcher -n 1 ./rank
check 'as one process it is run' 0 'loaded yes'
out=$("$hearth" --help) status=$?
check 'the help names the libraries' 0 '^  lib(hearth-mpi|hearth-match|armci|vgasnet) ' 4
out=$("$hearth" help run) status=$?
check 'and the modes, in the order of README' 0 'transparent, acquire, auto, always, user, off'
run --mpi "$other" ./rank
refused 'an MPI that contradicts the program' "--mpi $other, but ./rank uses $mpi .* leave --mpi out"

# ---- shell scripts that call a launcher ----

printf '#!/bin/sh\necho "the shell: ${LD_PRELOAD:-nothing}"\n%s --version >/dev/null && echo fine\n%s -n 2 ./rank say "$1" "$2"\n' \
    "$launcher" "${launch[*]}" >"$dir/job.sh"
chmod +x "$dir/job.sh"
run --mode always ./job.sh 'a  b' c
check 'a script: the shell is not preloaded' 0 '^the shell: nothing'
check 'its launchers run as before' 0 '^fine'
check 'its ranks are preloaded' 0 '^rank [01] of 2 loaded yes mode always arguments \[a  b\] \[c\]' 2
check 'its launcher is not' 0 '^rank [01]: some above it, 0 with Hearth$' 2
scripts() {
    run --mode off bash ./job.sh x y
    check 'a shell with a script' 0 '^rank [01] of 2 loaded yes mode off' 2
    mkdir "$dir/module"
    printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$launcher")" >"$dir/module/mpirun"
    printf '#!/bin/bash\nPATH=%s:%s\nmpirun %s -n 2 ./rank\n' "$dir/module" "$PATH" "${launch[*]:1}" >"$dir/module.sh"
    chmod +x "$dir/module/mpirun" "$dir/module.sh"
    run ./module.sh # as after `module load`
    check 'a launcher that comes first on the PATH later' 0 '^rank [01] of 2 loaded yes' 2
    run bash -c "${launch[*]} -n 1 bash -c 'declare -F; ./rank'"
    check 'its ranks do not have the functions of the script' 0 '^rank 0 of 1 |^declare -fx mpirun$'
    mpirun() { echo "a function of the user: $*"; }
    export -f mpirun
    run bash -c 'mpirun x; declare -F'
    check 'a function of the user stays' 0 '^a function of the user: x$'
    check 'the others are set' 0 '^declare -fx mpiexec$'
    unset -f mpirun
    mkdir "$dir/config"
    own=$(cd "$dir" && XDG_CONFIG_HOME=$dir/config "$hearth" info -c -- "${launch[@]}" -n 2 ./rank | sed -n 's/^# Profile: .* is \(.*\)/\1/p')
    mkdir -p "${own%/*}" && echo HEARTH_MODE=acquire >"$own"
    echo HEARTH_MODE=user >"$dir/other.conf"
    XDG_CONFIG_HOME=$dir/config run ./job.sh x y
    check 'the profile of its program is used' 0 '^rank [01] of 2 loaded yes mode acquire' 2
    XDG_CONFIG_HOME=$dir/config run --no-profile ./job.sh x y
    check 'unless --no-profile is given' 0 '^rank [01] of 2 loaded yes mode unset' 2
    XDG_CONFIG_HOME=$dir/config run --profile other.conf sh -c "mkdir -p \"$dir/there\" && cd \"$dir/there\" && ${launch[*]} -n 2 ../rank"
    check 'or another, which is found from any folder' 0 '^rank [01] of 2 loaded yes mode user' 2
    run --profile missing.conf ./job.sh x y
    refused 'a profile that is not there: the script does not start' '--profile missing.conf: No such file'
    run sh -c "env -i PATH=\"\$PATH\" HOME=$dir OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ${launch[*]} -n 1 ./rank"
    check 'a script that empties the environment, but keeps the PATH' 0 '^rank 0 of 1 loaded yes'
    printf '#!/usr/bin/env -S bash -e\n%s -n 1 ./rank\n' "${launch[*]}" >"$dir/options.sh"
    chmod +x "$dir/options.sh"
    run ./options.sh
    check 'an interpreter with options' 0 '^rank 0 of 1 loaded yes'
    check 'nothing is said of launchers that ran' 0 'no launcher was called' 0
    run --report "$dir/emptied.json" sh -c "env -i PATH=\"\$PATH\" HOME=$dir OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ${launch[*]} -n 1 ./rank"
    check 'which loses --report' 0 'emptied.json: no rank has written a report: .* emptied the environment'
    run sh -c "PATH=$PATH; timeout 50 ${launch[*]} -n 1 ./rank"
    check 'a launcher that the script finds elsewhere' 0 '^rank 0 of 1 loaded no'
    check 'is missed at the end' 0 '^hearth: warning: sh ended, and no launcher was called through the PATH'
    ls -A "$XDG_CACHE_HOME"/hearth/links-*/seen.* 2>/dev/null && echo 'FAIL a mark is left' && failed=1
    run -v ./job.sh x y
    check '-v prints the command of its launcher' 0 '^hearth: .*LD_PRELOAD=[^ ]*/libhearth-mpi\.so .*\./rank say'
}
[ -n "$elsewhere" ] || scripts

run "${launch[@]}" -n 1 /bin/true
check 'a program without MPI' 0 '^hearth: warning: /bin/true is not linked to MPI: unless it loads MPI while it runs, Hearth does nothing'
run --dry-run "${launch[@]}" -n 1 bash -c ./rank
check 'a program that starts others' 0 'is not linked to MPI' 0

# ---- exit codes: those of the launcher ----

codes=('' 'exit 3' 'signal 9')
[ -n "$quick" ] || codes+=('signal 15')
for arguments in "${codes[@]}"; do
    for _ in 1 2 3; do # MPICH's launcher, rarely, ends with 1 instead of the signal
        # shellcheck disable=SC2086 # two words
        (cd "$dir" && timeout -k 5 60 "${launch[@]}" -n 2 ./rank $arguments) >/dev/null 2>&1 </dev/null
        plain=$?
        # shellcheck disable=SC2086
        run "${launch[@]}" -n 2 ./rank $arguments
        [ "$status" != "$plain" ] || break
        echo "exit code of '$arguments': $plain without Hearth, $status with it: once more"
    done
    check "exit code of '$arguments': $plain" "$plain" 'of 2 loaded yes' some # one rank may be killed before it prints
done
run ./rank exit 3
check 'exit code of a single process' 3 'loaded yes'

# ---- a report that is not written ----

run --report killed.json "${launch[@]}" -n 1 ./rank signal 9
check 'a rank is killed: a line says what is known' "$status" '^hearth: warning: .*/killed.json: (no rank has written a report|the job did not end through MPI_Finalize)'
printf '#include <mpi.h>\nint main(void) { int flag; return MPI_Initialized(&flag); }\n' >"$dir/idle.c"
"$cc" "$dir/idle.c" -o "$dir/idle" || exit 1
run --report idle.json "${launch[@]}" -n 1 ./idle
check 'no rank calls MPI_Init' 0 '^hearth: warning: .*/idle.json: no rank has written a report: the job ended before MPI_Init was complete'
run --report ended.json "${launch[@]}" -n 1 ./rank exit 0
check 'nothing is said of a report that is written' 0 'ended.json' 0
run --report ended.json "${launch[@]}" -n 1 ./idle
check 'nor is an older one taken for it' 0 'ended.json: no rank has written a report'

# ---- the command ----

run --dry-run -v "${launch[@]}" -n 2 ./rank say "it's"
check 'the command is printed' 0 "^(hearth: )?$launcher .*-n 2 /usr/bin/env LD_PRELOAD=[^ ]*/libhearth-mpi\.so .*\./rank say 'it'\\\\''s'$" 2
out=$(cd "$dir" && sh -c "$(grep -v '^hearth:' <<<"$out")" 2>&1)
check 'it can be typed again' 0 "arguments \[it's\]" 2
run -v --mpi "$mpi" "${launch[@]}" -n 1 ./rank
check 'an MPI that was named' 0 "^hearth: $mpi, given by --mpi"
run --dry-run --match --check "${launch[@]}" -n 1 ./rank
check 'options are settings' 0 'HEARTH_MATCH=on HEARTH_CHECK=on '
run --report - "${launch[@]}" -n 1 ./rank
refused 'a report that is no file' '--report - names no file: write --report run.json'
run --report "${launch[0]}" -n 2 ./rank
refused 'a launcher in the place of the report' "--report $launcher: this is the name of a launcher: write the name of the file before it"
run --report '' "${launch[@]}" -n 1 ./rank
refused 'a report without a name' '--report "" is not the name of a file'
run --match=on "${launch[@]}" -n 1 ./rank
refused 'a value of an option that takes none' 'option --match=on takes no value: see hearth help run'
touch "$dir/report.json"
run --dry-run --report report.json "${launch[@]}" -n 1 ./rank
check 'a report that exists is replaced' 0 "HEARTH_REPORT=$dir/report\\.json"

# ---- detection of the MPI ----

ln -s "$(command -v "$launcher")" "$dir/bin/mpirun" # like Debian's alternatives
PATH=$dir/bin:$PATH run --dry-run -v mpirun -n 2 ./script
check 'a launcher behind links' 0 "^hearth: $mpi, that of the launcher"
rm "$dir/bin/mpirun"
# Libraries of that name in a folder beside the program, found directly or through another library. Hearth then
# notices that they are not those that it was built for.
[ "$mpi" = openmpi ] && name=libmpi.so.77 || name=libmpich.so.77
mkdir "$dir/lib"
echo 'int host(void) { return 0; }' | gcc -shared -fPIC -x c - -Wl,-soname,"$name" -o "$dir/lib/$name"
echo 'int host(void); int middle(void) { return host(); }' >"$dir/middle.c"
echo 'int middle(void); int main(void) { return middle(); }' >"$dir/main.c"
found() { # name, options for linking the library in the middle, and the program
    # shellcheck disable=SC2086 # several options
    gcc -shared -fPIC "$dir/middle.c" -Wl,-soname,libmiddle.so $2 -o "$dir/lib/libmiddle.so" "$dir/lib/$name" &&
        gcc "$dir/main.c" $3 -Wl,--allow-shlib-undefined -o "$dir/far" "$dir/lib/libmiddle.so" || exit 1
    run "${launch[@]}" -n 2 ./far
    refused "$1" "./far uses $4$name, but .*libhearth-mpi.so was built for /.*build Hearth with"
}
# shellcheck disable=SC2016 # the loader replaces $ORIGIN, not the shell
{
    found 'by DT_RUNPATH of each' '-Wl,-rpath,$ORIGIN' '-Wl,--enable-new-dtags,-rpath,${ORIGIN}/lib' '.*/lib/'
    found 'by DT_RPATH of the program' '' '-Wl,--disable-new-dtags,-rpath,$ORIGIN/lib' '.*/lib/'
    found 'not by DT_RUNPATH of the program for the other' '' '-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib' ''
}
LD_LIBRARY_PATH=$dir/lib run "${launch[@]}" -n 2 ./far
refused 'by LD_LIBRARY_PATH' "./far uses $dir/lib/$name, but"
# MPIs with MPICH's ABI, by their names, or by the text of MPI_Get_library_version.
vendor() { # name of the MPI, its library, the text
    echo "const char *version(void) { return \"$3\"; }" | gcc -shared -fPIC -x c - -Wl,-soname,"$2" -o "$dir/lib/$2" &&
        echo 'const char *version(void); int main(void) { return !version(); }' |
        gcc -x c - -x none "$dir/lib/$2" -Wl,-rpath,"$dir/lib" -o "$dir/vendor" || exit 1
    run --mpi mpich --dry-run ./vendor
    check "$1" 0 "hearth: warning: ./vendor uses $1 \\($dir/lib/$2\\), which has the ABI of mpich: Hearth was tested with MPICH 4\\.0\\.2.*, not with it$"
    run --dry-run ./vendor
    check "$1 is not the MPI of this tree" 2 "./vendor uses $dir/lib/$2, but .*libhearth-mpi.so was built for /"
}
if [ "$mpi" = mpich ]; then
    vendor 'Intel MPI' libmpi.so.12 'Intel(R) MPI Library 2021.6 for Linux* OS'
    vendor 'MVAPICH' libmpi.so.12 'MVAPICH2 Version      :\\t2.3.7'
    vendor 'Cray MPICH' libmpi.so.12 'MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)'
    vendor 'Cray MPICH' libmpi_gnu_12.so.12 ''
fi
run -v --dry-run ./rank
check 'what was tested is said' 0 "uses $mpi: ./rank needs .*, (MPICH|Open MPI); tested with (MPICH 4\.0\.2|Open MPI 4\.1\.4)"

# ---- srun ----

PATH=$dir/bin:$PATH run srun -n 2 ./rank
check 'srun: the ranks are preloaded' 0 'rank 0 of 1 loaded yes' 2
check 'srun: it is not itself' 0 '^srun itself: nothing$'
printf '0-1 ./rank say a\n' >"$dir/multi"
PATH=$dir/bin:$PATH run --mode always srun -n2 --multi-prog multi
check 'srun --multi-prog: the ranks are preloaded' 0 'rank 0 of 1 loaded yes mode always arguments \[a\]' 2
check 'srun --multi-prog: it is not itself' 0 '^srun itself: nothing$'
printf '0-1 ./nothing\n' >"$dir/multi"
PATH=$dir/bin:$PATH run srun --multi-prog multi
refused 'srun --multi-prog: a program that is not there' 'there is no program ./nothing'
cp /bin/cat "$dir/cat"
PATH=$dir/bin:$PATH run --dry-run srun -n 2 ./cat
refused 'srun: nothing tells the MPI' 'cannot detect which MPI ./cat loads: add --mpi'

# ---- other hosts, reached by a shell that forwards no variable ----

cat >"$dir/rsh" <<END
#!/bin/sh
exec env -u HEARTH_MODE -u LD_PRELOAD "$here/cluster/rsh.sh" "\$@"
END
chmod +x "$dir/rsh"
cat >"$dir/across" <<'END'
#!/usr/bin/env bash
# HERE HEARTH MPI LAUNCHER PROGRAM
[ "$CLUSTER_KIND" = real ] || { echo no hosts && exit 77; }
case $3 in
openmpi)
    prefix=--prtemca shell=ssh # of version 5 and later
    ! "$4" --version | grep -q OpenRTE || prefix=--mca shell=rsh
    options=(--bind-to none --host n1:1,n2:1 $prefix plm $shell $prefix plm_${shell}_agent "$PWD/rsh" $prefix plm_${shell}_no_tree_spawn 1
        $prefix oob_tcp_if_include "$CLUSTER_NET.0/24" --mca btl_tcp_if_include "$CLUSTER_NET.0/24" --mca pml ob1 --mca btl tcp,self)
    ;;
*) options=(-launcher ssh -launcher-exec "$PWD/rsh" -iface br0 -hosts n1,n2 -ppn 1) ;;
esac
HEARTH_MODE=user exec timeout -k 5 50 "$1/cluster/hosts.sh" run n0 "$2" run -- "$4" "${options[@]}" -n 2 "$5"
END
chmod +x "$dir/across"
out=$(cd "$dir" && "$here/cluster/hosts.sh" with 2 ./across "$here" "$hearth" "$mpi" "$launcher" "$dir/rank" 2>&1 </dev/null)
status=$?
if [ $status = 77 ]; then
    echo "no virtual hosts here: not tried across hosts"
else
    check 'on other hosts' 0 'of 2 loaded yes mode user' 2
fi

# ---- refused command lines ----

run --sometimes ./rank
refused 'an unknown option' 'unknown option --sometimes: see hearth help run'
run -q ./rank
refused 'an unknown letter' 'unknown option -q'
run --mode
refused 'an option without its value' 'option --mode needs a value'
run --mode sometimes ./rank
refused 'a wrong mode' 'HEARTH_MODE=sometimes is not one of transparent'
run --cache-size 12q ./rank
refused 'a wrong size' 'HEARTH_CACHE_SIZE=12q is not'
run --mpi lam ./rank
refused 'an unknown MPI' '--mpi lam is unknown'
run
refused 'no program' '.*no program is given'
run "${launch[@]}" -n 2
refused 'a launcher alone' ".*$launcher starts no program"
run "${launch[@]}" -n 2 ./nothing
refused 'a missing program' 'there is no program ./nothing'
run "${launch[@]}" -n 2 ./rank : -n 1 ./nothing
refused 'a missing program behind a colon' 'there is no program ./nothing'
run "${launch[@]}" -n 2 nothing
refused 'a missing program on the PATH' 'there is no program nothing on the PATH'
PATH=/usr/bin:/bin run srun -n 2 ./rank
command -v srun >/dev/null || refused 'a missing launcher' 'there is no launcher srun on the PATH'
run "${launch[@]}" -n 2 ./multi
refused 'a program that is not executable' './multi is not an executable file'
run sleep 0
refused 'neither launcher nor program' 'sleep is neither a launcher nor'
run --report "$dir/no/such/folder/r.json" ./rank
refused 'a report in no folder' '--report .*cannot write in .*: No such file'
run --report "$dir/multi/r.json" ./rank
refused 'a report below a file' '--report .*cannot write in .*: Not a directory'
ln -s /dev/null "$dir/link.json"
run --report link.json ./rank
refused 'a report through a link' '--report .*not a plain file'
run --report rank "${launch[@]}" -n 1 ./rank
refused 'a report over the program' '--report .*/rank: the command names this file, which the report would replace'
echo data >"$dir/input"
run --report input "${launch[@]}" -n 1 ./rank input
refused 'a report over an input' '--report .*/input: the command names this file'
[ ! -e "$dir/r.json" ] || { echo "FAIL something was written" && failed=1; }
if echo 'int main(void) { return 0; }' | gcc -static -x c - -o "$dir/static" 2>/dev/null; then
    run "${launch[@]}" -n 2 ./static
    refused 'a static program' './static is statically linked: nothing can be preloaded'
fi
echo 'int MPI_Init(int *c, char ***v) { return 0; } int main(void) { return MPI_Init(0, 0); }' | gcc -x c - -o "$dir/inside"
run "${launch[@]}" -n 2 ./inside
refused 'MPI inside the program' './inside has MPI linked into it statically'
cp "$dir/rank" "$dir/as_other" && chmod u+s "$dir/as_other"
run "${launch[@]}" -n 2 ./as_other
refused 'a set-user-ID program' './as_other runs as another user'
head -c 300 "$dir/rank" >"$dir/cut" && chmod +x "$dir/cut"
run "${launch[@]}" -n 2 ./cut
refused 'a program that was cut' './cut is a damaged ELF file'
cp "$dir/rank" "$dir/a=b"
run "${launch[@]}" -n 2 ./a=b
refused 'a name that env takes for a setting' './a=b: env would'
if foreign=$("$here/../packaging/mpis.sh" "$other" mpirun); then
    run "$foreign" -n 2 ./rank
    refused 'the wrong launcher' "./rank uses $mpi .*, but $foreign is the launcher of $other"
fi
exit $failed
