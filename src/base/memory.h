/* memory.h: large memory from the operating system, counted against a budget.
 *
 * All memory here is page-granular, zeroed, and lazily backed: untouched memory costs nothing. A failure returns an
 * error and changes nothing; the caller reports it. */
#ifndef HEARTH_MEMORY_H
#define HEARTH_MEMORY_H

#include <stddef.h>
#include <stdatomic.h>

/* A limit in bytes, shared by all its users. */
struct memory_budget {
    size_t limit;
    _Atomic size_t used;
};

/* For memory that comes from elsewhere. Takes bytes from a budget: 0 or -EDQUOT; and gives them back. NULL has no limit. */
int memory_budget_take(struct memory_budget *budget, size_t bytes);
void memory_budget_give(struct memory_budget *budget, size_t bytes);

struct memory {
    void *base; /* NULL if bytes is 0 */
    size_t bytes;
    struct memory_budget *budget; /* may be NULL: not counted */
};

/* Returns 0, -ENOMEM (the system has none) or -EDQUOT (the budget is used up). */
int memory_open(struct memory *m, size_t bytes, struct memory_budget *budget);

/* Grows or shrinks, keeping the contents up to the smaller size; base may move. On failure nothing changes. */
int memory_resize(struct memory *m, size_t bytes);

void memory_close(struct memory *m);

#endif
