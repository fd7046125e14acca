# trace.awk: computes how many of the gets in a trace (see trace.c) the rule of mode acquire allows an unlimited cache
# to serve: those with the same place and layout as a completed get that was issued after the last sync event, unless
# this process has written there since.
#
#   awk -f trace.awk [-v quiet=1] TRACE         prints: gets, allowed, allowed if own writes were ignored, small gets
#
# quiet: the completion of atomics is not a sync event. A write invalidates all between its first and its last byte; a
# get that begins in a hole of it is then counted as not allowed although it is, which the third number bounds.
$1 == "G" {
    gets++
    key = $2 " " $3 " " $4
    if (key in kept && kept[key] == news) {
        unwritten++
        if (written[key] != news) allowed++
    }
    if (!(key in kept) || kept[key] != news || written[key] == news) { # kept once complete, if no sync event comes before
        waiting[$2] = waiting[$2] " " NR
        place[NR] = key; issued[NR] = news; first[key] = $5; end[key] = $6
    }
}
$1 == "S" { small++ }
$1 == "C" {
    n = split(waiting[$2], list, " ")
    for (i = 1; i <= n; i++) {
        key = place[list[i]]
        if (issued[list[i]] == news) { kept[key] = news; written[key] = 0; live[$2] = live[$2] SUBSEP key }
        delete place[list[i]]; delete issued[list[i]]
    }
    waiting[$2] = ""
}
$1 == "W" {
    n = split(live[$2], list, SUBSEP)
    left = ""
    for (i = 1; i <= n; i++) {
        key = list[i]
        if (key == "" || kept[key] != news) continue
        if ($4 < end[key] && first[key] < $5) written[key] = news
        left = left SUBSEP key
    }
    live[$2] = left
}
$1 == "A" || ($1 == "F" && !quiet) { news++ }
BEGIN { news = 1 }
END { printf "%d %d %d %d\n", gets, allowed, unwritten, small }
