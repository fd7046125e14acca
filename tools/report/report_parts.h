/* report_parts.h: what a run has beside gets, summed over its ranks. */
#ifndef HEARTH_TOOLS_REPORT_PARTS_H
#define HEARTH_TOOLS_REPORT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an operation on a served window reaches its target: shared memory, the kernel, the helper of its node. */
enum { SERVED_WAYS = 3 };

/* Lengths of a queue: class 0 is empty, class b from 1 << (b - 1) to below 1 << b. */
enum { QUEUE_CLASSES = 32 };
struct queue_sum {
    uint64_t length[QUEUE_CLASSES];
    uint64_t most, most_rank;
};

struct messages_sum {
    bool is_counted; /* MPI matched them; Hearth counted the receives */
    bool is_matched; /* Hearth matched them */
    uint64_t posts;  /* receives */
    double waiting;  /* sum, over the posts, of the receives that waited */
    struct queue_sum posted,
        unexpected;              /* receives that wait at a post, or at an arrival; messages, at a post */
    uint64_t unexpected_samples; /* 0: not observed */
    /* only if Hearth matched them */
    uint64_t sent, sent_bytes, through_mpi, batched, arrivals, matched, wildcards;
    struct queue_sum searched; /* entries examined per search */
    double search_seconds;
};

struct heater_sum {
    uint64_t rank, rounds, lines, bytes;
    double core;
};

/* Calls of one kind: on the own node, to others, and their bytes. */
struct calls_sum {
    uint64_t local, remote, bytes;
};

enum { ARMCI_KINDS = 7 };
struct armci_sum {
    bool is_there;
    uint64_t nodes;
    struct calls_sum calls[ARMCI_KINDS];
    uint64_t blocks, block_bytes, waits, size_hints, grants, refused, wakes;
    uint64_t buffers, buffer_bytes, pool_buffers, pool_buffer_bytes;
    double busy_seconds, seconds; /* of the helpers */
};

/* clang-format off */
#define REPORT_PAGES(X)                                                                                      \
    X(hits, "found in the pool") X(misses, "fetched") X(from_nvm, "fetched from NVM, by their home")         \
    X(from_home, "fetched from the memory of their home") X(from_peers, "forwarded by other nodes")         \
    X(prefetched, "fetched ahead") X(smalls, "small accesses, executed at the home")                        \
    X(faults, "page faults") X(write_faults, "page faults of stores") X(served_peers, "forwarded to other nodes") \
    X(invalidated, "invalidated, as others write them") X(evicted, "evicted") X(written_back, "written back") \
    X(unmapped, "unmapped from a process") X(nvm_reads, "NVM reads") X(nvm_writes, "NVM writes")             \
    X(nvm_holes, "reads of pages never written") X(messages, "messages") X(message_bytes, "bytes in messages") \
    X(frames, "frames of the pools") X(frames_used, "frames in use at the end")
/* clang-format on */
enum { VGASNET_KINDS = 3 };
#define X(name, meaning) +1
enum { VGASNET_PAGES = 0 REPORT_PAGES(X) };
#undef X
struct vgasnet_sum {
    bool is_there, has_pages;
    uint64_t nodes, page_bytes;
    struct calls_sum calls[VGASNET_KINDS];
    uint64_t pages[VGASNET_PAGES]; /* in the order of REPORT_PAGES */
};

#endif
