#!/bin/sh
# Checks that all C sources are formatted by .clang-format; with --fix, formats them. Versions of clang-format differ
# in details, so only the version below counts.
set -u
cd "$(dirname "$0")/../.." || exit 1
version=14
for tool in clang-format-$version clang-format none; do
    "$tool" --version 2>/dev/null | grep -q "version $version\." && break
done
if [ "$tool" = none ]; then
    echo "clang-format $version is not installed"
    exit 77
fi
if [ "${1:-}" = --fix ]; then
    test/lint/sources.sh '*.c' '*.h' | xargs -r "$tool" -i
    exit
fi
wrong=$(test/lint/sources.sh '*.c' '*.h' | xargs -r "$tool" --dry-run 2>&1 |
    sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort | uniq -c)
[ -z "$wrong" ] || {
    echo "$wrong"
    echo "the files above are not formatted (with the number of places): run make format"
    exit 1
}
