/* window_cache.h: the cache of a window, and its mode. */
#ifndef HEARTH_MPI_RMA_WINDOW_CACHE_H
#define HEARTH_MPI_RMA_WINDOW_CACHE_H

#include "base/settings.h"
#include "mpi/windows/caching/window/window.h"

/* Once per process, before the first window. */
void rma_window_cache_start(void);

/* The window's cache, created on first use; NULL if there is no memory for it. */
struct cache *rma_window_cache(struct window *w);

void rma_window_set_mode(struct window *w, enum mode mode);

/* Starts mode auto, or ends it. Returns the mode in which the cache is used. Requires the lock. */
/* Its word in settings and info keys. */
const char *rma_window_mode_word(enum mode mode);

enum mode rma_window_enter_mode(struct window *w, enum mode mode);

/* Reads a mode from the info keys; returns true if there is a valid one. */
bool rma_window_mode_from(MPI_Info info, enum mode *mode);

#endif
