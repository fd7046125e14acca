/* memory.c: mmap, mremap, munmap, and the budget. mremap moves page tables, not bytes, so growing does not copy. */
#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

int memory_budget_take(struct memory_budget *budget, size_t bytes) {
    if (!budget)
        return 0;
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (bytes > budget->limit || used > budget->limit - bytes)
            return -EDQUOT;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

void memory_budget_give(struct memory_budget *budget, size_t bytes) {
    if (budget)
        atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

static size_t memory_whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes > SIZE_MAX - page ? 0 : (bytes + page - 1) / page * page;
}

static void prefer_huge_pages(void *base, size_t bytes) {
    if (bytes >= HUGE_PAGE)
        (void)madvise(base, bytes, MADV_HUGEPAGE); /* a hint: fewer faults and TLB misses */
}

int memory_open(struct memory *m, size_t bytes, struct memory_budget *budget) {
    size_t length = memory_whole_pages(bytes);
    if (!length)
        return -ENOMEM;
    int err = memory_budget_take(budget, length);
    if (err)
        return err;
    void *base =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        memory_budget_give(budget, length);
        return -ENOMEM;
    }
    prefer_huge_pages(base, length);
    *m = (struct memory){.base = base, .bytes = length, .budget = budget};
    return 0;
}

int memory_resize(struct memory *m, size_t bytes) {
    size_t length = memory_whole_pages(bytes);
    int grows = length > m->bytes;
    if (!length)
        return -ENOMEM;
    if (length == m->bytes)
        return 0;
    int err = grows ? memory_budget_take(m->budget, length - m->bytes) : 0;
    if (err)
        return err;
    void *base = mremap(m->base, m->bytes, length, MREMAP_MAYMOVE);
    if (base == MAP_FAILED) {
        if (grows)
            memory_budget_give(m->budget, length - m->bytes);
        return -ENOMEM;
    }
    if (!grows)
        memory_budget_give(m->budget, m->bytes - length);
    prefer_huge_pages(base, length);
    m->base = base;
    m->bytes = length;
    return 0;
}

void memory_close(struct memory *m) {
    if (m->base) {
        munmap(m->base, m->bytes);
        memory_budget_give(m->budget, m->bytes);
    }
    *m = (struct memory){0};
}
