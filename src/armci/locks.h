/* locks.h: mutexes, as the helper of the node on which they live keeps them. Its first helper's thread alone. */
#ifndef HEARTH_ARMCI_LOCKS_H
#define HEARTH_ARMCI_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "armci/ops.h"

/* Who asks: a process of this node by a cell of the mailbox, one of another node by a block. */
struct asker {
    int rank;
    bool near;
    uint64_t reply; /* or cell */
};

enum lock_answer { LOCK_HELD = 1, LOCK_TAKEN = 0 /* only by tries: another has it */ };

int locks_create(uint32_t set, int owner, int count);
int locks_destroy(uint32_t set, int owner);

/* NET_DONE: *answer is the answer, LOCK_HELD or LOCK_TAKEN, or negative: -ENOENT no such mutex, -EDEADLK it has it
 * already. NET_LATER: the answer comes when it is granted. */
enum net_result locks_lock(const struct op_mutex *m, const struct asker *asker, int64_t *answer);

/* 0, -ENOENT, or -EPERM: it does not have it. The next one in the queue is answered. */
int locks_unlock(const struct op_mutex *m, int rank);

/* Of mutex.c: ARMCI ends, and with it the program's mutexes. */
void mutex_forget(void);

/* Frees all, when the helper has ended. */
void locks_close_all(void);

#endif
