/* serving.h: windows of MPI_Win_allocate, which Hearth serves in the configuration `serve`, and calls on them. */
#ifndef HEARTH_TEST_SERVING_H
#define HEARTH_TEST_SERVING_H

#include "test.h"

struct allocated {
    MPI_Win win;
    char *base;
};

/* Zeroed. MPICH 4.0 needs sizes that are multiples of 64. Collective. */
struct allocated allocate_window(MPI_Comm comm, size_t bytes, int unit, const char *where);

/* 8-byte integers at multiples of 8 bytes, in windows with a displacement unit of 1. */
int64_t get_number(MPI_Win win, int target, int index);
void put_number(MPI_Win win, int target, int index, int64_t value);
int64_t add_number(MPI_Win win, int target, int index, int64_t value);

/* A number in this rank's own window, which others may change meanwhile. */
int64_t load_number(const struct allocated *w, int index);
void store_number(const struct allocated *w, int index, int64_t value);

#endif
