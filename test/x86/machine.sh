#!/usr/bin/env bash
# Boots a virtual machine with Debian's kernel for x86-64, in which guest.sh runs tests on a tree of x86.sh:   machine.sh ROOT FOLDER MPI
#
# FOLDER gets the image of the disk, kernel.log, what the machine printed, and test-logs. ROOT is the folder of root.sh. The tree has
# the same path in the machine as here, because the programs contain it. Settings: LIMIT, seconds until the machine is ended, 3600 by
# default; REGEXP, the tests, see guest.sh.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
root=$1 out=$2 mpi=$3 repo=$PWD
stage=$out/stage image=$out/disk.img log=$out/kernel.log

# ---- the disk ----

kernel=$(basename "$(ls -d "$root"/lib/modules/* 2>/dev/null | head -1)")
[ -n "$kernel" ] || { echo "machine: $root has no kernel: remove it, and it is made again" >&2 && exit 2; }

tree_into() { # folder: what the tests need of the tree
    mkdir -p "$1"
    cp -al "build/x86/$mpi/CMakeCache.txt" "build/x86/$mpi/lib" "build/x86/$mpi/test" "$1/"
    [ ! -d "build/x86/$mpi/bin" ] || cp -al "build/x86/$mpi/bin" "$1/"
}

make_stage() {
    rm -rf "$stage"
    cp -al "$root" "$stage" && mkdir -p "$stage$repo/build/x86" "$stage"/{proc,sys,dev,tmp,root,run} || return 1
    cp -a test packaging include Makefile "$stage$repo/" # not linked: their sources are small
    tree_into "$stage$repo/build/x86/$mpi" && ln -s "x86/$mpi" "$stage$repo/build/$mpi" || return 1
    rm -f "$stage/etc/passwd" "$stage/etc/group" "$stage/etc/hosts" # links to those of the root
    echo 'root:x:0:0:root:/root:/bin/bash' >"$stage/etc/passwd"
    echo 'root:x:0:' >"$stage/etc/group"
    echo '127.0.0.1 localhost x86' >"$stage/etc/hosts"
    printf '#!/bin/sh\nREGEXP=%q exec %q %q %q\n' "${REGEXP:-}" "$repo/test/x86/guest.sh" "$repo" "$mpi" >"$stage/guest"
    chmod +x "$stage/guest"
}

make_image() {
    rm -f "$image"
    mke2fs -q -t ext4 -d "$stage" "$image" 6G && rm -rf "$stage"
}

# ---- the first file system: mounts the disk ----

make_initrd() {
    local boot=$out/boot module
    rm -rf "$boot" && mkdir -p "$boot"/{bin,dev,proc,disk,modules} && cp "$root/bin/busybox" "$boot/bin/" || return 1
    /sbin/depmod -b "$root" "$kernel" || return 1
    {
        echo '#!/bin/busybox sh'
        /sbin/modprobe -d "$root" -S "$kernel" --show-depends -a virtio_pci virtio_blk ext4 crc32c_generic | while read -r _ module _; do
            cp -n "$module" "$boot/modules/" && echo "/bin/busybox insmod /modules/$(basename "$module")"
        done | awk '!seen[$0]++'
        echo '/bin/busybox mount -t devtmpfs dev /dev'
        echo '/bin/busybox mount -t ext4 /dev/vda /disk && exec /bin/busybox switch_root /disk /guest'
        echo 'echo "machine: the disk cannot be mounted"; /bin/busybox poweroff -f'
    } >"$boot/init"
    chmod +x "$boot/init"
    (cd "$boot" && find . | cpio -o -H newc --quiet | gzip -1) >"$out/initrd.gz"
}

# ---- the run ----

# x86 orders memory more strongly than other processors, so qemu runs both virtual cores on one thread.
boot() {
    timeout -k 5 "${LIMIT:-3600}" qemu-system-x86_64 -machine q35 -cpu max -smp 2 -m 3G -nographic -no-reboot -nic none \
        -kernel "$root/boot/vmlinuz-$kernel" -initrd "$out/initrd.gz" -drive "file=$image,if=virtio,format=raw,cache=unsafe" \
        -append 'console=ttyS0 quiet panic=-1 tsc=reliable tsc_early_khz=1000000' </dev/null | tee "$log" | grep --line-buffered -aE '^(ok|skip|FAIL|flaky|machine|[0-9]+ )'
}

mkdir -p "$out"
echo "machine: the disk for $mpi is made; then the kernel boots, which takes a minute"
make_stage && make_image && make_initrd || exit 2
boot
debugfs -R "rdump $repo/build/test-logs $out" "$image" >/dev/null 2>&1
grep -aq '^machine: all passed' "$log"
