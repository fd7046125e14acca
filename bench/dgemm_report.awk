# dgemm_report.awk: writes results.md from the runs of dgemm.sh. Speeds are medians of the rounds, with their minimum and maximum;
# factors are medians of the ratios of two lines in the same round. Loaded after interval.awk.

FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }

{
    key = $1 SUBSEP $3
    if (!(key in count)) order[++keys] = key
    n = ++count[key]
    speed[key, n] = $column["gflops"]; round_of[key, n] = $column["round"]
    if ($column["round"] > rounds) rounds = $column["round"]
    by_round[key, $column["round"]] = $column["gflops"]
    blas[key, n] = $column["blas"]; communication[key, n] = $column["communication"]
    reads[key, n] = $column["nvm_reads"]; writes[key, n] = $column["nvm_writes"]
    home[key, n] = $column["from_home"]; peers[key, n] = $column["from_peers"]
    if (!($column["error"] < 1)) wrong++
}

function of(values, key,   list, i) { # the median; sets low and high to the minimum and the maximum
    for (i = 1; i <= count[key]; i++) list[i] = values[key, i] + 0
    interval(list, count[key])
    low = list[1]; high = list[count[key]]
    return middle
}

# The median factor of two lines of a setting, and its range, as text; sets factor.
function against(setting, line, other,   list, n, i, a, b) {
    for (i = 1; i <= rounds; i++) {
        a = by_round[setting, line, i]; b = by_round[setting, other, i]
        if (a > 0 && b > 0) list[++n] = a / b
    }
    factor = 0
    if (!n) return "not measured"
    interval(list, n)
    factor = middle
    return sprintf("%.2f (%.2f to %.2f, %d rounds)", factor, list[1], list[n], n)
}

function verdict(what, setting, line, other, goal, paper,   text) {
    text = against(setting, line, other)
    printf "| %s | %s | %s | %s | %s |\n", what, text, goal ? "at least " goal : "", paper,
        (!goal ? "" : !factor ? "not measured" : factor >= goal ? "reached" : "**lost**")
}

END {
    name["dram"] = "segments in memory (HEARTH_NVM=off)"; name["memory"] = "in memory, cooperative"; name["memory-alone"] = "in memory, not cooperative"
    name["out"] = "out of core, cooperative"; name["out-alone"] = "out of core, not cooperative"
    print "# DGEMM by SUMMA (vGASNet, Fig. 11)\n"
    while ((getline line <machine) > 0) print line
    print "\n| | here | goal | the paper | |\n|---|---|---|---|---|"
    verdict("out of core, cooperative against not", "hosts.4", "out", "out-alone", 1.5, "1.25 to 1.53")
    verdict("in memory, cooperative against not", "hosts.4", "memory", "memory-alone", 0, "1.12 to 1.59")
    verdict("one node, 1 rank, in memory against HEARTH_NVM=off", "node.1", "memory", "dram", 0.9, "0.49")
    verdict("one node, 2 ranks, in memory against HEARTH_NVM=off", "node.2", "memory", "dram", 0.9, "0.49")
    verdict("two nodes, in memory against HEARTH_NVM=off", "hosts.4", "memory", "dram", 0, "not given")
    print "\n| | line | GFLOP/s | in BLAS | communication | pages: from the NVM | to the NVM | from home | from other nodes |\n|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= keys; i++) {
        key = order[i]; split(key, part, SUBSEP)
        text = sprintf("%.2f", of(speed, key)) sprintf(" (%.2f to %.2f)", low, high)
        printf "| %s | %s | %s | %.0f %% | %.0f %% | %d | %d | %d | %d |\n", part[1], name[part[2]], text, 100 * of(blas, key),
            100 * of(communication, key), of(reads, key), of(writes, key), of(home, key), of(peers, key)
    }
    print "\nPages are counted over the whole job, including filling the matrices and verifying the product."
    if (wrong) print "\n**" wrong " products were wrong.**"
}
