# clampi_report.awk: writes results.md from the tables of clampi.sh. A row per claim: the paper's value where its text gives one,
# Hearth's, and whether it is reached. Only values in the tables are printed: the rows of a failed job are omitted, and marked
# "missing".

function name() { n = FILENAME; sub(/.*\//, "", n); sub(/\.csv$/, "", n); return n }

FNR == 1 { table = name(); next }

table == "parts" { part[$1, $2] = $3; sizes_of[$1] = sizes_of[$1] " " $2 }
table == "access" {
    wanted = $3 == "conflicting" ? "small-index" : $3 == "capacity" || $3 == "failing" ? "small-storage" : "roomy"
    if ($3 == "raw") raw_of[$1, $2, $4] = $6
    if ($2 == wanted) {
        setting_of[$3] = $2; latency[$1, $3, $4] = $6; low[$1, $3, $4] = $7; high[$1, $3, $4] = $8
        issue[$1, $3, $4] = $9; flush[$1, $3, $4] = $10; share[$1, $3, $4] = $14; count[$1, $3, $4] = $5
    }
}
table == "fig9" {
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5
    if (!(key in seconds) || $6 < seconds[key]) seconds[key] = $6
    hits9[key] = $8; adjusted[key] = $11; slots_end[key] = $12; bytes_end[key] = $13
    note_start($2, $3)
}
table == "fig11" {
    key = $3 SUBSEP $2
    runs[key]++; hit_ratio[key] += $8; occupied[key] += $9; visited[key] += $10; nonempty[key] += $11
    conflict[key] += $12; capacity[key] += $13; failing[key] += $14; to_data = $7
    if (!(($2) in slots_seen)) { slots_seen[$2] = 1; slots_list = slots_list " " $2 }
}
table == "hit" { hit_ns[$1, $2] = $3; hit_median[$1, $2] = $4; copy_ns[$1, $2] = $5; copy_median[$1, $2] = $6; raw_ns[$1, $2] = $7 }
table == "stream" && $2 !~ /^launch/ {
    ratio[$1, $2, $3, $4, $5] = $9; spread[$1, $2, $3, $4, $5] = sprintf("%.3f, %.3f", $10, $11); stream_ns[$1, $2, $3, $4, $5] = $7
    if ($2 == "with") stream_hits[$1] = $12 > stream_hits[$1] ? $12 : stream_hits[$1] + 0
}
table == "stream" && $2 ~ /^launch/ { key = $1 SUBSEP $2 SUBSEP $4 SUBSEP $5; if (!(key in launch_ns) || $8 < launch_ns[key]) launch_ns[key] = $8 }

function note_start(vary, start) {
    if ((vary, start) in start_seen) return
    start_seen[vary, start] = 1
    starts[vary] = starts[vary] " " start
}

function mean(sum, key) { return runs[key] ? sum / runs[key] : 0 }

function row(what, section, paper, ours, against, setting, reached, remark) {
    printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", what, section, paper, ours, against, setting, reached, remark
}

function verdict(ok) { return ok ? "yes" : "**no**" }
function size(bytes) { return bytes >= 1024 ? bytes / 1024 " KB" : bytes " B" }

# ---- the figures of the paper ----

function hit_row(mpi, bytes, paper,   got) {
    if (!((mpi, "hitting", bytes) in latency)) { row("Fig. 7: hit of " size(bytes) " against the raw get, " mpi, "IV-A1", paper "x", "missing", "", "", verdict(0), ""); return }
    got = latency[mpi, "raw", bytes] / latency[mpi, "hitting", bytes]
    row("Fig. 7: hit of " size(bytes) " against the raw get, " mpi, "IV-A1", sprintf("%.1fx faster than foMPI", paper), \
        sprintf("%.1fx (%.2f us against %.2f us)", got, latency[mpi, "hitting", bytes], latency[mpi, "raw", bytes]), sprintf("%.2f", got / paper), \
        "4 K slots, 16 MB, fixed", verdict(got >= paper), "the raw get is TCP here, Aries there; each timing holds two clock readings and a cold cache")
}

function span_row(what, paper, kinds, base, limit, remark,   k, n, i, j, m, list, value, least, most) {
    least = 1e9; most = 0
    n = split(kinds, k, " ")
    for (i = 1; i <= n; i++) {
        m = split(sizes_of[k[i]], list, " ")
        for (j = 1; j <= m; j++) {
            value = part[k[i], list[j]] - (base ? part[base, list[j]] : 0)
            if (value < least) least = value
            if (value > most) most = value
        }
    }
    row(what, "IV-A1", paper, sprintf("%.0f .. %.0f ns over all sizes", least, most), "not given", "cache alone, without MPI", \
        limit ? verdict(most <= limit * least) : "-", remark)
}

function fig7(   i) {
    for (i = 1; i <= mpi_count; i++) { hit_row(mpi_list[i], 4096, 9.3); hit_row(mpi_list[i], 16384, 3.7) }
    span_row("Fig. 7: lookup, all kinds of access", "constant, ns not given", "lookup lookup-miss", "", 2, "hit and miss, 1 B to 64 KB")
    span_row("Fig. 7: eviction of a conflicting access", "constant, ns not given", "conflicting", "direct", 2, "beyond the direct access; walks a path of up to 32 slots")
    span_row("Fig. 7: eviction of a capacity access", "by the sample's size, ns not given", "capacity", "direct", 0, "beyond the direct access; samples 16 slots")
    for (i = 1; i <= mpi_count; i++) extra_row(mpi_list[i])
}

function extra(mpi, kind, bytes) {
    return (mpi, kind, bytes) in latency ? sprintf("%+.1f us", latency[mpi, kind, bytes] - raw_of[mpi, setting_of[kind], bytes]) : "none seen"
}

function extra_row(mpi,   b) {
    b = 65536
    row("Fig. 7: a failing access copies nothing, " mpi, "IV-A1", "no copy phase; us not given", \
        sprintf("64 KB beyond the raw get: direct %s, capacity %s, failing %s", extra(mpi, "direct", b), extra(mpi, "capacity", b), extra(mpi, "failing", b)), \
        "not given", "1.5 K slots, 1 MB, fixed", \
        verdict((mpi, "failing", b) in latency && extra(mpi, "failing", b) + 0 < extra(mpi, "direct", b) + 0), "each against the raw gets of its own launch")
}

function fig8(   i, mpi, b) {
    b = 65536
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        row("Fig. 8: raw get of 64 KB, overlapped, " mpi, "IV-A1", "85 %", sprintf("%.0f %%", 100 * share[mpi, "raw", b]), \
            sprintf("%.2f", share[mpi, "raw", b] / 0.85), "computation 1.25 x raw get", verdict(share[mpi, "raw", b] >= 0.85), \
            "the host MPI's own limit: over TCP it moves data only inside its calls, Aries moves it in hardware")
        row("Fig. 8: direct, capacity, failing of 64 KB, " mpi, "IV-A1", "direct and capacity alike, failing higher; not given", \
            sprintf("%.0f %%, %s, %s", 100 * share[mpi, "direct", b], percent_or_none(mpi, "capacity", b), percent_or_none(mpi, "failing", b)), "not given", \
            "as Fig. 7", "-", "bounded by the raw get's share above")
    }
}

function percent_or_none(mpi, kind, b) { return !((mpi, kind, b) in share) || share[mpi, kind, b] == "" ? "none seen" : sprintf("%.0f %%", 100 * share[mpi, kind, b]) }

function best_fixed(mpi, gets,   v, i, n, s, key, least) {
    least = 0
    for (v = 1; v <= 2; v++) {
        n = split(starts[v == 1 ? "index" : "storage"], s, " ")
        for (i = 1; i <= n; i++) {
            key = mpi SUBSEP (v == 1 ? "index" : "storage") SUBSEP s[i] SUBSEP "off" SUBSEP gets
            if (key in seconds && (!least || seconds[key] < least)) least = seconds[key]
        }
    }
    return least
}

function adaptive_row(mpi, vary, gets,   n, i, s, key, best, worst, where, all) {
    best = best_fixed(mpi, gets); worst = 0; all = ""
    n = split(starts[vary], s, " ")
    for (i = 1; i <= n; i++) {
        key = mpi SUBSEP vary SUBSEP s[i] SUBSEP "on" SUBSEP gets
        if (!(key in seconds) || !best) continue
        all = all sprintf("%s%s: %.2f", all ? ", " : "", s[i], seconds[key] / best)
        if (seconds[key] / best > worst) { worst = seconds[key] / best; where = s[i] }
    }
    row(sprintf("Fig. 9: adaptive from any %s, Z = %d K, %s", vary, gets / 1000, mpi), "IV-A2", "similar to the best fixed (IV-C1); not given here", \
        worst ? sprintf("%.2f x the best fixed time (from %s)", worst, where) : "missing", "limit 1.15", vary == "index" ? "16 MB to start" : "2 K slots to start", \
        verdict(worst && worst <= 1.15), all)
}

function fig9(   i, g, mpi, best, s, n, key) {
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        best = best_fixed(mpi, 20000)
        n = split(starts["index"], s, " ")
        key = mpi SUBSEP "index" SUBSEP s[1] SUBSEP "off" SUBSEP 20000
        row("Fig. 9: fixed with too small an index, " mpi, "IV-A2", "poor for 200 <= slots < N = 1 K; not given", \
            best ? sprintf("%s slots: %.1f x the best fixed time", s[1], seconds[key] / best) : "missing", "not given", "Z = 20 K, 16 MB", best ? verdict(seconds[key] > 1.15 * best) : verdict(0), \
            "raw, without the library: " sprintf("%.1f x", best ? seconds[mpi, "none", 0, "raw", 20000] / best : 0))
        for (g = 20000; g <= 100000; g += 80000) { adaptive_row(mpi, "index", g); adaptive_row(mpi, "storage", g) }
    }
}

function occupied_row(scheme, paper, ok, remark,   key) {
    key = scheme SUBSEP 1500
    row("Fig. 10: occupied storage, " scheme, "IV-A3", paper, runs[key] ? sprintf("%.1f %%", 100 * mean(occupied[key], key)) : "missing", \
        paper ~ /90/ ? sprintf("%.2f", mean(occupied[key], key) / 0.9) : "not given", sprintf("1.5 K slots, 1 MB = %.0f %% of the data, Z = 100 K", 100 * to_data), verdict(ok), remark)
}

function fig10(   f, p, t) {
    f = "full" SUBSEP 1500; p = "positional" SUBSEP 1500; t = "temporal" SUBSEP 1500
    occupied_row("full", "around 90 %", mean(occupied[f], f) >= 0.88, "mean since the first capacity or failing access")
    occupied_row("positional", "around 90 %", mean(occupied[p], p) >= 0.88, "")
    occupied_row("temporal", "falling, below the others; not given", runs[t] && mean(occupied[t], t) < mean(occupied[f], f), "our best fit and merging leave less to lose than the paper's")
}

function fig11(   n, i, s, best, f, t, p, worst, all, most_free, first, last) {
    n = split(slots_list, s, " ")
    for (i = 1; i <= n; i++) {
        f = "full" SUBSEP s[i]; t = "temporal" SUBSEP s[i]; p = "positional" SUBSEP s[i]
        best += mean(hit_ratio[f], f) >= mean(hit_ratio[t], t) && mean(hit_ratio[f], f) >= mean(hit_ratio[p], p)
        most_free += mean(occupied[t], t) <= mean(occupied[f], f) && mean(occupied[t], t) <= mean(occupied[p], p)
        if (mean(conflict[f], f) > worst) worst = mean(conflict[f], f)
        all = all sprintf("%s%s: %.1f/%.1f/%.1f", all ? ", " : "", s[i], 100 * mean(hit_ratio[f], f), 100 * mean(hit_ratio[t], t), 100 * mean(hit_ratio[p], p))
    }
    first = "full" SUBSEP s[1]; last = "full" SUBSEP s[n]
    row("Fig. 11: full has the best hit ratio", "IV-A3", "for all index sizes; not given", sprintf("for %d of %d", best, n), "not given", "1 MB, Z = 100 K", verdict(n && best == n), "hits in %, full/temporal/positional, by slots: " all)
    row("Fig. 11: visited slots per eviction", "IV-A3", "16, more with a larger index; not given", sprintf("%.2f to %.2f (%s to %s slots)", mean(visited[first], first), mean(visited[last], last), s[1], s[n]), "not given", "M = 16", verdict(mean(visited[last], last) >= mean(visited[first], first) && n), "")
    row("Fig. 11: non-empty of the visited", "IV-A3", "falls with a larger index; not given", sprintf("%.0f %% to %.0f %%", 100 * mean(nonempty[first], first), 100 * mean(nonempty[last], last)), "not given", "", verdict(n && mean(nonempty[last], last) < mean(nonempty[first], first)), "")
    row("Fig. 11: temporal leaves the most free", "IV-A3", "the highest free space; not given", sprintf("for %d of %d", most_free, n), "not given", "", verdict(n && most_free == n), "")
    row("Fig. 11: conflicting accesses, slots >= N", "IV-A3", "below 5 %", sprintf("at most %.2f %%", 100 * worst), sprintf("%.2f", worst / 0.05), "", verdict(n && worst < 0.05), "")
}

# ---- Hearth's own ----

function own_hits(   i, mpi, b, over, worst, where, faster) {
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]; worst = -1e9
        for (b = 1; b <= 65536; b *= 2) {
            if (!((mpi, b) in hit_ns)) { worst = 1e9; continue }
            over = hit_ns[mpi, b] - 1.06 * copy_ns[mpi, b]
            if (over > worst) { worst = over; where = size(b) }
        }
        row("full hit + flush, 1 B to 64 KB, " mpi, "own", "60 ns + 1.06 x memcpy", worst < 1e8 ? sprintf("%.0f ns + 1.06 x memcpy (worst: %s)", worst, where) : "missing", \
            sprintf("%.2f", worst / 60), "always, over TCP", verdict(worst <= 60), "4 entries in turn, least of the batches, memcpy alternating with the hits, same sizes and alignment")
        faster = hit_ns[mpi, 4096] ? raw_ns[mpi, 4096] / hit_ns[mpi, 4096] : 0
        row("full hit of 4 KB + flush against the raw get, " mpi, "own", "at least 60x", sprintf("%.0fx (%.0f ns against %.1f us)", faster, hit_ns[mpi, 4096], raw_ns[mpi, 4096] / 1000), \
            sprintf("%.2f", faster / 60), "always, over TCP", verdict(faster >= 60), "raw: the median")
    }
}

function stream_row(mpi, window, how,   b, worst, where, r, noise, launch, l) {
    worst = launch = 0; noise = 0
    for (b = 8; b <= 65536; b *= 2) {
        if (!((mpi, "with", window, how, b) in ratio)) { worst = 9; continue }
        r = ratio[mpi, "with", window, how, b]
        if (r > worst) { worst = r; where = size(b) ", [" spread[mpi, "with", window, how, b] }
        l = launch_ratio(mpi, window, how, b)
        if (l > launch) launch = l
        r = ratio[mpi, "without", window, how, b] - 1
        if (r < 0) r = -r
        if (r > noise) noise = r
    }
    row("stream without reuse, " window ", " (how == "each" ? "a flush each" : "a flush for 8 gets") ", " mpi, "own", "at most 2 % slower", worst < 9 ? sprintf("%+.1f %% (worst: %s])", 100 * (worst - 1), where) : "missing", \
        "", "default sizes, 8 B to 64 KB", verdict(worst <= 1.02), sprintf("against an uncached window in the same launch; three plain windows without the library differ by up to %.1f %%; launches with against without, their fastest tenths: at most %+.1f %%", 100 * noise, 100 * (launch - 1)))
}

# Not judged, because it is temporary.
function filling_row(mpi, how,   r, t) {
    r = ratio[mpi, "with", "always", how "-filling", 8]
    t = ratio[mpi, "with", "transparent", how "-filling", 8]
    row("the same while an empty cache fills, " (how == "each" ? "a flush each" : "a flush for 8 gets") ", " mpi, "own", "-", r ? sprintf("always %+.1f %%, transparent %+.1f %%", 100 * (r - 1), 100 * (t - 1)) : "missing", \
        "", "the first 10 K gets, of 8 B", "-", "what fits is kept, in case it is asked for again: this passes with the first 8 K entries or 4 MB")
}

function launch_ratio(mpi, window, how, b,   with, without) {
    with = launch_ns[mpi, "launch-" window, how, b]
    without = launch_ns[mpi, "launch-without", how, b]
    return without ? with / without : 0
}

function own_streams(   i) {
    for (i = 1; i <= mpi_count; i++) {
        stream_row(mpi_list[i], "transparent", "each"); stream_row(mpi_list[i], "transparent", "batch")
        stream_row(mpi_list[i], "always", "each"); stream_row(mpi_list[i], "always", "batch")
        filling_row(mpi_list[i], "each"); filling_row(mpi_list[i], "batch")
    }
}

# ---- the tables ----

function access_table(   i, b, k, kinds, n, mpi) {
    n = split("raw hitting direct conflicting capacity failing", kinds, " ")
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        printf "\n## Figs. 7 and 8: %s, latency in us and (share that computation hides)\n\n| bytes |", mpi
        for (k = 1; k <= n; k++) printf " %s |", kinds[k]
        printf "\n|---|---|---|---|---|---|---|\n"
        for (b = 1; b <= 65536; b *= 2) {
            printf "| %d |", b
            for (k = 1; k <= n; k++)
                if ((mpi, kinds[k], b) in latency)
                    printf " %.2f [%.2f, %.2f]%s |", latency[mpi, kinds[k], b], low[mpi, kinds[k], b], high[mpi, kinds[k], b], kinds[k] == "hitting" || share[mpi, kinds[k], b] == "" ? "" : sprintf(" (%.0f %%)", 100 * share[mpi, kinds[k], b])
                else
                    printf " none seen |"
            printf "\n"
        }
    }
}

function parts_table(   b, k, kinds, n) {
    n = split("lookup lookup-miss direct conflicting capacity failing copy", kinds, " ")
    printf "\n## Fig. 7: the parts, in ns, on the cache alone\n\nlookup + reserve + settle, without the copy.\n\n| bytes |"
    for (k = 1; k <= n; k++) printf " %s |", kinds[k]
    printf "\n|---|---|---|---|---|---|---|---|\n"
    for (b = 1; b <= 65536; b *= 4) {
        printf "| %d |", b
        for (k = 1; k <= n; k++) printf " %s |", (kinds[k], b) in part ? part[kinds[k], b] : ""
        printf "\n"
    }
}

function time_table(   i, v, vary, n, j, s, mpi) {
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        printf "\n## Fig. 9: %s, completion time in ms, the sum of the fastest pieces of all runs (slots and KB at the end; adjustments)\n\n| start | fixed, 20 K gets | adaptive, 20 K | fixed, 100 K | adaptive, 100 K | hits of fixed, of adaptive |\n|---|---|---|---|---|---|\n", mpi
        for (v = 1; v <= 2; v++) {
            vary = v == 1 ? "index" : "storage"
            n = split(starts[vary], s, " ")
            for (j = 1; j <= n; j++)
                printf "| %s %s | %s | %s | %s | %s | %.1f %%, %.1f %% |\n", vary, s[j], cell9(mpi, vary, s[j], "off", 20000), cell9(mpi, vary, s[j], "on", 20000), \
                    cell9(mpi, vary, s[j], "off", 100000), cell9(mpi, vary, s[j], "on", 100000), 100 * hits9[mpi, vary, s[j], "off", 100000], 100 * hits9[mpi, vary, s[j], "on", 100000]
        }
    }
}

function cell9(mpi, vary, start, strategy, gets,   key, end) {
    key = mpi SUBSEP vary SUBSEP start SUBSEP strategy SUBSEP gets
    if (!(key in seconds)) return "missing"
    end = strategy == "on" ? sprintf(" (%d, %d; %d)", slots_end[key], bytes_end[key] / 1024, adjusted[key]) : ""
    return sprintf("%.1f%s", 1000 * seconds[key], end)
}

function victim_table(   n, i, s, k, schemes, key) {
    n = split(slots_list, s, " "); split("full temporal positional", schemes, " ")
    printf "\n## Figs. 10 and 11: since the first capacity or failing access\n\n| slots | scheme | hits | occupied | visited per eviction | non-empty | conflicting | capacity | failing |\n|---|---|---|---|---|---|---|---|---|\n"
    for (i = 1; i <= n; i++)
        for (k = 1; k <= 3; k++) {
            key = schemes[k] SUBSEP s[i]
            printf "| %s | %s | %.2f %% | %.1f %% | %.2f | %.1f %% | %.2f %% | %.2f %% | %.2f %% |\n", s[i], schemes[k], 100 * mean(hit_ratio[key], key), 100 * mean(occupied[key], key), mean(visited[key], key), 100 * mean(nonempty[key], key), 100 * mean(conflict[key], key), 100 * mean(capacity[key], key), 100 * mean(failing[key], key)
        }
}

function hit_table(   i, b, mpi) {
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        printf "\n## Full hit + flush, %s, in ns\n\n| bytes | hit, least | median | memcpy, least | median | 60 + 1.06 x memcpy | raw get |\n|---|---|---|---|---|---|---|\n", mpi
        for (b = 1; b <= 65536; b *= 2)
            printf "| %d | %s | %s | %s | %s | %.1f | %s |\n", b, hit_ns[mpi, b], hit_median[mpi, b], copy_ns[mpi, b], copy_median[mpi, b], 60 + 1.06 * copy_ns[mpi, b], raw_ns[mpi, b]
    }
}

function stream_table(   i, b, h, how, mpi, w, window) {
    for (i = 1; i <= mpi_count; i++) {
        mpi = mpi_list[i]
        printf "\n## Stream without reuse, %s: time against no cache\n\n", mpi
        printf "In one launch: median of the ratios of neighbouring turns [95 %%]; in parentheses the fastest tenth of launches with the library against that of launches without. Hits seen: %d.\n\n", stream_hits[mpi]
        printf "| bytes | uncached, flush each, ns | transparent | always | uncached, flush for 8, ns | transparent | always |\n|---|---|---|---|---|---|---|\n"
        for (b = 8; b <= 65536; b *= 2) {
            printf "| %d |", b
            for (h = 1; h <= 2; h++) {
                how = h == 1 ? "each" : "batch"
                printf " %s |", stream_ns[mpi, "with", "uncached", how, b]
                for (w = 1; w <= 2; w++) {
                    window = w == 1 ? "transparent" : "always"
                    printf " %.3f [%s] (%.3f) |", ratio[mpi, "with", window, how, b], spread[mpi, "with", window, how, b], launch_ratio(mpi, window, how, b)
                }
            }
            printf "\n"
        }
    }
}

END {
    mpi_count = split(mpis, mpi_list, " ")
    print "# The CLaMPI micro-benchmark\n"
    print "Two ranks over TCP on one machine; the target waits in MPI while the initiator measures. N = 1 K gets of 2^0 .. 2^16 bytes, drawn from N(N/2, N/4)."
    print "The paper's values are those that its text gives; \"not given\" means that they could only be read off a plot. Ratio: Hearth's value to the paper's or to the limit." (quick ? " This was a quick run: fewer gets, settings and rounds." : "") "\n"
    print "| figure | section | paper, or limit | Hearth | ratio | setting | reached | remark |\n|---|---|---|---|---|---|---|---|"
    own_hits(); own_streams(); fig7(); fig8(); fig9(); fig10(); fig11()
    parts_table(); access_table(); time_table(); victim_table(); hit_table(); stream_table()
}
