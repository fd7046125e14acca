/* vendor.h: whose MPI library a file is, and whether Hearth was tested with it. */
#ifndef HEARTH_TOOLS_VENDOR_H
#define HEARTH_TOOLS_VENDOR_H

#include <stdbool.h>

#include "run/launcher/flavour.h"

struct vendor {
    const char *name; /* "Intel MPI" */
    bool is_tested;
};

/* Of an MPI library that a program needs. By its name; a name that several vendors use, by the version text in the
 * file. */
struct vendor vendor_of(const struct mpi_library *library);

/* The versions of an MPI with this ABI that Hearth was tested with. */
const char *vendor_tested(enum flavour flavour);

#endif
