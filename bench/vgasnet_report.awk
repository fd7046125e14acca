# vgasnet_report.awk: writes results.md from the tables of vgasnet.sh. A row per claim: the paper's words or the limit, Hearth's value,
# and whether it is reached. Only values in the tables are printed: the rows of a failed job are omitted, and marked "missing".

function name() { n = FILENAME; sub(/.*\//, "", n); sub(/\.csv$/, "", n); return n }

FNR == 1 { table = name(); next }

# All values by key and round; the rounds are those of the script. A key that occurs twice in a round counts by its mean, for rates by
# the mean of the times.
function keep(key, round, v) { sum[key, round] += v; number[key, round]++; note(round) }
function keep_rate(key, round, v) { if (v + 0) { inverse[key, round] += 1 / v; number[key, round]++ } note(round) }
function note(round) { if (round > last_round) last_round = round + 0 }
function at(key, r) { return (key, r) in inverse ? number[key, r] / inverse[key, r] : sum[key, r] / number[key, r] }

table == "link" && $1 == "sleep" { keep("link" SUBSEP $3 SUBSEP $4, $2, $7); keep_rate("rate" SUBSEP $3 SUBSEP $4 SUBSEP $5, $2, $11) }
table == "link" && $1 == "bound" { keep("bound" SUBSEP $3 SUBSEP $4, $2, $7) }
table == "hit" { keep("hit" SUBSEP $2 SUBSEP $4, $1, $6); see("hits", $4) }
table == "small" { keep("small" SUBSEP $1 SUBSEP $3 SUBSEP $4, $2, $7) }
table == "fetch" {
    keep("fetch" SUBSEP $1 SUBSEP $3 SUBSEP $4 SUBSEP $5 SUBSEP $6, $2, $8)
    keep_rate("fetchrate" SUBSEP $1 SUBSEP $3 SUBSEP $4 SUBSEP $5 SUBSEP $6, $2, $11)
    if (!$6 && $4 == $5) see("pages", $4)
    if ($1 != "plain") see("fetch nvm", $1)
}
table == "walk" && $1 == "fig" {
    key = walk_key($6, $9, $3, $2)
    keep_rate(key, $5, $12); keep_rate(key SUBSEP ($11 == 1 ? "first" : "later"), $5, $12); keep(key SUBSEP "reads", $5, $20)
    if ($2 != "plain") { see("data " $6, $9); see("walk nvm " $6, $3) }
}
table == "walk" && $1 == "sweep" {
    key = "sweep" SUBSEP $6 SUBSEP $8 SUBSEP $7
    keep_rate(key, $5, $12); see("sweep pages", $7); see("sweeps", $6 ":" $8)
}
table == "share" {
    key = share_key($1, $2, $3, $4, $5, $6, $8, $9)
    keep(key, $7, $12); keep(key SUBSEP "low", $7, $13); keep(key SUBSEP "high", $7, $14); see("shares", key)
    if ($1 == "pages" && $3 == "0") { see("share pages", $6); see("share nvm", $5) }
}

function walk_key(order, bytes, nvm, coop) { return "walk" SUBSEP order SUBSEP bytes SUBSEP nvm SUBSEP coop }
function share_key(config, coop, small, back, nvm, page, way, free) { return "share" SUBSEP config SUBSEP coop SUBSEP small SUBSEP back SUBSEP nvm SUBSEP page SUBSEP way SUBSEP free }
function fetch_key(what, config, which, page, piece, in_row) { return what SUBSEP config SUBSEP which SUBSEP page SUBSEP piece SUBSEP in_row }

function see(list, word) {
    if ((list, word) in seen) return
    seen[list, word] = 1
    words[list] = words[list] (words[list] == "" ? "" : " ") word
}

# ---- looking up ----

function sort(list, count,   i, j, v) {
    for (i = 2; i <= count; i++) {
        v = list[i]
        for (j = i - 1; j >= 1 && list[j] > v; j--) list[j + 1] = list[j]
        list[j + 1] = v
    }
}

function median(list, count) { # also sets lowest and highest: the range of the rounds
    lowest = highest = ""
    if (!count) return ""
    sort(list, count); lowest = list[1]; highest = list[count]
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}

function of(key,   r, n, list) { # the median of the rounds; "" if it was not measured
    for (r = 1; r <= last_round; r++) if ((key, r) in number) list[++n] = at(key, r)
    return median(list, n + 0)
}

function ratio(a, b,   r, n, list) { # of values from the same round: the median of a / b
    for (r = 1; r <= last_round; r++) if ((a, r) in number && (b, r) in number && at(b, r)) list[++n] = at(a, r) / at(b, r)
    return median(list, n + 0)
}

function spread() { return lowest == "" || lowest == highest ? "" : sprintf(" (%s to %s)", times(lowest), times(highest)) }
function times(x) { return x == "" ? "missing" : sprintf(x < 10 ? "%.2fx" : "%.0fx", x) }
function share_of(x) { return x == "" ? "missing" : sprintf("%.0f %%", 100 * x) }
function ns(x) { return x == "" ? "-" : x < 1000 ? sprintf("%.0f ns", x) : x < 1e6 ? sprintf("%.4g us", x / 1000) : sprintf("%.4g ms", x / 1e6) }
function us(x) { return x == "" ? "-" : ns(1000 * x) }
function mb(x) { return x == "" ? "-" : sprintf(x < 100 ? "%.3g" : "%.0f", x) }
function size(bytes) { return bytes >= 1048576 ? bytes / 1048576 " MB" : bytes >= 1024 ? bytes / 1024 " KB" : bytes " B" }
function long(word) { sub(/k$/, " KB", word); sub(/m$/, " MB", word); return word } # of "64k"
function nvm_name(nvm) { return nvm == "none" ? "NVM unthrottled" : "NVM at " long(nvm == "paper" ? paper_rate : nvm) "/s" }

function row(what, limit, ours, ok, remark) {
    printf "| %s | %s | %s | %s | %s |\n", what, limit, ours, ok == "" ? "-" : ok ? "reached" : "**lost**", remark
}

# ---- Hearth's own figures ----

# Judged only where the NVM is throttled: a disk of this machine may be faster than its network.
function own_walk(   d, n, i, t, m, j, on, off, g, s) {
    n = split(words["data sequence"], d, " "); m = split(words["walk nvm sequence"], t, " ")
    for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) {
        if (d[i] <= pool) continue
        on = walk_key("sequence", d[i], t[j], 1); off = walk_key("sequence", d[i], t[j], 0); g = ratio(on, off); s = spread()
        row("sequential, 4 ranks, data " d[i] / pool " times a pool, " nvm_name(t[j]) ": cooperative against not", t[j] == "none" ? "not set" : "at least 1.9x", times(g) s, t[j] == "none" ? "" : g != "" && g >= 1.9, sprintf("%s against %s MB/s; first pass %s against %s, later ones %s against %s; NVM reads in a pass %.0f against %.0f", mb(of(on)), mb(of(off)), mb(of(on SUBSEP "first")), mb(of(off SUBSEP "first")), mb(of(on SUBSEP "later")), mb(of(off SUBSEP "later")), of(on SUBSEP "reads"), of(off SUBSEP "reads")))
    }
}

function own_share(   p, n, i, t, m, j, w, b, on, off, g, s, judged) {
    n = split(words["share pages"], p, " "); m = split(words["share nvm"], t, " "); split("nvm dram", w, " ")
    for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) for (b = 1; b <= 2; b++) {
        on = share_key("pages", 1, 0, w[b], t[j], p[i], "put", 0); off = share_key("pages", 0, 0, w[b], t[j], p[i], "put", 0)
        if (of(on) == "" && of(off) == "") continue
        g = ratio(off, on); s = spread(); judged = w[b] == "nvm" && t[j] != "none"
        row("false sharing, no small operations, pages of " long(p[i]) ", " nvm_name(t[j]) ", write-back to " (w[b] == "nvm" ? "the NVM" : "the home's memory") ": cooperative against not", judged ? "at least 20x" : "not set", times(g) s, judged ? g != "" && g >= 20 : "", sprintf("%s against %s a put", us(of(on)), us(of(off))))
    }
}

function own_small_share(   small, message, plain, g, s) {
    small = share_key("pages", 1, "1k", "nvm", "paper", "64k", "put", 0)
    message = share_key("plain", "-", "-", "-", "none", "64k", "message", 0); plain = share_key("plain", "-", "-", "-", "none", "64k", "put", 0)
    g = ratio(small, message); s = spread()
    row("false sharing, with small operations, against active messages", "within 5x", times(g) s, g != "" && g <= 5, sprintf("%s against %s; GASNet's put takes %s: %s of it", us(of(small)), us(of(message)), us(of(plain)), times(ratio(small, plain))))
}

function own_hits(   b, n, i, o, k, t, c, most) {
    n = split(words["hits"], b, " "); split("get put", o, " ")
    for (k = 1; k <= 2; k++) for (i = 1; i <= n; i++) {
        t = of("hit" SUBSEP o[k] SUBSEP b[i]); c = of("hit" SUBSEP "memcpy" SUBSEP b[i]); most = 100 + 1.1 * c
        row("hit: " o[k] " of " size(b[i]), c == "" ? "100 ns + 1.1 memcpy" : "at most " ns(most), ns(t), t != "" && c != "" && t <= most, "memcpy " ns(c))
    }
}

function own_rate_row(what, a, b,   g, s) {
    g = ratio(a, b); s = lowest == "" || lowest == highest ? "" : " (" share_of(lowest) " to " share_of(highest) ")"
    row(what, "at least 70 %", share_of(g) s, g != "" && g >= 0.7, sprintf("%s of %s MB/s", mb(of(a)), mb(of(b))))
}

# The NVM takes no part in a cooperative fetch: any of its rates can be used.
function own_rates(   one, many, nvm) {
    split(words["fetch nvm"], nvm, " ")
    one = "rate" SUBSEP "stream" SUBSEP 1048576 SUBSEP 1; many = "rate" SUBSEP "stream" SUBSEP 1048576 SUBSEP 4
    own_rate_row("a single cooperative fetch of 1 MB, one page, relative to a single bare message of 1 MB", fetch_key("fetchrate", nvm[1], "coop", 1048576, 1048576, 0), one)
    own_rate_row("the same, 16 pages of 64 KB", fetch_key("fetchrate", "none", "coop", 65536, 1048576, 0), one)
    own_rate_row("consecutive cooperative fetches of 1 MB, one page each, relative to consecutive bare messages of 1 MB", fetch_key("fetchrate", "none", "coop", 1048576, 1048576, 1), many)
    own_rate_row("the same, 16 pages of 64 KB each", fetch_key("fetchrate", "none", "coop", 65536, 1048576, 1), many)
}

function own_small(   o, w, n, k, i, key, trip, g, s) {
    n = split("third changed both home nvm", w, " "); split("get put", o, " "); trip = "link" SUBSEP "trip" SUBSEP 8
    text["third"] = "another node has it"; text["changed"] = "another node has it, and has changed it"; text["both"] = "its home and another node have it"; text["home"] = "its home has it"; text["nvm"] = "nobody has it"
    for (k = 1; k <= 2; k++) for (i = 1; i <= n; i++) {
        key = "small" SUBSEP "pages" SUBSEP o[k] SUBSEP w[i]; g = ratio(key, trip); s = spread()
        row(o[k] " of 8 bytes, " text[w[i]], w[i] == "nvm" ? "not set" : "at most 2 round trips", times(g) s, w[i] == "nvm" ? "" : g != "" && g <= 2, sprintf("%s against %s (%s without sleeping); plain GASNet %s, an active message with its reply %s", us(of(key)), us(of(trip)), us(of("bound" SUBSEP "trip" SUBSEP 8)), us(of("small" SUBSEP "plain" SUBSEP o[k] SUBSEP "plain")), us(of("small" SUBSEP "plain" SUBSEP "message" SUBSEP "home"))))
    }
}

# ---- the paper's ----

function fig7(page, nvm,   a, b, c, p) {
    a = fetch_key("fetchrate", nvm, "nvm", page, page, 0); b = fetch_key("fetchrate", nvm, "home", page, page, 0)
    c = fetch_key("fetchrate", nvm, "coop", page, page, 0); p = fetch_key("fetchrate", "plain", "plain", page, page, 0)
    if (of(b) == "") return
    row("Fig. 7, pages of " size(page) ", " nvm_name(nvm), "home's cache and cooperative much better than NVM" (page >= 1048576 ? "; comparable to or better than gasnet_get; the gap between them very small" : ""), sprintf("home %s, cooperative %s of NVM", times(ratio(b, a)), times(ratio(c, a))), "", sprintf("of gasnet_get: home %s, cooperative %s; cooperative of home %s; NVM %s, home %s, cooperative %s, gasnet_get %s MB/s", share_of(ratio(b, p)), share_of(ratio(c, p)), share_of(ratio(c, b)), mb(of(a)), mb(of(b)), mb(of(c)), mb(of(p))))
}

function fig89(order, nvm, bytes,   on, off, g, s, plain) {
    on = walk_key(order, bytes, nvm, 1); off = walk_key(order, bytes, nvm, 0); g = ratio(on, off); s = spread(); plain = of(walk_key("sequence", 2 * pool, "none", "plain"))
    if (g == "") return
    row(sprintf("Fig. %d, %s, data %s times a pool, %s", order == "sequence" ? 8 : 9, order == "sequence" ? "sequential" : "random", bytes / pool, nvm_name(nvm)), order == "sequence" ? (bytes > pool ? "1.34 to 1.92x" : "below 1x: the protocol costs") : "above 1x, also if the data fits", times(g) s, "", sprintf("%s against %s MB/s%s%s", mb(of(on)), mb(of(off)), plain == "" ? "" : "; GASNet " mb(plain), order == "sequence" ? "" : "; of the sequential rate " share_of(ratio(on, walk_key("sequence", bytes, nvm, 1)))))
}

function fig10(page, nvm,   on, off, plain) {
    on = share_key("pages", 1, 0, "nvm", nvm, page, "put", 0); off = share_key("pages", 0, 0, "nvm", nvm, page, "put", 0)
    plain = share_key("plain", "-", "-", "-", "none", "64k", "put", 0)
    if (of(on) == "") return
    row("Fig. 10, pages of " long(page) ", " nvm_name(nvm) ", no small operations", "cooperative 23.5 to 33.7x faster than not, and 138x slower than GASNet", sprintf("%s faster, %s slower", times(ratio(off, on)), times(ratio(on, plain))), "", sprintf("%s, %s, %s a put", us(of(on)), us(of(off)), us(of(plain))))
}

function papers(   l, n, i, t, m, j, o, k) {
    n = split(words["pages"], l, " "); m = split(words["fetch nvm"], t, " ")
    for (j = 1; j <= m; j++) for (i = 1; i <= n; i++) fig7(l[i], t[j])
    split("sequence shuffle", o, " ")
    for (k = 1; k <= 2; k++) {
        n = split(words["data " o[k]], l, " "); m = split(words["walk nvm " o[k]], t, " ")
        for (j = 1; j <= m; j++) for (i = 1; i <= n; i++) fig89(o[k], t[j], l[i])
    }
    n = split(words["share pages"], l, " "); m = split(words["share nvm"], t, " ")
    for (j = 1; j <= m; j++) for (i = 1; i <= n; i++) fig10(l[i], t[j])
    k = share_key("pages", 1, "1k", "nvm", "paper", "64k", "put", 0); o[1] = share_key("plain", "-", "-", "-", "none", "64k", "put", 0)
    row("Fig. 10, with small operations", "138x slower than GASNet", times(ratio(k, o[1])) " slower", "", sprintf("%s against %s a put", us(of(k)), us(of(o[1]))))
}

# ---- the page size ----

function sweep_value(work, page,   part) { split(work, part, ":"); return of("sweep" SUBSEP part[1] SUBSEP part[2] SUBSEP page) }

# By the geometric mean, over the kinds of access, of a size's share of the best value.
function sweep(   p, n, i, w, m, j, best, v, score, top, chosen, part) {
    n = split(words["sweep pages"], p, " "); m = split(words["sweeps"], w, " ")
    if (!n || !m) return
    printf "\n## The page size\n\nFour ranks get from data of twice a pool, cooperative, NVM at 450 MB/s. MB/s of all ranks together, in brackets relative to the best size.\n\n| page |"
    for (j = 1; j <= m; j++) {
        split(w[j], part, ":"); printf " %s, %s |", part[1] == "sequence" ? "in order" : part[1], size(part[2]); best[j] = 0
        for (i = 1; i <= n; i++) { v = sweep_value(w[j], p[i]); if (v > best[j]) best[j] = v }
    }
    printf " mean |\n|---|"; for (j = 0; j <= m; j++) printf "---|"; printf "\n"
    for (i = 1; i <= n; i++) {
        score = 1; printf "| %s |", size(p[i])
        for (j = 1; j <= m; j++) { v = sweep_value(w[j], p[i]); printf " %s (%s) |", mb(v), share_of(best[j] && v != "" ? v / best[j] : ""); score = score * (best[j] ? v / best[j] : 0) }
        score = score > 0 ? exp(log(score) / m) : 0; printf " %s |\n", share_of(score)
        if (score > top) { top = score; chosen = p[i] }
    }
    printf "\n**Recommendation: HEARTH_PAGE_SIZE=%s**, with %s of the best of each kind of access, in geometric mean.\n", (chosen >= 1048576 ? chosen / 1048576 "m" : chosen / 1024 "k"), share_of(top)
}

# ---- the tables ----

function share_table(   k, n, i, f) {
    printf "\n### False sharing: us of a put\n\n| segments | cooperative | small operations | write-back | NVM | page | by | rounds, or free | us | interval |\n|---|---|---|---|---|---|---|---|---|---|\n"
    n = split(words["shares"], k, " ")
    for (i = 1; i <= n; i++) {
        split(k[i], f, SUBSEP)
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %.4g | %.4g to %.4g |\n", f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9] ? "free" : "rounds", of(k[i]), of(k[i] SUBSEP "low"), of(k[i] SUBSEP "high")
    }
}

function walk_table(   o, k, d, n, i, t, m, j, c, on) {
    printf "\n### All get one segment: MB/s of all ranks, in all passes, the first, the later ones; NVM reads in a pass\n\n| order | data | NVM | cooperative | all | first | later | reads |\n|---|---|---|---|---|---|---|---|\n"
    split("sequence shuffle", o, " ")
    for (k = 1; k <= 2; k++) {
        n = split(words["data " o[k]], d, " "); m = split(words["walk nvm " o[k]], t, " ")
        for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) for (c = 1; c >= 0; c--) {
            on = walk_key(o[k], d[i], t[j], c)
            printf "| %s | %s | %s | %s | %s | %s | %s | %.0f |\n", o[k], size(d[i]), t[j], c ? "on" : "off", mb(of(on)), mb(of(on SUBSEP "first")), mb(of(on SUBSEP "later")), of(on SUBSEP "reads")
        }
    }
}

END {
    print "# vGASNet: segments on NVM, cooperating page caches\n"
    while ((getline line < machine) > 0) print line
    print "\nTimes are medians over rounds in which the compared configurations took turns, in brackets the range of the rounds. Each rank is a node, with a pool of " size(pool) " where the data exceeds it. \"NVM at " long(paper_rate) "/s\" is 1/" share " of the network's rate in this run when all nodes got from one by plain GASNet, with as many nodes on these cores as in the measurements; the ratio of the paper's machine (FDR InfiniBand, SATA disks of about 450 MB/s) was about 1/15. The paper gives curves without numbers; its words are quoted, and its pages have 4 MB." (quick ? " This was a quick run: fewer sizes and rounds." : "")
    print "Numbers are valid only from an otherwise idle machine: see its load above.\n"
    print "## Goals\n\n| what | limit | Hearth | | remark |\n|---|---|---|---|---|"
    own_walk(); own_share(); own_small_share(); own_hits(); own_rates(); own_small()
    print "\n## The paper's figures\n\n| what | paper | Hearth | | remark |\n|---|---|---|---|---|"
    papers()
    sweep()
    print "\n## The tables"
    walk_table(); share_table()
}
