/* armci_internal.h: declarations shared by the files of armci/. */
#ifndef HEARTH_ARMCI_INTERNAL_H
#define HEARTH_ARMCI_INTERNAL_H

#include <mpi.h>

#include "hearth/armci/armci.h"
#include "base/compiler.h"
#include "net/net.h"

/* ARMCI_X is a weak alias of PARMCI_X, so that a profiling tool can interpose it. */
#define ALIAS(type, name, args) __attribute__((weak, alias("P" #name))) type name args

/* State of this process, between the first ARMCI_Init and the last ARMCI_Finalize. */
struct armci {
    int opened;           /* nesting count; 0: closed */
    bool threaded;        /* threads may call concurrently: guard.h */
    int rank, size;       /* in `comm`; ARMCI's absolute ids */
    MPI_Comm comm;        /* our own, of all processes */
    struct net_boot boot; /* the same, for net/ */
    struct net_world *world;
    struct net *net;
    struct net_share *share; /* the engine `net`, and the guard of its threads */
    struct net_lock_table *lock_table;
    struct net_reserve *reserve; /* shared by this node's processes */
    ARMCI_Group world_group, default_group;
};
extern struct armci armci_job HIDDEN;

/* Ends the job after logging "call: what", as ARMCI does for mistakes of a program: Global Arrays ignores error
 * returns. */
_Noreturn void armci_fail(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an MPI error. */
_Noreturn void armci_fail_mpi(const char *call, int code);

/* Calls armci_fail if ARMCI is not open. */
static inline void armci_need_open(const char *call) {
    if (UNLIKELY(armci_job.opened == 0))
        armci_fail(call, "ARMCI is not initialised: call ARMCI_Init first");
}

/* Calls armci_fail_mpi if an MPI call failed. */
static inline void armci_check(const char *call, int code) {
    if (UNLIKELY(code != MPI_SUCCESS))
        armci_fail_mpi(call, code);
}

#endif
