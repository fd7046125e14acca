#!/usr/bin/env bash
# The first process of the virtual machine of machine.sh:   guest.sh REPOSITORY MPI
#
# Runs what only a kernel shows: page faults by signal and by userfaultfd, io_uring, process_vm_readv, memfd, limits; then jobs of two
# ranks of every family. REGEXP chooses tests. The machine is some 30 times slower than a processor: jobs that take over half a minute
# here and run code of other jobs, those over TCP that also run on a node, and Python are left out.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 run /run
busybox ifconfig lo 127.0.0.1 up
busybox hostname x86
cd "$1" || busybox poweroff -f
echo "machine: $(uname -sr) on $(uname -m), $(nproc) cores"

units='unit_(pages_local|pages_faults|pages_store|pages_store_faults|pages_job_replay|pages_nodes_random|net|net_heap|net_memory_limit|net_pull|net_lock_table|net_helper|serve_vm|heater)'
jobs='(mpi_.*[.](on|serve)|p2p_.*[.]match|armci_.*[.]nodes1|gas_.*[.](off1|nodes1|userfault)|litmus_.*[.]on|net_.*[.]ucx)'
left_out='(litmus_cache[.]|mpi_(past|scores|hits)[.]|p2p_(inside|order|flood)[.]|gas_(threads|flood)[.]|mpi_.*[.]tcp[.]|.*_py[.])'
chosen="^(?!$left_out)($jobs$([ "$2" != mpich ] || echo "|${units}[.]mpich"))\$"
test/run -v --slow 20 -j 1 -t "$2" -k "${REGEXP:-$chosen}" quick 2>&1 | cat # a line for each test, as to a file
failed=${PIPESTATUS[0]}
[ "$failed" = 0 ] && echo 'machine: all passed' || echo 'machine: some failed'
sync
busybox poweroff -f
