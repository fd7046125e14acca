/* directory_check.c: read-only inspection of a directory, for reports and tests. */
#include <stdlib.h>

#include "pages/protocol/directory_internal.h"

bool pages_directory_is_idle(const struct pages_directory *d) {
    return !d->open;
}

bool pages_directory_holds(const struct pages_directory *d, uint32_t page, uint32_t node) {
    return pages_holder_has(pages_entry_of(d, page), node);
}

struct pages_look pages_directory_look(const struct pages_directory *d, uint32_t page) {
    const struct directory_entry *e = pages_entry_of(d, page);
    return (struct pages_look){.known = (enum pages_known)e->known,
                               .holders = pages_holder_count(d, e),
                               .owner = e->owner,
                               .busy = (enum pages_kind)e->kind,
                               .overwrites = e->flags & PAGES_OVERWRITE};
}

static void directory_must(bool holds) {
    if (!holds)
        abort();
}

static uint32_t directory_check_queue(const struct pages_directory *d, const struct directory_entry *e) {
    uint32_t length = 0, last = 0;
    for (uint32_t i = e->first; i; i = pages_request_of(d, i - 1)->next, length++) {
        const struct directory_request *r = pages_request_of(d, i - 1);
        directory_must(r->from == (i - 1) / d->limits.window && r->kind >= PAGES_GETS &&
                       r->kind <= PAGES_SMALL);
        directory_must(d->slots[r->from] >> (i - 1) % d->limits.window & 1);
        last = i;
    }
    directory_must(last == e->last);
    return length;
}

static void directory_check_entry(const struct pages_directory *d, const struct directory_entry *e) {
    uint32_t holders = pages_holder_count(d, e);
    bool losing = e->awaits & ACKS; /* holders are removed one by one */
    directory_must(pages_holder_from(d, e, d->limits.nodes) == NONE);
    directory_must(e->kind ? e->awaits != 0 : !e->awaits && !e->acks && !e->source && !e->requester);
    directory_must(!(e->awaits & ACKS) == !e->acks);
    if (e->kind)
        return; /* mid-transaction */
    directory_must(!losing);
    directory_must(e->known != PAGES_UNCACHED || holders == 0);
    directory_must(e->known != PAGES_SHARED || holders > 0);
    directory_must(e->known != PAGES_EXCLUSIVE || holders == 1);
    directory_must(e->known != PAGES_OWNED_SHARED || (holders > 1 && d->limits.coop));
    directory_must(e->known == PAGES_EXCLUSIVE || e->known == PAGES_OWNED_SHARED
                       ? pages_holder_has(e, e->owner)
                       : !e->owner);
}

void pages_directory_check(const struct pages_directory *d) {
    uint32_t open = 0, waiting = 0, ready = 0, taken = 0, listed = 0;
    for (uint32_t page = 0; page < d->limits.pages; page++) {
        const struct directory_entry *e = pages_entry_of(d, page);
        uint32_t length = directory_check_queue(d, e);
        directory_check_entry(d, e);
        open += length + (e->kind != 0);
        waiting += length;
        ready += length && !e->kind;
    }
    for (uint32_t node = 0; node < d->limits.nodes; node++)
        taken += (uint32_t)__builtin_popcountll(d->slots[node]);
    directory_must(open == d->open && waiting == taken);
    uint32_t last = 0;
    for (uint32_t i = d->first_ready; i; i = pages_entry_of(d, i - 1)->next_ready, listed++) {
        directory_must(pages_entry_of(d, i - 1)->first && !pages_entry_of(d, i - 1)->kind);
        last = i;
    }
    directory_must(listed == ready && last == d->last_ready);
}
