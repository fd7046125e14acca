/* locks.h: mutexes, kept by the helper of the node on which they live. Only the thread of its first helper uses
 * them. */
#ifndef HEARTH_ARMCI_LOCKS_H
#define HEARTH_ARMCI_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "armci/request/ops.h"

/* The origin of a request: a process of this node with a mailbox cell, or one of another node with a block. */
struct asker {
    int rank;
    bool local;
    uint64_t reply; /* or cell */
};

enum lock_answer { LOCK_HELD = 1, LOCK_TAKEN = 0 /* only for tries: a rank, maybe the caller's, holds it */ };

int armci_locks_create(uint64_t set, int owner, int count);
int armci_locks_destroy(uint64_t set, int owner);

/* NET_DONE: *answer is LOCK_HELD or LOCK_TAKEN, or negative: -ENOENT no such mutex, -EDEADLK the rank already holds
 * it, -ENOMEM. NET_LATER: the answer is sent when the mutex is granted. */
enum net_result armci_locks_lock(const struct op_mutex *m, const struct asker *asker, int64_t *answer);

/* Returns 0, -ENOENT, or -EPERM: the rank does not hold it. Grants the mutex to the next rank in the queue. */
int armci_locks_unlock(const struct op_mutex *m, int rank);

/* Frees everything, after the helper has ended. */
void armci_locks_close_all(void);

#endif
