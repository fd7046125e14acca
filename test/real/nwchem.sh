# For tests of Debian's NWChem; to be sourced. Skips the test where it is not installed; sets here and dir, and uses
# mpi of the caller.
# shellcheck shell=bash disable=SC2034,SC2154 # here: for the script that sources it; mpi: set by it
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ "$mpi" = mpich ] || { echo "NWChem is built for MPICH" && exit 77; }
command -v nwchem.mpich >/dev/null || { echo "nwchem.mpich is not installed" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# An input with which NWChem distributes its matrices over the ranks instead of replicating them.
write_input() { # file, name, tasks; the atoms are on stdin
    cat >"$1" <<N
start $2
memory 400 mb
geometry units angstrom noautosym
$(cat)
end
basis spherical
 * library 6-31g*
end
set fock:mirrmat f
set fock:replicated f
set dft:xcreplicated f
$3
N
}
