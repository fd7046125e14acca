/* rank_table.c: see rank_table.h.
 *
 *      up to 65536 ranks   slots[rank]               -> record, or `none`
 *      more ranks          index: [hash of the rank] -> record, open addressing, at most half full
 *
 *      slabs of 16 records, by number: a pointer per slab, in a list that doubles
 *
 * Invariant: a slot only ever changes from free to a record. A reader therefore sees a record whole or not at all. The index
 * grows by replacement; readers may still look at the old one, so it is freed only with the table. All old ones together are
 * no larger than the current one. */
#include "tables/rank_table.h"

#include <errno.h>
#include <stdlib.h>

enum { SLAB = 16, FIRST_SLOTS = 16 };

/* The hash index. */
struct rank_index {
    uint32_t mask;
    struct rank_index *older;
    rank_slot slots[];
};

struct rank_store {
    size_t record_bytes;
    struct rank_record *none;
    uint32_t ranks;
    _Atomic(struct rank_index *) index; /* NULL: dense */
    char **slabs;
    uint32_t slab_count, slab_room;
};

/* ---- the hash index ---- */

/* Neighbours are used together, as a rule, so that the low bits alone spread them best. The high ones tell powers of two apart. */
static uint32_t first_slot(int rank, uint32_t mask) {
    uint32_t r = (uint32_t)rank;
    return (r ^ r >> 16) & mask;
}

static struct rank_index *index_open(uint32_t slots, struct rank_record *none) {
    struct rank_index *x = malloc(sizeof *x + slots * sizeof x->slots[0]);
    if (!x)
        return NULL;
    x->mask = slots - 1;
    x->older = NULL;
    for (uint32_t i = 0; i < slots; i++)
        atomic_init(&x->slots[i], none);
    return x;
}

static void index_add(struct rank_index *x, struct rank_record *r) {
    uint32_t i = first_slot(r->rank, x->mask);
    while (atomic_load_explicit(&x->slots[i], memory_order_relaxed)->rank >= 0)
        i = (i + 1) & x->mask;
    atomic_store_explicit(&x->slots[i], r, memory_order_release);
}

struct rank_record *rank_table_find_hashed(const struct rank_table *t, int rank) {
    const struct rank_store *s = t->store;
    struct rank_index *x = s ? atomic_load_explicit(&s->index, memory_order_acquire) : NULL;
    if (!x || (uint32_t)rank >= s->ranks)
        return s ? s->none : NULL;
    for (uint32_t i = first_slot(rank, x->mask);; i = (i + 1) & x->mask) {
        struct rank_record *r = atomic_load_explicit(&x->slots[i], memory_order_acquire);
        if (r->rank == rank || r->rank < 0)
            return r;
    }
}

/* Makes room for one more record in the index. */
static int index_reserve(struct rank_table *t) {
    struct rank_store *s = t->store;
    struct rank_index *old = atomic_load_explicit(&s->index, memory_order_relaxed);
    if (!old || 2 * (t->count + 1) <= old->mask + 1)
        return 0;
    struct rank_index *new = index_open(2 * (old->mask + 1), s->none);
    if (!new)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->count; i++)
        index_add(new, rank_table_at(t, i));
    new->older = old;
    atomic_store_explicit(&s->index, new, memory_order_release);
    return 0;
}

/* ---- records ---- */

struct rank_record *rank_table_at(const struct rank_table *t, uint32_t number) {
    const struct rank_store *s = t->store;
    return (struct rank_record *)(void *)(s->slabs[number / SLAB] + number % SLAB * s->record_bytes);
}

static int slab_reserve(struct rank_table *t) {
    struct rank_store *s = t->store;
    if (t->count < s->slab_count * SLAB)
        return 0;
    if (s->slab_count == s->slab_room) {
        uint32_t room = s->slab_room ? 2 * s->slab_room : 4;
        char **more = realloc(s->slabs, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->slabs = more;
        s->slab_room = room;
    }
    uint32_t left = s->ranks - t->count;
    s->slabs[s->slab_count] = calloc(left < SLAB ? left : SLAB, s->record_bytes);
    if (!s->slabs[s->slab_count])
        return -ENOMEM;
    s->slab_count++;
    return 0;
}

struct rank_record *rank_table_prepare(struct rank_table *t, int rank) {
    if (slab_reserve(t) || index_reserve(t))
        return NULL;
    struct rank_record *r = rank_table_at(t, t->count);
    *r = (struct rank_record){.rank = rank, .number = t->count};
    return r;
}

void rank_table_add(struct rank_table *t, struct rank_record *r) {
    t->count++;
    if (t->dense)
        atomic_store_explicit(&t->slots[r->rank], r, memory_order_release);
    else
        index_add(atomic_load_explicit(&t->store->index, memory_order_relaxed), r);
}

/* ---- the table ---- */

int rank_table_open(struct rank_table *t, uint32_t ranks, size_t record_bytes, struct rank_record *none) {
    bool dense = ranks <= RANK_TABLE_DENSE;
    struct rank_store *s = calloc(1, sizeof *s);
    rank_slot *slots = dense ? malloc(ranks * sizeof *slots) : NULL;
    struct rank_index *index = dense ? NULL : index_open(FIRST_SLOTS, none);
    *t = (struct rank_table){.slots = slots, .dense = dense ? ranks : 0, .store = s};
    if (!s || (dense ? !slots && ranks : !index)) {
        free(s);
        free(slots);
        free(index);
        *t = (struct rank_table){0};
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < t->dense; i++)
        atomic_init(&slots[i], none);
    s->record_bytes = record_bytes;
    s->none = none;
    s->ranks = ranks;
    atomic_init(&s->index, index);
    return 0;
}

void rank_table_close(struct rank_table *t) {
    struct rank_store *s = t->store;
    if (!s)
        return;
    struct rank_index *x = atomic_load_explicit(&s->index, memory_order_relaxed);
    while (x) {
        struct rank_index *older = x->older;
        free(x);
        x = older;
    }
    for (uint32_t i = 0; i < s->slab_count; i++)
        free(s->slabs[i]);
    free(s->slabs);
    free(s);
    free(t->slots);
    *t = (struct rank_table){0};
}

size_t rank_table_bytes(uint32_t ranks, size_t record_bytes, uint32_t used) {
    uint64_t slots = FIRST_SLOTS, slabs = (used + SLAB - 1) / SLAB, list = slabs ? 4 : 0;
    while (slots < 2 * (uint64_t)used)
        slots *= 2;
    while (list < slabs)
        list *= 2;
    /* With its older indexes, a hash index has less than twice its slots. */
    uint64_t index = ranks <= RANK_TABLE_DENSE ? ranks : 2 * slots - FIRST_SLOTS;
    uint64_t records = slabs * SLAB < ranks ? slabs * SLAB : ranks;
    return sizeof(struct rank_store) + index * sizeof(rank_slot) + records * record_bytes +
           list * sizeof(char *);
}
