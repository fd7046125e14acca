# overhead_report.awk: the table of overhead.sh. Loaded after interval.awk.

FNR == 1 { next }
{
    key = $1 "," $4
    if (!(key in seen)) { seen[key]; order[++keys] = key }
    n = ++count[key, $2]
    ns[key, $2, n] = $6
    if (!((key, $2) in least) || $9 < least[key, $2]) least[key, $2] = $9
}

function median(key, config,   i, list) {
    for (i = 1; i <= count[key, config]; i++) list[i] = ns[key, config, i]
    interval(list, count[key, config])
    return middle
}

function cell(key, config,   m) {
    if (!count[key, config] || !count[key, "bare"]) return "-"
    m = median(key, config)
    return sprintf("%.2f, %.2f", m / median(key, "bare"), least[key, config] / least[key, "bare"])
}

END {
    print "| MPI | case | bare, ns: median, least | default: ratios | near | far |"
    print "|---|---|---|---|---|---|"
    for (k = 1; k <= keys; k++) {
        key = order[k]
        split(key, part, ",")
        bare = count[key, "bare"] ? sprintf("%.0f, %.0f", median(key, "bare"), least[key, "bare"]) : "-"
        print "| " part[1] " | " part[2] " | " bare " | " cell(key, "default") " | " cell(key, "near") " | " cell(key, "far") " |"
    }
}
