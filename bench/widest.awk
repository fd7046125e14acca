# widest.awk: prints the widest 95 % interval of a table with a column "round", relative to its median; loaded after interval.awk. Set
# by -v:
#
#   value  the column
#   keys   columns: rows that agree in them are one series, with a value for each round (the mean, if a round has several)
#   base   COLUMN=VALUE: each value counts as a multiple of the base's in the same round, which must agree in the keys
#   apart  columns that distinguish series too, but not from their base
#   only   COLUMN=VALUE: use only these rows

function left(text) { return substr(text, 1, index(text, "=") - 1) }
function right(text) { return substr(text, index(text, "=") + 1) }
function cells(names,   n, name, i, text) {
    n = split(names, name, ",")
    for (i = 1; i <= n; i++) text = text "," $(column[name[i]])
    return text
}

FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
$(column[value]) == "" || (only != "" && $(column[left(only)]) != right(only)) { next }
{
    group = cells(keys); round = $(column["round"]) + 0
    if (round > last) last = round
}
base != "" && $(column[left(base)]) == right(base) { base_sum[group, round] += $(column[value]); base_count[group, round]++; next }
{
    series = group cells(apart) (base == "" ? "" : "," $(column[left(base)]))
    if (!(series in group_of)) all[++total] = series
    group_of[series] = group; sum[series, round] += $(column[value]); count[series, round]++
}

END {
    for (k = 1; k <= total; k++) {
        n = 0; group = group_of[all[k]]
        for (r = 1; r <= last; r++) {
            if (!((all[k], r) in count)) continue
            v = sum[all[k], r] / count[all[k], r]
            if (base != "") {
                if (!((group, r) in base_count) || !base_sum[group, r]) continue
                v = v / (base_sum[group, r] / base_count[group, r])
            }
            list[++n] = v
        }
        if (!n) continue
        interval(list, n); seen = 1
        width = n < 6 ? 9 : middle ? (high - low) / middle : 0 # fewer than six cannot give 95 %
        if (width > most) most = width
    }
    print seen ? most + 0 : 9
}
