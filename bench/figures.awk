# figures.awk: evaluates the claims of figures.def with the tables of the benches. Loaded before results_csv.awk, results_md.awk or
# results_html.awk, which print them: awk -f interval.awk -f figures.awk -f results_md.awk figures.def build/results/*/*.csv
#
# figures.def is a list of lines "key: text". "paper" starts a paper, "figure" a figure of it, "claim" a measured value of a figure; the
# lines after each belong to the last one. A claim is a value from rows of a table, or a ratio of two:
#
#   over:  FOLDER/TABLE COLUMN[,LOW,HIGH] [COLUMN=VALUE]...      filters: = != >= <=, and = with several values, a|b; _ is a blank
#          1/COLUMN is the reciprocal, so that a mean over rates is one over times
#   under: the same; without it the claim is the value of "over" itself. "least TABLE ..." takes the minimum of all rows,
#          and most and sum the maximum and the sum
#   pair:  columns; rows of over and under that agree in them were measured side by side, and make one ratio each
#   each:  columns; the claim is evaluated for each of their values, and all must hold
#   pick:  most or least, and columns; only the value with the highest or lowest median counts
#   unit:  x, %, or any word; % multiplies by 100
#   goal:  at least N, at most N, above N or below N; without it the claim is shown and not judged
#   given: the number in the paper's prose
#
# Brackets hold the 95 % interval of a claim's median, by order statistics of the pairs, or the interval that the program itself gives
# (LOW, HIGH). Fewer than six pairs cannot give 95 %: then it is their range.
# No number originates here: a claim without rows has the state "not run".

# ---- reading ----

function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }

function define(name, text) {
    if (name == "paper") { paper_name[++papers] = text; level = "p" papers; return }
    if (name == "figure") { figure_name[++figures] = text; paper_of[figures] = papers; level = "f" figures; return }
    if (name == "claim") { claim_name[++claims] = text; figure_of[claims] = figures; level = "c" claims; return }
    if ((level, name) in field) text = field[level, name] "\n" text # a key that occurs twice has two lines
    field[level, name] = text
}

FNR == 1 { is_table = FILENAME ~ /\.csv$/ }

!is_table && /^[a-z]+:/ { colon = index($0, ":"); define(substr($0, 1, colon - 1), trim(substr($0, colon + 1))); next }
!is_table && !/^#/ && trim($0) != "" { complain("line " FNR ": not a key and a text: " $0) }
!is_table { next }

FNR == 1 {
    count = split(FILENAME, path, "/"); table = path[count - 1] "/" path[count]; sub(/\.csv$/, "", table)
    columns = split($0, title, ","); known[table] = 1
    for (i = 1; i <= columns; i++) column_of[table, title[i]] = i
    next
}
{ row[table, ++rows[table]] = $0 }

function complain(text) { print "figures: " FILENAME ": " text >"/dev/stderr"; bad = 1 }

# ---- selecting rows ----

# Parses "[least|most|sum] TABLE COLUMN[,LOW,HIGH] FILTER..." into o[...]; false if the table or a column is missing.
function operand(text, o,   word, count, i, n, part) {
    split("", o)
    count = split(text, word, " "); i = 1; o["how"] = "rows"
    if (word[1] ~ /^(least|most|sum)$/) o["how"] = word[i++]
    o["table"] = word[i++]
    o["inverse"] = sub(/^1\//, "", word[i])
    n = split(word[i++], part, ",")
    o["value"] = column_of[o["table"], part[1]]; o["low"] = n == 3 ? column_of[o["table"], part[2]] : 0; o["high"] = n == 3 ? column_of[o["table"], part[3]] : 0
    for (; i <= count; i++) add_filter(o, word[i])
    return o["value"] && !o["unknown"]
}

function add_filter(o, word,   at, sign, name, n) {
    at = match(word, /(!=|>=|<=|=)/); sign = substr(word, RSTART, RLENGTH); name = substr(word, 1, at - 1)
    n = ++o["filters"]
    o["column", n] = column_of[o["table"], name]; o["sign", n] = sign; o["text", n] = substr(word, at + RLENGTH)
    gsub(/_/, " ", o["text", n])
    if (!o["column", n]) o["unknown"] = 1
    if (sign == "=" && o["text", n] !~ /\|/) o["pinned", name] = 1
}

function passes(o, cell,   i, v, text) {
    for (i = 1; i <= o["filters"]; i++) {
        v = cell[o["column", i]]; text = o["text", i]
        if (o["sign", i] == "=" && index("|" text "|", "|" v "|") == 0) return 0
        if (o["sign", i] == "!=" && v == text) return 0
        if (o["sign", i] == ">=" && v + 0 < text + 0) return 0
        if (o["sign", i] == "<=" && v + 0 > text + 0) return 0
    }
    return 1
}

# The values of some columns in a row. A column that the table lacks, or that a filter fixes, stands for any value: "*".
function key(o, cell, names,   n, name, i, text, c) {
    n = split(names, name, ",")
    for (i = 1; i <= n; i++) {
        c = o["pinned", name[i]] || o["how"] != "rows" ? 0 : column_of[o["table"], name[i]]
        text = text (i > 1 ? "," : "") (c ? cell[c] : "*")
    }
    return text
}

# All rows of an operand into s: s[group, pair, "sum"], "count", "low", "high"; group: values of each and pick. The list of groups in
# order is in s["groups"], of the pairs of a group in s[group, "pairs"].
function select(text, c, s,   o, i, cell, group, pair, v) {
    split("", s)
    if (!operand(text, o)) return 0
    for (i = 1; i <= rows[o["table"]]; i++) {
        split(row[o["table"], i], cell, ",")
        v = cell[o["value"]]
        if (v == "" || !passes(o, cell) || (o["inverse"] && !(v + 0))) continue
        if (o["inverse"]) v = 1 / v
        group = (o["how"] == "rows" ? key(o, cell, claim_each[c]) : each_key(o, cell, claim_each[c])) "/" key(o, cell, claim_pick[c])
        pair = field["c" c, "pair"] == "" ? (o["how"] == "rows" ? "row " i : "*") : key(o, cell, field["c" c, "pair"])
        keep(s, group, pair, v + 0, o["how"], o["low"] ? cell[o["low"]] + 0 : "", o["high"] ? cell[o["high"]] + 0 : "")
    }
    return 1
}

function each_key(o, cell, names,   saved, text) { saved = o["how"]; o["how"] = "rows"; text = key(o, cell, names); o["how"] = saved; return text }

function keep(s, group, pair, v, how, low, high) {
    if (!((group, "pairs") in s)) s["groups"] = s["groups"] (s["groups"] == "" ? "" : "\n") group
    if (!((group, pair, "count") in s)) s[group, "pairs"] = s[group, "pairs"] (s[group, "pairs"] == "" ? "" : "\n") pair
    else if (how == "least" && v > s[group, pair, "sum"]) return
    else if (how == "most" && v < s[group, pair, "sum"]) return
    if (how == "least" || how == "most") { s[group, pair, "sum"] = v; s[group, pair, "count"] = 1; return }
    s[group, pair, "sum"] += v; s[group, pair, "count"] = how == "sum" ? 1 : s[group, pair, "count"] + 1; s[group, pair, "low"] = low; s[group, pair, "high"] = high
}

# ---- comparing ----

# Whether two keys agree, where "*" agrees with anything.
function alike(a, b,   n, m, x, y, i) {
    if (a == b) return 1
    gsub("/", ",", a); gsub("/", ",", b)
    n = split(a, x, ","); m = split(b, y, ",")
    if (n != m) return 0
    for (i = 1; i <= n; i++) if (x[i] != y[i] && x[i] != "*" && y[i] != "*") return 0
    return 1
}

function find(list, wanted,   n, part, i) { # in lines
    n = split(list, part, "\n")
    for (i = 1; i <= n; i++) if (part[i] == wanted) return part[i]
    for (i = 1; i <= n; i++) if (alike(part[i], wanted)) return part[i]
    return ""
}

# Sets middle, low, high, pairs_seen of one side of one group; false if it is missing.
function alone(s, group,   n, part, i, list) {
    n = split(s[group, "pairs"], part, "\n")
    for (i = 1; i <= n; i++) list[i] = s[group, part[i], "sum"] / s[group, part[i], "count"]
    if (!n) return 0
    interval(list, n); pairs_seen = n
    if (n == 1 && s[group, part[1], "low"] != "") { low = s[group, part[1], "low"]; high = s[group, part[1], "high"]; pairs_seen = 0 }
    return 1
}

# The ratio of values measured side by side: one for each pair.
function side_by_side(s, group, t, other,   n, part, i, list, count, p, v) {
    n = split(s[group, "pairs"], part, "\n")
    for (i = 1; i <= n; i++) {
        p = find(t[other, "pairs"], part[i])
        if (p == "") continue
        v = t[other, p, "sum"] / t[other, p, "count"]
        if (v) list[++count] = s[group, part[i], "sum"] / s[group, part[i], "count"] / v
    }
    if (count < 1) return 0
    if (count == 1) return apart(s, group, t, other)
    interval(list, count); pairs_seen = count
    return 1
}

# The ratio of two medians; its interval is the widest that their intervals allow.
function apart(s, group, t, other,   a, l, h, n) {
    if (!alone(s, group)) return 0
    a = middle; l = low; h = high; n = pairs_seen
    if (!alone(t, other) || !middle) return 0
    middle = a / middle; l = high ? l / high : middle; high = low ? h / low : middle; low = l
    pairs_seen = n == 1 || (pairs_seen != 1 && pairs_seen < n) ? pairs_seen : n # one side may be a single number, as "least" is
    return 1
}

# One group of "over" with an agreeing one of "under", or alone if there is no "under".
function measure_group(c, s, t, group, other) {
    if (field["c" c, "under"] == "") return alone(s, group)
    return field["c" c, "pair"] == "" ? apart(s, group, t, other) : side_by_side(s, group, t, other)
}

function merged(a, b,   n, x, y, i, text) { # two keys that agree: the values known in either
    n = split(a, x, ","); split(b, y, ",")
    for (i = 1; i <= n; i++) text = text (i > 1 ? "," : "") (x[i] == "*" ? y[i] : x[i])
    return text
}

# ---- claims ----

# The results of a claim are result[c, k, ...], k = 1 .. results[c]: one for each value of the columns in "each".
function evaluate(c,   s, t, groups, others, n, m, i, j, pick) {
    pick = field["c" c, "pick"]; claim_want[c] = pick == "" ? "" : substr(pick, 1, index(pick, " ") - 1)
    claim_pick[c] = pick == "" ? "" : trim(substr(pick, index(pick, " ") + 1)); claim_each[c] = field["c" c, "each"]
    results[c] = 0
    if (!select(field["c" c, "over"], c, s)) return
    n = split(s["groups"], groups, "\n")
    if (field["c" c, "under"] == "") {
        for (i = 1; i <= n; i++) if (measure_group(c, s, t, groups[i], "")) note(c, groups[i], groups[i])
        return
    }
    if (!select(field["c" c, "under"], c, t)) return
    m = split(t["groups"], others, "\n")
    for (i = 1; i <= n; i++) for (j = 1; j <= m; j++)
        if (alike(groups[i], others[j]) && measure_group(c, s, t, groups[i], others[j])) note(c, groups[i], others[j])
}

# Keeps the last result, unless "pick" prefers another.
function note(c, group, other,   part, mate, k, factor) {
    split(group, part, "/"); split(other, mate, "/")
    k = place(c, merged(part[1], mate[1])); factor = field["c" c, "unit"] == "%" ? 100 : 1
    if ((c, k, "middle") in result && (claim_want[c] == "least" ? middle * factor >= result[c, k, "middle"] : middle * factor <= result[c, k, "middle"])) return
    result[c, k, "middle"] = middle * factor; result[c, k, "low"] = low * factor; result[c, k, "high"] = high * factor
    result[c, k, "pairs"] = pairs_seen; result[c, k, "where"] = merged(part[2], mate[2])
    result[c, k, "state"] = judge(c, result[c, k, "middle"])
}

function place(c, label,   k) {
    for (k = 1; k <= results[c]; k++) if (result[c, k, "label"] == label) return k
    result[c, ++results[c], "label"] = label
    return results[c]
}

function judge(c, v,   goal, limit) {
    goal = field["c" c, "goal"]; limit = goal; sub(/.* /, "", limit)
    if (goal == "") return "shown"
    if (goal ~ /^at least/) return v >= limit + 0 ? "reached" : "lost"
    if (goal ~ /^at most/) return v <= limit + 0 ? "reached" : "lost"
    if (goal ~ /^above/) return v > limit + 0 ? "reached" : "lost"
    if (goal ~ /^below/) return v < limit + 0 ? "reached" : "lost"
    complain("claim '" claim_name[c] "': not a goal: " goal)
    return "shown"
}

function claim_state(c,   k, state) {
    if (!results[c]) return "not run"
    state = "shown"
    for (k = 1; k <= results[c]; k++) {
        if (result[c, k, "state"] == "lost") return "lost"
        if (result[c, k, "state"] == "reached") state = "reached"
    }
    return state
}

# Of a figure: lost if one of its claims is lost; claims that were not run are counted in missing.
function figure_state(f,   c, state, one, seen) {
    missing = seen = 0; state = "shown"
    for (c = 1; c <= claims; c++) {
        if (figure_of[c] != f) continue
        one = claim_state(c)
        if (one == "not run") { missing++; continue }
        seen++
        if (one == "lost" || (one == "reached" && state != "lost")) state = one
    }
    return seen ? state : "not run"
}

# ---- text ----

function number(v, unit,   a, text) {
    a = v < 0 ? -v : v
    text = a >= 99.95 || a == 0 ? sprintf("%.0f", v) : a >= 9.995 ? sprintf("%.1f", v) : a >= 0.1 ? sprintf("%.2f", v) : sprintf("%.2g", v)
    return text (unit == "" ? "" : unit == "x" ? "x" : " " unit)
}

function mpi_name(text) { return text == "openmpi" ? "Open MPI" : text == "mpich" ? "MPICH" : text }
function label_of(c, k,   n, name, value, i, text, one) {
    n = split(claim_each[c], name, ","); split(result[c, k, "label"], value, ",")
    for (i = 1; i <= n; i++) {
        if (value[i] == "*") continue
        one = name[i] == "mpi" ? mpi_name(value[i]) : name[i] == "setting" ? setting_name(value[i]) : name[i] " " value[i]
        text = text (text == "" ? "" : ", ") one
    }
    return text
}
function setting_name(text,   part, n) { # MPI.RANKS or MPI.WHERE.RANKS
    n = split(text, part, ".")
    if (n < 2 || part[n] !~ /^[0-9]+$/) return text
    return mpi_name(part[1]) ", " part[n] " ranks" (n == 3 ? part[2] == "hosts" ? " on 2 hosts" : " on one node" : "")
}
function where_of(c, k,   n, name, value, i, text) {
    if (claim_want[c] == "" || result[c, k, "where"] == "") return ""
    n = split(claim_pick[c], name, ","); split(result[c, k, "where"], value, ",")
    for (i = 1; i <= n; i++) if (value[i] != "*") text = text (text == "" ? "" : ", ") name[i] " " value[i]
    return text
}

function ours(c, k,   unit, text, where) { # "9.31x [9.2, 9.4] at bytes 4096"
    unit = field["c" c, "unit"]
    text = number(result[c, k, "middle"], unit)
    if (result[c, k, "pairs"] != 1) text = text " [" number(result[c, k, "low"]) ", " number(result[c, k, "high"]) "]"
    if (result[c, k, "pairs"] > 0) text = text ", n = " result[c, k, "pairs"]
    where = where_of(c, k)
    return text (where == "" ? "" : ", at " where)
}

function against_paper(c, k) { return field["c" c, "given"] == "" || !(field["c" c, "given"] + 0) ? "" : sprintf("%.2f", result[c, k, "middle"] / field["c" c, "given"]) }

# The script that writes a table: FOLDER/TABLE -> bench/FOLDER.sh
function script_of(c,   o, word, n) {
    n = split(field["c" c, "over"], word, " "); o = word[1] ~ /^(least|most|sum)$/ ? word[2] : word[1]
    sub(/\/.*/, "", o); gsub("-", "_", o)
    return "bench/" o ".sh"
}

function evaluate_all(   c) { for (c = 1; c <= claims; c++) evaluate(c) }
