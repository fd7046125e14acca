/* news.h: what another process wrote may have been seen: cached gets of MPI windows must not hide what it wrote
 * before (acquire mode, doc/consistency.md). */
#ifndef HEARTH_ARMCI_NEWS_H
#define HEARTH_ARMCI_NEWS_H

/* There only if the drop-in for MPI is in the same process. */
extern void hearth_acquire(void) __attribute__((weak, visibility("default")));

static inline void news(void) {
    if (__builtin_expect(&hearth_acquire != 0, 0))
        hearth_acquire();
}

#endif
