/* extents.c: a sorted array of the free ranges. Invariant: count <= taken + 1, since any two free ranges have a
 * taken range between them. While a range is being freed, before it is merged with its neighbours, count <= taken +
 * 2. */
#include "net/shm/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

int net_extents_reserve(struct extents *e) {
    if (e->taken + 3 <= e->room)
        return 0;
    size_t room = e->room > 0 ? 2 * e->room : 16;
    struct extent *more = realloc(e->free, room * sizeof *more);
    if (!more)
        return -ENOMEM;
    e->free = more;
    e->room = room;
    return 0;
}

int net_extents_open(struct extents *e, uint64_t bytes) {
    *e = (struct extents){0};
    int err = net_extents_reserve(e);
    if (!err && bytes > 0)
        e->free[e->count++] = (struct extent){0, bytes};
    return err;
}

void net_extents_close(struct extents *e) {
    free(e->free);
    *e = (struct extents){0};
}

static void extents_insert(struct extents *e, size_t at, struct extent x) {
    memmove(&e->free[at + 1], &e->free[at], (e->count - at) * sizeof x);
    e->free[at] = x;
    e->count++;
}

static void extents_remove(struct extents *e, size_t at) {
    e->count--;
    memmove(&e->free[at], &e->free[at + 1], (e->count - at) * sizeof *e->free);
}

/* The remainders on both sides stay free. */
static void extents_cut(struct extents *e, size_t at, uint64_t offset, uint64_t bytes) {
    struct extent before = e->free[at], behind = before;
    before.bytes = offset - before.offset;
    behind.offset = offset + bytes;
    behind.bytes -= before.bytes + bytes;
    if (before.bytes > 0 && behind.bytes > 0)
        extents_insert(e, at + 1, behind);
    if (before.bytes > 0)
        e->free[at] = before;
    else if (behind.bytes > 0)
        e->free[at] = behind;
    else
        extents_remove(e, at);
}

uint64_t net_extents_take(struct extents *e, uint64_t bytes, uint64_t alignment) {
    for (size_t i = 0; i < e->count; i++) {
        uint64_t offset = round_up(e->free[i].offset, alignment), skipped = offset - e->free[i].offset;
        if (skipped <= e->free[i].bytes && bytes <= e->free[i].bytes - skipped) {
            extents_cut(e, i, offset, bytes);
            e->taken++;
            return offset;
        }
    }
    return EXTENTS_NONE;
}

void net_extents_give(struct extents *e, uint64_t offset, uint64_t bytes) {
    size_t at = 0;
    while (at < e->count && e->free[at].offset < offset)
        at++;
    extents_insert(e, at, (struct extent){offset, bytes});
    if (at + 1 < e->count && offset + bytes == e->free[at + 1].offset) {
        e->free[at].bytes += e->free[at + 1].bytes;
        extents_remove(e, at + 1);
    }
    if (at > 0 && e->free[at - 1].offset + e->free[at - 1].bytes == offset) {
        e->free[at - 1].bytes += e->free[at].bytes;
        extents_remove(e, at);
    }
    e->taken--;
}
