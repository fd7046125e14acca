#!/usr/bin/env bash
# picture.sh: draws doc/speedups.svg, the picture of the README, from the results of `make bench` or `make bench-quick`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
csv=build/results/results.csv
[ -e "$csv" ] || { echo "picture: no $csv: run make bench-quick first" >&2 && exit 2; }
awk '
# Splits a line with quotes into the fields f[].
function split_csv(line,    n, c, i, quoted) {
    n = 1; f[1] = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) f[++n] = ""
        else f[n] = f[n] c
    }
    return n
}
function want(figure, claim, setting, title, below) {
    count++; wants[figure SUBSEP claim SUBSEP setting] = count; titles[count] = title; notes[count] = below
}
function log10(x) { return log(x) / log(10) }
function at(x) { return left + log10(x) / 2 * width } # from 1 to 100
function text(x, y, anchor, class, words) {
    printf "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor, class, words
}
BEGIN {
    left = 330; width = 420; height = 46; top = 44
    want("lcc", "without the library against its default settings", "Open MPI", "Local Clustering Coefficient", "gets cached, MPI_Get on Open MPI")
    want("barnes-hut", "no cache against Hearth, fixed", "Open MPI, 4 ranks", "Barnes-Hut", "gets cached, memory for half of the tree")
    want("halo", "without the library against with, 4 ranks on 2 hosts", "Open MPI, 4 ranks on 2 hosts", "many meshes, as in a fire simulation", "messages matched, on Open MPI")
    want("halo", "without the library against with, 4 ranks on 2 hosts", "MPICH, 4 ranks on 2 hosts", "the same", "messages matched, on MPICH")
    want("dft", "ARMCI-MPI against libarmci, 4 ranks", "Open MPI", "exchange-correlation kernel", "Global Arrays on libarmci, against ARMCI-MPI")
    want("dgemm", "out of core, cooperative against not", "", "matrix product out of core", "vGASNet, caches that cooperate against not")
}
{ split_csv($0); k = f[2] SUBSEP f[3] SUBSEP f[4] }
f[1] == "Programs" && (k in wants) && f[5] != "" { i = wants[k]; value[i] = f[5]; low[i] = f[6]; high[i] = f[7] }
END {
    for (i = 1; i <= count; i++) if (i in value) rows++
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n", left + width + 70, top + rows * height + 40
    print "<style>.title{font-size:15px;fill:#222}.note{font-size:12px;fill:#666}.value{font-size:15px;fill:#222;font-weight:bold}.bar{fill:#d2691e}.line{stroke:#ccc}.spread{stroke:#222;stroke-width:2}</style>"
    print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    text(left, 20, "start", "note", "times as fast with Hearth; 4 ranks on 2 virtual hosts over TCP; the line: over all rounds")
    n = split("1 2 5 10 20 50 100", ticks, " ")
    for (i = 1; i <= n; i++) {
        printf "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%d\" y2=\"%d\" class=\"line\"/>\n", at(ticks[i]), at(ticks[i]), top - 12, top + rows * height
        text(at(ticks[i]), top + rows * height + 18, "middle", "note", ticks[i] "x")
    }
    y = top
    for (i = 1; i <= count; i++) if (i in value) {
        text(left - 12, y + 12, "end", "title", titles[i]); text(left - 12, y + 28, "end", "note", notes[i])
        printf "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"22\" class=\"bar\"/>\n", left, y + 2, at(value[i]) - left
        printf "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.0f\" y2=\"%.0f\" class=\"spread\"/>\n", at(low[i] < 1 ? 1 : low[i]), at(high[i]), y + 13, y + 13
        text(at(high[i] > value[i] ? high[i] : value[i]) + 8, y + 18, "start", "value", sprintf("%.1fx", value[i]))
        y += height
    }
    print "</svg>"
}' "$csv" >doc/speedups.svg.new
mv doc/speedups.svg.new doc/speedups.svg
