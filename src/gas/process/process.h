/* process.h: the state of this process in the job, and errors: for all files of gas/. */
#ifndef HEARTH_GAS_PROCESS_H
#define HEARTH_GAS_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GASNET_PAR
#define GASNET_PAR 1 /* one library serves all three modes: any thread may call at any time */
#endif
#include "base/compiler.h"
#include "net/net.h"
#include "pages/pages.h"
#include "hearth/vgasnet.h"

/* Every call is defined once, as gasnet_X, and has an alias, vgasnet_X:
 *      int gasnet_AMPoll(void) { ... }
 *      ALSO(int, AMPoll, (void)); */
#define EXPORT                 __attribute__((visibility("default")))
#define ALSO(type, name, args) EXPORT __attribute__((alias("gasnet_" #name))) type vgasnet_##name args

enum gas_stage { GAS_NOTHING, GAS_BEGUN /* gasnet_init */, GAS_ATTACHED, GAS_LEAVING };

/* State of this process. */
struct gas {
    _Atomic int stage;               /* enum gas_stage. Set by gas_init.c and leave.c, read by all files */
    int rank, size;                  /* GASNet calls a rank a node */
    struct net_boot boot, node_boot; /* over the communicators of gas_comm.h */
    struct net_world *world;
    int *hosts;          /* [size]: the lowest rank on the machine of each rank */
    int machine_ranks;   /* on this machine; more than the node's if HEARTH_NODE_RANKS divides the machine */
    struct net *net;     /* used through ask.h only */
    struct pages *pages; /* NULL: HEARTH_NVM=off, segments are plain memory (gas_memory.h) */
    gasnet_seginfo_t *segments; /* [size], once attached; in memory that the node shares */
    gasnet_seginfo_t *
        direct; /* [direct_count]: accessible by loads and stores (gas_direct.h), from rank direct_first on */
    gasnet_node_t direct_first;
    gasnet_node_t direct_count; /* 0 if segments are in pages */
};
extern struct gas gas_job HIDDEN;

/* The machine and the node of the first `count` ranks. */
void gas_job_nodes(gasnet_nodeinfo_t *table, int count);

static inline bool gas_is_attached(void) {
    return atomic_load_explicit(&gas_job.stage, memory_order_relaxed) == GAS_ATTACHED;
}

static inline bool gas_same_node(gasnet_node_t rank) {
    return gas_job.world->node_of[rank] == (uint32_t)gas_job.world->node;
}

/* ---- errors: gas_fail.c ---- */

/* Ends the job after the line "call: what". For calls that return no error code. */
_Noreturn void gas_fail(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For violations of rules that GASNet checks in debug mode only. Logs a warning, once for each rule, and returns, so that
 * the call continues; with HEARTH_GASNET_RULES=end it is gas_fail. `format` must be a literal: it identifies the rule. */
void gas_breach(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For calls that return an error code: logs the line, unless gex_System_SetVerboseErrors forbids it, and returns the
 * code. */
extern _Atomic int gas_verbose HIDDEN;
int gas_refuse(int code, const char *call, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The network has lost a peer (rank < 0: the job), or received what no peer sends: ends the job. In any thread, also one that must not call
 * MPI: the launcher ends the job when a process exits. */
void gas_lost(int rank, const char *why);

/* ---- leaving: leaving.c ---- */

/* gas_fail, because the process is not attached. If another thread is ending the process, waits for the end instead. */
_Noreturn void gas_not_attached(const char *call);

/* For calls that find the process not attached: waits if it is leaving; otherwise returns GASNET_ERR_NOT_INIT after an
 * error line. */
int gas_leave_or_refuse(const char *call);

/* If another rank has called gasnet_exit, this one follows. If another thread of this process has, this one waits for the end.
 * gas_leave_wanted: gas_leave_now, which job/leave.c provides, must be called. */
extern _Atomic int gas_leave_wanted HIDDEN;
extern void (*gas_leave_now)(void) HIDDEN;
static inline void gas_leave_if_asked(void) {
    if (UNLIKELY(atomic_load_explicit(&gas_leave_wanted, memory_order_relaxed)))
        gas_leave_now();
}

/* gas_fail unless attached and the rank exists. */
static inline void gas_need(const char *call, gasnet_node_t rank) {
    if (UNLIKELY(!gas_is_attached()))
        gas_not_attached(call);
    if (UNLIKELY(rank >= (gasnet_node_t)gas_job.size))
        gas_fail(call, "there is no node %u: the job has %d", (unsigned)rank, gas_job.size);
}

#endif
