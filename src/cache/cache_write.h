/* cache_write.h: tracks which entries a write overlaps. */
#ifndef HEARTH_CACHE_WRITE_H
#define HEARTH_CACHE_WRITE_H

#include "cache/entry.h"
#include "tables/shape.h"

/* An entry that lookups may find was added, changed its length, or was removed. */
void write_note(struct cache *c, uint32_t id);
void write_forget(struct cache *c, uint32_t id);
/* All were removed. */
void write_forget_all(struct cache *c);

/* The pool has grown. */
void write_resize(struct cache *c);
void write_close(struct cache *c);

/* The smallest range of the target's bytes that contains the access. */
void write_range(uint64_t disp, const struct shape *shape, uint64_t *lo, uint64_t *hi);

#endif
