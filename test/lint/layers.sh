#!/bin/sh
# Checks which files may include which: layers.sh [ROOT]. Prints each violation as file:line: text; fails if there is
# one. layers.txt lists the layers; symbols.py checks by them what the objects need.
#
# A mechanism never includes another mechanism, nor an API another API. A folder of src/ has one header for others,
# named after it; its other headers are private. Of the folders that layers.txt calls open, each header is for others. MPI may be used by the APIs and programs; of net only by net/mpi; of the tools, which
# serve any MPI, only by tools/probe. A public header that includes <mpi.h> counts as MPI itself. Simulations drive the state machines, and
# tools/scale computes from the sizes of structures: both may include private headers, and tests are not checked.
#
# The subfolders of a folder are layers too. A file there includes its own layer, the layers below it and the public header of the
# folder; files beside the subfolders are above all of them. The same holds for the subfolders of a subfolder.
set -u
layers=$(cd "$(dirname "$0")" && pwd)/layers.txt
cd "${1:-$(dirname "$0")/../..}" || exit 1

with_mpi=$(grep -lE '^ *# *include *[<"]mpi\.h[>"]' include/hearth/*.h 2>/dev/null | sed 's,^include/,,' | paste -sd ' ' -)
find src/*/ tools apps bench sim -name '*.[ch]' 2>/dev/null | sort | xargs -r awk -v with_mpi="$with_mpi" -v layers="$layers" '
BEGIN {
    while ((getline line <layers) > 0) {
        n = split(line, word, " ")
        rest = ""
        for (i = 3; i <= n; i++) rest = rest (i > 3 ? " " : "") word[i]
        if (word[1] == "uses") may[word[2]] = rest
        if (word[1] == "open") open_folders = open_folders " " word[2] " " rest
        if (word[1] == "order") order[word[2]] = rest
    }
    split("net mpi armci gas probe scale apps bench sim", list)
    for (i in list) mpi_allowed[list[i]] = 1
    split("mpi.h " with_mpi, list)
    for (i in list) is_mpi[list[i]] = 1
}

function violation(what) { print FILENAME ":" FNR ": " what; found = 1 }

function holds(words, word) { return index(" " words " ", " " word " ") > 0 }

function check_folder(header,    from, file) {
    from = file = header
    sub(/\/.*/, "", from)
    sub(/^[^\/]*\//, "", file)
    if (from == folder || !(from in may) || holds("tools apps bench sim", from)) return
    if (!holds(may[folder], from)) violation(folder " may not include " from)
    else if (file != from ".h" && !holds("sim scale", folder) && !holds(open_folders, from)) violation("\"" header "\" is private to " from ": include \"" from "/" from ".h\"")
}

function rank(within, part,    i, n, list) { # the rank of a part; files beside the parts have the highest
    n = split(order[within], list, " ")
    for (i = 1; i <= n; i++) if (list[i] == part) return i
    return part == "" ? n + 1 : 0
}

function check_rank(within, from, to, header) {
    if (!rank(within, to)) violation("the folder " within "/" to " is not in the list of layers: add it to layers.txt")
    else if (rank(within, to) > rank(within, from)) violation(within (from != "" ? "/" from : "") " may not include \"" header "\", which is above it")
}

# Compares the first parts in which the paths of the file and of the header differ.
function check_layer(header,    line, public, own, other, i, n, m, within) {
    if (header == folder "/" folder ".h") return
    public = (getline line <("include/" header)) >= 0
    close("include/" header)
    if (public) return
    n = split(place, own, "/")
    m = split(header, other, "/") - 1
    if (m < 1 || other[1] != own[1]) return
    within = own[1]
    for (i = 2; i <= n && i <= m && own[i] == other[i]; i++) within = within "/" own[i]
    if ((i <= n || i <= m) && within in order) check_rank(within, i <= n ? own[i] : "", i <= m ? other[i] : "", header)
}

FNR == 1 {
    split("", part)
    split(FILENAME, part, "/")
    folder = part[1] == "src" ? part[2] : part[1]
    if (part[1] == "tools" && holds("probe scale", part[2])) folder = part[2]
    place = ""
    for (i = 2; part[1] == "src" && part[i + 1] != ""; i++) place = place (i > 2 ? "/" : "") part[i]
    if (!(folder in may)) violation("the folder " folder " is not in the list of layers: add it to layers.txt")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    header = $0
    sub(/^[^<"]*[<"]/, "", header)
    sub(/[>"].*/, "", header)
    if (header in is_mpi && (!(folder in mpi_allowed) || (folder == "net" && FILENAME !~ "^src/net/mpi/"))) violation(folder " may not use MPI (" header ")")
    else if (header ~ /\.\.\//) violation("\"" header "\" bypasses the layers: name the folder, as in \"base/log.h\"")
    else if (header ~ /\//) {
        check_folder(header)
        if (/"/) check_layer(header)
    }
}

END { exit found }'
