/* small.h: remote operations: small gets and puts, and updates of words, that are executed where the page is. */
#ifndef HEARTH_PAGES_SMALL_H
#define HEARTH_PAGES_SMALL_H

#include "pages/pages.h"

enum { SMALL_NO_SLOT = -1 };

struct small_operation {
    uint16_t home;
    uint32_t page, offset;
    uint16_t bytes; /* at most small_bytes of the pool */
    bool writes, updates;
    void *to;         /* destination of a read, or of the previous value of an updated word, or NULL */
    const void *from; /* source of a write, or a struct pages_update; NULL: fill with `value` */
    int value;
};

/* Waits for completion. */
void pages_small_run(struct pages *p, const struct small_operation *s);

/* Starts it for `op`. Returns whether it is done; else another thread may complete it at any time (pages_small_is_under_way). */
bool pages_small_begin(struct pages *p, struct pages_op *op, const struct small_operation *s);
bool pages_small_is_under_way(struct pages *p, struct pages_op *op);
void pages_small_finish(struct pages *p, struct pages_op *op);
/* At the end of the job: drops operations that were begun and will not be waited for. */
void pages_small_forget(struct pages *p);

#endif
