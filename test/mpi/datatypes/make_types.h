/* make_types.h: random datatypes, nested from all constructors, with negative strides, gaps, overlaps and empty
 * parts. */
#ifndef HEARTH_TEST_MAKE_TYPES_H
#define HEARTH_TEST_MAKE_TYPES_H

#include <mpi.h>
#include <stdbool.h>

#include "base/random.h"

/* No type describes a byte further than TYPE_REACH from its address, or more than TYPE_BYTES bytes. */
enum { TYPE_REACH = 1 << 16, TYPE_BYTES = 1 << 15 };

struct made {
    MPI_Datatype type;
    bool derived; /* not committed; the caller frees it */
};

struct made make_random_type(struct random *r, int depth);

/* A description of how the last type was made. */
extern char types_story[2000];

/* Returns whether this many elements respect the limits. */
bool is_small_type(MPI_Datatype type, int count);

#endif
