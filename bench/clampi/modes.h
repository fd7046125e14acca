/* modes.h: windows that differ only in their caching, one of them not cached at all.
 *
 * Each way has a window of its own over its own part of the target's memory, so that none profits from memory
 * that another has warmed. The bare way calls the functions of the MPI library itself, looked up below the
 * library under test: the calls of a program without that library, in the same process and the same second. */
#ifndef HEARTH_BENCH_MODES_H
#define HEARTH_BENCH_MODES_H

#include "base/compiler.h"
#include "bench.h"

enum { BARE, OFF, TRANSPARENT, ACQUIRE, ALWAYS, WAYS };
enum { LARGEST = 1 << 14, PART = 16 << 20 };

enum pattern { STREAM, REUSE, PATTERNS }; /* new addresses only; 64 addresses in turn */

typedef int get_function(void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);
typedef int flush_function(int, MPI_Win);

struct way {
    const char *name;
    get_function *get;
    flush_function *flush;
    MPI_Win win;
    uint64_t at, shift, gets; /* STREAM: position in its part; REUSE: gets so far */
};

const char *modes_pattern_name(enum pattern pattern);

/* Makes `count` gets without reuse, so that a cache is full and has been suspended if it does not pay. Stops earlier
 * where gets are slow. */
void modes_fill(struct way *w, char *buffer, long count);

/* Opens all ways, on windows of MPI_Win_create or MPI_Win_allocate. Collective. */
void modes_open(struct way ways[WAYS], bool allocate);
void modes_close(struct way ways[WAYS]);

/* The displacement of the next get. */
static inline uint64_t modes_next(struct way *w, enum pattern pattern, uint32_t bytes) {
    enum { PLACES = 64 };
    if (pattern == REUSE)
        return w->gets++ % PLACES * LARGEST;
    uint64_t address = w->at + w->shift;
    w->at += round_up(bytes, CACHE_LINE);
    if (w->at + w->shift + 2 * LARGEST > PART) { /* new addresses again: one byte further on */
        w->at = 0;
        w->shift++;
    }
    return address;
}

/* A get and its flush, `count` >= 1 times. Returns the displacement of the last. */
static inline uint64_t modes_run(struct way *w, enum pattern pattern, uint32_t bytes, char *buffer,
                                 long count) {
    uint64_t address;
    do {
        address = modes_next(w, pattern, bytes);
        w->get(buffer, (int)bytes, MPI_BYTE, TARGET, (MPI_Aint)address, (int)bytes, MPI_BYTE, w->win);
        w->flush(TARGET, w->win);
    } while (--count > 0);
    return address;
}

#endif
