/* clampi.h: what a program may say to the cache of its MPI windows. A program that says nothing is cached
 * too: preload libhearth-mpi.so. Link with -lhearth-mpi to use these calls. */
#ifndef HEARTH_CLAMPI_H
#define HEARTH_CLAMPI_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When cached data may be reused; also the values of the info key "clampi_mode", in words. */
enum CLAMPI_Mode {
    CLAMPI_TRANSPARENT = 1, /* nothing survives the end of an epoch, flushes included */
    CLAMPI_ALWAYS = 2,      /* the window is read-only for its life: only own writes drop anything */
    CLAMPI_USER = 3,        /* as always, and CLAMPI_Invalidate forgets everything */
    CLAMPI_OFF = 4,         /* not cached */
    CLAMPI_ACQUIRE = 5      /* reused until a call of MPI may have brought news of a write */
};

/* One process's view of one window since its creation. Times an access is counted: exactly one of full_hits,
 * partial_hits, pending_hits, direct, conflicting, capacity, failing, bypassed. */
typedef struct CLAMPI_Stats {
    uint64_t gets;          /* MPI_Get and MPI_Rget calls */
    uint64_t full_hits;     /* served from the cache */
    uint64_t partial_hits;  /* the head served from the cache, the tail fetched */
    uint64_t pending_hits;  /* joined a get that was in flight */
    uint64_t direct;        /* misses that needed no eviction */
    uint64_t conflicting;   /* misses that evicted because of the index */
    uint64_t capacity;      /* misses that evicted because of the storage */
    uint64_t failing;       /* misses that could not be kept */
    uint64_t bypassed;      /* not looked up: own memory, shared memory, cheap targets, mode off */
    uint64_t invalidations; /* times everything was forgotten */
    uint64_t dropped;       /* entries dropped by own writes */
    uint64_t adjustments;   /* times the index or the storage was resized */
    uint64_t bytes_served;  /* from the cache */
    uint64_t bytes_fetched; /* through MPI */
    uint64_t elided;        /* flushes that had nothing to wait for */
    uint64_t entries;       /* now */
    uint64_t index_slots;   /* now */
    uint64_t storage_bytes; /* now */
    uint64_t used_bytes;    /* now, of storage_bytes */
    uint64_t free_regions;  /* now */
    uint64_t visited;       /* index slots looked at by evictions */
    uint64_t nonempty;      /* of these, not empty */
    uint64_t evictions;
    uint64_t ahead_fetched; /* blocks read ahead (HEARTH_READ_AHEAD) */
    uint64_t ahead_used;    /* of these, asked for while they were cached */
} CLAMPI_Stats;

/* Forgets everything cached of this window, in constant time. Local. */
int CLAMPI_Invalidate(MPI_Win win);

/* Sets when this process may reuse cached data of this window: mode is one of enum CLAMPI_Mode. Local; a
 * change forgets what was cached. */
int CLAMPI_Set_mode(MPI_Win win, int mode);

/* What data that a get is bringing is worth: any value above 0, higher = kept longer. The access is of
 * `bytes` bytes; its first one lies `disp` bytes into that rank's part of the window (in a dynamic window, at
 * that address). */
typedef double CLAMPI_Score(void *arg, int target, MPI_Aint disp, uint64_t bytes);

/* Lets the program say which data it will need again, by a CLAMPI_Score; NULL: it does not. Local. When room
 * is needed, the entry goes whose
 *
 *      positional x temporal x value / mean
 *
 * is least in a sample: its place next to free memory, its last use (see HEARTH_SCORE), and what the function
 * said of it, over the mean of all values since it was set: the unit of the values does not matter. In the
 * same place, an entry of value 2 v outlives one of value v until that one was last used twice as late, in
 * gets since the window was made. If all in the sample are worth more than the newcomer, they stay and it is
 * not kept (counted as failing).
 *
 * The function is called once for each get that misses and may be kept, inside that MPI_Get or MPI_Rget and
 * in its thread, by one thread at a time; never on hits. It must not call MPI or CLAMPI. A value that is not
 * above 0 or not finite counts as the mean, and so does all that was cached before the function was set; the
 * first such value is reported.
 *
 * The info key "clampi_score", at creation or by MPI_Win_set_info, needs no function: "size" takes the number
 * of bytes, since more bytes take longer to fetch; "none" is the default. The last one said holds. */
int CLAMPI_Set_score(MPI_Win win, CLAMPI_Score *score, void *arg);

/* Tells what the cache of this window has done for this process. Windows that are not cached give zeros but
 * for gets and bypassed. */
int CLAMPI_Get_stats(MPI_Win win, CLAMPI_Stats *stats);

#ifdef __cplusplus
}
#endif
#endif
