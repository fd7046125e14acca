/* flavour.h: which MPI a file would load. */
#ifndef HEARTH_TOOLS_FLAVOUR_H
#define HEARTH_TOOLS_FLAVOUR_H

#include <limits.h>
#include <stdbool.h>

/* FLAVOUR_ABI: the standard ABI of MPI 5.0, of any MPI. */
enum flavour { FLAVOUR_NONE, FLAVOUR_MPICH, FLAVOUR_OPENMPI, FLAVOUR_ABI, FLAVOURS };

/* The names used in options and folders. FLAVOUR_NONE for any other word. */
const char *flavour_name(enum flavour flavour);
enum flavour flavour_named(const char *name);

/* An MPI library that a file needs. */
struct mpi_library {
    enum flavour flavour;
    char name[256];      /* libmpi.so.40 */
    char path[PATH_MAX]; /* as the loader would find it; empty: not found */
    /* Another one that the file needs, if one of the two has the standard ABI and the other has not; else empty. */
    char other[256];
};

/* Whether a library of this name is Cray MPICH's for one of its compilers: libmpi_gnu_12.so.12, libmpich_cray.so. */
bool flavour_is_cray(const char *base);

/* The MPI among the libraries that this program or library needs, directly or indirectly; FLAVOUR_NONE if there is
 * none, or if it is not an ELF file. */
struct mpi_library flavour_of_file(const char *path);

/* The MPI whose launcher starts programs with this library. For FLAVOUR_ABI: the one whose libmpi_abi.so the loader finds;
 * FLAVOUR_NONE if it finds none. */
enum flavour flavour_owner(const struct mpi_library *library);

#endif
