#!/bin/sh
# settings.sh: writes settings.md, the table of all settings, from src/base/settings.def. With --check it only compares; with --rows it
# prints the rows from which man/generate.sh writes the manual pages.
#
# The C preprocessor reads the list, as it does for the library, so the page cannot disagree with it.
set -eu
cd "$(dirname "$0")/.."
page=doc/settings.md

rows() { # one line per setting: kind, name, default, least, most, words, help, separated by @, and "experiment" if it is one;
    # then: alias, former name, present name
    printf '%s\n' '#define SETTING(kind, field, name, fallback, least, most, words, help) \' \
        '@@kind@name@fallback@least@most@words@help' '#define EXPERIMENT(kind, field, name, fallback, least, most, words, help) \' \
        '@@kind@name@fallback@least@most@words@help@experiment' '#define SETTING_ALIAS(former, name) @@alias@former@name' \
        '#include "src/base/settings.def"' |
        "${CC:-cc}" -E -P -I. -x c - | tr '\n' ' ' | sed 's/@@ */\n/g; s/" \+"//g' | sed 1d
}

table() {
    rows | awk -F ' *@ *' '
    function unquote(s) { gsub(/^ *"|" *$/, "", s); return s }
    $1 == "alias" {
        if (!aliases++)
            print "\n## Old names\n\nStill read, with a notice from rank 0. If both names are set, the new one takes precedence.\n\n" \
                "| old name | setting |\n|---|---|"
        printf "| `%s` | `%s` |\n", unquote($2), unquote($3)
        next
    }
    $8 ~ /experiment/ && !experiments++ {
        print "\n## Experiments\n\nThe alternatives that the papers compare with, and emulations of other machines. " \
            "They are for measurements; programs\nshould use their defaults.\n\n" \
            "| setting | default | values | what it is |\n|---|---|---|---|"
    }
    {
        kind = $1; name = unquote($2); fallback = unquote($3); words = unquote($6); help = unquote($7)
        gsub(/\|/, "\\|", help)
        if (kind == "choice") { range = words; gsub(/\|/, ", ", range) }
        else if (kind == "text") range = "any text"
        else range = $4 " to " $5
        if (kind == "size") range = range " bytes"
        printf "| `%s` | %s | %s | %s |\n", name, fallback == "" ? "(none)" : fallback, range, help
    }'
}

generate() {
    cat <<'EOF'
# Settings

Each setting is an environment variable, read once when the program starts. A value out of its range is reported, with
the range, and the default is used. A name that looks like a misspelt setting is reported too. Sizes take `k`, `m` and
`g` as powers of 1024, other counts as powers of 1000.

Generated from `src/base/settings.def` by `make docs`.

| setting | default | values | what it is |
|---|---|---|---|
EOF
    table
}

if [ "${1:-}" = --rows ]; then
    rows
elif [ "${1:-}" != --check ]; then
    generate >$page
elif ! generate | diff -u $page -; then
    echo "$page is not current: run make docs"
    exit 1
fi
