/* make_types.h: datatypes at random, nested from all constructors, with negative strides, gaps, overlaps and
 * empty parts. */
#ifndef HEARTH_TEST_MAKE_TYPES_H
#define HEARTH_TEST_MAKE_TYPES_H

#include <mpi.h>
#include <stdbool.h>

#include "base/base.h"

/* No type names a byte further than TYPE_REACH from its address, or more than TYPE_BYTES bytes. */
enum { TYPE_REACH = 1 << 16, TYPE_BYTES = 1 << 15 };

struct made {
    MPI_Datatype type;
    bool derived; /* not committed; to be freed */
};

struct made make_random_type(struct random *r, int depth);

/* How the last one was made. */
extern char types_story[2000];

/* Whether the limits hold for this many elements. */
bool is_small_type(MPI_Datatype type, int count);

#endif
