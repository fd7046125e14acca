/* layout_constants.c: constants among the arguments of a datatype's constructor.
 *
 * They are those of mpi.h, except in the standard ABI: Open MPI 6.0 returns values of its own there. They are learnt from a type whose
 * arguments are known, at the first use. */
#include "mpi/types/layout_constants.h"

#include <pthread.h>

#include "mpi/host/host.h"

static struct layout_constants returned = {MPI_ORDER_FORTRAN, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC,
                                           MPI_DISTRIBUTE_DFLT_DARG};

#if HEARTH_MPI_ABI

enum { DIMENSIONS = 2, INTEGERS = 4 + 4 * DIMENSIONS };

typedef int create_darray(int, int, int, const int[], const int[], const int[], const int[], int,
                          MPI_Datatype, MPI_Datatype *);

/* Its arguments are returned as: size, rank, dimensions, sizes, distributions, their arguments, grid, order. */
static int make_known_type(MPI_Datatype *type) {
    static const int sizes[] = {2, 2}, grid[] = {1, 1};
    static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
    static const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    create_darray *create;
    void *unused;
    *(void **)&create = host_find("MPI_Type_create_darray", &unused);
    return create ? create(1, 0, DIMENSIONS, sizes, kinds, arguments, grid, MPI_ORDER_FORTRAN, MPI_CHAR, type)
                  : MPI_ERR_INTERN;
}

static void learn_constants(void) {
    int integers[INTEGERS];
    MPI_Aint no_address;
    MPI_Datatype type, part;
    if (make_known_type(&type) != MPI_SUCCESS)
        return;
    if (host_Type_get_contents(type, INTEGERS, 0, 1, integers, &no_address, &part) == MPI_SUCCESS) {
        const int *kinds = integers + 3 + DIMENSIONS, *arguments = kinds + DIMENSIONS;
        returned = (struct layout_constants){integers[INTEGERS - 1], kinds[0], kinds[1], arguments[0]};
    }
    host_Type_free(&type);
}

const struct layout_constants *layout_constants(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, learn_constants);
    return &returned;
}

#else

const struct layout_constants *layout_constants(void) {
    return &returned;
}

#endif
