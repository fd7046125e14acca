/* gas_memory.c: opens and closes segments, and dispatches accesses to pages (pages/) or to memory (dram.c).
 *
 * A put from the own segment to the own segment may overlap: that is a memmove, by loads and stores, as the program
 * itself could do it. Everything else takes the same path as for other ranks, so that it is ordered with their
 * concurrent accesses. */
#include "gas/memory/gas_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/job_end.h"
#include "base/log.h"
#include "base/settings.h"
#include "gas/process/context.h"
#include "gas/process/gas_comm.h"
#include "gas/memory/gas_update.h"

/* ---- reading and writing ---- */

static bool overlap(int rank, const void *local, const void *remote, size_t bytes) {
    uintptr_t a = (uintptr_t)local, b = (uintptr_t)remote;
    return rank == gas_job.rank && (a < b ? b - a : a - b) < bytes;
}

void gas_memory_get(void *to, int rank, const void *from, size_t bytes) {
    if (!gas_job.pages) {
        gas_dram_get(to, rank, from, bytes);
        return;
    }
    gas_am_enter();
    if (UNLIKELY(overlap(rank, to, from, bytes)))
        memmove(to, from, bytes);
    else
        pages_get(gas_job.pages, to, rank, from, bytes);
    gas_am_leave();
}

void gas_memory_put(int rank, void *to, const void *from, size_t bytes) {
    if (!gas_job.pages) {
        gas_dram_put(rank, to, from, bytes);
        return;
    }
    gas_am_enter();
    if (UNLIKELY(overlap(rank, from, to, bytes)))
        memmove(to, from, bytes);
    else
        pages_put(gas_job.pages, rank, to, from, bytes);
    gas_am_leave();
}

void gas_memory_set(int rank, void *to, int value, size_t bytes) {
    gas_am_enter();
    if (gas_job.pages)
        pages_set(gas_job.pages, rank, to, value, bytes);
    else
        gas_dram_set(rank, to, value, bytes);
    gas_am_leave();
}

/* ---- operations in two steps ---- */

bool gas_memory_begin_get(struct memory_op *op, void *to, int rank, const void *from, size_t bytes) {
    if (!gas_job.pages)
        return gas_dram_begin_get(&op->at.dram, to, rank, from, bytes);
    if (UNLIKELY(overlap(rank, to, from, bytes))) {
        memmove(to, from, bytes);
        return true;
    }
    return pages_begin_get(gas_job.pages, &op->at.pages, to, rank, from, bytes);
}

bool gas_memory_begin_put(struct memory_op *op, int rank, void *to, const void *from, size_t bytes) {
    if (!gas_job.pages)
        return gas_dram_begin_put(&op->at.dram, rank, to, from, bytes);
    if (UNLIKELY(overlap(rank, from, to, bytes))) {
        memmove(to, from, bytes);
        return true;
    }
    return pages_begin_put(gas_job.pages, &op->at.pages, rank, to, from, bytes);
}

/* Pages have no set in two steps: a set needs few messages, whatever its size. */
bool gas_memory_begin_set(struct memory_op *op, int rank, void *to, int value, size_t bytes) {
    if (!gas_job.pages)
        return gas_dram_begin_set(&op->at.dram, rank, to, value, bytes);
    pages_set(gas_job.pages, rank, to, value, bytes);
    return true;
}

/* A word of the own segment is updated where it is mapped, which also fetches its page. */
bool gas_memory_begin_update(struct memory_op *op, void *old, int rank, void *at,
                             const struct pages_update *u) {
    if (!gas_job.pages)
        return gas_dram_begin_update(&op->at.dram, old, rank, at, u);
    if (rank == gas_job.rank) {
        uint64_t before = gas_update_apply(at, u);
        if (old)
            memcpy(old, &before, u->bytes);
        return true;
    }
    return pages_begin_update(gas_job.pages, &op->at.pages, old, rank, at, u);
}

bool gas_memory_try(struct memory_op *op) {
    gas_am_enter();
    bool done = gas_job.pages ? pages_try(gas_job.pages, &op->at.pages) : gas_dram_try(&op->at.dram);
    gas_am_leave();
    return done;
}

bool gas_memory_free_source(struct memory_op *op) {
    if (!gas_job.pages) {
        gas_dram_free_source(&op->at.dram);
        return false;
    }
    pages_finish(gas_job.pages, &op->at.pages);
    return true;
}

/* Pages report only that the whole put is complete, which gas_memory_try tells. */
bool gas_memory_source_is_free(struct memory_op *op) {
    return !gas_job.pages && gas_dram_source_is_free(&op->at.dram);
}

void gas_memory_finish(struct memory_op *op) {
    gas_am_enter();
    if (gas_job.pages)
        pages_finish(gas_job.pages, &op->at.pages);
    else
        gas_dram_finish(&op->at.dram);
    gas_am_leave();
}

bool gas_memory_is_update(const struct memory_op *op) {
    return gas_job.pages && pages_is_update(&op->at.pages);
}

/* ---- address checks ---- */

static bool memory_is_inside(const gasnet_seginfo_t *s, const void *address, size_t bytes) {
    uintptr_t offset = (uintptr_t)address - (uintptr_t)s->addr;
    return offset <= s->size && bytes <= s->size - offset;
}

static _Noreturn void say_outside(const char *call, gasnet_node_t node, const void *address, size_t bytes) {
    const gasnet_seginfo_t *s = &gas_job.segments[node];
    gas_fail(call, "%zu bytes at %p do not lie in the segment of node %u, which is %p ... %p", bytes, address,
             (unsigned)node, s->addr, (void *)((char *)s->addr + s->size));
}

bool gas_memory_check(const char *call, gasnet_node_t node, const void *address, size_t bytes) {
    gas_need(call, node);
    if (LIKELY(memory_is_inside(&gas_job.segments[node], address, bytes)))
        return false;
    if ((int)node != gas_job.rank && bytes > 0)
        say_outside(call, node, address, bytes);
    return true;
}

/* ---- opening and closing ---- */

static void pages_failed(void *arg, const char *why) {
    (void)arg, (void)why; /* the error was logged */
    job_end(EXIT_FAILURE);
}

static const struct pages_events events = {.failed = pages_failed, .update = gas_update_apply};

int gas_memory_open(void) {
    gas_job.segments =
        net_world_share(gas_job.world, &gas_job.boot, (size_t)gas_job.size * sizeof *gas_job.segments);
    return gas_job.segments ? 0 : -ENOMEM;
}

/* Segments of the own node are mapped in this process. The ranks of a node are consecutive, as a rule. */
static void make_direct(void) {
    const struct net_world *w = gas_job.world;
    int first = net_world_member(w, w->node, 0), last = net_world_member(w, w->node, w->local_count - 1);
    gasnet_node_t count = (gasnet_node_t)(last - first + 1);
    gas_job.direct = calloc(count, sizeof *gas_job.direct);
    if (!gas_job.direct)
        gas_fail("gasnet_attach", "no memory for a table of %u segments", (unsigned)count);
    for (int i = 0; i < w->local_count; i++) {
        int rank = net_world_member(w, w->node, i);
        gas_job.direct[rank - first] = gas_job.segments[rank];
    }
    gas_job.direct_first = (gasnet_node_t)first;
    gas_job.direct_count = count;
}

static int open_pages(uint64_t bytes) {
    int status = pages_open(&gas_job.boot, gas_job.world, &gas_comm.all, bytes, &events, &gas_job.pages);
    if (status != 0)
        return status;
    for (int i = 0; gas_job.world->local == 0 && i < gas_job.size; i++)
        gas_job.segments[i] =
            (gasnet_seginfo_t){.addr = pages_base(gas_job.pages, i), .size = pages_bytes(gas_job.pages, i)};
    return net_boot_agree(&gas_job.boot, 0); /* the table is complete */
}

static int same_rank(const void *arg, int i) {
    (void)arg;
    return i;
}

/* One process of each node writes the table. */
static int gather_segments(gasnet_seginfo_t mine) {
    void *scratch = malloc(net_collect_scratch(gas_job.size, sizeof mine));
    int status = net_agree_on_memory(&gas_job.boot, scratch, "the segments");
    if (status == 0)
        status = net_boot_collect(&gas_job.boot, &mine, sizeof mine, scratch, gas_job.size, same_rank, NULL,
                                  gas_job.world->local == 0 ? gas_job.segments : NULL);
    free(scratch);
    return net_boot_agree(&gas_job.boot, status);
}

static int open_dram(uint64_t bytes) {
    char *base = NULL;
    int status = gas_dram_open(bytes, &base), worst = 0;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, gas_comm.all); /* nodes fail independently */
    if (worst != 0) {
        gas_dram_close();
        return worst;
    }
    status = gather_segments((gasnet_seginfo_t){.addr = base, .size = bytes});
    if (status == 0)
        make_direct();
    return status;
}

static bool attached;

/* Segments in files and segments in memory are opened by different exchanges. */
static int agree_on_nvm(void) {
    if (net_agree_on_key(&gas_job.boot, 1 + (uint64_t)settings_get()->nvm))
        return 0;
    if (gas_job.rank == 0)
        log_error("HEARTH_NVM is not the same on all ranks: give all ranks the same");
    return -EINVAL;
}

int gas_memory_attach(uint64_t bytes) {
    int status = agree_on_nvm();
    if (status == 0)
        status = settings_get()->nvm ? open_pages(bytes) : open_dram(bytes);
    attached = status == 0;
    return status;
}

bool gas_memory_is_attached(void) {
    return attached;
}

bool gas_memory_is_durable(void) {
    return gas_job.pages && *settings_get()->nvm_name;
}

int gas_memory_detach(bool keep, bool ends) {
    int status = 0;
    if (gas_job.pages && ends)
        pages_end(gas_job.pages);
    if (gas_job.pages)
        status = pages_close(gas_job.pages, &gas_job.boot, keep);
    else if (!ends)
        gas_dram_close();
    if (ends)
        return status;
    gas_job.pages = NULL;
    gas_job.direct_count = 0;
    free(gas_job.direct);
    gas_job.direct = NULL;
    return status;
}
