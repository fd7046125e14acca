#!/bin/sh
# Checks that every public function has a comment in its header from which a manual page is made, and that a function
# without one is found.
set -u
cd "$(dirname "$0")/../.." || exit 1
man/generate.sh --check || exit 1

house=$(mktemp -d)
trap 'rm -rf "$house"' EXIT
mkdir -p "$house/doc" "$house/src/base"
cp -r man include "$house"
cp doc/settings.sh "$house/doc"
cp src/base/settings.def "$house/src/base"
printf '\nint CLAMPI_Untold(int n);\n' >>"$house/include/clampi.h"
said=$("$house/man/generate.sh" --check)
case $said in
CLAMPI_Untold*) ;;
*)
    echo "a function without a comment was planted; found: ${said:-nothing}"
    exit 1
    ;;
esac
