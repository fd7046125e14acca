/* smpi_compat.h: included before all sources that are built for SimGrid's MPI (SMPI 3.32).
 *
 * SMPI's header declares MPI_Compare_and_swap with other types than the standard; this file renames that
 * declaration. SMPI's handles are pointers, as Open MPI's are, and its status has the same fields under other
 * names (smpi.cmake). */
#ifndef HEARTH_SIM_SMPI_COMPAT_H
#define HEARTH_SIM_SMPI_COMPAT_H

#define MPI_Compare_and_swap  smpi_declares_compare_and_swap
#define PMPI_Compare_and_swap smpi_declares_pcompare_and_swap
#include <mpi.h>
#undef MPI_Compare_and_swap
#undef PMPI_Compare_and_swap

#endif
