/* service_shown.c: the counters of the node, for hearth top (see observe/live.h). They lie in memory that its processes share and that no
 * other process can open. The service's thread copies them after each pass of its loop and each wakeup. Caller-driven
 * progress (service_progress.c) wakes the thread too, when the answer arrives, so its effects are visible a moment
 * later. */
#include "pages/service/service.h"

static uint64_t value(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void pages_service_note(struct service *s) {
    const struct pool_shared *p = s->pool->shared;
    const struct pool_counts *c = &p->counts;
    uint32_t used = p->frames - atomic_load_explicit(&p->free_count, memory_order_relaxed);
    int32_t left = atomic_load_explicit(&p->window, memory_order_relaxed);
    struct service_shown now = {.frames = p->frames,
                                .frames_used = used,
                                .requests = (uint64_t)(PAGES_WINDOW - left),
                                .page_bytes = p->page_bytes,
                                .from_nvm = value(&c->from_nvm),
                                .from_home = value(&c->from_home),
                                .from_peers = value(&c->from_peers),
                                .served_peers = value(&c->served_peers),
                                .evicted = value(&c->evicted),
                                .written_back = value(&c->written_back),
                                .nvm_reads = value(&c->nvm_reads),
                                .nvm_writes = value(&c->nvm_writes)};
    const uint64_t *from = (const uint64_t *)&now;
    uint64_t *to = (uint64_t *)&s->shown;
    for (size_t i = 0; i < sizeof now / sizeof *from; i++)
        __atomic_store_n(&to[i], from[i],
                         __ATOMIC_RELAXED); /* whole words, for live_read in another process */
}
