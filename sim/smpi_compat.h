/* smpi_compat.h: included before all sources that are built for SimGrid's MPI (SMPI 3.32).
 *
 * SMPI's header declares MPI_Compare_and_swap with other types than the standard; this file renames that
 * declaration. SMPI's handles are pointers, as Open MPI's are, and its status has the same fields under other
 * names (smpi.cmake).
 *
 * The clock is simulated time, also where base/clock.h would read the CPU's counter: otherwise two runs would
 * differ. */
#ifndef HEARTH_SIM_SMPI_COMPAT_H
#define HEARTH_SIM_SMPI_COMPAT_H

#define MPI_Compare_and_swap  smpi_declares_compare_and_swap
#define PMPI_Compare_and_swap smpi_declares_pcompare_and_swap
#include <mpi.h>
#undef MPI_Compare_and_swap
#undef PMPI_Compare_and_swap

#define HEARTH_CLOCK_H /* replaces base/clock.h */
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void) {
    struct timespec now;
    smpi_clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ticks(void) {
    return clock_ns();
}

static inline double clock_ns_per_tick(void) {
    return 1;
}

#endif
