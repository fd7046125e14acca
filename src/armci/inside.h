/* inside.h: what the files of armci/ have in common. */
#ifndef HEARTH_ARMCI_INSIDE_H
#define HEARTH_ARMCI_INSIDE_H

#include <mpi.h>

#include "armci/armci.h" /* include/armci: the public one */
#include "base/base.h"
#include "net/net.h"

/* ARMCI_X is a weak name of PARMCI_X, so that a profiling tool can stand in between. */
#define ALIAS(type, name, args) __attribute__((weak, alias("P" #name))) type name args

/* Of this process, between the first ARMCI_Init and the last ARMCI_Finalize. */
struct armci {
    int opened;           /* how many times: 0 is closed */
    bool threaded;        /* several threads may call at once: guard.h */
    int rank, size;       /* in `comm`; what ARMCI calls absolute ids */
    MPI_Comm comm;        /* our own, of all processes */
    struct net_boot boot; /* the same, for net/ */
    struct net_world *world;
    struct net *net;
    struct net_stripes *stripes;
    struct net_reserve *reserve; /* of this node's processes */
    ARMCI_Group world_group, default_group;
};
extern struct armci armci HIDDEN;

/* Ends the job after a line: "call: what", as ARMCI does for a program's mistakes: its calls cannot return errors that
 * Global Arrays would look at. */
_Noreturn void armci_fail(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error of MPI. */
_Noreturn void armci_fail_mpi(const char *call, int code);

/* armci_fail if ARMCI is not open. */
static inline void armci_need_open(const char *call) {
    if (UNLIKELY(armci.opened == 0))
        armci_fail(call, "ARMCI is not initialised: call ARMCI_Init first");
}

/* armci_fail_mpi unless a call of MPI succeeded. */
static inline void armci_check(const char *call, int code) {
    if (UNLIKELY(code != MPI_SUCCESS))
        armci_fail_mpi(call, code);
}

#endif
