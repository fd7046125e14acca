#!/usr/bin/env bash
# Makes a folder with Debian's packages for x86-64, to cross-compile against, to run programs in, and to boot:   root.sh FOLDER
#
# The packages are downloaded from the sources of this machine and unpacked; nothing of them is executed. A folder that is
# complete is left as it is.
set -euo pipefail
root=$1
[ ! -e "$root/.complete" ] || exit 0
packages=(libc6-dev libmpich-dev mpich libopenmpi-dev openmpi-bin libhwloc-dev libucx-dev liburing-dev libxxhash-dev libncurses-dev
    linux-image-amd64 busybox-static bash dash coreutils sed grep findutils mawk procps util-linux mount python3) # for the virtual machine

rm -rf "$root"
mkdir -p "$root/apt/state/lists/partial" "$root/apt/cache/archives/partial"
: >"$root/apt/state/status" # nothing is installed there
options=(-o "Dir::State=$root/apt/state" -o "Dir::State::status=$root/apt/state/status" -o "Dir::Cache=$root/apt/cache"
    -o APT::Architecture=amd64 -o APT::Architectures::=amd64 -o APT::Install-Recommends=0 -o Acquire::Languages=none
    -o APT::Sandbox::User=root)
echo "x86: downloading packages"
apt-get -qq "${options[@]}" update
apt-get -qq "${options[@]}" -y --download-only install "${packages[@]}"
for package in "$root"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$root/apt"
# An absolute link would lead to this machine's files.
find "$root" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfnr "$root$target" "$link"
done
touch "$root/.complete"
