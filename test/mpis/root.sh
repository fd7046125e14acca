#!/usr/bin/env bash
# Makes a folder with another release of Debian, for this machine's own architecture:   root.sh SUITE FOLDER
#
# It holds the packages of `packaging/setup.sh test` and clang. They come from the Debian mirror in this machine's apt sources. A
# folder that is complete is left as it is. Exit status 77: this machine cannot make it, and the last line says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD/test/mpis suite=$1 root=$2
[ ! -e "$root/.complete" ] || exit 0

skip() { # why
    echo "$suite: $1"
    exit 77
}

mirror() { # the first that is Debian itself, not its security updates
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 'Component: main' 2>/dev/null | sed -n 1p
}

[ "$(id -u)" = 0 ] || skip "only root can make and enter it"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed: packaging/setup.sh mpis"
source=$(mirror)
[ -n "$source" ] || skip "the apt sources of this machine name no mirror of Debian"

rm -rf "$root"
mkdir -p "$(dirname "$root")"
echo "$suite: installing the packages of Debian $suite"
# A mirror may be a snapshot, whose date of expiry has passed.
mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include=ca-certificates,mount "$suite" "$root" "$source" || skip "the packages are not available from $source"
# Without documents, which are half of the files, and without starting any service.
printf 'path-exclude=%s\n' '/usr/share/doc/*' '/usr/share/locale/*' '/usr/share/info/*' >"$root/etc/dpkg/dpkg.cfg.d/hearth"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
"$here/enter.sh" "$root" "$root.build" sh -c "packaging/setup.sh test && apt-get -qq install -y --no-install-recommends clang >/dev/null"
rm -rf "$root"/var/cache/apt/archives/*.deb
touch "$root/.complete"
