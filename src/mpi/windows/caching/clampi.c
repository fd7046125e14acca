/* clampi.c: the CLAMPI_ interface for programs, in C and (by the usual name mangling) in Fortran. */
#include "base/log.h"
#include "base/settings.h"
#include "hearth/clampi.h"
#include "mpi/windows/caching/window/score.h"
#include "mpi/windows/caching/window_cache.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int CLAMPI_Invalidate(MPI_Win win) {
    struct window *w = rma_window_find(win);
    if (!w)
        return MPI_ERR_WIN;
    rma_lock();
    if (w->cache)
        cache_invalidate(w->cache);
    rma_unlock();
    return MPI_SUCCESS;
}

EXPORT int CLAMPI_Set_mode(MPI_Win win, int mode) {
    struct window *w = rma_window_find(win);
    if (!w)
        return MPI_ERR_WIN;
    if (mode < CLAMPI_TRANSPARENT || mode > CLAMPI_AUTO) {
        log_error("CLAMPI_Set_mode: mode %d is not one of 1 (transparent), 2 (always), 3 (user), 4 (off), 5 "
                  "(acquire), 6 (auto)",
                  mode);
        return MPI_ERR_ARG;
    }
    rma_window_set_mode(w, (enum mode)(mode - CLAMPI_TRANSPARENT));
    return MPI_SUCCESS;
}

EXPORT int CLAMPI_Set_score(MPI_Win win, CLAMPI_Score *score, void *arg) {
    struct window *w = rma_window_find(win);
    if (!w)
        return MPI_ERR_WIN;
    rma_score_set(w, score, arg);
    return MPI_SUCCESS;
}

EXPORT int CLAMPI_Get_stats(MPI_Win win, CLAMPI_Stats *stats) {
    struct window *w = rma_window_find(win);
    if (!w)
        return MPI_ERR_WIN;
    if (!stats)
        return MPI_ERR_ARG;
    rma_lock();
    rma_window_stats(w, stats);
    rma_unlock();
    return MPI_SUCCESS;
}

/* Fortran passes windows as integers: integer :: win, ierr; call clampi_invalidate(win, ierr) */
EXPORT void clampi_invalidate_(const MPI_Fint *win, MPI_Fint *ierr);
EXPORT void clampi_invalidate_(const MPI_Fint *win, MPI_Fint *ierr) {
    *ierr = CLAMPI_Invalidate(MPI_Win_f2c(*win));
}

EXPORT void clampi_set_mode_(const MPI_Fint *win, const MPI_Fint *mode, MPI_Fint *ierr);
EXPORT void clampi_set_mode_(const MPI_Fint *win, const MPI_Fint *mode, MPI_Fint *ierr) {
    *ierr = CLAMPI_Set_mode(MPI_Win_f2c(*win), *mode);
}
