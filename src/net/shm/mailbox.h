/* mailbox.h: requests from the processes of a node to its helper, which may be asleep in poll.
 *
 * Each process has some cells in shared memory. It writes a request into a cell and rings the doorbell. The helper
 * takes the request and answers into the same cell, at once or much later (a mutex that is held elsewhere). The
 * helper sleeps on descriptors, so the doorbell is a pipe. The pipe has no name: the other processes open it through
 * /proc, and it vanishes with the helper. They write to it only if the helper has announced that it is about to
 * sleep.
 *
 *      free -> asked (by the process) -> taken (by the helper) -> answered -> free (by the process)
 */
#ifndef HEARTH_NET_MAILBOX_H
#define HEARTH_NET_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAILBOX_WORDS = 12, MAILBOX_CELLS = 4 /* per process */ };

struct mailbox; /* the view of one process */

struct mailbox_request {
    uint32_t what; /* request code, defined by the service */
    uint64_t words[MAILBOX_WORDS];
};

size_t net_mailbox_bytes(int processes);

/* The mailbox lies in zeroed shared memory of net_mailbox_bytes bytes. The helper's process calls net_mailbox_make
 * first, and then every process, the helper's too, calls net_mailbox_join for its client side. Return 0, or a negative
 * code after logging an error. */
int net_mailbox_make(void *memory, int processes, struct mailbox **box);
int net_mailbox_join(void *memory, int process, struct mailbox **box);
void net_mailbox_close(struct mailbox *box);

/* ---- a process: any thread ---- */

/* Posts a request and rings the doorbell. Returns the cell, or -EBUSY if all are in use. */
int net_mailbox_ask(struct mailbox *box, const struct mailbox_request *request);

/* Whether the request is answered. If so, sets *answer and frees the cell. */
bool net_mailbox_answered(struct mailbox *box, int cell, int64_t *answer);

/* Sleeps until it may be answered, at most this long. */
void net_mailbox_wait(struct mailbox *box, int cell, uint64_t microseconds);

/* Only wakes the helper. */
void net_mailbox_doorbell(struct mailbox *box);

/* ---- the helper: one thread ---- */

/* The next request, round robin over the cells, or false. `cell` identifies it to net_mailbox_answer. */
bool net_mailbox_take(struct mailbox *box, struct mailbox_request *request, int *cell);
void net_mailbox_answer(struct mailbox *box, int cell, int64_t answer);

/* The process that a cell belongs to. */
int net_mailbox_process(const struct mailbox *box, int cell);

/* To sleep: call net_mailbox_sleeps, check all sources once more, poll net_mailbox_descriptor among others, call
 * net_mailbox_wakes. The last call also empties the pipe. */
void net_mailbox_sleeps(struct mailbox *box);
int net_mailbox_descriptor(const struct mailbox *box);
void net_mailbox_wakes(struct mailbox *box);

/* Another thread of the helper's process takes over polling while the helper sleeps, and needs no doorbell. To stop,
 * it calls net_mailbox_sleeps in the helper's place, and checks all sources once more. The two threads exclude each
 * other by a lock of their own. */
void net_mailbox_is_watched(struct mailbox *box);

#endif
