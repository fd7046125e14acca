# interval.awk: the median of a list and its 95 % interval by order statistics, as in sample.c, without an assumption about the
# distribution. Loaded before figures.awk, widest.awk and lcc_report.awk.

function sort(list, count,   i, j, v) {
    for (i = 2; i <= count; i++) {
        v = list[i]
        for (j = i - 1; j >= 1 && list[j] > v; j--) list[j + 1] = list[j]
        list[j + 1] = v
    }
}

# Sorts list[1..count], and sets middle, low and high.
function interval(list, count,   centre, spread, a, b) {
    sort(list, count)
    middle = count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
    centre = (count - 1) / 2; spread = 0.98 * sqrt(count)
    a = centre - spread < 0 ? 0 : int(centre - spread)
    b = centre + spread; if (b > int(b)) b = int(b) + 1; if (b > count - 1) b = count - 1
    low = list[a + 1]; high = list[b + 1]
}
