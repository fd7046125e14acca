/* layout_constants.h: constants among the arguments of a datatype's constructor, as MPI_Type_get_contents returns them. */
#ifndef HEARTH_MPI_LAYOUT_CONSTANTS_H
#define HEARTH_MPI_LAYOUT_CONSTANTS_H

struct layout_constants {
    int order_fortran, distribute_none, distribute_cyclic, distribute_default;
};

/* The calling thread may call MPI. */
const struct layout_constants *layout_constants(void);

#endif
