/* clampi.h: control of the cache of MPI windows by the program. These calls are optional: preloading libhearth-mpi.so
 * caches any program. Link with -lhearth-mpi to use these calls. */
#ifndef HEARTH_CLAMPI_H
#define HEARTH_CLAMPI_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When cached data may be reused. The info key "clampi_mode" takes the same values, as words. */
enum CLAMPI_Mode {
    CLAMPI_TRANSPARENT = 1, /* nothing survives the end of an epoch, flushes included */
    CLAMPI_ALWAYS = 2,      /* the window is read-only for its lifetime: only own writes drop entries */
    CLAMPI_USER = 3,        /* as always, and CLAMPI_Invalidate drops everything */
    CLAMPI_OFF = 4,         /* not cached */
    CLAMPI_ACQUIRE = 5,     /* reused until an MPI call may have informed this process of a write */
    CLAMPI_AUTO = 6 /* as acquire, with a sample of hits verified; transparent after the first stale one */
};

/* Statistics of one window in one process since its creation. Each access is counted in exactly one of full_hits,
 * partial_hits, pending_hits, direct, conflicting, capacity, failing, bypassed. */
typedef struct CLAMPI_Stats {
    uint64_t gets;          /* MPI_Get and MPI_Rget calls */
    uint64_t full_hits;     /* served from the cache */
    uint64_t partial_hits;  /* the first part served from the cache, the rest fetched */
    uint64_t pending_hits;  /* joined a get that was in flight */
    uint64_t direct;        /* misses that needed no eviction */
    uint64_t conflicting;   /* misses that evicted because the index had no room */
    uint64_t capacity;      /* misses that evicted because the storage had no room */
    uint64_t failing;       /* misses that could not be cached */
    uint64_t bypassed;      /* not looked up: own memory, shared memory, cheap targets, mode off */
    uint64_t invalidations; /* times the whole cache was invalidated */
    uint64_t dropped;       /* entries dropped by own writes */
    uint64_t adjustments;   /* times the index or the storage was resized */
    uint64_t bytes_served;  /* from the cache */
    uint64_t bytes_fetched; /* through MPI */
    uint64_t elided;        /* flushes with nothing to wait for */
    uint64_t entries;       /* current */
    uint64_t index_slots;   /* current */
    uint64_t storage_bytes; /* current */
    uint64_t used_bytes;    /* current, of storage_bytes */
    uint64_t free_regions;  /* current */
    uint64_t visited;       /* index slots examined by evictions */
    uint64_t nonempty;      /* of these, not empty */
    uint64_t evictions;
    uint64_t ahead_fetched; /* blocks read ahead (HEARTH_READ_AHEAD) */
    uint64_t ahead_used;    /* of these, requested while they were cached */
} CLAMPI_Stats;

/* Invalidates everything cached of this window, in constant time. Local. */
int CLAMPI_Invalidate(MPI_Win win);

/* Sets when this process may reuse cached data of this window: mode is one of enum CLAMPI_Mode. Local. A change
 * invalidates the cached data. */
int CLAMPI_Set_mode(MPI_Win win, int mode);

/* The value of the data that a get is fetching: any value above 0; a higher value keeps the data longer. The access
 * has `bytes` bytes; its first byte is `disp` bytes into that rank's part of the window (in a dynamic window, at that
 * address). */
typedef double CLAMPI_Score(void *arg, int target, MPI_Aint disp, uint64_t bytes);

/* Sets a function, a CLAMPI_Score, by which the program rates the data that it will need again; NULL removes it.
 * Local. When space is needed, Hearth evicts from a sample of the entries the one with the lowest score
 *
 *      positional x temporal x value / mean
 *
 * positional rates the free memory next to the entry, temporal its last use (see HEARTH_SCORE), value is the result of
 * the function, and mean is the mean of all results since the function was set. The unit of the values therefore does
 * not matter. temporal is proportional to the number of gets between the creation of the window and the last use: at
 * the same position, an entry with half the value of another outlives it only if that number is more than twice as
 * high. If all entries in the sample score higher than the new one, they stay, and the new one is not cached (counted
 * as failing).
 *
 * The function is called once for each miss whose data may be cached, inside that MPI_Get or MPI_Rget and in its
 * thread, by one thread at a time; never on hits. It must not call MPI or CLAMPI. A value that is not finite or not
 * above 0 counts as the mean; the first such value is reported. Data cached before the function was set counts as the
 * mean too.
 *
 * The info key "clampi_score", at creation or by MPI_Win_set_info, needs no function: "size" uses the number of
 * bytes, because more bytes take longer to fetch; "none" is the default. The most recent setting applies. */
int CLAMPI_Set_score(MPI_Win win, CLAMPI_Score *score, void *arg);

/* Reports the statistics of this window's cache in this process. For windows that are not cached all counters are 0
 * except gets and bypassed. */
int CLAMPI_Get_stats(MPI_Win win, CLAMPI_Stats *stats);

#ifdef __cplusplus
}
#endif
#endif
