# match_report.awk: writes results.md from the tables of match.sh. A row per claim: the paper's value where its text gives one,
# Hearth's, and whether it is reached. Only values in the tables are printed: the rows of a failed job are omitted, and marked
# "missing".

function name() { n = FILENAME; sub(/.*\//, "", n); sub(/\.csv$/, "", n); return n }

FNR == 1 { table = name(); next }

table == "engine" {
    engine[$1, $2, $3, $4, $5, $6, $7, $8, $9] = $11
    see("structure", $3); see("depth " $1, $6); see("bytes " $1, $5)
    if ($4 == 1 && $7 == "cold") see("gap " $1, $8)
}
table == "random" { random[$1, $2, $3, $4, $5] = $7; see("random bytes", $2); if ($3 == "cold") see("random gap", $4) }
table == "cost" { cost[$1, $2] = $4; cost_low[$1, $2] = $5; cost_high[$1, $2] = $6; cost_ns[$1, $2] = $8; see("kernel", $1); see("cost bytes", $2) }
table == "stencil" { stencil[++stencils] = $0 }
table == "mpi" {
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $5 SUBSEP $7 SUBSEP $8 SUBSEP $9 SUBSEP $10 SUBSEP $11
    rounds[key]++; value[key, rounds[key]] = $13; by_round[key, $4] = $13
    if ($4 > last_round) last_round = $4
    see("mpi depth " $1, $8); see("mpi bytes " $1, $7); see("config " $1, $3); see("mpi gap " $1, $10)
}

function see(list, word) {
    if ((list, word) in seen) return
    seen[list, word] = 1
    words[list] = words[list] (words[list] == "" ? "" : " ") word
}

function median(list, count,   i, j, v) { # of list[1..count], which is sorted
    if (!count) return ""
    for (i = 2; i <= count; i++) {
        v = list[i]
        for (j = i - 1; j >= 1 && list[j] > v; j--) list[j + 1] = list[j]
        list[j + 1] = v
    }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}

# ---- looking up ----

# ns per message in the engine alone; "" if it was not measured
function alone(kind, queue, structure, heated, bytes, depth, state, gap, heater,   key) {
    key = kind SUBSEP queue SUBSEP structure SUBSEP heated SUBSEP bytes SUBSEP depth SUBSEP state SUBSEP gap SUBSEP heater
    return key in engine ? engine[key] + 0 : ""
}

# the same through MPI, the median of the rounds
function key_of(kind, mpi, config, queue, bytes, depth, state, gap, heater) {
    return kind SUBSEP mpi SUBSEP config SUBSEP queue SUBSEP bytes SUBSEP depth SUBSEP state SUBSEP gap SUBSEP heater
}
function through(kind, mpi, config, queue, bytes, depth, state, gap, heater,   key, i, list) {
    key = key_of(kind, mpi, config, queue, bytes, depth, state, gap, heater)
    for (i = 1; i <= rounds[key]; i++) list[i] = value[key, i] + 0
    return median(list, rounds[key] + 0)
}

# of two configurations in the same round: the median over the rounds of a / b, or of a - b
function paired(how, kind, mpi, a, b, bytes, depth,   r, n, list, x, y) {
    n = 0
    for (r = 1; r <= last_round; r++) {
        x = key_of(kind, mpi, a, "posted", bytes, depth, "warm", 0, "none") SUBSEP r
        y = key_of(kind, mpi, b, "posted", bytes, depth, "warm", 0, "none") SUBSEP r
        if (x in by_round && y in by_round) list[++n] = how == "ratio" ? by_round[x] / by_round[y] : by_round[x] - by_round[y]
    }
    return median(list, n)
}

function over(a, b) { return a == "" || b == "" || b == 0 ? "" : a / b }
function times(x) { return x == "" ? "missing" : sprintf(x < 10 ? "%.2fx" : "%.0fx", x) }
function ns(x) { return x == "" ? "-" : sprintf(x < 100 ? "%.1f" : "%.0f", x) }
function size(bytes) { return bytes >= 1048576 ? bytes / 1048576 " MB" : bytes >= 1024 ? bytes / 1024 " KB" : bytes " B" }

function row(what, limit, ours, ok, remark) {
    printf "| %s | %s | %s | %s | %s |\n", what, limit, ours, ok == "" ? "-" : ok ? "reached" : "**lost**", remark
}

function at_least(what, limit, got, remark) { row(what, "at least " limit "x", times(got), got != "" && got >= limit, remark) }

# ---- Hearth's own figures ----

function cold(structure, queue) { return alone("rate", queue, structure, 0, 1, 1024, "cold", 0, "off") }
function warm(structure, queue, depth) { return alone("rate", queue, structure, 0, 1, depth, "warm", 0, "off") }

function own_engine(   q, lla, fast) {
    lla = over(cold("list-random", "posted"), cold("lla-8", "posted")); fast = over(cold("list-random", "posted"), cold("fast", "posted"))
    at_least("engine, 1024 entries, cold: lla-8 against list in random order", 4, lla, against("cold", "lla-8"))
    at_least("engine, 1024 entries, cold: fast against list in random order", 50, fast, against("cold", "fast"))
    at_least("engine, 1024 entries, warm: fast against list in random order", 80, over(warm("list-random", "posted", 1024), warm("fast", "posted", 1024)), against("warm", "fast"))
    flat_row("posted"); flat_row("unexpected")
}

function against(state, structure,   p, u, ll, lo) {
    p = state == "cold" ? cold("list-random", "posted") : warm("list-random", "posted", 1024)
    u = state == "cold" ? cold("list-random", "unexpected") : warm("list-random", "unexpected", 1024)
    ll = state == "cold" ? cold(structure, "posted") : warm(structure, "posted", 1024)
    lo = state == "cold" ? cold(structure, "unexpected") : warm(structure, "unexpected", 1024)
    return sprintf("%s against %s ns; unexpected queue %s (%s against %s)", ns(p), ns(ll), times(over(u, lo)), ns(u), ns(lo))
}

function spread(queue, state,   n, i, d, least, most, v) {
    n = split(words["depth rate"], d, " "); least = 1e18; most = 0
    for (i = 1; i <= n; i++) {
        if (d[i] < 256) continue
        v = alone("rate", queue, "fast", 0, 1, d[i], state, 0, "off")
        if (v == "") return ""
        if (v < least) least = v
        if (v > most) most = v
    }
    return most ? most / least : ""
}

function flat_row(queue,   w) {
    w = spread(queue, "warm")
    row("engine, " queue " queue: fast from 256 to 16384 entries", "within 2x", times(w), w != "" && w <= 2, "warm; cold " times(spread(queue, "cold")))
}

function own_heater(   s, i, n) {
    n = split("list list-random lla-2 lla-8 lla-64", s, " ")
    for (i = 1; i <= n; i++)
        at_least("heater, engine, 1024 entries, 1 ms after the caches were emptied: " s[i], 2, warmed(s[i], 1024, 1000), heater_remark(s[i]))
}

function warmed(structure, depth, gap) {
    return over(alone("rate", "posted", structure, 1, 1, depth, "cold", gap, "off"), alone("rate", "posted", structure, 1, 1, depth, "cold", gap, "on"))
}

function heater_remark(s,   g, n, i, text) {
    n = split(words["gap rate"], g, " ")
    for (i = 1; i <= n; i++) text = text sprintf("%s%s us: %s to %s", i > 1 ? ", " : "", g[i], ns(alone("rate", "posted", s, 1, 1, 1024, "cold", g[i], "off")), ns(alone("rate", "posted", s, 1, 1, 1024, "cold", g[i], "on")))
    return text " ns; warm " ns(alone("rate", "posted", s, 1, 1, 1024, "warm", 0, "off"))
}

function own_node(mpi,   b, n, i, r, worst, where, all, host) {
    n = split("1 8 64 512 4096 16384 65536", b, " "); worst = 0
    for (i = 1; i <= n; i++) {
        r = paired("ratio", "size", mpi, "fast", "host", b[i], 0)
        if (r == "") continue
        all = all sprintf("%s%s: %.2f", all ? ", " : "", size(b[i]), r)
        if (r > worst) { worst = r; where = size(b[i]) }
    }
    host = mpi == "openmpi" ? "Open MPI ob1" : "MPICH"
    row("drop-in, one node, " host ", nothing in front, 1 B to 64 KB", "never slower", worst ? sprintf("%.2f x its time (worst: %s)", worst, where) : "missing", worst && worst <= 1, "time / host's: " all)
    at_least("drop-in, one node, " host ", 1024 in front, 1 B", 40, paired("ratio", "size", mpi, "host", "fast", 1, 1024), pair_remark(mpi, "fast", 1024))
}

function pair_remark(mpi, config, depth) {
    return sprintf("%s against %s ns per message", ns(through("size", mpi, "host", "posted", 1, depth, "warm", 0, "none")), ns(through("size", mpi, config, "posted", 1, depth, "warm", 0, "none")))
}

function own_over_host(mpi,   d, host) {
    host = mpi == "openmpi" ? "Open MPI ob1" : "MPICH"
    d = paired("difference", "size", mpi, "over-host", "host", 1, 0)
    row("drop-in over the host's messages, " host ", nothing in front, 1 B", "at most 60 ns slower", d == "" ? "missing" : sprintf("%+.0f ns", d), d != "" && d <= 60, pair_remark(mpi, "over-host", 0))
    at_least("drop-in over the host's messages, " host ", 1024 in front, 1 B", 15, paired("ratio", "size", mpi, "host", "over-host", 1, 1024), pair_remark(mpi, "over-host", 1024))
}

# ---- the paper's ----

# Gain of one structure over another by message size: the best up to 64 KB, and at 1 MB.
function gain(where, a, b, state, big,   s, n, i, g, best, x, y) {
    n = split(where == "engine" ? words["bytes bandwidth"] : words["mpi bytes bandwidth"], s, " "); best = ""
    for (i = 1; i <= n; i++) {
        if (where == "engine") { x = alone("bandwidth", "posted", a, 0, s[i], 1024, state, 0, "off"); y = alone("bandwidth", "posted", b, 0, s[i], 1024, state, 0, "off") }
        else { x = through("bandwidth", where, a, "posted", s[i], 1024, state, 0, "none"); y = through("bandwidth", where, b, "posted", s[i], 1024, state, 0, "none") }
        g = over(x, y)
        if (g == "" || (big ? s[i] != 1048576 : s[i] > 65536)) continue
        if (best == "" || g > best) best = g
    }
    return best
}

function paper_bandwidth(where, state,   small, large) {
    small = gain(where, "list", "lla-8", state, 0); large = gain(where, "list", "lla-8", state, 1)
    row("Figs. 4a, 5a: lla-8 against list, " (where == "engine" ? "engine" : "through " where) ", " state, "up to 2x for small and medium messages", times(small), small == "" ? 0 : small >= 2, "1024 in front; 1 MB, where the paper sees little: " times(large))
}

function steps(where, bytes, state,   s, n, i, v, first, text) {
    n = split("list-random list lla-2 lla-4 lla-8 lla-16 lla-32 lla-64 fast", s, " ")
    for (i = 1; i <= n; i++) {
        v = where == "engine" ? alone("rate", "posted", s[i], 0, bytes, 1024, state, 0, "off") : through("rate", where, s[i], "posted", bytes, 1024, state, 0, "none")
        if (v == "") continue
        text = text sprintf("%s%s %s", text ? ", " : "", s[i], ns(v))
    }
    return text
}

function paper_rate(where, bytes, state, figure,   a, b, c, l) {
    l = where == "engine" ? alone("rate", "posted", "list", 0, bytes, 1024, state, 0, "off") : through("rate", where, "list", "posted", bytes, 1024, state, 0, "none")
    a = where == "engine" ? alone("rate", "posted", "lla-2", 0, bytes, 1024, state, 0, "off") : through("rate", where, "lla-2", "posted", bytes, 1024, state, 0, "none")
    b = where == "engine" ? alone("rate", "posted", "lla-8", 0, bytes, 1024, state, 0, "off") : through("rate", where, "lla-8", "posted", bytes, 1024, state, 0, "none")
    c = where == "engine" ? alone("rate", "posted", "lla-64", 0, bytes, 1024, state, 0, "off") : through("rate", where, "lla-64", "posted", bytes, 1024, state, 0, "none")
    if (b == "") return
    row(figure ": " size(bytes) ", " (where == "engine" ? "engine" : "through " where) ", " state, "a jump from the list to arrays, no gain beyond 8; not given", \
        sprintf("list to lla-2 %s, to lla-8 %s; lla-8 to lla-64 %s", times(over(l, a)), times(over(l, b)), times(over(b, c))), "", "ns, 1024 in front: " steps(where, bytes, state))
}

function paper_best(   s, n, i, best, who, v, d, m, j, st, k) {
    n = split("lla-2 lla-4 lla-8 lla-16 lla-32 lla-64", s, " "); m = split(words["depth rate"], d, " ")
    for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) for (k = 1; k <= 2; k++) {
        st = k == 1 ? "warm" : "cold"
        v = over(alone("rate", "posted", "list", 0, 1, d[j], st, 0, "off"), alone("rate", "posted", s[i], 0, 1, d[j], st, 0, "off"))
        if (v != "" && v > best + 0) { best = v; who = s[i] ", " d[j] " in front, " st }
    }
    row("Abstract: micro-benchmarks, arrays against the list", "up to 4x", times(best), best == "" ? 0 : best >= 4, who "; the list in the order of its allocation")
}

function paper_random(   b, n, i, big, off, on, g) {
    n = split(words["random bytes"], b, " ")
    for (i = 1; i <= n; i++) if (b[i] == 1048576) big = b[i]
    off = random["dependent", big, "cold", 1000, "off"]; on = random["dependent", big, "cold", 1000, "on"]
    g = over(off, on)
    row("Sec. 4.3: random accesses with the heater", "47.5 to 22.9 ns (2.07x), 38.5 to 22.8 ns (1.69x)", g == "" ? "missing" : sprintf("%.1f to %.1f ns (%s)", off, on, times(g)), g != "" && g >= 1.69, "1 MB, dependent accesses, 1 ms after the caches were emptied; warm " ns(random["dependent", big, "warm", 0, "off"]) " ns")
}

function paper_heater(   s, n, i, d, m, j, text, g) {
    n = split("list lla-8", s, " ")
    for (i = 1; i <= n; i++) {
        text = ""; m = split(words["depth rate"], d, " ")
        for (j = 1; j <= m; j++) { g = warmed(s[i], d[j], 100); if (g != "") text = text sprintf("%s%s: %s", text ? ", " : "", d[j], times(g)) }
        row("Figs. 6b, 7b: the heater by entries in front, " s[i], "gains for short and medium queues on one machine, a slight loss on the other; not given", text ? text : "missing", "", "engine, 1 B, 100 us after the caches were emptied")
    }
}

function paper_table1(   i, f, exact, worst, where, r) {
    exact = 0; worst = 0
    for (i = 1; i <= stencils; i++) {
        split(stencil[i], f, ",")
        exact += f[3] == f[10] && f[4] == f[11] && f[5] == f[12]
        r = f[7] / f[13]; r = r < 1 ? 1 / r : r
        if (r > worst) { worst = r; where = f[1] " " f[2] }
    }
    row("Table 1: threads and queue lengths", "as given", sprintf("%d of %d rows equal", exact, stencils), stencils && exact == stencils, "computed from the decomposition")
    row("Table 1: mean search depth", "as given", worst ? sprintf("at most a factor of %.2f apart (%s)", worst, where) : "missing", "", "from concurrent threads; see below")
}

# ---- the tables ----

function head(title, first, list,   i, n, w) {
    n = split(list, w, " ")
    printf "\n### %s\n\n| %s |", title, first
    for (i = 1; i <= n; i++) printf " %s |", w[i]
    printf "\n|---|"
    for (i = 1; i <= n; i++) printf "---|"
    printf "\n"
}

function engine_rates(queue, bytes, state,   d, n, i, s, m, j, list) {
    list = words["structure"]
    head("Engine, " queue " queue, " size(bytes) ", " state ": ns per message", "in front", list)
    n = split(words["depth rate"], d, " "); m = split(list, s, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", d[i]
        for (j = 1; j <= m; j++) printf " %s |", ns(alone("rate", queue, s[j], 0, bytes, d[i], state, 0, "off"))
        printf "\n"
    }
}

function engine_heater(queue, gap,   d, n, i, s, m, j, list) {
    list = words["structure"]
    head("Engine beside the heater, " queue " queue, 1 B, " (gap < 0 ? "warm" : "cold, " gap " us") ": ns without / with", "in front", list)
    n = split(words["depth rate"], d, " "); m = split(list, s, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", d[i]
        for (j = 1; j <= m; j++)
            printf " %s / %s |", ns(alone("rate", queue, s[j], 1, 1, d[i], gap < 0 ? "warm" : "cold", gap < 0 ? 0 : gap, "off")), ns(alone("rate", queue, s[j], 1, 1, d[i], gap < 0 ? "warm" : "cold", gap < 0 ? 0 : gap, "on"))
        printf "\n"
    }
}

function mbps(bytes, t) { return t == "" || !t ? "-" : sprintf("%.4g", bytes * 1000 / t) }

function engine_bandwidth(state, heated,   b, n, i, s, m, j, gap) {
    gap = heated && state == "cold" ? 100 : 0
    head("Engine, 1024 in front, " state (heated ? ", beside the heater, " gap " us" : "") ": MB/s", "bytes", words["structure"])
    n = split(words["bytes bandwidth"], b, " "); m = split(words["structure"], s, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", b[i]
        for (j = 1; j <= m; j++) printf " %s |", mbps(b[i], alone("bandwidth", "posted", s[j], heated, b[i], 1024, state, gap, heated ? "on" : "off"))
        printf "\n"
    }
}

function mpi_rates(mpi, queue, bytes,   d, n, i, c, m, j) {
    head(mpi ", " queue " queue, " size(bytes) ", warm: ns per message", "in front", words["config rate"])
    n = split(words["mpi depth rate"], d, " "); m = split(words["config rate"], c, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", d[i]
        for (j = 1; j <= m; j++) printf " %s |", ns(through("rate", mpi, c[j], queue, bytes, d[i], "warm", 0, "none"))
        printf "\n"
    }
}

function mpi_bandwidth(mpi,   b, n, i, c, m, j) {
    head(mpi ", 1024 in front, warm: MB/s", "bytes", words["config bandwidth"])
    n = split(words["mpi bytes bandwidth"], b, " "); m = split(words["config bandwidth"], c, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", b[i]
        for (j = 1; j <= m; j++) printf " %s |", mbps(b[i], through("bandwidth", mpi, c[j], "posted", b[i], 1024, "warm", 0, "none"))
        printf "\n"
    }
}

function mpi_short(mpi,   b, n, i, c, m, j) {
    head(mpi ", nothing in front, warm: ns per message", "bytes", words["config size"])
    n = split(words["mpi bytes size"], b, " "); m = split(words["config size"], c, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", b[i]
        for (j = 1; j <= m; j++) printf " %s |", ns(through("size", mpi, c[j], "posted", b[i], 0, "warm", 0, "none"))
        printf "\n"
    }
}

function mpi_cold(mpi, queue,   d, n, i, c, m, j, g, l, k) {
    head(mpi ", " queue " queue, 1 B, cold: ns, without / with the heater, by us after the caches were emptied", "in front, us", words["config cold"])
    n = split(words["mpi depth cold"], d, " "); m = split(words["config cold"], c, " "); l = split(words["mpi gap cold"], g, " ")
    for (i = 1; i <= n; i++) for (k = 1; k <= l; k++) {
        printf "| %s, %s |", d[i], g[k]
        for (j = 1; j <= m; j++)
            if (c[j] ~ /^host/) printf " %s |", ns(through("cold", mpi, c[j], queue, 1, d[i], "cold", g[k], "none"))
            else printf " %s / %s |", ns(through("cold", mpi, c[j], queue, 1, d[i], "cold", g[k], "off")), ns(through("cold", mpi, c[j], queue, 1, d[i], "cold", g[k], "on"))
        printf "\n"
    }
}

function mpi_cold_bandwidth(mpi,   b, n, i, c, m, j) {
    if (words["config cold-bandwidth"] == "") return
    head(mpi ", 1024 in front, cold, 100 us: MB/s without / with the heater", "bytes", words["config cold-bandwidth"])
    n = split(words["mpi bytes cold-bandwidth"], b, " "); m = split(words["config cold-bandwidth"], c, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s |", b[i]
        for (j = 1; j <= m; j++)
            printf " %s / %s |", mbps(b[i], through("cold-bandwidth", mpi, c[j], "posted", b[i], 1024, "cold", 100, "off")), mbps(b[i], through("cold-bandwidth", mpi, c[j], "posted", b[i], 1024, "cold", 100, "on"))
        printf "\n"
    }
}

function random_table(   b, n, i, g, m, j, a) {
    for (a = 1; a <= 2; a++) {
        head("Random accesses, " (a == 1 ? "dependent" : "independent") ": ns each, without / with the heater, by us after the caches were emptied", "bytes", "warm " words["random gap"])
        n = split(words["random bytes"], b, " "); m = split("-1 " words["random gap"], g, " ")
        for (i = 1; i <= n; i++) {
            printf "| %s |", size(b[i])
            for (j = 1; j <= m; j++) printf " %.1f / %.1f |", random[a == 1 ? "dependent" : "independent", b[i], g[j] < 0 ? "warm" : "cold", g[j] < 0 ? 0 : g[j], "off"], random[a == 1 ? "dependent" : "independent", b[i], g[j] < 0 ? "warm" : "cold", g[j] < 0 ? 0 : g[j], "on"]
            printf "\n"
        }
    }
}

function cost_table(   b, n, i, k, m, j) {
    head("Cost of the heater for a computing thread: its time with / without, by the bytes kept warm", "kernel", words["cost bytes"])
    n = split(words["cost bytes"], b, " "); m = split(words["kernel"], k, " ")
    for (j = 1; j <= m; j++) {
        printf "| %s |", k[j]
        for (i = 1; i <= n; i++) printf " %.3f [%.3f, %.3f] |", cost[k[j], b[i]], cost_low[k[j], b[i]], cost_high[k[j], b[i]]
        printf "\n"
    }
}

function stencil_table(   i, f) {
    head("Table 1: threads that receive and send, queue length, mean depth (minimum and maximum of the trials); paper / Hearth", "block", "stencil receive send length depth")
    for (i = 1; i <= stencils; i++) {
        split(stencil[i], f, ",")
        printf "| %s | %s | %s / %s | %s / %s | %s / %s | %s / %s (%s to %s) |\n", f[1], f[2], f[10], f[3], f[11], f[4], f[12], f[5], f[13], f[7], f[8], f[9]
    }
}

END {
    mpi_count = split(mpis, mpi_list, " ")
    print "# Matching and hot caching\n"
    while ((getline line < machine) > 0) print line
    print "\nTimes are medians. Cold: emptied from all caches by address. The paper's values are those that its text gives; \"not given\" means that they could only be read off a plot." (quick ? " This was a quick run: fewer depths, sizes and rounds." : "")
    print "Numbers are valid only from an otherwise idle machine: see its load above.\n"
    print "## Goals\n\n| what | limit | Hearth | | remark |\n|---|---|---|---|---|"
    own_engine(); own_heater()
    for (m = 1; m <= mpi_count; m++) { own_node(mpi_list[m]); own_over_host(mpi_list[m]) }
    print "\n## The paper's figures\n\n| what | paper | Hearth | | remark |\n|---|---|---|---|---|"
    paper_best(); paper_bandwidth("engine", "warm"); paper_bandwidth("engine", "cold")
    for (m = 1; m <= mpi_count; m++) paper_bandwidth(mpi_list[m], "warm")
    paper_rate("engine", 1, "cold", "Figs. 4b, 5b"); paper_rate("engine", 1, "warm", "Figs. 4b, 5b"); paper_rate("engine", 4096, "cold", "Figs. 4c, 5c")
    for (m = 1; m <= mpi_count; m++) { paper_rate(mpi_list[m], 1, "warm", "Figs. 4b, 5b"); paper_rate(mpi_list[m], 4096, "warm", "Figs. 4c, 5c") }
    paper_heater(); paper_random(); paper_table1()
    print "\n## The tables"
    for (q = 1; q <= 2; q++) {
        queue = q == 1 ? "posted" : "unexpected"
        nb = split(words["bytes rate"], bs, " ")
        for (x = 1; x <= nb; x++) { engine_rates(queue, bs[x], "warm"); engine_rates(queue, bs[x], "cold") }
        engine_heater(queue, -1)
        ng = split(words["gap rate"], gs, " ")
        for (x = 1; x <= ng; x++) engine_heater(queue, gs[x])
    }
    engine_bandwidth("warm", 0); engine_bandwidth("cold", 0); engine_bandwidth("cold", 1)
    for (m = 1; m <= mpi_count; m++) {
        mpi_short(mpi_list[m])
        nb = split(words["mpi bytes rate"], bs, " ")
        for (q = 1; q <= 2; q++) for (x = 1; x <= nb; x++) mpi_rates(mpi_list[m], q == 1 ? "posted" : "unexpected", bs[x])
        mpi_bandwidth(mpi_list[m])
        mpi_cold(mpi_list[m], "posted"); mpi_cold(mpi_list[m], "unexpected")
        mpi_cold_bandwidth(mpi_list[m])
    }
    random_table(); cost_table(); stencil_table()
}
