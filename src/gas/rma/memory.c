/* memory.c: opens and closes segments, and dispatches accesses to pages (pages/) or to memory (dram.c).
 *
 * A put from the own segment to the own segment may overlap: that is a memmove, by loads and stores, as the program
 * itself could do it. Everything else takes the same path as for other ranks, so that it is ordered with their
 * concurrent accesses. */
#include "gas/rma/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gas/am/am.h"

/* ---- reading and writing ---- */

static bool overlap(int rank, const void *local, const void *remote, size_t bytes) {
    uintptr_t a = (uintptr_t)local, b = (uintptr_t)remote;
    return rank == gas.rank && (a < b ? b - a : a - b) < bytes;
}

void memory_get(void *to, int rank, const void *from, size_t bytes) {
    if (!gas.pages) {
        dram_get(to, rank, from, bytes);
        return;
    }
    am_enter();
    if (UNLIKELY(overlap(rank, to, from, bytes)))
        memmove(to, from, bytes);
    else
        pages_get(gas.pages, to, rank, from, bytes);
    am_leave();
}

void memory_put(int rank, void *to, const void *from, size_t bytes) {
    if (!gas.pages) {
        dram_put(rank, to, from, bytes);
        return;
    }
    am_enter();
    if (UNLIKELY(overlap(rank, from, to, bytes)))
        memmove(to, from, bytes);
    else
        pages_put(gas.pages, rank, to, from, bytes);
    am_leave();
}

void memory_set(int rank, void *to, int value, size_t bytes) {
    am_enter();
    if (gas.pages)
        pages_set(gas.pages, rank, to, value, bytes);
    else
        dram_set(rank, to, value, bytes);
    am_leave();
}

/* ---- operations in two steps ---- */

bool memory_begin_get(struct memory_op *op, void *to, int rank, const void *from, size_t bytes) {
    if (!gas.pages)
        return dram_begin_get(&op->at.dram, to, rank, from, bytes);
    if (UNLIKELY(overlap(rank, to, from, bytes))) {
        memmove(to, from, bytes);
        return true;
    }
    pages_begin_get(gas.pages, &op->at.pages, to, rank, from, bytes);
    return op->at.pages.bytes == 0;
}

bool memory_begin_put(struct memory_op *op, int rank, void *to, const void *from, size_t bytes) {
    if (!gas.pages)
        return dram_begin_put(&op->at.dram, rank, to, from, bytes);
    if (UNLIKELY(overlap(rank, from, to, bytes))) {
        memmove(to, from, bytes);
        return true;
    }
    pages_begin_put(gas.pages, &op->at.pages, rank, to, from, bytes);
    return op->at.pages.bytes == 0;
}

/* Pages have no set in two steps: a set needs few messages, whatever its size. */
bool memory_begin_set(struct memory_op *op, int rank, void *to, int value, size_t bytes) {
    if (!gas.pages)
        return dram_begin_set(&op->at.dram, rank, to, value, bytes);
    pages_set(gas.pages, rank, to, value, bytes);
    return true;
}

bool memory_try(struct memory_op *op) {
    am_enter();
    bool done = gas.pages ? pages_try(gas.pages, &op->at.pages) : dram_try(&op->at.dram);
    am_leave();
    return done;
}

bool memory_free_source(struct memory_op *op) {
    if (!gas.pages) {
        dram_free_source(&op->at.dram);
        return false;
    }
    pages_finish(gas.pages, &op->at.pages);
    return true;
}

void memory_finish(struct memory_op *op) {
    am_enter();
    if (gas.pages)
        pages_finish(gas.pages, &op->at.pages);
    else
        dram_finish(&op->at.dram);
    am_leave();
}

/* ---- address checks ---- */

static bool is_inside(const gasnet_seginfo_t *s, const void *address, size_t bytes) {
    uintptr_t offset = (uintptr_t)address - (uintptr_t)s->addr;
    return offset <= s->size && bytes <= s->size - offset;
}

static _Noreturn void say_outside(const char *call, gasnet_node_t node, const void *address, size_t bytes) {
    const gasnet_seginfo_t *s = &gas.segments[node];
    gas_fail(call, "%zu bytes at %p do not lie in the segment of node %u, which is %p ... %p", bytes, address,
             (unsigned)node, s->addr, (void *)((char *)s->addr + s->size));
}

bool memory_check(const char *call, gasnet_node_t node, const void *address, size_t bytes) {
    gas_need(call, node);
    if (LIKELY(is_inside(&gas.segments[node], address, bytes)))
        return false;
    if ((int)node != gas.rank && bytes > 0)
        say_outside(call, node, address, bytes);
    return true;
}

bool memory_is_paged(const void *address, size_t bytes) {
    if (!gas.pages)
        return false;
    const gasnet_seginfo_t *s = &gas.segments[gas.rank];
    uintptr_t low = (uintptr_t)address, base = (uintptr_t)s->addr;
    return bytes > 0 && low < base + s->size && low + bytes > base;
}

/* ---- opening and closing ---- */

static void pages_failed(void *arg, const char *why) {
    (void)arg, (void)why; /* the error was logged */
    net_boot_abort(EXIT_FAILURE);
}

static const struct pages_events events = {.failed = pages_failed};

static void make_table(void) {
    gas.segments = calloc((size_t)gas.size, sizeof *gas.segments);
    if (!gas.segments)
        gas_fail("gasnet_attach", "no memory for a table of %d segments", gas.size);
}

/* Segments of the own node are mapped in this process. */
static void make_direct(void) {
    gas.direct = calloc((size_t)gas.size, sizeof *gas.direct);
    if (!gas.direct)
        gas_fail("gasnet_attach", "no memory for a table of %d segments", gas.size);
    for (int i = 0; i < gas.size; i++)
        if (gas_same_node((gasnet_node_t)i))
            gas.direct[i] = gas.segments[i];
    gas.direct_count = (gasnet_node_t)gas.size;
}

static int open_pages(uint64_t bytes) {
    int status = pages_open(&gas.boot, gas.world, &gas.comm, bytes, &events, &gas.pages);
    if (status != 0)
        return status;
    make_table();
    for (int i = 0; i < gas.size; i++)
        gas.segments[i] =
            (gasnet_seginfo_t){.addr = pages_base(gas.pages, i), .size = pages_bytes(gas.pages, i)};
    return 0;
}

static int open_dram(uint64_t bytes) {
    char *base = NULL;
    int status = dram_open(bytes, &base), worst = 0;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, gas.comm); /* nodes fail independently */
    if (worst != 0) {
        dram_close();
        return worst;
    }
    make_table();
    gasnet_seginfo_t mine = {.addr = base, .size = bytes};
    status = net_boot_gather(&gas.boot, &mine, gas.segments, sizeof mine);
    if (status == 0)
        make_direct();
    return status;
}

int memory_attach(uint64_t bytes) {
    return settings_get()->nvm ? open_pages(bytes) : open_dram(bytes);
}

bool memory_is_durable(void) {
    return gas.pages && *settings_get()->nvm_name;
}

int memory_detach(bool keep, bool ends) {
    int status = 0;
    if (gas.pages && ends)
        pages_end(gas.pages);
    if (gas.pages)
        status = pages_close(gas.pages, &gas.boot, keep);
    else if (!ends)
        dram_close();
    if (ends)
        return status;
    gas.pages = NULL;
    free(gas.segments);
    gas.segments = NULL;
    gas.direct_count = 0;
    free(gas.direct);
    gas.direct = NULL;
    return status;
}
