/* serve_fortran.c: MPI_Win_get_attr for Fortran programs. Both MPIs implement it without MPI_Win_get_attr of C, so the
 * names of the Fortran bindings are interposed. Their arguments are references in all bindings; in mpi_f08 the last one
 * is optional, NULL if it is missing. Unlike in C, the value of the attribute is returned, not its address. */
#include <dlfcn.h>

#include "base/log.h"
#include "mpi/windows/serving/serving.h"

#if !HEARTH_MPI_ABI /* which has no Fortran */

#define EXPORT __attribute__((visibility("default")))

/* The constants of Fortran. */
#ifdef MPICH
enum { BEYOND_C = 1 };
#else
enum { BEYOND_C = 0 };
#endif
enum {
    BASE = MPI_WIN_BASE + BEYOND_C,
    SIZE = MPI_WIN_SIZE + BEYOND_C,
    UNIT = MPI_WIN_DISP_UNIT + BEYOND_C,
    FLAVOR = MPI_WIN_CREATE_FLAVOR + BEYOND_C,
    MODEL = MPI_WIN_MODEL + BEYOND_C
};

typedef void get_attr(const MPI_Fint *win, const MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag,
                      MPI_Fint *error);

static void correct_value(MPI_Fint win, MPI_Fint key, MPI_Aint *value) {
    const struct served *s = serve_find(MPI_Win_f2c(win));
    if (!s)
        return;
    if (key == MODEL)
        *value = MPI_WIN_UNIFIED;
    else if (key == FLAVOR && (s->memory || s->stand_in))
        *value = s->memory    ? MPI_WIN_FLAVOR_ALLOCATE
                 : s->dynamic ? MPI_WIN_FLAVOR_DYNAMIC
                              : MPI_WIN_FLAVOR_CREATE;
    else if (key == BASE && s->stand_in)
        *value = (MPI_Aint)s->own_base;
    else if (key == SIZE && s->stand_in)
        *value = s->own_bytes;
    else if (key == UNIT && s->stand_in)
        *value = s->own_unit;
}

/* Looked up at each call: it is rare. */
static void get_and_correct(const char *name, const MPI_Fint *win, const MPI_Fint *key, MPI_Aint *value,
                            MPI_Fint *flag, MPI_Fint *error) {
    get_attr *host;
    *(void **)&host = dlsym(RTLD_NEXT, name);
    if (!host) {
        log_error("%s: no Fortran binding of MPI is loaded after Hearth; link it dynamically", name);
        if (error)
            *error = MPI_ERR_INTERN;
        return;
    }
    host(win, key, value, flag, error);
    if ((!error || *error == MPI_SUCCESS) && *flag)
        correct_value(*win, *key, value);
}

#define DEFINE(name)                                                                                         \
    EXPORT get_attr name;                                                                                    \
    void name(const MPI_Fint *win, const MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error) {  \
        get_and_correct(#name, win, key, value, flag, error);                                                \
    }

DEFINE(mpi_win_get_attr_)
DEFINE(pmpi_win_get_attr_)
#ifdef MPICH /* Open MPI's mpi_f08 calls pmpi_win_get_attr_ */
DEFINE(mpi_win_get_attr_f08_)
DEFINE(pmpir_win_get_attr_f08_)
#endif

#endif
