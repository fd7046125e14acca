/* segment.h: memory of one process that the others of the node map. */
#ifndef HEARTH_NET_SEGMENT_H
#define HEARTH_NET_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* What the others need to reach this process's segment; exchanged by the caller, by whatever means. */
struct net_address {
    char bytes[64];
};

/* Where a segment begins: random, so that nothing else is taken for it. */
struct segment_token {
    uint64_t words[2];
};

struct segment {
    void *base; /* NULL: not open */
    size_t bytes;
    int file; /* the owner's; -1 in the others */
    int process;
};

/* Makes one, zeroed but for the token, with all of its memory; 0 or a negative code after a line. */
int segment_create(struct segment *s, size_t bytes, struct net_address *address);

/* Maps that of another process, which is called `rank` in messages. -EPERM, -EACCES, -ENOENT: the system
 * does not let us; -ESTALE: it is not the one that was announced; -ENOMEM ... */
int segment_attach(struct segment *s, const struct net_address *address, int rank);

void segment_close(struct segment *s);

/* For tests: the n-th request to the system from now fails, and all after it; 0 = never. */
void segment_fail_at(unsigned n);

#endif
