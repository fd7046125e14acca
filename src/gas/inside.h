/* inside.h: what the files of gas/ have in common. */
#ifndef HEARTH_GAS_INSIDE_H
#define HEARTH_GAS_INSIDE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GASNET_PAR
#define GASNET_PAR 1 /* the library is the same for all of them: any thread may call at any time */
#endif
#include "base/base.h"
#include "net/net.h"
#include "pages/pages.h"
#include "vgasnet.h" /* include/: both public names */

/* Every call exists once, as gasnet_X, and has a second name, vgasnet_X:
 *      int gasnet_AMPoll(void) { ... }
 *      ALSO(int, AMPoll, (void)); */
#define EXPORT                 __attribute__((visibility("default")))
#define ALSO(type, name, args) EXPORT __attribute__((alias("gasnet_" #name))) type vgasnet_##name args

enum gas_stage { GAS_NOTHING, GAS_BEGUN /* gasnet_init */, GAS_ATTACHED, GAS_LEAVING };

/* Of this process. */
struct gas {
    _Atomic int stage; /* enum gas_stage. Set by init.c and leave.c, read by everybody */
    int rank, size;    /* a rank is what GASNet calls a node */
    MPI_Comm comm;     /* our own, of all ranks */
    struct net_boot boot;
    MPI_Comm node_comm; /* of the ranks of this node */
    struct net_boot node_boot;
    struct net_world *world;
    int machine_ranks;   /* on this machine; more than those of the node if HEARTH_NODE_RANKS divides it */
    struct net *net;     /* asked through ask.h alone */
    struct pages *pages; /* NULL: HEARTH_NVM=off, segments are plain memory (memory.h) */
    gasnet_seginfo_t *segments; /* [size], once attached */
    gasnet_seginfo_t
        *direct; /* [direct_count]: what loads and stores reach (direct.h); empty of other nodes */
    gasnet_node_t direct_count; /* 0 where segments are in pages */
};
extern struct gas gas HIDDEN;

static inline bool gas_is_attached(void) {
    return atomic_load_explicit(&gas.stage, memory_order_relaxed) == GAS_ATTACHED;
}

static inline bool gas_same_node(gasnet_node_t rank) {
    return gas.world->node_of[rank] == (uint32_t)gas.world->node;
}

/* ---- mistakes: fail.c ---- */

/* Ends the job after a line: "call: what". For calls that have no errors. */
_Noreturn void gas_fail(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A rule is broken that GASNet checks in debug mode only: a warning, once for each, and the call goes on; or gas_fail
 * (HEARTH_GASNET_RULES). `format` is a literal. */
void gas_breach(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For those that have: says it, and gives the code back. */
int gas_refuse(int code, const char *call, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* gas_fail, because the process is not attached; or, if another thread is just ending it, no return. */
_Noreturn void gas_not_attached(const char *call);

/* gas_fail unless attached, and unless that rank exists. */
static inline void gas_need(const char *call, gasnet_node_t rank) {
    if (UNLIKELY(!gas_is_attached()))
        gas_not_attached(call);
    if (UNLIKELY(rank >= (gasnet_node_t)gas.size))
        gas_fail(call, "there is no node %u: the job has %d", (unsigned)rank, gas.size);
}

/* ---- where calls come from: am.c ---- */

/* gas_fail if this thread runs a handler: it may not communicate, nor wait. gas_breach if it holds a handler-safe lock, or
 * interrupts. At the beginning of every call that communicates or waits. */
void gas_need_free(const char *call);

/* Runs handlers of messages that have come, and lets the network go on. What every wait does in each of its
 * rounds. Whether anything happened. Not inside handlers. */
bool gas_poll(void);

/* The same for calls that are not there to wait: without a look at the network, which costs more than some of them. */
bool gas_poll_quickly(void);

/* One round of a wait in which nothing happened: looks again at once, or sleeps until a message comes or some
 * time has passed, as gasnet_set_waitmode says; `round` counts them: 0 at first, kept by the caller. */
void gas_rest(unsigned *round);

/* ---- barrier.c ---- */

/* Of all ranks, for our own use; polls meanwhile. Not while a barrier of the program is open. */
void gas_barrier(void);

#endif
