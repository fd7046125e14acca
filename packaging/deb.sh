#!/bin/sh
# deb.sh [FOLDER]: builds the Debian packages in a copy of the sources. FOLDER receives them; default: build/deb
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/build/deb}"
out=$(cd "${1:-$root/build/deb}" && pwd)
if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
    echo "deb: dpkg-buildpackage and dh are needed: install dpkg-dev and debhelper (packaging/setup.sh deb)" >&2
    exit 2
fi
version=$(sed -n 's/^project(hearth VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
copy=$out/hearth-$version
rm -rf "$copy"
rm -f "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
mkdir "$copy"
(cd "$root" && test/lint/sources.sh | tar -cf - -T -) | tar -xf - -C "$copy"
mv "$copy/packaging/debian" "$copy/debian"
(cd "$copy" && DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -b -us -uc) >"$out/build.log" 2>&1 || {
    tail -n 30 "$out/build.log" >&2
    echo "deb: dpkg-buildpackage failed: the end of $out/build.log is above" >&2
    exit 1
}
rm -rf "$copy"
ls "$out"/*.deb
