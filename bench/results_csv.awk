# results_csv.awk: writes every claim of figures.def with its value, as a table; see figures.awk.
function quoted(text) { gsub(/"/, "\"\"", text); gsub(/\n/, " ", text); return "\"" text "\"" }

function line(c, k,   f, name) {
    f = figure_of[c]; name = "c" c
    printf "%s,%s,%s,%s,", quoted(paper_name[paper_of[f]]), quoted(figure_name[f]), quoted(claim_name[c]), k ? quoted(label_of(c, k)) : ""
    if (k) printf "%.6g,%.6g,%.6g,%s,%s,", result[c, k, "middle"], result[c, k, "low"], result[c, k, "high"], result[c, k, "pairs"] ? result[c, k, "pairs"] : "", quoted(where_of(c, k))
    else printf ",,,,,"
    printf "%s,%s,%s,%s,%s\n", quoted(field[name, "unit"]), field[name, "given"], k ? against_paper(c, k) : "", quoted(field[name, "goal"]), k ? result[c, k, "state"] : "not run"
}

END {
    if (bad) exit 1
    evaluate_all()
    print "paper,figure,claim,setting,ours,low,high,pairs,where,unit,given,to_paper,goal,state"
    for (c = 1; c <= claims; c++) {
        for (k = 1; k <= results[c]; k++) line(c, k)
        if (!results[c]) line(c, 0)
    }
}
