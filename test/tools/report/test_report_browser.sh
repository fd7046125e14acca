#!/usr/bin/env bash
# Tests the page of hearth report in a real browser (headless chromium): it shows the data of the JSON, all charts are
# drawn, the browser reports no error; light and dark, text and marks stand out from their background; the page is as
# wide as the window, 1280 or 400 pixels, and wider tables scroll in their own frames.
#   test_report_browser.sh MPI TREE       tier: full; timeout: 600
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no chromium here: install it, as packaging/setup.sh full does"
    exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -O1 "$here/tools/gets.c" -o "$dir/gets" || exit 1
hearth=$tree/bin/hearth

run() { # name of the report, settings...
    local name=$1 options=()
    shift
    for setting in "$@"; do options+=(--env "$setting"); done
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_CACHE_SIZE=16k \
        --env HEARTH_REPORT="$dir/$name.json" "${options[@]}" "$dir/gets" >"$dir/log" 2>&1 ||
        { echo "FAIL $name: $(cat "$dir/log")" && failed=1; }
}

. "$here/tools/check_files.sh"

browse() { # width, page, options: prints the page; errors go to log
    timeout -k 5 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --window-size="$1,2000" \
        --virtual-time-budget=3000 --enable-logging=stderr "${@:3}" "file://$2" 2>"$dir/log"
}

quiet() { # name, page
    browse 1280 "$2" --dump-dom >/dev/null
    check "$1" test "$(grep -c 'CONSOLE' "$dir/log")" = "${3:-0}"
}

# Shows the page in a frame of this width, since windows have a minimum width, and measures it. A table that is wider
# than its frame must scroll. Contrast is that of WCAG 2: 4.5 for text; marks of a chart need less.
measured() { # page, width
    /usr/bin/python3 - "$1" "$2" >"$dir/measured.html" <<'END'
import html, sys
page = html.escape(open(sys.argv[1], encoding="utf-8").read())
print('<!DOCTYPE html><html style="color-scheme:light dark"><body style="margin:0">')
print(f'<iframe srcdoc="{page}" style="width:{sys.argv[2]}px;height:4000px;border:0"></iframe>')
print("""<script>
const luminance = colour => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
const behind = (view, e) => {
    for (; e; e = e.parentElement) {
        const colour = view.getComputedStyle(e).backgroundColor;
        if (!/, 0\\)$/.test(colour)) return colour;
    }
};
document.querySelector("iframe").onload = event => {
    const frame = event.target, page = frame.contentDocument, found = document.documentElement.dataset;
    const drawn = [...page.querySelectorAll("svg")], view = frame.contentWindow, style = e => view.getComputedStyle(e);
    const texts = [...page.querySelectorAll("td,th,span,li,p,dd,dt,b,h1,h2,h3,figcaption,small")];
    const wide = [...page.querySelectorAll(".wide")], over = wide.filter(e => e.scrollWidth > e.clientWidth);
    found.window = view.innerWidth;
    found.wide = page.documentElement.scrollWidth;
    found.charts = drawn.length;
    found.empty = drawn.filter(svg => {
        const box = svg.getBoundingClientRect();
        return box.width < 200 || box.height < 15 || !svg.querySelector("rect,path");
    }).length;
    found.small = texts.filter(e => parseFloat(style(e).fontSize) < 11).length;
    found.dark = Number(luminance(behind(view, page.body)) < 0.1);
    found.faint = texts.filter(e => contrast(style(e).color, behind(view, e)) < 4.5).length;
    found.vague = [...page.querySelectorAll("svg rect, svg path:not(.gridline)")].filter(e => {
        const s = style(e), colour = e.matches("path") && s.stroke !== "none" ? s.stroke : s.fill;
        return contrast(colour, behind(view, e)) < 1.02 || colour === "rgb(0, 0, 0)";
    }).length;
    found.tables = page.querySelectorAll("table").length;
    found.framed = page.querySelectorAll(".wide>table").length;
    found.over = over.length;
    found.stuck = over.filter(e => (e.scrollLeft = 30, e.scrollLeft < 1)).length;
};
</script></body></html>""")
END
}

value() { # name of a measured value
    grep -oE "data-$1=\"[0-9]+\"" "$dir/dom" | head -n 1 | grep -oE '[0-9]+'
}

look() { # name, page, charts, width, scheme
    local name="$1, $4 pixels, $5" dark=0
    [ "$5" = dark ] && dark=1
    measured "$2" "$4"
    browse 1280 "$dir/measured.html" --blink-settings=preferredColorScheme=$((1 - dark)) --dump-dom >"$dir/dom"
    check "$name: it has that width" test "$(value window)" = "$4"
    check "$name: and is no wider" test "$(value wide)" -le "$4"
    check "$name: $3 charts" test "$(value charts)" = "$3"
    check "$name: all drawn" test "$(value empty)" = 0
    check "$name: no text too small to read" test "$(value small)" = 0
    check "$name: the page is $5" test "$(value dark)" = $dark
    check "$name: no text without contrast" test "$(value faint)" = 0
    check "$name: no mark without contrast" test "$(value vague)" = 0
    check "$name: every table in a frame" test "$(value tables)" = "$(value framed)"
    check "$name: wider tables scroll" test "$(value stuck)" = 0
}

fits() { # name, page, charts
    look "$@" 1280 light
    look "$@" 1280 dark
    look "$@" 400 light
    look "$@" 400 dark
}

run small HEARTH_ADAPT=off HEARTH_SUSPEND=0
run grown HEARTH_ADAPT_INTERVAL=100
run plain HEARTH_RECORD=off
for name in small grown plain; do
    check "$name: a page" "$hearth" report --html "$dir/$name.html" "$dir/$name.json"
    browse 1280 "$dir/$name.html" --dump-dom >"$dir/dom"
    check "$name: what the browser has is what the JSON says" \
        /usr/bin/python3 "$here/tools/report/report_check.py" page "$dir/$name.json" "$dir/dom"
    quiet "$name: no complaints" "$dir/$name.html"
done
check 'two: a page' "$hearth" report --html "$dir/two.html" "$dir/small.json" "$dir/grown.json"
quiet 'two: no complaints' "$dir/two.html"
fits one "$dir/grown.html" 13
look 'without a recording' "$dir/plain.html" 5 400 light
fits two "$dir/two.html" 8
/usr/bin/python3 "$here/tools/report/report_sample.py" "$dir/nodes.json" ranks=12 nodes=3 calls=10
"$hearth" report --html "$dir/nodes.html" "$dir/nodes.json"
quiet 'nodes: no complaints' "$dir/nodes.html"
fits 'three nodes' "$dir/nodes.html" 25
check 'there are tables to scroll' test "$(value over)" -gt 0
for group in a b c; do
    for seed in 1 2 3; do
        /usr/bin/python3 "$here/tools/report/report_sample.py" "$dir/$group$seed.json" seed=$seed faster=$([ $group = b ] && echo 1.5 || echo 1)
    done
done
"$hearth" report --html "$dir/groups.html" "$dir"/a?.json : "$dir"/b?.json : "$dir"/c?.json
quiet 'groups: no complaints' "$dir/groups.html"
fits 'three groups of runs' "$dir/groups.html" 12
browse 1280 "$dir/grown.html" --screenshot="$dir/page.png"
check 'as a picture' test "$(stat -c %s "$dir/page.png")" -gt 20000
browse 1280 "$dir/grown.html" --print-to-pdf="$dir/page.pdf"
check 'in print' test "$(head -c 4 "$dir/page.pdf")" = %PDF

# Checks that errors would be noticed.
sed 's,</body>,<script>console.error("seen")</script></body>,' "$dir/small.html" >"$dir/loud.html"
quiet 'a complaint is noticed' "$dir/loud.html" 1
exit $failed
