/* segment.h: memory of one process that the others of the node map. */
#ifndef HEARTH_NET_SEGMENT_H
#define HEARTH_NET_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "net/memfile.h"

/* It begins with its struct segment_token. */
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

/* The same for other uses: `otherwise` ends the line, and says what follows from the failure. */
int segment_create_for(const char *otherwise, struct segment *s, size_t bytes, struct net_address *address);
int segment_attach_for(const char *otherwise, struct segment *s, const struct net_address *address, int rank);

/* All have attached: gives the owner's descriptor back. */
void segment_settle(struct segment *s);

void segment_close(struct segment *s);

/* For tests: the n-th request to the system from now fails, and all after it; 0 = never. */
void segment_fail_at(unsigned n);

#endif
