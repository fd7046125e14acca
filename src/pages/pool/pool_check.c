/* pool_check.c: the invariants of the pool. No other process may use it meanwhile. */
#include <stdlib.h>

#include "pages/pool/pool.h"

static void pool_must(bool holds) {
    if (!holds)
        abort();
}

static uint32_t count_bucket(const struct pages_pool *p, const struct pool_bucket *b) {
    uint32_t count = 0;
    for (uint32_t i = b->first; i; i = p->frames[i - 1].next, count++) {
        const struct pool_frame *f = &p->frames[i - 1];
        pool_must(count < p->shared->frames && !f->gone);
        pool_must(pages_pool_bucket_of(p, f->control.home, f->control.page) == b);
        pool_must(p->links[i - 1].list != REPLACE_NONE);
        pages_control_check(&f->control);
    }
    return count;
}

void pages_pool_check(const struct pages_pool *p) {
    const struct pool_shared *s = p->shared;
    uint32_t held = 0, free = 0, gone = 0;
    for (uint32_t i = 0; i < s->buckets; i++)
        held += count_bucket(p, &p->buckets[i]);
    for (uint32_t i = s->first_free; i; i = p->frames[i - 1].next)
        free++;
    for (uint32_t i = 0; i < s->frames; i++)
        gone += p->frames[i].gone;
    pool_must(free == atomic_load(&s->free_count));
    pool_must(held + free + gone <= s->frames);
    pool_must(pages_replace_check(&s->replace, p->links));
}
