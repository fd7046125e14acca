#!/bin/sh
# Checks that the libraries end a job in one way, job_end (src/base/job_end.h): they call _exit, exit and MPI_Abort only in the places
# below, where the contract of a public call is to exit, or where an interface says how it ends the job.
set -u
cd "$(dirname "$0")/../.." || exit 1
allowed='src/base/job_end.c _exit job_end itself
src/gas/job/leave.c _exit gasnet_exit, and the end of main with a segment that was not saved
src/gas/job/leave.c _exit
src/gas/job/leave.c _exit
src/gas/job/signals.c _exit a second signal ends the process at once
src/gas/job/signals.c _exit a second alarm does
src/gas/job/tools_process.c _exit gasnett_killmyprocess
src/mpi/job/abort.c host_Abort MPI_Abort, as the program calls it
src/mpi/job/init.c host_Abort how the preload library ends the job
src/net/mpi/boot_mpi.c MPI_Abort how libarmci and libvgasnet end it'

places() { # FILE...: each call that ends the process, without comments and texts
    awk '
    FNR == 1 { inside = 0 }
    {
        text = $0
        gsub(/\\./, "", text)
        gsub(/"[^"]*"/, "", text)
        code = ""
        while (text != "") {
            at = index(text, inside ? "*/" : "/*")
            if (!inside) code = code (at ? substr(text, 1, at - 1) " " : text)
            if (!at) break
            text = substr(text, at + 2)
            inside = !inside
        }
        while (match(code, /(^|[^A-Za-z0-9_])(_exit|exit|_Exit|quick_exit|P?MPI_Abort|host_Abort|host_real\.Abort)\(/)) {
            call = substr(code, RSTART, RLENGTH - 1)
            sub(/^[^A-Za-z_]/, "", call)
            print FILENAME, call
            code = substr(code, RSTART + RLENGTH)
        }
    }' "$@" | sort
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '%s\n' '_exit(1);' '/* _exit(2) */ queue_exit(3);' 'log("exit(4)"); exit(5);' >"$dir/sample.c"
[ "$(places "$dir/sample.c" | sed 's,.*/,,' | paste -sd '|' -)" = 'sample.c _exit|sample.c exit' ] || { echo "lint_job_end.sh misreads its sample" && exit 1; }

echo "$allowed" | cut -d ' ' -f 1,2 | sort >"$dir/allowed"
# shellcheck disable=SC2046 # names of files have no spaces
places $(test/lint/sources.sh '*.c' '*.h' | grep '^src/') >"$dir/found"
if ! diff "$dir/allowed" "$dir/found" >"$dir/difference"; then
    sed -n 's/^> /ends the process, and is not listed: use job_end: /p; s/^< /listed, but not there: /p' "$dir/difference"
    exit 1
fi
