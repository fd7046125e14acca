/* hints.h: usage hints of a process for ranges of memory. Consulted on a miss. */
#ifndef HEARTH_PAGES_HINTS_H
#define HEARTH_PAGES_HINTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "pages/pages.h"

enum { HINTS_MOST = 256 };

struct hints {
    pthread_rwlock_t lock;
    _Atomic uint32_t count;
    struct hint {
        int32_t rank;
        uint8_t hint;
        uint64_t from, to;
    } ranges[HINTS_MOST];
};

void pages_hints_open(struct hints *h);
void pages_hints_close(struct hints *h);

/* Replaces any earlier hints for parts of the range. Returns 0 or -ENOSPC. */
int pages_hints_set(struct hints *h, int rank, uint64_t from, uint64_t to, enum pages_hint hint);
enum pages_hint pages_hints_of(struct hints *h, int rank, uint64_t at);

#endif
