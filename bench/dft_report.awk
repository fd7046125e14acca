# dft_report.awk: writes results.md from the tables of dft.sh; loaded after interval.awk. Times are medians of the rounds, factors
# medians of the factors of each round, in which the compared runs followed each other; in brackets the 95 % interval, or with fewer
# than six rounds their range. Only values in the tables are printed.

FNR == 1 { file++; next }
file == 1 { messages[$1, $2] += $3; if (!($2 in below)) { below[$2]; bin[++bins] = $2 }; next }
{
    key = $1 SUBSEP $2 SUBSEP $6
    if (!(key in seen)) { seen[key]; order[++keys] = key; part[key] = $1; setting[key] = $2; ranks[key] = $4 + 0; points[key] = $6 }
    n = split("seconds get acc read_inc compute wait us_get us_acc us_read_inc", name, " ")
    for (i = 1; i <= n; i++) data[key, $7, $5, name[i]] = $(7 + i)
    if ($5 > last) last = $5 + 0
    if (norm == "") norm = $19
    if ($19 / norm > 1 + 1e-9 || $19 / norm < 1 - 1e-9) differ = differ "**Results differ**: " $2 ", " $7 ", " $6 " points\n"
}

function short(v) { return sprintf(v < 0.1 ? "%.4f" : v < 1 ? "%.3f" : v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v) }

function told(n, unit) {
    if (!n) return "-"
    interval(list, n)
    return n == 1 ? short(middle) unit : short(middle) unit " [" short(low) ", " short(high) "]"
}

function value(key, config, name,    r, n) {
    split("", list)
    for (r = 1; r <= last; r++)
        if ((key, config, r, name) in data) list[++n] = data[key, config, r, name]
    return told(n, "")
}

# Leaves the median in `factor`, 0 if there is none.
function against(key, slow, fast,    r, n) {
    split("", list)
    for (r = 1; r <= last; r++)
        if ((key, slow, r, "seconds") in data && (key, fast, r, "seconds") in data) list[++n] = data[key, slow, r, "seconds"] / data[key, fast, r, "seconds"]
    factor = 0
    if (!n) return "missing"
    text = told(n, "x")
    factor = middle
    return text
}

function claims(    i, k) {
    print "| goal | setting | points in a task | measured | |"
    print "|---|---|---|---|---|"
    for (i = 1; i <= keys; i++) {
        k = order[i]
        if (part[k] != "whole" && part[k] != "polls") continue
        text = against(k, "stock", "helper")
        print "| " (part[k] == "polls" ? "MPICH without yielding, whose ranks poll while they wait" : ranks[k] == 4 ? "3x over ARMCI-MPI" : "one rank on each host, for comparison") " | " setting[k] " | " points[k] " | " text " | " (ranks[k] != 4 || part[k] == "polls" ? "" : !factor ? "missing" : factor >= 3 ? "reached" : "**lost**") " |"
    }
}

function parts(    i, k, c, config) {
    print "\n## Where the time goes\n\nSeconds of a build, mean of the ranks; in parentheses microseconds of a call, local ones included.\n"
    print "| setting | points | on | in all | get | acc | read_inc | computing | waiting for the last rank |"
    print "|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= keys; i++) {
        k = order[i]
        for (c = 1; c <= 2 && part[k] == "whole"; c++) {
            config = c == 1 ? "stock" : "helper"
            if (value(k, config, "seconds") == "-") continue
            print "| " setting[k] " | " points[k] " | " (c == 1 ? "ARMCI-MPI" : "libarmci") " | " value(k, config, "seconds") " | " value(k, config, "get") " (" value(k, config, "us_get") ") | " \
                value(k, config, "acc") " (" value(k, config, "us_acc") ") | " value(k, config, "read_inc") " (" value(k, config, "us_read_inc") ") | " value(k, config, "compute") " | " value(k, config, "wait") " |"
        }
    }
}

function figure(name, words, slow, fast,    i, k) {
    for (i = 1; i <= keys; i++) {
        k = order[i]
        if (part[k] != "figures" || value(k, slow, "seconds") == "-" || value(k, fast, "seconds") == "-") continue
        print "| " name " | " words " | " setting[k] " | " value(k, slow, "seconds") " | " value(k, fast, "seconds") " | " against(k, slow, fast) " |"
    }
}

function figures() {
    print "\n## The paper's figures, right halves\n\nThe paper gives curves of the same kernel in NWChem, without numbers. Seconds of a build.\n"
    print "| figure | comparison | setting | first | second | first / second |"
    print "|---|---|---|---|---|---|"
    figure("3", "a message for each row against packed patches by the helper (\"much shorter time when using CHT\")", "rows", "helper")
    figure("3", "lists of rows against packed patches", "lists", "helper")
    figure("5", "helper scheduled by the system against the paper's rule (\"the advantage can be clearly seen\")", "float", "rule")
    figure("6", "2 buffers of 3 KB against 4 of 128 KB", "2x3k", "4x128k")
    figure("6", "2 buffers of 4 KB against 4 of 128 KB", "2x4k", "4x128k")
    figure("6", "4 buffers of 16 KB against 4 of 128 KB", "4x16k", "4x128k")
    figure("7", "2 buffers of 3 KB, without intimation against with", "no-intimation", "intimation")
    figure("7", "with intimation against 4 buffers of 128 KB (\"performed as well as the large buffer case\")", "intimation", "4x128k")
}

function profile(    i) {
    print "\n## Messages by size (Fig. 2)\n\nOf a build. The paper counts most between 2 and 4 KB.\n\n| bytes, below | get | acc | read_inc |\n|---|---|---|---|"
    sort(bin, bins)
    for (i = 1; i <= bins; i++) print "| " bin[i] " | " messages["get", bin[i]] + 0 " | " messages["acc", bin[i]] + 0 " | " messages["read_inc", bin[i]] + 0 " |"
}

END {
    print "# The exchange-correlation kernel on Global Arrays: ARMCI-MPI, and libarmci with its helper thread\n"
    while ((getline line < machine) > 0) print line
    printf "\nAt most %d rounds, in turns. A setting is MPI and ranks; 4 ranks are two on each of two hosts, 2 one on each. ", last
    print "With more ranks than cores, ranks that wait in MPI poll and take cores from those that compute; those of libarmci sleep.\n"
    print differ ? differ : "The matrix has the same norm in all runs, to nine digits.\n"
    claims()
    parts()
    figures()
    if (bins) profile()
}
