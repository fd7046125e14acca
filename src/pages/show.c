/* show.c: the counters of the pages, for hearth top (see observe/live.h) and for reports. Counters of a process are read in place; those of
 * the node are copied by the service (service/service_shown.c). */
#include "observe/live.h"
#include "pages/pages_internal.h"

/* Counters of the node are 0 except in its leader. */
void pages_show(const struct pages *p) {
    static const struct live_field fields[] = {
        LIVE_FIELD(page_hits, struct pages, tally.hits),
        LIVE_FIELD(page_misses, struct pages, tally.misses),
        LIVE_FIELD(page_smalls, struct pages, tally.smalls),
        LIVE_FIELD(page_prefetched, struct pages, tally.prefetched),
        LIVE_FIELD(page_faults, struct pages, tally.faults),
        LIVE_FIELD(page_faults, struct pages, tally.write_faults),
        LIVE_FIELD(page_bytes, struct pages, service.shown.page_bytes),
        LIVE_FIELD(frames, struct pages, service.shown.frames),
        LIVE_FIELD(frames_used, struct pages, service.shown.frames_used),
        LIVE_FIELD(page_requests, struct pages, service.shown.requests),
        LIVE_FIELD(from_nvm, struct pages, service.shown.from_nvm),
        LIVE_FIELD(from_home, struct pages, service.shown.from_home),
        LIVE_FIELD(from_peers, struct pages, service.shown.from_peers),
        LIVE_FIELD(served_peers, struct pages, service.shown.served_peers),
        LIVE_FIELD(evicted, struct pages, service.shown.evicted),
        LIVE_FIELD(written_back, struct pages, service.shown.written_back),
        LIVE_FIELD(nvm_reads, struct pages, service.shown.nvm_reads),
        LIVE_FIELD(nvm_writes, struct pages, service.shown.nvm_writes),
    };
    live_show(p, fields, sizeof fields / sizeof *fields);
}

void pages_hide(const struct pages *p) {
    live_hide(p);
}

void pages_count(const struct pages *p, struct pages_counts *c) {
    const struct pages_tally *t = &p->tally;
    const struct pool_shared *s = p->pool.shared;
    const struct pool_counts *n = &s->counts;
    *c = (struct pages_counts){.hits = t->hits,
                               .misses = t->misses,
                               .smalls = t->smalls,
                               .prefetched = t->prefetched,
                               .faults = t->faults,
                               .write_faults = t->write_faults,
                               .frames = s->frames,
                               .frames_used = s->frames - s->free_count,
                               .from_nvm = n->from_nvm,
                               .from_home = n->from_home,
                               .from_peers = n->from_peers,
                               .served_peers = n->served_peers,
                               .invalidated = n->invalidated,
                               .evicted = n->evicted,
                               .written_back = n->written_back,
                               .nvm_reads = n->nvm_reads,
                               .nvm_writes = n->nvm_writes,
                               .nvm_holes = n->nvm_holes,
                               .messages = n->messages,
                               .message_bytes = n->message_bytes,
                               .unmapped = n->unmapped};
}
