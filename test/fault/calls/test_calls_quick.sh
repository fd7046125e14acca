#!/usr/bin/env bash
# Repeats failures of test_calls.sh that once made a job hang, or go on as if nothing had happened: no UCX endpoint, on GASNet and on ARMCI;
# on GASNet, all file operations from the middle on, which is while segments are attached; with pages, all calls for descriptors from the
# middle on, as when the service's thread is to listen for messages again, and on one rank the exchange in which all agree that the segments
# are open; no memory for the first message to another node; an MPI call on one rank while a window across nodes is created; MPI cannot
# receive, on ARMCI over MPI; a collective call of ARMCI; a direct put or get of ARMCI; on one rank, a communicator that Hearth makes at the
# start, the attribute of a new one, or the agreement on its context. Also: MPI cannot receive a message; every fourth allocation fails
# while windows are cached.
#   test_calls_quick.sh MPI TREE      quick: mpich; timeout: 120
exec "$(dirname "${BASH_SOURCE[0]}")/test_calls.sh" "$1" "$2" memory:endpoints:1 armci:endpoints:1 memory:files:50%:on \
    pages:system:50%:on pages:Allgather:79::ends helpers:mpi:3 armcimpi:polls:100::ends armci:mpi:50%::ends \
    direct:sends:40%::ends direct:sends:80%::ends messages:Comm_dup:1 messages:Comm_split_type:1 \
    communicators:Comm_set_attr:2::ends communicators:Iallreduce:2::ends host:Test:100:on:ends host:memory:12:on windows:memory:4:every
