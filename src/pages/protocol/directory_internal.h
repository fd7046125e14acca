/* directory_internal.h: data layout of the directory; see directory.c. */
#ifndef HEARTH_PAGES_DIRECTORY_INTERNAL_H
#define HEARTH_PAGES_DIRECTORY_INTERNAL_H

#include "pages/protocol/directory.h"

enum { /* events that a transaction waits for */
       READ = 1,
       WRITTEN = 2,
       APPLIED_HERE = 4,
       ACKS = 8,
       WRITEBACK_DATA = 16,
       OWNED = 32,
       APPLIED = 64,
       UNBLOCK = 128,
       IO = READ | WRITTEN | APPLIED_HERE,
};

struct directory_request {
    uint64_t cookie;
    uint32_t tag;
    uint32_t next; /* in the queue: number + 1, or 0 */
    uint16_t from;
    uint8_t kind, flags;
    uint32_t unused;
};

struct directory_entry {
    uint64_t cookie;      /* of the transaction under way, as is tag */
    uint32_t first, last; /* of the queue: number + 1, or 0 */
    uint32_t next_ready;  /* page + 1, or 0 */
    uint32_t tag;
    uint16_t requester, source; /* source: the holder that the transaction was forwarded to */
    uint16_t owner, turn;
    uint16_t acks; /* outstanding */
    uint8_t known, kind, flags, awaits;
    uint8_t unused[2];
    uint64_t holders[];
};

struct pages_directory {
    struct pages_limits limits;
    uint32_t words; /* of a holder set */
    uint32_t open;  /* requests queued and transactions under way */
    uint32_t first_ready, last_ready;
    uint64_t slots[];
};

/* ---- layout ---- */

static inline size_t pages_entry_bytes(uint32_t words) {
    return sizeof(struct directory_entry) + words * sizeof(uint64_t);
}

static inline struct directory_request *pages_request_of(const struct pages_directory *d, uint32_t number) {
    return (struct directory_request *)&d->slots[d->limits.nodes] + number;
}

static inline struct directory_entry *pages_entry_of(const struct pages_directory *d, uint32_t page) {
    size_t requests = (size_t)d->limits.nodes * d->limits.window;
    return (struct directory_entry *)((char *)pages_request_of(d, 0) +
                                      requests * sizeof(struct directory_request) +
                                      page * pages_entry_bytes(d->words));
}

/* ---- holder sets ---- */

static inline bool pages_holder_has(const struct directory_entry *e, uint32_t node) {
    return e->holders[node / 64] >> node % 64 & 1;
}

static inline void pages_holder_add(struct directory_entry *e, uint32_t node) {
    e->holders[node / 64] |= UINT64_C(1) << node % 64;
}

static inline void pages_holder_drop(struct directory_entry *e, uint32_t node) {
    e->holders[node / 64] &= ~(UINT64_C(1) << node % 64);
}

static inline uint32_t pages_holder_count(const struct pages_directory *d, const struct directory_entry *e) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->words; i++)
        n += (uint32_t)__builtin_popcountll(e->holders[i]);
    return n;
}

/* The first holder at or after `node`, or NONE. */
enum { NONE = UINT32_MAX };
static inline uint32_t pages_holder_from(const struct pages_directory *d, const struct directory_entry *e,
                                         uint32_t node) {
    uint32_t word = node / 64;
    if (word >= d->words)
        return NONE;
    uint64_t bits = e->holders[word] & (UINT64_MAX << node % 64);
    while (!bits && ++word < d->words)
        bits = e->holders[word];
    return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : NONE;
}

static inline uint32_t pages_holder_next(const struct pages_directory *d, const struct directory_entry *e,
                                         uint32_t from) {
    uint32_t node = pages_holder_from(d, e, from);
    return node == NONE ? pages_holder_from(d, e, 0) : node;
}

#endif
