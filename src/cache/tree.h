/* tree.h: the free regions by size, then by address. */
#ifndef HEARTH_CACHE_TREE_H
#define HEARTH_CACHE_TREE_H

#include "cache/entry.h"

void tree_insert(struct cache *c, uint32_t id);
void tree_remove(struct cache *c, uint32_t id);

/* The smallest region of at least this size, or NOTHING. */
uint32_t tree_fit(struct cache *c, uint64_t room);

/* Returns 0, or -EINVAL if the tree is not ordered, not balanced, or of another size than c->regions. */
int tree_check(const struct cache *c);

#endif
