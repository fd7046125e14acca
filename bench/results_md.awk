# results_md.awk: writes the page of results as Markdown; see figures.awk. A table for each paper, a row for each figure.

function cell(text) { gsub(/\|/, "\\|", text); gsub(/\n/, "<br>", text); gsub(/</, "\\&lt;", text); gsub(/&lt;br>/, "<br>", text); return text }
function mark(state) { return state == "lost" ? "**lost**" : state == "not run" ? "*not run*" : state }

# Combines the results of a figure's claims: sets text_ours, text_ratio, text_state.
function lines(f,   c, k, which, one) {
    text_ours = text_ratio = text_state = ""; which = 0
    for (c = 1; c <= claims; c++) {
        if (figure_of[c] != f) continue
        which++
        text_ours = text_ours (which > 1 ? "<br>" : "") which ". " cell(claim_name[c]) (field["c" c, "goal"] == "" ? "" : " (" cell(field["c" c, "goal"]) unit_of(c) ")") ": "
        if (!results[c]) text_ours = text_ours "not run: `" script_of(c) "`"
        for (k = 1; k <= results[c]; k++) {
            one = label_of(c, k)
            text_ours = text_ours (k > 1 ? "; " : "") (one == "" ? "" : one " ") ours(c, k)
            if (against_paper(c, k) != "") text_ratio = text_ratio (text_ratio == "" ? "" : "<br>") which ". " (one == "" ? "" : one " ") against_paper(c, k) " of " field["c" c, "given"] unit_of(c)
        }
        text_state = text_state (which > 1 ? "<br>" : "") which ". " mark(claim_state(c))
    }
}

function unit_of(c) { return field["c" c, "unit"] == "" ? "" : field["c" c, "unit"] == "x" ? "x" : " " field["c" c, "unit"] }
function remark(f,   text) {
    text = field["f" f, "why"]
    if (figure_state(f) == "lost" && field["f" f, "lost"] != "") text = text (text == "" ? "" : "\n") field["f" f, "lost"]
    return text
}

function figure_row(f) {
    lines(f)
    printf "| %s | %s (%s) | %s | %s | %s | %s | %s | %s |\n", cell(figure_name[f]), cell(field["f" f, "shows"]), cell(field["f" f, "section"]), cell(field["f" f, "quote"]), \
        text_ours, text_ratio == "" ? "-" : text_ratio, cell(field["f" f, "setting"]), text_state, cell(remark(f))
}

function summary(   f, state, count, text) {
    for (f = 1; f <= figures; f++) { state = figure_state(f); count[state]++; if (state == "lost") text = text (text == "" ? "" : ", ") paper_name[paper_of[f]] " " figure_name[f] }
    printf "%d figures: %d reached, %d lost, %d shown (no goal), %d not run.", figures, count["reached"], count["lost"], count["shown"], count["not run"]
    print (text == "" ? "" : " Lost, wholly or in part: " text ".") "\n"
}

END {
    if (bad) exit 1
    evaluate_all()
    print "# Results\n"
    print "The figures of the four papers, by number, beside Hearth's measurements. The papers' values are those that their texts give, quoted with the section; values in plots are not read off. Hearth's are medians with their 95 % intervals in brackets, by order statistics, and n, the number of pairs of runs side by side; fewer than six pairs cannot give 95 %, and the brackets then hold their range. The ratio is Hearth's value to the paper's number. A figure is lost if one of its numbered lines is. Simulated values are marked as such."
    while ((getline text < machine) > 0) print text
    print ""
    summary()
    for (p = 1; p <= papers; p++) {
        printf "## %s\n\n%s\n\n", paper_name[p], field["p" p, "title"]
        if (field["p" p, "note"] != "") { text = field["p" p, "note"]; gsub(/\n/, "\n\n", text); print text "\n" }
        print "| figure | what it shows (section) | paper | Hearth | ratio | setting | state | differences, and reasons |\n|---|---|---|---|---|---|---|---|"
        for (f = 1; f <= figures; f++) if (paper_of[f] == p) figure_row(f)
        print ""
    }
}
