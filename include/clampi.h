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
    CLAMPI_OFF = 4          /* not cached */
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
} CLAMPI_Stats;

/* Forgets everything cached of this window, in constant time. Local. */
int CLAMPI_Invalidate(MPI_Win win);

/* Sets when this process may reuse cached data of this window. Local; a change forgets what was cached. */
int CLAMPI_Set_mode(MPI_Win win, int mode);

/* Fills stats. Windows that are not cached give zeros but for gets and bypassed. */
int CLAMPI_Get_stats(MPI_Win win, CLAMPI_Stats *stats);

#ifdef __cplusplus
}
#endif
#endif
