#!/bin/sh
# Checks that every public function has a comment in its header from which a manual page is made, and that a function
# without one is found.
set -u
cd "$(dirname "$0")/../.." || exit 1
man/generate.sh --check || exit 1

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/doc" "$copy/src/base"
cp -r man include "$copy"
cp doc/settings.sh "$copy/doc"
cp src/base/settings.def "$copy/src/base"
printf '\nint CLAMPI_Untold(int n);\n' >>"$copy/include/hearth/clampi.h"
said=$("$copy/man/generate.sh" --check)
case $said in
CLAMPI_Untold*) ;;
*)
    echo "a function without a comment was planted; found: ${said:-nothing}"
    exit 1
    ;;
esac
