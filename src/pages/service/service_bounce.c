/* service_bounce.c: bounce buffers of remote operations: as many as there can be requests, and answers to as many. The
 * first use of a buffer commits its memory; later it is taken from the free list. */
#include "pages/service/service_bounce.h"

#include <stdlib.h>

bool pages_bounce_is_left(const struct service_bounces *b) {
    return b->free || b->made < b->most;
}

uint32_t pages_bounce_take(struct service_bounces *b) {
    uint32_t index = b->free ? b->free - 1 : b->made;
    if (b->free)
        b->free = pages_bounce_of(b, index)->next;
    else if (b->made == b->most)
        abort(); /* callers check pages_bounce_is_left first */
    else
        b->made++;
    return index;
}

void pages_bounce_give(struct service_bounces *b, uint32_t index) {
    pages_bounce_of(b, index)->next = b->free;
    b->free = index + 1;
}
