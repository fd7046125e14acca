#!/bin/sh
# Checks which files may include which: layers.sh [ROOT]. Prints each violation as file:line: text; fails if there is
# one. layers.txt lists the layers; symbols.py checks by them what the objects need.
#
# A mechanism never includes another mechanism, nor an API another API. Each folder of src/ has one header for others,
# named after it; its other headers are private. MPI may be used by net, the APIs and programs; of the tools, which
# serve any MPI, only by tools/probe. A public header that includes <mpi.h> counts as MPI itself. Simulations drive
# the state machines and may include private headers; tests are not checked.
#
# The subfolders of a folder are layers too. A file there includes its own layer, the layers below it and the public header of the
# folder; files beside the subfolders are above all of them. The same holds for the subfolders of a subfolder.
set -u
layers=$(cd "$(dirname "$0")" && pwd)/layers.txt
cd "${1:-$(dirname "$0")/../..}" || exit 1

with_mpi=$(grep -lE '^ *# *include *[<"]mpi\.h[>"]' include/*.h 2>/dev/null | sed 's,.*/,,' | paste -sd ' ' -)
find src tools apps bench sim -name '*.[ch]' 2>/dev/null | sort | xargs -r awk -v with_mpi="$with_mpi" -v layers="$layers" '
BEGIN {
    while ((getline line <layers) > 0) {
        n = split(line, word, " ")
        rest = ""
        for (i = 3; i <= n; i++) rest = rest (i > 3 ? " " : "") word[i]
        if (word[1] == "uses") may[word[2]] = rest
        if (word[1] == "order") order[word[2]] = rest
    }
    split("net mpi armci gas probe apps bench sim", list)
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
    else if (file != from ".h" && folder != "sim") violation("\"" header "\" is private to " from ": include \"" from "/" from ".h\"")
}

function rank(folder, layer,    i, n, list) { # the rank of a subfolder; files beside the subfolders have the highest
    n = split(order[folder], list, " ")
    for (i = 1; i <= n; i++) if (list[i] == layer) return i
    return layer == "" ? n + 1 : 0
}

function check_rank(within, from, to, header) {
    if (!rank(within, to)) violation("the folder " within "/" to " is not in the list of layers: add it to layers.txt")
    else if (rank(within, to) > rank(within, from)) violation(within "/" from " may not include \"" header "\", which is above it")
}

function check_layer(header,    piece, n, within) {
    n = split(header, piece, "/")
    if (piece[1] != folder || !(folder in order) || header == folder "/" folder ".h") return
    within = folder "/" layer
    if (n > 2 && piece[2] == layer && within in order) check_rank(within, sublayer, n > 3 ? piece[3] : "", header)
    else check_rank(folder, layer, n > 2 ? piece[2] : "", header)
}

FNR == 1 {
    split(FILENAME, part, "/")
    folder = part[1] == "src" ? part[2] : part[1]
    if (part[1] == "tools" && part[2] == "probe") folder = "probe"
    layer = part[1] == "src" && part[4] != "" ? part[3] : ""
    sublayer = layer != "" && part[5] != "" ? part[4] : ""
    if (!(folder in may)) violation("the folder " folder " is not in the list of layers: add it to layers.txt")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    header = $0
    sub(/^[^<"]*[<"]/, "", header)
    sub(/[>"].*/, "", header)
    if (header in is_mpi && !(folder in mpi_allowed)) violation(folder " may not use MPI (" header ")")
    else if (header ~ /\.\.\//) violation("\"" header "\" bypasses the layers: name the folder, as in \"base/base.h\"")
    else if (header ~ /\//) {
        check_folder(header)
        if (/"/) check_layer(header)
    }
}

END { exit found }'
