/* small.h: operations that are done where the page is. */
#ifndef HEARTH_PAGES_SMALL_H
#define HEARTH_PAGES_SMALL_H

#include "pages/pages.h"

enum { SMALL_NO_SLOT = -1 };

struct small_operation {
    uint16_t home;
    uint32_t page, offset;
    uint16_t bytes; /* at most those that the pool has room for */
    bool writes;
    void *to;         /* reads */
    const void *from; /* writes; NULL: `value`, over and over */
    int value;
};

/* Waits until it is done. */
void pages_small(struct pages *p, const struct small_operation *s);

/* Begins it for `op`; its bytes are 0 when it is done. */
void pages_small_begin(struct pages *p, struct pages_op *op, const struct small_operation *s);
bool pages_small_is_under_way(struct pages *p, struct pages_op *op);
void pages_small_finish(struct pages *p, struct pages_op *op);
/* At the end: those that were begun and that nobody will wait for. */
void pages_small_forget(struct pages *p);

#endif
