/* write.h: keeping track of which entries a write touches. */
#ifndef HEARTH_CACHE_WRITE_H
#define HEARTH_CACHE_WRITE_H

#include "cache/entry.h"

/* An entry that lookups may find has come, changed its length, or gone. */
void write_note(struct cache *c, uint32_t id);
void write_forget(struct cache *c, uint32_t id);
/* All have gone. */
void write_forget_all(struct cache *c);

/* The pool has grown. */
void write_resize(struct cache *c);
void write_close(struct cache *c);

/* The smallest range of the target's bytes that holds the access. */
void write_range(uint64_t disp, const struct shape *shape, uint64_t *lo, uint64_t *hi);

#endif
