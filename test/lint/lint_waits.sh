#!/bin/sh
# Checks that doc/matching.md lists the calls in which MPI may wait as the library treats them, and that a test covers
# each of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
doc/waits.sh --check || exit 1

# Calls that a single program cannot test: the peer is another program, or MPI is finalized; and those that wait for buffered messages,
# which buffered.c tests.
elsewhere='Finalize Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Bsend Rsend Buffer_detach Buffer_flush
    Comm_detach_buffer Comm_flush_buffer Session_detach_buffer Session_flush_buffer'
elsewhere=$(echo $elsewhere)
faults=0
for pattern in $(doc/waits.sh --names); do
    case " $elsewhere " in *" $pattern "*) continue ;; esac
    name=${pattern%\*}
    grep -rqE --include=waits.c --include=inside.c "MPI_$name[a-z_]*\(|MPI_$name\)" test/p2p && continue
    echo "no test in waits.c or inside.c of test/p2p waits in MPI_$pattern"
    faults=$((faults + 1))
done
[ $faults = 0 ]
