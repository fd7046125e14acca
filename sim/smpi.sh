#!/usr/bin/env bash
# Runs a program that was built for SMPI (build/TREE/sim/sim_*) on a simulated machine:
#
#   smpi.sh RANKS PROGRAM [ARGUMENT]...      settings in the environment are passed on; LATENCY: of a link, in ns (300)
#
# The machine is a dragonfly of 128 hosts: 4 groups of 2 chassis of 8 routers with 2 hosts each, links of 10 GB/s. SMPI makes a get one
# message from the target, so the latency of a link stands for both directions; with 300 ns a get and its flush take about 2 us. The
# ranks are spread over the whole machine. Hosts execute 10^9 operations a second, and only charged work (smpi_charge.c) takes time: the
# same job always takes the same simulated time.
set -euo pipefail
if [ $# -lt 2 ]; then
    sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
ranks=$1 hosts=128
shift
if ! command -v smpirun >/dev/null; then
    echo "smpi.sh: smpirun is not here: SimGrid is in the package libsimgrid-dev" >&2
    exit 77
fi
if [ "$ranks" -gt $hosts ] || [ "$ranks" -lt 1 ]; then
    echo "smpi.sh: $ranks ranks: 1 to $hosts" >&2
    exit 2
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/machine.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="machine" prefix="host" suffix="" radical="0-$((hosts - 1))" speed="1Gf" bw="10GBps" lat="${LATENCY:-300}ns"
  topology="DRAGONFLY" topo_parameters="4,1;2,2;8,1;2" sharing_policy="SPLITDUPLEX" loopback_bw="10GBps" loopback_lat="100ns"/>
</platform>
XML
for rank in $(seq 0 $((ranks - 1))); do
    echo "host$((rank * hosts / ranks))"
done >"$dir/hosts"
# Every rank is a copy of the program in one process, with its own variables in the loader's optional static TLS space. The default collectives
# flood a machine of this size, and take SimGrid minutes. A probe or test takes a constant 0.1 us instead of increasingly longer.
export HEARTH_SEED=${HEARTH_SEED:-1}
export HEARTH_NODE_RANKS=1 # SMPI says that all ranks share one node
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4194304
# The cache hashes addresses, so addresses are the same in every run, where the system allows it.
fixed=()
! setarch -R true 2>/dev/null || fixed=(setarch -R)
status=0
"${fixed[@]}" smpirun -np "$ranks" -platform "$dir/machine.xml" -hostfile "$dir/hosts" --cfg=smpi/tmpdir:"$dir" --cfg=smpi/simulate-computation:no \
    --cfg=smpi/lat-factor:0:1 --cfg=smpi/bw-factor:0:1 --cfg=smpi/wtime:0 --cfg=smpi/iprobe:1e-7 --cfg=smpi/test:1e-7 --cfg=smpi/grow-injected-times:no \
    --cfg=smpi/allgather:bruck --cfg=smpi/allgatherv:ring --cfg=smpi/alltoall:pair --cfg=smpi/alltoallv:pair --log=root.thres:error "$@" ||
    status=$?
exit $status
