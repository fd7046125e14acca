/* mailbox.h: how the processes of a node reach its helper, which may be asleep in poll.
 *
 * Each process has some cells, in shared memory. It writes a request into one of them and rings; the helper
 * takes it, and answers into the same cell, at once or much later (a mutex that another holds). The helper
 * sleeps on descriptors, so that it is rung through a pipe: it has no name, the others open it through /proc,
 * and it is gone with the helper. It is written to only if the helper has said that it is going to sleep.
 *
 *      free -> asked (by the process) -> taken (by the helper) -> answered -> free (by the process) */
#ifndef HEARTH_NET_MAILBOX_H
#define HEARTH_NET_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAILBOX_WORDS = 12, MAILBOX_CELLS = 4 /* per process */ };

struct mailbox; /* this process's view */

struct mailbox_request {
    uint32_t what; /* as agreed between those who ask and those who answer */
    uint64_t words[MAILBOX_WORDS];
};

size_t mailbox_bytes(int processes);

/* In shared memory of so many bytes, zeroed. The helper's process makes it, then the others join. 0 or a
 * negative code after a line. */
int mailbox_make(void *memory, int processes, struct mailbox **box);
int mailbox_join(void *memory, int process, struct mailbox **box);
void mailbox_close(struct mailbox *box);

/* ---- of a process: any thread ---- */

/* Puts a request and rings: its cell, or -EBUSY if all are in use. */
int mailbox_ask(struct mailbox *box, const struct mailbox_request *request);

/* Whether it is answered; then *answer is what the helper said, and the cell is free again. */
bool mailbox_answered(struct mailbox *box, int cell, int64_t *answer);

/* Sleeps until it may be answered, or for so long. */
void mailbox_wait(struct mailbox *box, int cell, uint64_t microseconds);

/* Only wakes the helper. */
void mailbox_ring(struct mailbox *box);

/* ---- of the helper: one thread ---- */

/* The next request, or false. `cell` is what to answer to. Round robin over the cells. */
bool mailbox_take(struct mailbox *box, struct mailbox_request *request, int *cell);
void mailbox_answer(struct mailbox *box, int cell, int64_t answer);

/* Which process a cell is of. */
int mailbox_process(const struct mailbox *box, int cell);

/* To sleep: say so, look once more at everything, poll this descriptor among others, say that one is awake,
 * which also empties the pipe. */
void mailbox_sleeps(struct mailbox *box);
int mailbox_descriptor(const struct mailbox *box);
void mailbox_wakes(struct mailbox *box);

/* Another thread of the helper's process looks after everything while the helper sleeps, and need not be rung; until
 * it says mailbox_sleeps in the helper's place, and looks once more. The two keep apart by a lock of their own. */
void mailbox_is_watched(struct mailbox *box);

#endif
