# halo_report.awk: writes results.md from the runs of halo.sh. Times are medians of the rounds, with their minimum and maximum; factors
# are medians of the factors of each round, in which the compared runs followed each other. Only values in the table are printed.

FNR == 1 { next }
{
    key = $1 SUBSEP $3 SUBSEP $4
    if (!((key) in seen)) { seen[key]; order[++keys] = key; setting[keys] = $1; mode[keys] = $3; what[keys] = $4 }
    time[key, $5, $2] = $6
    exchange[key, $5, $2] = $7
    if ($2 > last) last = $2 + 0
    if ($10 != "" && $3 != "cg") depth[key, $2] = $10
    split($1, part, ".")
    same = $3 SUBSEP part[3] SUBSEP ($3 == "cg" ? "" : $3 == "fds" ? sides($4) : $4) # neither padding nor the numbers of meshes change the results
    if ((same in checksum) && checksum[same] != $9) differ = differ "**Results differ**: " $1 ", " $3 ", " $4 ", " $5 "\n"
    checksum[same] = $9
}

function sides(text) { sub(/ .*/, "", text); return text }

# Sorts the rounds' values in `list`; returns how many.
function sort(list, n,    i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
}

function median(list, n) { return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2 }

function short(v) { return sprintf(v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v) }

function summary(list, n, unit) {
    if (!n) return "-"
    sort(list, n)
    return n == 1 ? short(list[1]) unit : short(median(list, n)) unit " (" short(list[1]) " to " short(list[n]) ")"
}

function times(values, key, config,    r, n, list) {
    for (r = 1; r <= last; r++)
        if ((key, config, r) in values) list[++n] = values[key, config, r] / 1000
    return summary(list, n, "")
}

# Also leaves the median in `factor`.
function factors(values, key, slow, fast,    r, n, list) {
    for (r = 1; r <= last; r++)
        if ((key, slow, r) in values && (key, fast, r) in values && values[key, fast, r] > 0)
            list[++n] = values[key, slow, r] / values[key, fast, r]
    factor = 0
    if (!n) return "missing"
    sort(list, n)
    factor = median(list, n)
    return summary(list, n, "x")
}

function depths(key,    r, n, list) {
    for (r = 1; r <= last; r++)
        if ((key, r) in depth) list[++n] = depth[key, r]
    return summary(list, n, "")
}

function verdict(goal) { return !factor ? "missing" : factor >= goal ? "reached" : "**lost**" }

function claims(    i) {
    print "| goal | setting | measured | |"
    print "|---|---|---|---|"
    for (i = 1; i <= keys; i++)
        if (mode[i] == "fds" && what[i] == "10x10x10 shuffled") {
            print "| FDS style: 2x with Hearth (host over fast) | " setting[i] " | " factors(time, order[i], "host", "fast") " | " verdict(2) " |"
            print "| FDS style: the queues alone (list over fast); the paper has 2x | " setting[i] " | " factors(time, order[i], "list", "fast") " | " verdict(2) " |"
        }
}

function section(name, head, per,    i, k) {
    print "\n## " head "\n"
    print "| setting | | host, ms per " per " | list | fast | host / fast | list / fast | exchange alone: host / fast | searched |"
    print "|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= keys; i++)
        if (mode[i] == name) {
            k = order[i]
            print "| " setting[i] " | " what[i] " | " times(time, k, "host") " | " times(time, k, "list") " | " times(time, k, "fast") " | " \
                factors(time, k, "host", "fast") " | " factors(time, k, "list", "fast") " | " factors(exchange, k, "host", "fast") " | " depths(k) " |"
        }
}

function other_library(    i, k, any) {
    for (i = 1; i <= keys; i++) {
        k = order[i]
        if (times(time, k, "ucx") == "-") continue
        if (!any++) print "\nThe same with Open MPI's pml ucx, whose queues have hash bins:\n\n| setting | | ucx, ms per step | host / ucx | ucx / fast |\n|---|---|---|---|---|"
        print "| " setting[i] " | " what[i] " | " times(time, k, "ucx") " | " factors(time, k, "host", "ucx") " | " factors(time, k, "ucx", "fast") " |"
    }
}

END {
    print "# Halo exchanges: the MPI library's matching, and Hearth's\n"
    while ((getline line < machine) > 0) print line
    printf "\n%d round%s. In parentheses their minimum and maximum. A setting is MPI, place and ranks. host: the program alone; list: with Hearth, with lists as queues; fast: with Hearth. ", last, last == 1 ? "" : "s"
    print "searched: the mean number of receives that a message was compared with in a list; it means nothing for conjugate gradients, where most messages are those that release the padding.\n"
    print differ ? differ : "The computed results are bitwise equal in all configurations.\n"
    claims()
    section("fds", "In the style of FDS (Fig. 10)", "step")
    other_library()
    section("cg", "Conjugate gradients with other posted receives (Fig. 9; the paper has 2.3 % at 2048)", "iteration")
    section("stencil", "Blocks of threads (Table 1)", "step")
    print "\nIn Table 1 the mean depths are, in its order, 32.51, 48.22, 85.18, 127.24, 65.85, 132.27, 259.08, 410.02, 596.85, 1294.49."
}
