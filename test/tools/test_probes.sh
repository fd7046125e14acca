#!/usr/bin/env bash
# Tests the tracepoints: where they are built in, each library has the notes of its own, and the code at each is a nop.
#   test_probes.sh MPI TREE      timeout: 60
set -uo pipefail
tree=$2 failed=0
"$tree/bin/hearth" info -v | grep -q '\bsdt\b' || { echo 'built without sys/sdt.h: packaging/setup.sh build installs it' && exit 77; }

notes() { # library: address and name of each tracepoint of Hearth
    readelf -n "$1" 2>/dev/null | awk '
        $1 == "Provider:" { ours = $2 == "hearth" }
        $1 == "Name:" { name = $2 }
        ours && $1 == "Location:" { sub(/,/, "", $2); print $2, name }'
}

check() { # library, names of its tracepoints
    local library=$tree/lib/$1 address name code
    shift
    found=$(notes "$library" | awk '{ print $2 }' | sort -u | paste -sd ' ')
    if [ "$found" != "$*" ]; then
        echo "FAIL ${library##*/}: has '$found' instead of '$*'"
        failed=1
        return
    fi
    while read -r address name; do
        code=$(objdump -d --no-show-raw-insn --start-address="$address" --stop-address=$((address + 4)) "$library" | awk -F '\t' '/^ *[0-9a-f]+:/ { print $2; exit }')
        [[ $code =~ ^nop ]] || { echo "FAIL ${library##*/}: '$code' at $name instead of a nop" && failed=1; }
    done < <(notes "$library")
    echo "ok ${library##*/}: $*"
}

check libhearth-mpi.so get get_hit get_miss match
check libhearth-core.so serve
if nm "$tree/lib/libvgasnet.so" 2>/dev/null | grep -q pages_local_resolve; then
    check libvgasnet.so page_fault
fi
exit $failed
