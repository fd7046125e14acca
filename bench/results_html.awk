# results_html.awk: writes the page of results as one self-contained HTML file; see figures.awk. -v folder=build/results, where the
# plots are; without base64 in the path they are omitted.

function html(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); gsub(/"/, "\\&quot;", text); gsub(/\n/, "<br>", text); return text }
function class_of(state) { return state == "not run" ? "none" : state }
function badge(state) { return "<span class=\"state " class_of(state) "\">" state "</span>" }
function unit_of(c) { return field["c" c, "unit"] == "" ? "" : field["c" c, "unit"] == "x" ? "x" : " " field["c" c, "unit"] }

function claim_item(c,   k, one) {
    printf "<li><div>%s%s %s</div>", html(claim_name[c]), field["c" c, "goal"] == "" ? "" : " <small>(" html(field["c" c, "goal"] unit_of(c)) ")</small>", badge(claim_state(c))
    if (!results[c]) printf "<div class=\"value\">not run: <code>%s</code></div>", html(script_of(c))
    for (k = 1; k <= results[c]; k++) {
        one = label_of(c, k)
        printf "<div class=\"value\">%s<b>%s</b>%s</div>", one == "" ? "" : html(one) ": ", html(ours(c, k)), \
            against_paper(c, k) == "" ? "" : " <small>= " against_paper(c, k) " of the paper's " html(field["c" c, "given"] unit_of(c)) "</small>"
    }
    print "</li>"
}

# A plot embedded as an image: gnuplot's drawings use the same names for their parts, and must be isolated from each other.
function picture(path, text,   command, line) {
    command = "base64 -w 0 \"" folder "/" path "\" 2>/dev/null"
    if ((command | getline line) > 0 && line != "") printf "<img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\">\n", html(text), line
    close(command)
}

function figure_row(f,   c, n, i, plot, state, text) {
    state = figure_state(f)
    printf "<tbody id=\"%s\"><tr>\n", anchor(f)
    printf "<th scope=\"row\"><span class=\"number\">%s</span> %s<small>%s <i>(%s)</i></small></th>\n", html(figure_name[f]), badge(state), html(field["f" f, "shows"]), html(field["f" f, "section"])
    printf "<td data-label=\"paper\">%s</td>\n<td data-label=\"Hearth\"><ol>\n", html(field["f" f, "quote"])
    for (c = 1; c <= claims; c++) if (figure_of[c] == f) claim_item(c)
    text = html(field["f" f, "why"])
    if (state == "lost" && field["f" f, "lost"] != "") text = text (text == "" ? "" : "<br>") "<b>Lost:</b> " html(field["f" f, "lost"])
    printf "</ol></td>\n<td data-label=\"setting\">%s</td>\n<td data-label=\"differences\">%s</td></tr>\n", html(field["f" f, "setting"]), text
    n = split(field["f" f, "plot"], plot, " ")
    printf "<tr class=\"plots\"><td colspan=\"5\">\n"
    for (i = 1; i <= n; i++) picture(plot[i], paper_name[paper_of[f]] " " figure_name[f] ": " field["f" f, "shows"])
    print "</td></tr></tbody>"
}

function anchor(f,   text) { text = tolower(paper_name[paper_of[f]] "-" figure_name[f]); gsub(/[^a-z0-9-]/, "-", text); return text }

function overview(   p, f) {
    print "<nav>"
    for (p = 1; p <= papers; p++) {
        printf "<p><b>%s</b>", html(paper_name[p])
        for (f = 1; f <= figures; f++) if (paper_of[f] == p) printf " <a class=\"state %s\" href=\"#%s\">%s</a>", class_of(figure_state(f)), anchor(f), html(figure_name[f])
        print "</p>"
    }
    print "</nav>"
}

function style() {
    print "body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:1400px;color:#1b1b1b;background:#fff}"
    print "table{border-collapse:collapse;width:100%;table-layout:fixed;margin:1rem 0}thead th{text-align:left;background:#f1f1ee}"
    print "th,td{border-top:1px solid #c9c9c4;padding:.5rem;vertical-align:top;text-align:left;font-weight:normal;overflow-wrap:anywhere}"
    print "th:nth-child(1){width:13%}th:nth-child(2){width:20%}th:nth-child(3){width:31%}th:nth-child(4){width:14%}"
    print "th small{display:block;margin-top:.3rem}.number{font-weight:bold;font-size:1.1rem}ol{margin:0;padding-left:1.3rem}li{margin-bottom:.4rem}"
    print ".value{font-variant-numeric:tabular-nums}.plots td{border-top:0}.plots img{width:100%;max-width:620px;height:auto}"
    print ".state{border-radius:.6rem;padding:0 .5rem;font-size:.85rem;white-space:nowrap;text-decoration:none;color:#1b1b1b;background:#e4e4e0}"
    print ".state.reached{background:#cdebd0}.state.lost{background:#f6cfcb;font-weight:bold}.state.none{background:#fff;outline:1px dashed #777}nav p{margin:.3rem 0}nav a{display:inline-block;margin:.1rem}"
    print "@media(max-width:800px){body{padding:.6rem;font-size:15px}thead{display:none}table,tbody,tr,th,td{display:block;width:auto!important;box-sizing:border-box}"
    print "th[scope=row]{border-top:3px solid #777}td[data-label]::before{content:attr(data-label);display:block;font-size:.8rem;color:#555}td{border-top:0;padding:.3rem .5rem}}"
    print "@media print{body{max-width:none;font-size:9pt}tbody{break-inside:avoid}.plots img{max-width:9cm}.state{outline:1px solid #777}}"
}

END {
    if (bad) exit 1
    evaluate_all()
    print "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    print "<title>Hearth: results</title><style>"
    style()
    print "</style></head><body>\n<h1>Results</h1>"
    print "<p>The figures of the four papers, by number, beside Hearth's measurements. The papers' values are those that their texts give, quoted with the section; values in plots are not read off. Hearth's are medians with their 95&nbsp;% intervals in brackets, by order statistics, and n, the number of pairs of runs side by side; fewer than six pairs cannot give 95&nbsp;%, and the brackets then hold their range. A figure is lost if one of its numbered lines is. Simulated values are marked as such.</p>"
    print "<ul>"
    while ((getline text < machine) > 0) if (sub(/^- /, "", text)) print "<li>" html(text) "</li>"
    print "</ul>"
    overview()
    for (p = 1; p <= papers; p++) {
        printf "<h2>%s</h2>\n<p>%s</p>\n", html(paper_name[p]), html(field["p" p, "title"])
        if (field["p" p, "note"] != "") printf "<p>%s</p>\n", html(field["p" p, "note"])
        print "<table><thead><tr><th>figure</th><th>paper</th><th>Hearth</th><th>setting</th><th>differences, and reasons</th></tr></thead>"
        for (f = 1; f <= figures; f++) if (paper_of[f] == p) figure_row(f)
        print "</table>"
    }
    print "</body></html>"
}
