#!/bin/sh
# Prints the project's own files that match the given patterns, one per line, relative to the root: the files that git
# tracks or would add, or, outside a checkout, all but build products.
cd "$(dirname "$0")/../.." || exit 1
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
else
    [ $# -gt 0 ] || set -- '*'
    for pattern; do
        find . -path ./build -prune -o -path ./.git -prune -o -type f -name "$pattern" -print
    done | sed 's,^\./,,' | sort -u
fi
