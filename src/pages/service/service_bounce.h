/* service_bounce.h: bounce buffers: the bytes of a remote operation while the home or a holder has them. */
#ifndef HEARTH_PAGES_SERVICE_BOUNCE_H
#define HEARTH_PAGES_SERVICE_BOUNCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bounce {
    uint32_t next; /* of the free list: index + 1 */
    uint32_t offset, bytes;
    bool updates; /* the data are a struct pages_update */
    char data[];
};

struct service_bounces {
    char *base;
    size_t bytes;  /* of each, with its data */
    uint32_t free; /* list: index + 1 */
    uint32_t made, most;
};

/* Whether one is free: always, if the other nodes respect their windows. */
bool pages_bounce_is_left(const struct service_bounces *b);
uint32_t pages_bounce_take(struct service_bounces *b);
void pages_bounce_give(struct service_bounces *b, uint32_t index);

static inline struct bounce *pages_bounce_of(const struct service_bounces *b, uint32_t index) {
    return (struct bounce *)(b->base + (size_t)index * b->bytes);
}

#endif
