/* window.c: the window with this rank's part of the tree, readable by all other ranks.
 *
 * A step writes its own part and then reads the others':
 *
 *      begin_writing   exclusive lock of the own part: stores become visible to gets in any memory model
 *      end_writing
 *      (barrier)
 *      begin_reading   lock_all, and the caches of the previous step's tree are invalidated
 *      end_reading     barrier, so that a rank that has finished serves the others; unlock_all
 *
 * Window memory is 64-byte aligned and all ranks have the same size, a multiple of 64: otherwise MPICH before
 * 4.1 reads from the wrong address. A tree that outgrows the window gets a new one on all ranks. On one rank
 * there is no window: nothing is remote, and Open MPI cannot create one. */
#include "bh.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { STATS = sizeof(CLAMPI_Stats) / sizeof(uint64_t) };

/* The caching library is found by symbol name at run time, so that the program runs with and without it. */
static int invalidate(MPI_Win window) {
    int (*call)(MPI_Win);
    *(void **)&call = dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate");
    return call ? call(window) : MPI_ERR_OTHER;
}

bool bh_hearth_is_loaded(void) {
    return dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate") && dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
}

/* Adds the cache's counters of this window to those of the previous windows. */
static void add_stats(struct bh_window *w) {
    int (*call)(MPI_Win, CLAMPI_Stats *);
    CLAMPI_Stats stats = {0};
    *(void **)&call = dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
    if (w->cache != BH_HEARTH || w->window == MPI_WIN_NULL || !call || call(w->window, &stats) != MPI_SUCCESS)
        return;
    uint64_t entries = stats.entries, slots = stats.index_slots, bytes = stats.storage_bytes,
             used = stats.used_bytes;
    for (size_t i = 0; i < STATS; i++)
        ((uint64_t *)&w->stats)[i] += ((uint64_t *)&stats)[i];
    w->stats.entries = entries; /* current values, not sums */
    w->stats.index_slots = slots;
    w->stats.storage_bytes = bytes;
    w->stats.used_bytes = used;
    w->cached = true;
}

void bh_window_open(struct bh_window *w, int cache) {
    *w = (struct bh_window){.window = MPI_WIN_NULL, .cache = cache};
}

static void release(struct bh_window *w) {
    add_stats(w);
    if (w->window != MPI_WIN_NULL)
        MPI_Win_free(&w->window);
    free(w->nodes);
    w->nodes = NULL;
    w->room = 0;
}

void bh_window_close(struct bh_window *w) {
    release(w);
}

static int create(struct bh_window *w) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", w->cache == BH_HEARTH ? "user" : "off");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Win_create(w->nodes, (MPI_Aint)(w->room * sizeof *w->nodes), sizeof *w->nodes, info,
                               MPI_COMM_WORLD, &w->window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
    if (error)
        w->window = MPI_WIN_NULL;
    return app_agree(error ? APP_FAILED : APP_OK,
                     "this MPI cannot make the window (Open MPI between hosts may need "
                     "--mca osc pt2pt --mca pml ob1 --mca btl tcp,vader,self)");
}

int bh_window_grow(struct bh_window *w, const struct bh_bodies *b, uint64_t nodes) {
    uint64_t most, need = nodes + 1;
    MPI_Allreduce(&need, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (most <= w->room)
        return APP_OK;
    release(w);
    w->room = round_up(most + most / 4, 64); /* whole blocks, of the usual sizes */
    w->nodes = w->room <= UINT32_MAX ? aligned_alloc(CACHE_LINE, w->room * sizeof *w->nodes) : NULL;
    int code = app_agree(w->nodes ? APP_OK : APP_BAD_INPUT,
                         "no memory for the tree: use fewer bodies or more nodes");
    if (code)
        return code;
    memset(w->nodes, 0, w->room * sizeof *w->nodes);
    return b->ranks > 1 ? create(w) : APP_OK;
}

void bh_window_begin_writing(struct bh_window *w, int rank) {
    if (w->window != MPI_WIN_NULL)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->window);
}

void bh_window_end_writing(struct bh_window *w, int rank) {
    if (w->window != MPI_WIN_NULL)
        MPI_Win_unlock(rank, w->window);
}

void bh_window_begin_reading(struct bh_window *w, bool forget) {
    if (w->window == MPI_WIN_NULL)
        return;
    if (forget && w->cache == BH_HEARTH)
        invalidate(w->window);
    MPI_Win_lock_all(0, w->window);
}

void bh_window_end_reading(struct bh_window *w) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->window != MPI_WIN_NULL)
        MPI_Win_unlock_all(w->window);
}
