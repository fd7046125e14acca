# lcc_report.awk: the runs of lcc.sh as rows of medians; loaded after interval.awk.
FNR == 1 { next }
{
    key = $1 "," $3 "," $4 "," $5
    if (!(key in count)) order[++keys] = key
    value[key, ++count[key]] = $8 + 0; hits[key] = $11
    if (($1 in checksum) && checksum[$1] != $20) differ = 1
    checksum[$1] = $20
}
END {
    for (k = 1; k <= keys; k++) {
        split(order[k], part, ","); n = count[order[k]]
        for (i = 1; i <= n; i++) list[i] = value[order[k], i]
        interval(list, n)
        printf "| %s | %s | %s | %s | %d | %.3f [%.3f, %.3f] | %s |\n", part[1], part[2], part[2] == "without" || part[2] == "defaults" ? "-" : part[3] " %", part[4], n, middle, low, high, hits[order[k]] == "" ? "-" : sprintf("%.1f %%", 100 * hits[order[k]])
    }
    print differ ? "\n**The results differ between runs.**" : "\nThe results of all runs of an MPI are equal."
}
