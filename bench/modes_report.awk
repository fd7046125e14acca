# modes_report.awk: writes results.md from the tables of modes.sh. A row per target, followed by the measurements. The rows of a failed
# job are omitted, and marked "missing".

function name() { n = FILENAME; sub(/.*\//, "", n); sub(/\.csv$/, "", n); return n }

FNR == 1 { table = name(); next }

table == "lcc" {
    seconds[$1, $3] = seconds[$1, $3] " " $4
    one[$1, $3, $2] = $4
    if ($5 != "") hit_ratio[$1, $3] = hit_ratio[$1, $3] " " $5
    if (!(($1, $3, $2) in seen)) numbers[$1, $3] = numbers[$1, $3] " " $2
    seen[$1, $3, $2] = 1
    if ($1 in checksum && checksum[$1] != $6) differ = 1
    checksum[$1] = $6; counted[$1] = $7
}
table == "loop" {
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5 SUBSEP $6
    ns[key] = ns[key] " " $8; ratio[key] = ratio[key] " " $10; beyond[key] = beyond[key] " " $13; loop_hits[key] = loop_hits[key] " " $14
}
table == "count" {
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    ours[key] = $8 / $7; all[key] = ($8 + $9) / $7; alone_ns[key] = $6
}

function median(list,   n, part, i, j, t) {
    n = split(list, part, " ")
    for (i = 1; i <= n; i++)
        for (j = i + 1; j <= n; j++)
            if (part[j] + 0 < part[i] + 0) { t = part[i]; part[i] = part[j]; part[j] = t }
    return n % 2 ? part[(n + 1) / 2] + 0 : (part[n / 2] + part[n / 2 + 1]) / 2
}

function span(list,   n, part, i, low, high) {
    n = split(list, part, " ")
    low = high = part[1]
    for (i = 2; i <= n; i++) {
        if (part[i] + 0 < low + 0) low = part[i]
        if (part[i] + 0 > high + 0) high = part[i]
    }
    return sprintf("%.3f .. %.3f", low, high)
}

function row(what, limit, got, ok, remark) {
    printf "| %s | %s | %s | %s | %s |\n", what, limit, got, got == "missing" ? "not measured" : ok ? "reached" : "**lost**", remark
}

# ---- targets ----

# Ratios of pairs that ran one after the other.
function pairs(mpi, mode, base,   n, part, i, list) {
    n = split(numbers[mpi, mode], part, " ")
    for (i = 1; i <= n; i++)
        if ((mpi, base, part[i]) in one && one[mpi, base, part[i]] > 0) list = list " " one[mpi, mode, part[i]] / one[mpi, base, part[i]]
    return list
}

function lcc_row(mpi, what, mode, base, limit, remark,   list) {
    list = pairs(mpi, mode, base)
    row("LCC over TCP: " what ", " mpi, sprintf("%.2f x", limit), list == "" ? "missing" : sprintf("%.3f x (%s in %d pairs)", median(list), span(list), split(list, unused, " ")), \
        list != "" && median(list) <= limit && !differ, remark)
}

function recheck_remark(mpi,   list) {
    list = pairs(mpi, "acquire-no-recheck", "always")
    return list == "" ? "" : sprintf("%d vertices counted; with HEARTH_RECHECK=0, that is without fetching hits again: %.3f x", counted[mpi], median(list))
}

function lcc_targets(   i, mpi) {
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        lcc_row(mpi, "acquire against always", "acquire", "always", 1.05, recheck_remark(mpi))
        lcc_row(mpi, "off against no library", "off", "without", 1.02, "")
    }
}

function stream_row(mpi, way,   b, key, worst, where, got, noise) {
    for (b = 1; b <= size_count; b++) {
        key = mpi SUBSEP "tcp" SUBSEP "with" SUBSEP "stream" SUBSEP way SUBSEP sizes[b]
        if (!(key in ratio)) { worst = 0; break }
        got = median(ratio[key])
        if (got > worst) { worst = got; where = sizes[b] }
        key = mpi SUBSEP "tcp" SUBSEP "without" SUBSEP "stream" SUBSEP way SUBSEP sizes[b]
        if (!(key in ratio)) continue
        got = median(ratio[key]) - 1
        if (got < 0) got = -got
        if (noise == "" || got > noise) noise = got
    }
    row("no reuse over TCP: " way ", " mpi, "1.02 x", worst ? sprintf("%.4f x (worst: %d bytes)", worst, where) : "missing", worst && worst <= 1.02, \
        noise == "" ? "" : sprintf("without the library this comparison errs by up to %.1f %%", 100 * noise))
}

# Instructions per nanosecond of the hit, which executes only code of the library.
function rate(mpi,   key) {
    key = mpi SUBSEP "create" SUBSEP "reuse" SUBSEP "always"
    return (key in all) && alone_ns[key] > 0 ? all[key] / alone_ns[key] : 0
}

function count_row(mpi, way,   k, kinds, key, worst, where) {
    split("create allocate", kinds, " ")
    for (k = 1; k <= 2; k++) {
        key = mpi SUBSEP kinds[k] SUBSEP "stream" SUBSEP way
        if (!(key in ours)) { worst = 0; break }
        if (ours[key] > worst) { worst = ours[key]; where = kinds[k] }
    }
    row("no reuse in shared memory, counted: " way ", " mpi, rate(mpi) ? sprintf("15 ns = %.0f instructions", 15 * rate(mpi)) : "15 ns", \
        worst ? sprintf("%.0f instructions = %.0f ns (worst: MPI_Win_%s)", worst, rate(mpi) ? worst / rate(mpi) : 0, where) : "missing", \
        worst && rate(mpi) && worst <= 15 * rate(mpi), sprintf("at the rate of hits: %.1f instructions per ns", rate(mpi)))
}

function timed_row(mpi, way,   k, kinds, key, worst, where, got) {
    split("create allocate", kinds, " ")
    for (k = 1; k <= 2; k++) {
        key = mpi SUBSEP kinds[k] SUBSEP "with" SUBSEP "stream" SUBSEP way SUBSEP 8
        if (!(key in beyond)) { where = ""; break }
        got = median(beyond[key])
        if (where == "" || got > worst) { worst = got; where = kinds[k] }
    }
    row("no reuse in shared memory, timed: " way ", " mpi, "15 ns", where == "" ? "missing" : sprintf("%.0f ns beyond bare (worst: MPI_Win_%s)", worst, where), \
        where != "" && worst <= 15, "8 bytes; median of the differences between neighbouring turns")
}

function loop_targets(   i, w) {
    for (i = 1; i <= mpi_count; i++) for (w = 2; w <= way_count; w++) stream_row(mpi_list[i], ways[w])
    for (i = 1; i <= mpi_count; i++) for (w = 2; w <= way_count; w++) count_row(mpi_list[i], ways[w])
    for (i = 1; i <= mpi_count; i++) for (w = 2; w <= way_count; w++) timed_row(mpi_list[i], ways[w])
}

# ---- the tables ----

function lcc_table(   i, m, n, modes, mpi) {
    n = split("without off transparent acquire acquire-no-recheck always", modes, " ")
    print "\n## Local Clustering Coefficient, 2^14 vertices, over TCP\n"
    print (differ ? "**The results of the runs differ.**" : "The results of all runs are equal.") " Medians; no library is the baseline. If the machine is busy, only a sample of the vertices is counted.\n"
    print "| MPI | mode | seconds | speed-up | hits |\n|---|---|---|---|---|"
    for (i = 1; i <= mpi_count; i++)
        for (m = 1; m <= n; m++) {
            mpi = mpi_list[i]
            if (!((mpi, modes[m]) in seconds)) { printf "| %s | %s | missing | | |\n", mpi, modes[m]; continue }
            printf "| %s | %s | %.3f | %.2f | %s |\n", mpi, modes[m], median(seconds[mpi, modes[m]]), \
                median(seconds[mpi, "without"]) / median(seconds[mpi, modes[m]]), \
                hit_ratio[mpi, modes[m]] == "" ? "-" : sprintf("%.1f %%", 100 * median(hit_ratio[mpi, modes[m]]))
        }
}

function cell(key) {
    if (!(key in ns)) return "missing"
    return sprintf("%.0f (%.3f)%s", median(ns[key]), median(ratio[key]), median(loop_hits[key]) ? sprintf(", %.0f %% hits", 100 * median(loop_hits[key])) : "")
}

function loop_table(window, library, title,   i, p, patterns, b, w) {
    split("stream reuse", patterns, " ")
    printf "\n## Get and flush, %s: ns (times bare)\n\n| MPI | pattern | bytes |", title
    for (w = 1; w <= way_count; w++) printf " %s |", ways[w]
    printf "\n|---|---|---|"
    for (w = 1; w <= way_count; w++) printf "---|"
    printf "\n"
    for (i = 1; i <= mpi_count; i++)
        for (p = 1; p <= 2; p++)
            for (b = 1; b <= size_count; b++) {
                printf "| %s | %s | %d |", mpi_list[i], patterns[p] == "stream" ? "no reuse" : "reuse", sizes[b]
                for (w = 1; w <= way_count; w++) printf " %s |", cell(mpi_list[i] SUBSEP window SUBSEP library SUBSEP patterns[p] SUBSEP ways[w] SUBSEP sizes[b])
                printf "\n"
            }
}

function count_table(   i, k, p, w, kinds, patterns, key) {
    split("create allocate", kinds, " "); split("stream reuse", patterns, " ")
    print "\n## Instructions of the library per get and flush of 8 bytes, in shared memory\n"
    for (i = 1; i <= mpi_count; i++) printf "%s: a hit runs at %.1f instructions per ns here, so 15 ns are %.0f.\n", mpi_list[i], rate(mpi_list[i]), 15 * rate(mpi_list[i])
    printf "\n| MPI | window | pattern |"
    for (w = 2; w <= way_count; w++) printf " %s |", ways[w]
    printf "\n|---|---|---|---|---|---|---|\n"
    for (i = 1; i <= mpi_count; i++) for (k = 1; k <= 2; k++) for (p = 1; p <= 2; p++) {
        printf "| %s | %s | %s |", mpi_list[i], kinds[k], patterns[p] == "stream" ? "no reuse" : "reuse"
        for (w = 2; w <= way_count; w++) {
            key = mpi_list[i] SUBSEP kinds[k] SUBSEP patterns[p] SUBSEP ways[w]
            printf " %s |", key in ours ? sprintf("%.0f", ours[key]) : "missing"
        }
        printf "\n"
    }
}

END {
    mpi_count = split(mpis, mpi_list, " ")
    way_count = split("bare off transparent acquire always", ways, " ")
    size_count = split("8 1024 16384", sizes, " ")
    print "# The modes of the cache\n"
    print "Two ranks on one machine. Loops: the ways take turns in one process, bare being MPI's own functions; medians of the ratios of neighbouring turns. LCC: launches take turns. Other work when it began: a load of " load "." (quick ? " This was a quick run: fewer rounds and turns." : "") "\n"
    print "| target | limit | measured | verdict | remark |\n|---|---|---|---|---|"
    lcc_targets(); loop_targets()
    lcc_table()
    loop_table("tcp", "with", "over TCP"); loop_table("tcp", "without", "over TCP, without the library: all ways are alike")
    loop_table("create", "with", "in shared memory, MPI_Win_create"); loop_table("allocate", "with", "in shared memory, MPI_Win_allocate")
    count_table()
}
