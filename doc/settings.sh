#!/bin/sh
# settings.sh: writes settings.md, the tables of the settings, and experiments.md, that of the settings for measurements, from
# src/base/settings.def. With --check it only compares; with --rows it prints the rows from which man/generate.sh writes the manual pages.
#
# The C preprocessor reads the list, as it does for the library, so the pages cannot disagree with it.
set -eu
cd "$(dirname "$0")/.."

rows() { # one line per setting: kind, name, default, least, most, words, help, user or expert or experiment, separated by @
    for audience in SETTING:user EXPERT:expert EXPERIMENT:experiment; do
        printf '#define %s(kind, field, name, fallback, least, most, words, help) @@kind@name@fallback@least@most@words@help@%s\n' \
            "${audience%:*}" "${audience#*:}"
    done | { cat && echo '#include "src/base/settings.def"'; } |
        "${CC:-cc}" -E -P -I. -x c - | tr '\n' ' ' | sed 's/@@ */\n/g; s/" \+"//g' | sed 1d
}

table() { # audience
    printf '| setting | default | values | what it is |\n|---|---|---|---|\n'
    rows | awk -v audience="$1" -F ' *@ *' '
    function unquote(s) { gsub(/^ *"|" *$/, "", s); return s }
    $8 !~ "^" audience " *$" { next }
    {
        kind = $1; name = unquote($2); fallback = unquote($3); words = unquote($6); help = unquote($7)
        gsub(/\|/, "\\|", help)
        if (kind == "choice") { range = words; gsub(/\|/, ", ", range) }
        else if (kind == "text") range = "any text"
        else if (kind == "file") range = "a file"
        else if (kind == "levels") { range = words ", or AREA:LEVEL,..."; gsub(/\|/, ", ", range) }
        else range = $4 " to " $5
        if (kind == "size") range = range " bytes"
        printf "| `%s` | %s | %s | %s |\n", name, fallback == "" ? "(none)" : fallback, range, help
    }'
}

settings_page() {
    cat <<'EOF'
# Settings

Each setting is an environment variable, read once when the program starts. A value out of its range is reported, with
the range, and the default is used. A name that is not a setting is reported too. Sizes take `k`, `m` and
`g` as powers of 1024, other counts as powers of 1000.

Generated from `src/base/settings.def` by `make docs`. These are the settings that a user needs:

EOF
    table user
    printf '\n## For experts\n\nMost programs need none of these.\n\n'
    table expert
}

experiments_page() {
    cat <<'EOF'
# Settings for experiments

Parameters and alternatives that the papers compare with, and emulations of other machines. The benches and tests set them;
programs should use their defaults. They are read like [the other settings](settings.md), and `hearth info -c` lists them last.

Generated from `src/base/settings.def` by `make docs`.

EOF
    table experiment
}

made() { # page, function that prints it
    if [ -z "$check" ]; then
        $2 >"doc/$1"
    elif ! $2 | diff -u "doc/$1" -; then
        echo "doc/$1 is not current: run make docs"
        exit 1
    fi
}

check=
case ${1:-} in
--rows) rows && exit ;;
--check) check=yes ;;
esac
made settings.md settings_page
made experiments.md experiments_page
