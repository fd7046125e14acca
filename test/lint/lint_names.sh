#!/bin/sh
# Checks that names used by several files begin with the folder that owns them, as in pages_pool_pin. Exempt are the
# names of the APIs, the entry points of interposed calls (hook_) and the folders with short prefixes (base, tables, observe, heater, cache,
# match, mpi/host, mpi/observe, windows/serving). Also checks that no two files have a function of the same single word, and that the functions
# exist whose races ThreadSanitizer is to suppress. Reads the objects of the trees that are built.
set -u
cd "$(dirname "$0")/../.." || exit 1
api='^(P?MPIX?_|p?mpi_|P?ARMCI|parmci_|v?gasnet|gex_|CLAMPI|clampi_|hearth_|hook_|main$)'

# tree: prints each object of it and of build/common, and the prefix of its folder, or "-". Skipped are objects of deleted files, and those of
# a tree that build/common has, too: left from before it had them.
objects() {
    for folder in pages data gas armci net mpi; do
        find "$1/src/$folder" build/common/src/$folder -name '*.c.o' 2>/dev/null
    done | while read -r object; do
        path=${object#build/*/}
        list=${path%%/CMakeFiles/*}
        file=${path#*.dir/}
        source=$list/$(echo "$file" | sed 's,__/,../,g; s,\.o$,,')
        [ -e "$source" ] || continue
        [ "${object#build/common/}" != "$object" ] || [ ! -e "build/common/$path" ] || continue
        case $list/$file in
        src/mpi/windows/caching/*) echo "$object rma_" ;;
        src/mpi/types/*) echo "$object layout_" ;;
        src/mpi/report/*) echo "$object report_" ;;
        src/mpi/messages/*) echo "$object p2p_" ;;
        src/mpi/requests/*) echo "$object requests_" ;;
        src/mpi/*) echo "$object -" ;;
        src/net/*) echo "$object net_" ;;
        *) prefix=${list#src/} && echo "$object ${prefix%%/*}_" ;;
        esac
    done
}

looked=0 bad=0
for tree in build/openmpi build/mpich; do
    list=$(objects $tree)
    [ -n "$list" ] || continue
    looked=1
    echo "$list" | cut -d' ' -f1 | xargs nm -A --defined-only 2>/dev/null |
        awk -v list="$list" -v api="$api" '
        BEGIN { n = split(list, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], part, " "); prefix[part[1]] = part[2] } }
        {
            object = $1
            sub(/:[^:]*$/, "", object)
            kind = $(NF - 1)
            name = $NF
            if (kind == "t" && name ~ /^[a-z0-9]+$/) {
                if (name in owner && owner[name] != object) { print object ": " name " is also a function of " owner[name]; bad = 1 }
                owner[name] = object
            }
            if (kind !~ /^[A-TV-Z]$/ || kind == "W" || kind == "V" || name ~ api || prefix[object] == "-") next
            if (index(name, prefix[object]) != 1) { print object ": " name " should begin with " prefix[object]; bad = 1 }
        }
        END { exit bad }' || bad=1
done
for name in $(grep -rhoE 'race:\^[a-z_0-9]+' test --include='*.h' --include='*.c' --include='*.supp' | sed 's/.*^//'); do
    grep -rqE "^[a-z].*[ *]$name\(.*[^;]$" src && continue
    echo "test: ThreadSanitizer is to suppress races of $name, which is no function"
    bad=1
done
if [ $looked = 0 ]; then
    echo "no tree is built"
    exit 77
fi
exit $bad
