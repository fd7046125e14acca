#!/bin/sh
# Checks that all files with the version have the same one, that the Spack recipe is valid Python and Debian's rules
# are a valid makefile, that test/install builds and runs every example, and that trees are configured again after packages were
# installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
version=$(sed -n 's/^project(hearth VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

same() { # file, version in it
    [ "$2" = "$version" ] || { echo "$1 has version '$2', CMakeLists.txt has '$version'" && bad=1; }
}
same CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
same CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | sed q)"
same packaging/debian/changelog "$(sed -n 's/^hearth (\(.*\)) .*/\1/p' packaging/debian/changelog | sed q)"
same packaging/spack/package.py "$(sed -n 's/^ *version("\([0-9.]*\)").*/\1/p' packaging/spack/package.py | sed q)"

if command -v python3 >/dev/null; then
    python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' packaging/spack/package.py || bad=1
fi
[ -x packaging/debian/rules ] || { echo "packaging/debian/rules is not executable" && bad=1; }
for example in examples/*.c examples/*.f90 examples/*.py; do
    name=$(basename "$example")
    grep -q "'run $name'" test/install/test_install.sh || { echo "$example is not run by test/install/test_install.sh" && bad=1; }
    head -n 4 "$example" | grep -qE '\brun: ' || { echo "$example does not say how it is run" && bad=1; }
    grep -qF "\`$name\`" examples/README.md || { echo "examples/README.md does not name $name" && bad=1; }
done

tree=build/reconfigured.$$ # a tree that is newer, then older, than the list of packages
installed=$(mktemp) || exit 1
trap 'rm -rf "$tree" "$installed"' EXIT
configures() { make -n INSTALLED="$installed" "$tree/.configured" MPI=mpich 2>/dev/null | grep 'cmake -S' >/dev/null; }
mkdir -p "$tree" && touch -d '1 hour ago' "$tree/.configured"
configures || { echo "a tree is not configured again after packages were installed" && bad=1; }
touch -d '2 hours ago' "$installed"
! configures || { echo "a tree is configured again although no package was installed" && bad=1; }
exit $bad
