/* gate.h: the lock of a window at one target, in memory that the node shares: fair, shared or exclusive.
 *
 * Tickets are served in order: a shared holder lets the next ticket in if that is shared, too; an exclusive one waits
 * until all holders before it have left. The caller acquires and releases the lock alone; the target takes no part. For
 * processes of other nodes the helper of this node queues (remote/remote_gate.c). */
#ifndef HEARTH_MPI_GATE_H
#define HEARTH_MPI_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum { GATE_ALIGN = 128 }; /* two cache lines: prefetchers fetch pairs */

/* Initially 0. All fields count tickets and wrap around. When no process holds or awaits it, it is as good as new. */
struct serve_gate {
    _Atomic uint32_t next;     /* the next ticket to be drawn */
    _Atomic uint32_t shared;   /* the ticket that may enter if it is shared */
    _Atomic uint32_t alone;    /* the ticket that may enter if it is exclusive */
    _Atomic uint32_t sleepers; /* processes that sleep on `changes` */
    _Atomic uint32_t changes;  /* incremented when one of the above has changed and there are sleepers */
    _Atomic uint32_t remote;   /* how many of the sleepers are the helper's */
    _Atomic uint64_t domain;   /* key of the helper's domain (remote/domain.h); 0: none */
} __attribute__((aligned(GATE_ALIGN)));

/* Returns when the lock is held. `idle` is called between attempts, so that the caller's MPI progresses. */
void serve_gate_enter(struct serve_gate *g, bool exclusive, void (*idle)(void));
void serve_gate_leave(struct serve_gate *g, bool exclusive);

/* Enters if it can do so at once, without a ticket that waits. */
bool serve_gate_enter_now(struct serve_gate *g, bool exclusive);

/* For the helper, which does not wait: draws a ticket, and tries to enter with it. If that fails it calls serve_gate_sleep
 * and tries once more. From then on, until it has entered and called serve_gate_awake, each process that lets a ticket in
 * calls serve_gate_remote. */
uint32_t serve_gate_draw(struct serve_gate *g);
bool serve_gate_try(struct serve_gate *g, uint32_t ticket, bool exclusive);
void serve_gate_sleep(struct serve_gate *g);
void serve_gate_awake(struct serve_gate *g);
extern HIDDEN void (*serve_gate_remote)(const struct serve_gate *g);

#endif
