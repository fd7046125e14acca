#!/usr/bin/env bash
# Starts an MPI program. No other script knows the options of the two MPIs.
#
#   launch.sh MPI RANKS [OPTION]... COMMAND...        MPI: mpich or openmpi
#     --tcp            all traffic over TCP on the loopback device, no shared memory
#     --hosts A,B      on virtual hosts, ranks assigned in blocks; only inside `cluster/hosts.sh with`
#     --preload LIB    preload LIB into the ranks, not into the launcher; may be repeated, in the order of preloading
#     --env K=V        set a variable for the ranks, not for the launcher; may be repeated
#     --defaults       leave HEARTH_WINDOWS at its default, for a test of that; otherwise it is `host`, unless --env sets it: what the
#                      default decides depends on the load of the machine
#     --timeout S      time limit, default 60 seconds; the job then gets SIGTERM, and SIGKILL 5 seconds later
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

[ $# -ge 3 ] || usage
mpi=$1 ranks=$2 tcp=0 hosts='' preload='' limit=60 env=() defaults=0
shift 2
while [ $# -gt 0 ]; do
    case "$1" in
    --tcp) tcp=1 ;;
    --hosts) hosts=$2 && shift ;;
    --preload) preload=${preload:+$preload:}$2 && shift ;;
    --env) env+=("$2") && shift ;;
    --defaults) defaults=1 ;;
    --timeout) limit=$2 && shift ;;
    --*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || usage

# In test/run, more ranks than cores of MPICH yield theirs while they wait (cluster/yield.c). Fewer do not: beside other jobs, a rank that yields
# loses its share of the core. Over TCP they do not wait for each other's connections to close (cluster/nofin.c). Ranks of Open MPI keep a
# component that they would unload too early (cluster/keep.c).
also=()
if [ "$mpi" != mpich ]; then
    also+=("${HEARTH_TEST_KEEP:-}")
else
    [ "$ranks" -le "$(nproc)" ] || also+=("${HEARTH_TEST_YIELD:-}")
    [ -z "$hosts" ] && [ $tcp = 0 ] || also+=("${HEARTH_TEST_NOFIN:-}")
fi
for library in "${also[@]}"; do [ ! -e "$library" ] || preload=${preload:+$preload:}$library; done
[ -z "$preload" ] || env+=("LD_PRELOAD=$preload")
case " ${env[*]-} " in *" HEARTH_WINDOWS="*) defaults=1 ;; esac
[ $defaults = 1 ] || env+=(HEARTH_WINDOWS="${HEARTH_WINDOWS:-host}")

if [ -n "$hosts" ] && [ "${CLUSTER_KIND:-fake}" = fake ]; then
    echo "launch: no virtual hosts here: fake nodes on one host, over TCP"
    hosts='' tcp=1
    env+=(MPIR_CVAR_NUM_CLIQUES=2)
fi
count=0 ppn=0
if [ -n "$hosts" ]; then
    count=$(tr , '\n' <<<"$hosts" | wc -l)
    ppn=$(((ranks + count - 1) / count))
fi

launcher() { # the one that belongs to the compiler of this MPI's tree; test/run has looked for it already
    local known=HEARTH_TEST_LAUNCHER_$mpi
    [ -n "${!known:-}" ] && echo "${!known}" && return
    "$here/../packaging/mpis.sh" "$mpi" mpirun && return
    echo "launch: no launcher of $mpi found: install ${mpi/openmpi/openmpi-bin}" >&2
    return 1
}

openmpi_major() { # launcher: prints 4, 5 ...; version 4 calls itself OpenRTE
    "$1" --version | sed -n 's/.*(Open[^)]*) \([0-9]*\).*/\1/p'
}

# Open MPI 5 has another launcher, PRRTE, whose options have another prefix, and no osc pt2pt: its osc rdma works over TCP.
openmpi_network() {
    local major
    major=$(openmpi_major "${command[0]}")
    if [ -n "$hosts" ] && [ "$major" -ge 5 ]; then
        command+=(--host "${hosts//,/:$ppn,}:$ppn" --prtemca plm ssh --prtemca plm_ssh_agent "$here/cluster/rsh.sh"
            --prtemca plm_ssh_no_tree_spawn 1 --prtemca oob_tcp_if_include "$CLUSTER_NET.0/24"
            --mca btl_tcp_if_include "$CLUSTER_NET.0/24" --mca pml ob1 --mca osc rdma --mca btl tcp,sm,self)
    elif [ -n "$hosts" ]; then # Debian's default has no one-sided component that works across hosts
        command+=(--host "${hosts//,/:$ppn,}:$ppn" --mca plm rsh --mca plm_rsh_agent "$here/cluster/rsh.sh"
            --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include "$CLUSTER_NET.0/24"
            --mca btl_tcp_if_include "$CLUSTER_NET.0/24" --mca pml ob1 --mca osc pt2pt
            --mca btl tcp,vader,self --mca btl_vader_single_copy_mechanism none)
    else # Open MPI excludes the loopback device unless it is named
        command+=(--mca pml ob1 --mca osc "$([ "$major" -ge 5 ] && echo rdma || echo pt2pt)" --mca btl tcp,self --mca btl_tcp_if_include lo)
    fi
}

openmpi_command() {
    local e
    command=("$(launcher)" --allow-run-as-root --oversubscribe --bind-to none -n "$ranks")
    # On one host Open MPI 5 reaches processes that the program spawns only over TCP.
    if [ -z "$hosts" ] && [ $tcp = 0 ]; then command+=(--mca btl_tcp_if_include lo); else openmpi_network; fi
    # Its operators for AVX are wrong where integers overflow, and for MPI_MIN of unsigned ones.
    [ "$HOSTTYPE" != x86_64 ] || command+=(--mca op '^avx')
    for e in "${env[@]}"; do command+=(-x "$e"); done
}

mpich_command() {
    local e
    command=("$(launcher)" -n "$ranks")
    if [ -n "$hosts" ]; then
        command+=(-launcher ssh -launcher-exec "$here/cluster/rsh.sh" -iface br0 -hosts "$hosts" -ppn "$ppn")
    elif [ $tcp = 1 ]; then
        env+=(UCX_TLS=tcp,self UCX_NET_DEVICES=lo MPIR_CVAR_NOLOCAL=1)
    fi
    for e in "${env[@]}"; do command+=(-genv "${e%%=*}" "${e#*=}"); done
}

case "$mpi" in
openmpi) openmpi_command ;;
mpich) mpich_command ;;
*) usage ;;
esac
[ -z "$hosts" ] || command=("$here/cluster/hosts.sh" run n0 "${command[@]}")
exec timeout -k 5 "$limit" "${command[@]}" "$@" </dev/null
