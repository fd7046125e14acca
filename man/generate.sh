#!/bin/sh
# Writes all manual pages:   generate.sh FOLDER [VERSION]       into FOLDER/man1, man3 and man7, which are replaced
#                            generate.sh --check                only lists the functions without a comment in their header
#
#   man1   hearth.1, copied from here
#   man3   every public function, from the comments of the headers in include/hearth/ (see pages.awk)
#   man7   every setting, from src/base/settings.def, as doc/settings.sh reads it
set -eu
[ $# -ge 1 ] || { sed -n '2,3s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
check=0 version=${2:-}
if [ "$1" = --check ]; then
    check=1
    out=$(mktemp -d)
else
    mkdir -p "$1"
    out=$(cd "$1" && pwd)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"; [ $check = 0 ] || rm -rf "$out"' EXIT
rm -rf "$out/man1" "$out/man3" "$out/man7"
mkdir -p "$out/man1" "$out/man3" "$out/man7"

# ---- the command ----

sed "s/^\(\.TH .*\) \"hearth\" /\1 \"Hearth $version\" /" "$here/hearth.1" >"$out/man1/hearth.1"

# ---- functions ----

header() { # file below include/hearth/, header that programs include, pkg-config package
    : >"$work/inlines"
    case $1 in # functions that macros define
    *gasnet*)
        echo "#include <$2>" | "${CC:-cc}" -E -P -DGASNET_PAR -I"$here/../include/hearth" -I"$here/../include/hearth/gasnet" -x c - |
            grep -oE 'static inline [a-z0-9_ *]*[ *](v?gasnett?|gex)_[A-Za-z0-9_]+\(' | sed 's/($//; s/.*[ *]//' >"$work/inlines" || true
        ;;
    esac
    awk -v out="$out/man3" -v version="$version" -v base="$(basename "$1")" -v included="$2" -v package="$3" \
        -v inlines="$work/inlines" -f "$here/pages.awk" "$here/../include/hearth/$1" >>"$work/untold"
}

: >"$work/untold"
header clampi.h clampi.h hearth-MPI
header hearth.h hearth/hearth.h hearth-MPI
header match.h hearth/match.h hearth-match
header armci/armci.h armci.h hearth-armci-MPI
header armci/message.h armci.h hearth-armci-MPI
header armci/armcix.h armcix.h hearth-armci-MPI
header gasnet/gasnet.h gasnet.h hearth-vgasnet-MPI
header gasnet/gasnet_am.h gasnet.h hearth-vgasnet-MPI
header gasnet/gasnet_extended.h gasnet.h hearth-vgasnet-MPI
header gasnet/gasnet_coll.h gasnet_coll.h hearth-vgasnet-MPI
header gasnet/gasnet_vis.h gasnet_vis.h hearth-vgasnet-MPI
header gasnet/gasnet_tools.h gasnet_tools.h hearth-vgasnet-MPI
header gasnet/gasnet_handler.h gasnet_handler.h hearth-vgasnet-MPI
header gasnet/gasnetex.h gasnetex.h hearth-vgasnet-MPI
header gasnet/gasnetex_am.h gasnetex.h hearth-vgasnet-MPI
header gasnet/gasnet_ratomic.h gasnet_ratomic.h hearth-vgasnet-MPI
header gasnet/gasnetex_vis.h gasnetex.h hearth-vgasnet-MPI
header gasnet/gasnetex_coll.h gasnetex.h hearth-vgasnet-MPI
header gasnet/gasnet_mk.h gasnet_mk.h hearth-vgasnet-MPI
header vgasnet.h vgasnet.h hearth-vgasnet-MPI

# ---- settings ----

"$here/../doc/settings.sh" --rows | awk -v out="$out/man7" -v version="$version" -f "$here/settings.awk"

if [ $check = 1 ] && [ -s "$work/untold" ]; then
    sed 's/^untold //' "$work/untold"
    echo "the functions above have no comment in their header, above or behind them, from which a manual page could be generated"
    exit 1
fi
