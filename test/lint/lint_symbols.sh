#!/bin/sh
# Checks the layers of the trees that are built by what their objects need of each other, and tests symbols.py itself on small trees with
# one violation each.
set -u
cd "$(dirname "$0")/../.." || exit 1
lint=$PWD/test/lint/symbols.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

plant() { # expected message (empty: allowed), then pairs of a file and its text
    expected=$1
    shift
    rm -rf "$dir/root"; mkdir -p "$dir/root/tree"
    list=
    while [ $# -gt 0 ]; do
        mkdir -p "$dir/root/$(dirname "$1")"
        echo "$2" >"$dir/root/$1"
        case $1 in *.h) shift 2 && continue ;; esac
        object=$(echo "$1" | tr / -).o
        kept=$dir/$(echo "$2" | cksum | tr ' ' -).o
        [ -f "$kept" ] || ${CC:-cc} -w -c "$dir/root/$1" -o "$kept" || bad=1
        cp "$kept" "$dir/root/tree/$object"
        list="$list${list:+,}{\"directory\": \"$dir/root/tree\", \"file\": \"$dir/root/$1\", \"command\": \"cc -c ../$1 -o $object\"}"
        shift 2
    done
    echo "[$list]" >"$dir/root/tree/compile_commands.json"
    said=$("$lint" --root "$dir/root" "$dir/root/tree" 2>&1)
    case $?:$expected:$said in
    0:: | 1:?*:*"$expected"*) ;;
    *)
        echo "planted: expected: ${expected:-nothing}; found: ${said:-nothing}"
        bad=1
        ;;
    esac
}

calls='void above(void); void f(void) { above(); }'
above='void above(void) {}'
plant '' src/net/node/a.c "$calls" src/base/b.c "$above"
plant '' src/net/node/a.c "$calls" src/net/boot/b.c "$above"
plant '' src/net/a.c "$calls" src/net/node/b.c "$above"
plant '' src/cache/a.c "$calls"
plant '' src/cache/a.c "$calls" tests/b.c "$above"
plant '' src/cache/a.c "$calls" src/match/b.c 'static void above(void) {}'
plant '' src/gas/job/a.c "$calls" src/gas/job/absent.c "$above" src/armci/b.c "$above"
plant 'src/base/a.c: uses above, which is defined in src/net/boot/b.c' src/base/a.c "$calls" src/net/boot/b.c "$above"
plant 'src/cache/a.c: uses above, which is defined in src/match/b.c' src/cache/a.c "$calls" src/match/b.c "$above"
plant 'src/mpi/a.c: uses above, which is defined in src/gas/b.c' src/mpi/a.c "$calls" src/gas/b.c "$above"
plant 'src/net/boot/a.c: uses above, which is defined in src/net/node/b.c' src/net/boot/a.c "$calls" src/net/node/b.c "$above"
plant 'src/net/rpc/a.c: uses above, which is defined in src/net/b.c' src/net/rpc/a.c "$calls" src/net/b.c "$above"
plant 'src/net/other is not among the parts of net' src/net/rpc/a.c "$calls" src/net/other/b.c "$above"
plant 'src/base/a.c: uses above, which is defined in src/net/shm/b.c' src/base/a.c 'extern int above; int f(void) { return above; }' \
    src/net/shm/b.c 'int above = 1;'
plant 'tools/probe/a.c: uses above, which is defined in src/base/b.c' tools/probe/a.c "$calls" src/base/b.c "$above"
plant '' src/cache/high/a.c "$calls" src/cache/low/b.c "$above"
plant 'cycle: cache/high uses cache/low 1 times: a.c uses above of b.c' src/cache/high/a.c "$calls" src/cache/low/b.c "$above void g(void) { f(); }"
plant 'cycle: cache/low uses cache/third' src/cache/high/a.c "$calls" src/cache/low/b.c "$above void g(void) { h(); }" \
    src/cache/third/c.c 'void h(void) { f(); }'
plant 'src/net/shm/a.h: declares above, which is defined in src/net/b.c' src/net/shm/a.h 'int above(void);' src/net/b.c "$above"
plant '' src/net/a.h 'int above(void);' src/net/shm/b.c "$above"
plant 'no object is built'

looked=0
is_built() { # tree
    [ -f "$1/compile_commands.json" ] && [ -n "$(find "$1/src" -name '*.c.o' 2>/dev/null | head -n 1)" ]
}
common=
! is_built build/common || common=build/common
for tree in build/mpich build/openmpi build/abi; do
    is_built $tree || continue
    looked=1
    "$lint" $tree $common || bad=1
done
[ $bad = 1 ] || [ $looked = 1 ] || { echo "no tree is built" && exit 77; }
exit $bad
