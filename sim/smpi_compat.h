/* smpi_compat.h: included before everything that is built for SimGrid's MPI (SMPI 3.32).
 *
 * Its header declares MPI_Compare_and_swap with other types than the standard: that declaration is moved out
 * of the way. Its handles are pointers, as Open MPI's are, and it has the same fields in a status under other
 * names (smpi.cmake).
 *
 * Time is simulated time, also for what would read the CPU's counter (base/clock.h): otherwise two runs would
 * differ. */
#ifndef HEARTH_SIM_SMPI_COMPAT_H
#define HEARTH_SIM_SMPI_COMPAT_H

#define MPI_Compare_and_swap  smpi_declares_compare_and_swap
#define PMPI_Compare_and_swap smpi_declares_pcompare_and_swap
#include <mpi.h>
#undef MPI_Compare_and_swap
#undef PMPI_Compare_and_swap

#define HEARTH_CLOCK_H /* in place of base/clock.h */
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
