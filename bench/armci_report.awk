# armci_report.awk: writes results.md from the tables of armci.sh. A row per claim: the paper's words or the limit, Hearth's value, and
# whether it is reached. Only values in the tables are printed: the rows of a failed job are omitted, and marked "missing".

function name() { n = FILENAME; sub(/.*\//, "", n); sub(/\.csv$/, "", n); return n }

FNR == 1 { table = name(); next }

# All values by key and round; the rounds are those of the script.
function keep(key, round, v) {
    if (!((key, round) in value)) { counts[key]++; value[key, round] = v }
    if (round > last_round) last_round = round + 0
}

table == "ops" { keep("ops" SUBSEP $1 SUBSEP $2 SUBSEP $3 SUBSEP $5 SUBSEP $6 SUBSEP $7, $4, $9); see("op " $1, $5 ":" $6 ":" $7) }
table == "link" { keep("link" SUBSEP $1 SUBSEP $2 SUBSEP $4 SUBSEP $5, $3, $8); keep("linkrate" SUBSEP $1 SUBSEP $2 SUBSEP $4 SUBSEP $5, $3, $12) }
table == "patch" {
    keep("patch" SUBSEP $1 SUBSEP $2 SUBSEP $3 SUBSEP $5 SUBSEP $6 SUBSEP $8, $4, $11)
    see("config " $1, $3); see("bytes " $1, $6); see("mpi " $1, $2)
    if ($1 != "rate") see("row " $6, $7)
}
table == "busy" {
    key = "busy" SUBSEP $1 SUBSEP $2 SUBSEP $3 SUBSEP $5 SUBSEP $6 SUBSEP $7
    keep(key SUBSEP "us", $4, $9); keep(key SUBSEP "p99", $4, $10); keep(key SUBSEP "most", $4, $11); samples[key] += $8
}
table == "counter" { keep("counter" SUBSEP $1 SUBSEP $2 SUBSEP $3 SUBSEP $5, $4, $8); keep("countlast" SUBSEP $1 SUBSEP $2 SUBSEP $3 SUBSEP $5, $4, $10) }

table == "malloc" { keep("malloc" SUBSEP $1 SUBSEP $2 SUBSEP $4 SUBSEP $5 SUBSEP $6, $3, $8); see("malloc", $4 ":" $5 ":" $6) }

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

function of(key,   r, n, list) { # the median of the rounds; "" if it was not measured
    for (r = 1; r <= last_round; r++) if ((key, r) in value) list[++n] = value[key, r] + 0
    return median(list, n + 0)
}

function ratio(a, b,   r, n, list) { # of values from the same round: the median of a / b
    for (r = 1; r <= last_round; r++) if ((a, r) in value && (b, r) in value && value[b, r] + 0) list[++n] = value[a, r] / value[b, r]
    return median(list, n + 0)
}

function op_key(where, mpi, config, op, bytes, row) { return "ops" SUBSEP where SUBSEP mpi SUBSEP config SUBSEP op SUBSEP bytes SUBSEP row }
function patch_key(figure, mpi, config, kind, bytes, clients) { return "patch" SUBSEP figure SUBSEP mpi SUBSEP config SUBSEP kind SUBSEP bytes SUBSEP clients }
function busy_key(where, mpi, config, op, bytes, pause, what) { return "busy" SUBSEP where SUBSEP mpi SUBSEP config SUBSEP op SUBSEP bytes SUBSEP pause SUBSEP what }

function least(a, b) { return a == "" ? b : b == "" ? a : a < b ? a : b }
function most(a, b) { return a == "" ? b : b == "" ? a : a > b ? a : b }
function times(x) { return x == "" ? "missing" : sprintf(x < 10 ? "%.2fx" : "%.0fx", x) }
function share(x) { return x == "" ? "missing" : sprintf("%.0f %%", 100 * x) }
function ns(x) { return x == "" ? "-" : x < 1000 ? sprintf("%.0f ns", x) : x < 1e6 ? sprintf("%.4g us", x / 1000) : sprintf("%.4g ms", x / 1e6) }
function us(x) { return x == "" ? "-" : ns(1000 * x) }
function mb(x) { return x == "" ? "-" : sprintf(x < 100 ? "%.3g" : "%.0f", x) }
function size(bytes) { return bytes >= 1048576 ? bytes / 1048576 " MB" : bytes >= 1024 ? bytes / 1024 " KB" : bytes " B" }
function title(mpi) { return mpi == "openmpi" ? "Open MPI" : "MPICH" }

function row(what, limit, ours, ok, remark) {
    printf "| %s | %s | %s | %s | %s |\n", what, limit, ours, ok == "" ? "-" : ok ? "reached" : "**lost**", remark
}

function at_least(what, limit, got, remark) { row(what, "at least " limit "x", times(got), got != "" && got >= limit, remark) }

# ---- Hearth's own figures ----

# An operation by itself and with a fence: both must be faster by this factor. Only MPICH is judged; Open MPI has windows in plain
# shared memory.
function near_row(what, op, bytes, rows, limit, mpi,   a, b, remark) {
    a = ratio(op_key("near", mpi, "stock", op, bytes, rows), op_key("near", mpi, "node", op, bytes, rows))
    remark = sprintf("%s against ARMCI-MPI's %s", ns(of(op_key("near", mpi, "node", op, bytes, rows))), ns(of(op_key("near", mpi, "stock", op, bytes, rows))))
    if (op == "put" || op == "acc") {
        b = ratio(op_key("near", mpi, "stock", op "+", bytes, rows), op_key("near", mpi, "node", op "+", bytes, rows))
        remark = remark sprintf("; with a fence %s: %s against %s", times(b), ns(of(op_key("near", mpi, "node", op "+", bytes, rows))), ns(of(op_key("near", mpi, "stock", op "+", bytes, rows))))
    }
    if (mpi == "mpich") at_least("same node, " title(mpi) ": " what, limit, least(a, b), remark)
    else row("same node, " title(mpi) ": " what, "not set", times(least(a, b)), "", remark)
}

function own_near(mpi,   g) {
    near_row("8-byte get", "get", 8, 0, 5, mpi); near_row("8-byte put", "put", 8, 0, 5, mpi)
    near_row("8-byte accumulate", "acc", 8, 0, 5, mpi); near_row("fetch-and-add", "rmw", 8, 0, 5, mpi)
    near_row("get of 64 KB in 8-byte rows", "get", 65536, 8, 2, mpi); near_row("put of 64 KB in 8-byte rows", "put", 65536, 8, 2, mpi)
    near_row("accumulate of 64 KB in 8-byte rows", "acc", 65536, 8, 2, mpi)
    g = ratio(op_key("near", mpi, "node", "memcpy", 1048576, 0), op_key("near", mpi, "node", "get", 1048576, 0))
    row("same node, " title(mpi) ": get of 1 MB", "80 % of memcpy", share(g), g != "" && g >= 0.8, sprintf("%s against %s", ns(of(op_key("near", mpi, "node", "get", 1048576, 0))), ns(of(op_key("near", mpi, "node", "memcpy", 1048576, 0)))))
}

# The time of the network alone, and of ARMCI on it.
function far_row(mpi, net, op, what,   g, trip, stock) {
    trip = "link" SUBSEP mpi SUBSEP net SUBSEP "trip" SUBSEP 8
    g = ratio(op_key("far", mpi, net, op, 8, 0), trip); if (g != "") g = g * 1e-3
    stock = of(op_key("far", mpi, "stock-tcp", op, 8, 0))
    row("other node, " title(mpi) ", " net ": " what, "within 1.3x of a bare round trip", times(g), g != "" && g <= 1.3, sprintf("%s against %s; ARMCI-MPI over TCP, its target in MPI: %s", ns(of(op_key("far", mpi, net, op, 8, 0))), us(of(trip)), ns(stock)))
}

function rate_row(mpi, net, kind, what,   g, raw) {
    raw = "linkrate" SUBSEP mpi SUBSEP net SUBSEP "stream" SUBSEP 65536
    g = ratio(patch_key("rate", mpi, net, kind, 65536, 1), raw)
    row("other node, " title(mpi) ", " net ": " what, "50 % of the bare rate", share(g), kind == "acc" ? g != "" && g >= 0.5 : "", sprintf("%s of %s MB/s; ARMCI-MPI over TCP %s", mb(of(patch_key("rate", mpi, net, kind, 65536, 1))), mb(of(raw)), mb(of(patch_key("rate", mpi, "stock-tcp", kind, 65536, 1)))))
}

function own_far(mpi,   n, i, net) {
    n = split("ucx mpi", net, " ")
    for (i = 1; i <= n; i++) {
        far_row(mpi, net[i], "get", "8-byte get"); far_row(mpi, net[i], "put+", "8-byte put and fence")
        far_row(mpi, net[i], "acc+", "8-byte accumulate and fence"); far_row(mpi, net[i], "rmw", "fetch-and-add")
        rate_row(mpi, net[i], "acc", "64 KB accumulate"); rate_row(mpi, net[i], "get", "64 KB get"); rate_row(mpi, net[i], "put", "64 KB put")
    }
}

function naive_row(mpi, kind, bytes,   g) {
    g = ratio(patch_key("fig3", mpi, "helper", kind, bytes, 1), patch_key("fig3", mpi, "rows", kind, bytes, 1))
    at_least("other node, " title(mpi) ": " kind " of " size(bytes) ", rows of " words["row " bytes] ", helper against row by row", 3, g, sprintf("%s against %s MB/s; lists %s, ARMCI-MPI over TCP %s", mb(of(patch_key("fig3", mpi, "helper", kind, bytes, 1))), mb(of(patch_key("fig3", mpi, "rows", kind, bytes, 1))), mb(of(patch_key("fig3", mpi, "lists", kind, bytes, 1))), mb(of(patch_key("fig3", mpi, "stock-tcp", kind, bytes, 1)))))
}

function intimation_rows(mpi, kind, clients,   with, without, large, g, h) {
    with = patch_key("fig7", mpi, "intimation", kind, 131072, clients); without = patch_key("fig7", mpi, "no-intimation", kind, 131072, clients)
    large = patch_key("fig7", mpi, "4x128k", kind, 131072, clients)
    g = ratio(with, without); h = ratio(with, large)
    at_least(title(mpi) ", 128 KB " kind ", " clients " live: 2 x 3 KB and a pool of 4 x 32 KB, with intimation against without", 3, g, sprintf("%s against %s MB/s", mb(of(with)), mb(of(without))))
    row(title(mpi) ", 128 KB " kind ", " clients " live: the same against 4 x 128 KB for each", "at least 80 %", share(h), h != "" && h >= 0.8, sprintf("%s against %s MB/s", mb(of(with)), mb(of(large))))
}

# The worse of the two: back to back, or with a sleep in between.
function busy_row(where, mpi, config, op, bytes, limit, stock,   a, b, p, text) {
    a = of(busy_key(where, mpi, config, op, bytes, 0, "p99")); b = of(busy_key(where, mpi, config, op, bytes, 200, "p99")); p = most(a, b)
    text = sprintf("median %s, p99 %s, most %s; with pauses %s, %s, %s", us(of(busy_key(where, mpi, config, op, bytes, 0, "us"))), us(a), us(of(busy_key(where, mpi, config, op, bytes, 0, "most"))), us(of(busy_key(where, mpi, config, op, bytes, 200, "us"))), us(b), us(of(busy_key(where, mpi, config, op, bytes, 200, "most"))))
    row(busy_name[where] ", " title(mpi) (config == "node" ? "" : ", " config) ": " op " of " size(bytes), "p99 within " limit " ms", us(p), p != "" && p <= limit * 1000, text "; ARMCI-MPI " us(of(busy_key(stock == "stock" ? "node" : "nodes", mpi, stock, op, bytes, 0, "us"))))
}

function busy_rows(where, mpi, config, stock,   o, n, i) {
    n = split("get put acc rmw lock", o, " ")
    for (i = 1; i <= n; i++) busy_row(where, mpi, config, o[i], 8, 1, stock)
    for (i = 1; i <= 3; i++) busy_row(where, mpi, config, o[i], 65536, 5, stock)
}

function own_busy(mpi) {
    busy_name["node"] = "target computes, one node, all cores"; busy_name["nodes"] = "target computes, two nodes, all cores of its node"
    busy_name["all"] = "target computes, two nodes, all cores of both"; busy_name["nice"] = busy_name["all"] " at nice 19"
    busy_rows("node", mpi, "node", "stock"); busy_rows("nodes", mpi, "ucx", "stock-tcp"); busy_rows("all", mpi, "ucx", "stock-tcp")
    if (!quick) busy_rows("nice", mpi, "ucx", "stock-tcp")
    busy_rows("nodes", mpi, "mpi", "stock-tcp")
}

function counter_row(where, mpi, config, stock, ranks,   g, l, a, b) {
    a = where SUBSEP mpi SUBSEP config SUBSEP ranks; b = where SUBSEP mpi SUBSEP stock SUBSEP ranks
    g = ratio("counter" SUBSEP a, "counter" SUBSEP b); l = ratio("countlast" SUBSEP b, "countlast" SUBSEP a)
    at_least("fetch-and-add by all of " ranks " ranks, " (where == "node" ? "one node" : "two nodes") ", " title(mpi), 2, g, sprintf("%.3g against %.3g a second; of the last rank %s: %s against %s each", of("counter" SUBSEP a), of("counter" SUBSEP b), times(l), us(of("countlast" SUBSEP a)), us(of("countlast" SUBSEP b))))
}

# A pair of ARMCI_Malloc and ARMCI_Free must not take longer than ARMCI-MPI's, at any size.
function malloc_rows(mpi,   m, n, i, part, a, b) {
    n = split(words["malloc"], m, " ")
    for (i = 1; i <= n; i++) {
        split(m[i], part, ":")
        a = "malloc" SUBSEP mpi SUBSEP "stock" SUBSEP part[1] SUBSEP part[2] SUBSEP part[3]; b = "malloc" SUBSEP mpi SUBSEP "node" SUBSEP part[1] SUBSEP part[2] SUBSEP part[3]
        at_least("ARMCI_Malloc and ARMCI_Free of " size(part[3]) " by " (part[1] == "one" ? "one of" : "each of") " 2 ranks" (part[2] ? ", filled" : "") ", " title(mpi), 1, ratio(a, b), sprintf("%s against %s", ns(of(b)), ns(of(a))))
    }
}

# ---- the paper's ----

# The least or the most of a ratio between two configurations over all sizes from `from` bytes on.
function extreme(figure, mpi, a, b, kind, clients, from, want_most,   s, n, i, g, best) {
    n = split(words["bytes " figure], s, " "); best = ""; where_extreme = ""
    for (i = 1; i <= n; i++) {
        if (s[i] < from) continue
        g = ratio(patch_key(figure, mpi, a, kind, s[i], clients), patch_key(figure, mpi, b, kind, s[i], clients))
        if (g == "" || (best != "" && (want_most ? g <= best : g >= best))) continue
        best = g; where_extreme = size(s[i])
    }
    return best
}

function span(figure, mpi, a, b, kind, clients,   l, m) {
    l = extreme(figure, mpi, a, b, kind, clients, 8, 0); m = extreme(figure, mpi, a, b, kind, clients, 8, 1)
    return l == "" ? "missing" : sprintf("%s to %s", times(l), times(m))
}

function paper_fig3(figure, mpi, kind,   g, at) {
    if (words["config " figure] == "") return
    g = extreme(figure, mpi, "helper", "rows", kind, 1, 64, 0); at = where_extreme
    row("Fig. 3" (figure == "fig3" ? "" : ", 4 ranks on fewer cores") ", " kind ", " title(mpi), "the helper thread is more suitable than many messages; curves not given", g == "" ? "missing" : sprintf("at least %s (%s), %s over all sizes", times(g), at, span(figure, mpi, "helper", "rows", kind, 1)), g == "" ? 0 : g >= 1, "sizes of more than one row")
    row("Fig. 3" (figure == "fig3" ? "" : ", 4 ranks on fewer cores") ", " kind ", " title(mpi), "scatter/gather lists are not much better than many messages (its network does them in software)", "lists against rows " span(figure, mpi, "lists", "rows", kind, 1), "", "helper against lists " span(figure, mpi, "helper", "lists", kind, 1))
}

function paper_fig5(mpi, kind) {
    row("Fig. 5, " kind ", " title(mpi), "in this tight loop the rule is slower: \"the opposite\" of the application's gain; not given", "rule against float " span("fig5", mpi, "rule", "float", kind, 1), "", "moving 100 times as readily: " span("fig5", mpi, "rule-often", "float", kind, 1))
}

function paper_fig6(mpi, kind,   g, at) {
    g = extreme("fig6", mpi, "4x128k", "2x4k", kind, 1, 8, 1); at = where_extreme
    row("Fig. 6, " kind ", " title(mpi), "more and larger buffers: in some cases the bandwidth was doubled", g == "" ? "missing" : sprintf("up to %s (%s)", times(g), at), g == "" ? 0 : g >= 2, "4 x 128 KB against 2 x 4 KB for each client: " span("fig6", mpi, "4x128k", "2x4k", kind, 1))
}

function paper_fig7(mpi, kind, clients,   g, at) {
    g = extreme("fig7", mpi, "intimation", "no-intimation", kind, clients, 8, 1); at = where_extreme
    row("Fig. 7, " kind ", " clients " live, " title(mpi), "improved by three fold", g == "" ? "missing" : sprintf("up to %s (%s)", times(g), at), g == "" ? 0 : g >= 3, "over all sizes " span("fig7", mpi, "intimation", "no-intimation", kind, clients) "; against 4 x 128 KB " span("fig7", mpi, "intimation", "4x128k", kind, clients))
}

# ---- the tables ----

function head(text, first, list,   i, n, w) {
    n = split(list, w, " ")
    printf "\n### %s\n\n| %s |", text, first
    for (i = 1; i <= n; i++) printf " %s |", w[i]
    printf "\n|---|"
    for (i = 1; i <= n; i++) printf "---|"
    printf "\n"
}

function patch_table(figure, mpi, kind, clients, text,   s, n, i, c, m, j) {
    if (of(patch_key(figure, mpi, words_first("config " figure), kind, words_first("bytes " figure), clients)) == "") return
    head(text ", " kind ", " title(mpi) (clients > 1 ? ", " clients " clients" : "") ": MB/s", "bytes (row)", words["config " figure])
    n = split(words["bytes " figure], s, " "); m = split(words["config " figure], c, " ")
    for (i = 1; i <= n; i++) {
        printf "| %s (%s) |", s[i], words["row " s[i]]
        for (j = 1; j <= m; j++) printf " %s |", mb(of(patch_key(figure, mpi, c[j], kind, s[i], clients)))
        printf "\n"
    }
}

function words_first(list,   w) { split(words[list], w, " "); return w[1] }

function ops_table(where, mpi, configs,   o, n, i, c, m, j, part) {
    head("Single operations, " (where == "near" ? "same node" : "other node") ", " title(mpi), "operation", configs)
    n = split(words["op " where], o, " "); m = split(configs, c, " ")
    for (i = 1; i <= n; i++) {
        split(o[i], part, ":")
        printf "| %s of %s%s |", part[1], size(part[2]), part[3] ? " in rows of " part[3] : ""
        for (j = 1; j <= m; j++) printf " %s |", ns(of(op_key(where, mpi, c[j], part[1], part[2], part[3])))
        printf "\n"
    }
}

END {
    mpi_count = split(mpis, mpi_list, " "); figure_mpis = split(words["mpi fig3"], figure_list, " "); split("get acc", kinds, " ")
    print "# ARMCI with a helper thread\n"
    while ((getline line < machine) > 0) print line
    print "\nThis machine emulates two nodes: they share no core (except where all cores compute, and in Fig. 5), and communicate through the loopback device, over TCP or with MPI messages. Times are medians over rounds in which the compared configurations took turns. The targets of ARMCI-MPI wait in MPI, except where they compute. The paper gives curves without numbers; its words are quoted." (quick ? " This was a quick run: fewer sizes and rounds." : "")
    print "Numbers are valid only from an otherwise idle machine: see its load above.\n"
    print "## Goals\n\n| what | limit | Hearth | | remark |\n|---|---|---|---|---|"
    for (m = 1; m <= mpi_count; m++) own_near(mpi_list[m])
    for (m = 1; m <= mpi_count; m++) own_far(mpi_list[m])
    for (m = 1; m <= figure_mpis; m++) for (k = 1; k <= 2; k++) { naive_row(figure_list[m], kinds[k], 4096); naive_row(figure_list[m], kinds[k], 65536) }
    for (m = 1; m <= figure_mpis; m++) for (k = 1; k <= 2; k++) for (c = 1; c <= 2; c++) intimation_rows(figure_list[m], kinds[k], c)
    for (m = 1; m <= mpi_count; m++) own_busy(mpi_list[m])
    for (m = 1; m <= mpi_count; m++) for (c = 2; c <= 4; c += 2) { counter_row("node", mpi_list[m], "node", "stock", c); counter_row("nodes", mpi_list[m], "ucx", "stock-tcp", c) }
    for (m = 1; m <= mpi_count; m++) malloc_rows(mpi_list[m])
    print "\n## The paper's figures\n\n| what | paper | Hearth | | remark |\n|---|---|---|---|---|"
    for (m = 1; m <= figure_mpis; m++) for (k = 1; k <= 2; k++) {
        paper_fig3("fig3", figure_list[m], kinds[k]); paper_fig3("fig3-4", figure_list[m], kinds[k]); paper_fig5(figure_list[m], kinds[k])
        paper_fig6(figure_list[m], kinds[k]); paper_fig7(figure_list[m], kinds[k], 1); paper_fig7(figure_list[m], kinds[k], 2)
    }
    print "\n## The tables"
    for (m = 1; m <= mpi_count; m++) { ops_table("near", mpi_list[m], "node stock"); ops_table("far", mpi_list[m], "ucx mpi stock-tcp") }
    for (m = 1; m <= figure_mpis; m++) for (k = 1; k <= 2; k++) {
        patch_table("fig3", figure_list[m], kinds[k], 1, "Fig. 3"); patch_table("fig3-4", figure_list[m], kinds[k], 1, "Fig. 3, 4 ranks on fewer cores")
        patch_table("fig5", figure_list[m], kinds[k], 1, "Fig. 5"); patch_table("fig6", figure_list[m], kinds[k], 1, "Fig. 6")
        patch_table("fig7", figure_list[m], kinds[k], 1, "Fig. 7"); patch_table("fig7", figure_list[m], kinds[k], 2, "Fig. 7")
    }
}
