#!/usr/bin/env bash
# Tests the page of hearth report in a real browser (headless chromium): it shows the data of the JSON, all charts are
# drawn, the browser reports no error, and the page is as wide as the window, 1280 or 400 pixels.
#   test_report_browser.sh MPI TREE       tier: full; timeout: 600
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
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

check() { # name, command...
    local what=$1
    shift
    if "$@"; then echo "ok $what"; else echo "FAIL $what" && failed=1; fi
}

browse() { # width, page, options: prints the page; errors go to log
    timeout -k 5 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --window-size="$1,2000" \
        --virtual-time-budget=3000 --enable-logging=stderr "${@:3}" "file://$2" 2>"$dir/log"
}

quiet() { # name, page
    browse 1280 "$2" --dump-dom >/dev/null
    check "$1" test "$(grep -c 'CONSOLE' "$dir/log")" = "${3:-0}"
}

# Shows the page in a frame of this width, since windows have a minimum width; measures the width, and whether the
# drawings have a size.
measured() { # page, width
    /usr/bin/python3 - "$1" "$2" >"$dir/measured.html" <<'END'
import html, sys
page = html.escape(open(sys.argv[1], encoding="utf-8").read())
print(f'<!DOCTYPE html><body style="margin:0"><iframe srcdoc="{page}" style="width:{sys.argv[2]}px;height:4000px;border:0"></iframe>')
print("""<script>
document.querySelector("iframe").onload = event => {
    const frame = event.target, page = frame.contentDocument, found = document.documentElement.dataset;
    const drawn = [...page.querySelectorAll("svg")], view = frame.contentWindow;
    found.window = view.innerWidth;
    found.wide = page.documentElement.scrollWidth;
    found.charts = drawn.length;
    found.empty = drawn.filter(svg => {
        const box = svg.getBoundingClientRect();
        return box.width < 200 || box.height < 15 || !svg.querySelector("rect,path");
    }).length;
    found.small = [...page.querySelectorAll("td,th,span,li,p,dd,b")].filter(e =>
        parseFloat(view.getComputedStyle(e).fontSize) < 11).length;
};
</script></body>""")
END
}

value() { # name of a measured value
    grep -oE "data-$1=\"[0-9]+\"" "$dir/dom" | head -n 1 | grep -oE '[0-9]+'
}

fits() { # name, page, charts
    local width
    for width in 1280 400; do
        measured "$2" $width
        browse 1280 "$dir/measured.html" --dump-dom >"$dir/dom"
        check "$1, $width pixels: it has that width" test "$(value window)" = $width
        check "$1, $width pixels: and is no wider" test "$(value wide)" -le $width
        check "$1, $width pixels: $3 charts" test "$(value charts)" = "$3"
        check "$1, $width pixels: all drawn" test "$(value empty)" = 0
        check "$1, $width pixels: no text too small to read" test "$(value small)" = 0
    done
}

run small HEARTH_ADAPT=off HEARTH_SUSPEND=0
run grown HEARTH_ADAPT_INTERVAL=100
run plain HEARTH_RECORD=off
for name in small grown plain; do
    check "$name: a page" "$hearth" report --html "$dir/$name.html" "$dir/$name.json"
    browse 1280 "$dir/$name.html" --dump-dom >"$dir/dom"
    check "$name: what the browser has is what the JSON says" \
        /usr/bin/python3 "$here/tools/report_check.py" page "$dir/$name.json" "$dir/dom"
    quiet "$name: no complaints" "$dir/$name.html"
done
check 'two: a page' "$hearth" report --html "$dir/two.html" "$dir/small.json" "$dir/grown.json"
quiet 'two: no complaints' "$dir/two.html"
fits one "$dir/grown.html" 9
fits 'without a recording' "$dir/plain.html" 3
fits two "$dir/two.html" 8
browse 1280 "$dir/grown.html" --screenshot="$dir/page.png"
check 'as a picture' test "$(stat -c %s "$dir/page.png")" -gt 20000
browse 1280 "$dir/grown.html" --print-to-pdf="$dir/page.pdf"
check 'in print' test "$(head -c 4 "$dir/page.pdf")" = %PDF

# Checks that errors would be noticed.
sed 's,</body>,<script>console.error("seen")</script></body>,' "$dir/small.html" >"$dir/loud.html"
quiet 'a complaint is noticed' "$dir/loud.html" 1
exit $failed
