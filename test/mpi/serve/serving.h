/* serving.h: windows of MPI_Win_allocate, which Hearth serves in the configuration `serve`, and calls on them. */
#ifndef HEARTH_TEST_SERVING_H
#define HEARTH_TEST_SERVING_H

#include "test.h"

struct allocated {
    MPI_Win win;
    char *base;
};

/* Allocates a window of zeros; collective. The size is rounded up to a multiple of 64, which MPICH 4.0 needs. `where`:
 * "serve" or "host" (the MPI below); NULL: as the configuration says. */
struct allocated allocate_window(MPI_Comm comm, size_t bytes, int unit, const char *where);

/* The value of an attribute, which must be set. */
void *attribute(MPI_Win win, int key);

/* 8-byte integers at multiples of 8 bytes, in windows with a displacement unit of 1. */
int64_t get_number(MPI_Win win, int target, int index);
void put_number(MPI_Win win, int target, int index, int64_t value);
int64_t add_number(MPI_Win win, int target, int index, int64_t value);

/* Atomic load and store of a number in this rank's own window. */
int64_t load_number(const struct allocated *w, int index);
void store_number(const struct allocated *w, int index, int64_t value);

#endif
