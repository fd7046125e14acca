/* gas_handle.h: operations under way, and the thread that they belong to. */
#ifndef HEARTH_GAS_HANDLE_H
#define HEARTH_GAS_HANDLE_H

#include <pthread.h>

#include "gas/am/am.h"
#include "gas/job/stats.h"
#include "gas/rma/gas_memory.h"

enum {
    COPY_INSIDE = 32, /* bytes of a put's source that the record itself can hold */
    COPY_MOST = 8192  /* larger puts that must free their source on return wait until it has left */
};

/* Target of a gasnet_handle_t: one operation, or those of an access region. */
struct gasnet_operation {
    struct memory_op memory;
    struct gasnet_operation *next; /* in a list of operations or of spare records */
    struct operations {
        struct gasnet_operation *first, *last;
        size_t count;
    } region; /* of an access region: its operations */
    bool is_region;
    struct gas_thread *owner; /* NULL: not in the list of open operations */
    struct gasnet_operation *open_next, *open_previous;
    void *copy; /* of the source: NULL, `inside`, or allocated */
    _Alignas(8) char inside[COPY_INSIDE];
};

enum { TRANSFERS_TO_A_POLL = 16 };

/* Of the calling thread; created at its first call. When the thread ends, its operations are waited for. */
struct gas_thread {
    struct operations gets, puts;    /* implicit */
    struct gasnet_operation *region; /* the open access region, or NULL */
    struct gasnet_operation *spare;
    unsigned spares;
    unsigned until_poll;  /* puts and gets before the next one that polls */
    pthread_mutex_t lock; /* protects `open` if there are pages; leaf lock except for those of pages/ */
    struct gasnet_operation *open;      /* all operations under way */
    struct gas_thread *next, *previous; /* list of all threads */
    struct stats_thread stats;
};
struct gas_thread *gas_thread_make(void);
static inline struct gas_thread *gas_thread_mine(void) {
    struct gas_thread *t = gas_am_context.thread;
    return LIKELY(t) ? t : gas_thread_make();
}

/* A new, empty operation; NULL: no memory, and the caller executes the operation immediately instead. */
struct gasnet_operation *gas_operation_new(struct gas_thread *t);
void gas_operation_free(struct gas_thread *t, struct gasnet_operation *o);

/* The operation is under way: it is finished before its thread ends, and before pages are closed. */
void gas_operation_opened(struct gas_thread *t, struct gasnet_operation *o);

/* Before segments in pages are closed: finishes operations that no thread has synchronised. */
void gas_handle_finish_all(void);

/* Copies the source into the operation; NULL: no memory. bytes <= COPY_MOST. */
const void *gas_operation_copy(struct gasnet_operation *o, const void *from, size_t bytes);

/* Adds it to the open access region, or else to `list` of the thread. */
void gas_operation_add(struct gas_thread *t, struct operations *list, struct gasnet_operation *o);

/* Whether it is complete; then it is freed. Neither polls nor makes the network progress. */
bool gas_operation_try(struct gas_thread *t, struct gasnet_operation *o);
bool gas_operations_try(struct gas_thread *t, struct operations *list);

/* Returns GASNET_ERR_NOT_READY after yielding: programs retry immediately, and the thread that does the work may need
 * the core. */
int gas_operation_not_ready(void);

/* Wait for completion, and free. If `polls`, active messages are polled between two operations. */
void gas_operation_finish(struct gas_thread *t, struct gasnet_operation *o, bool polls);
void gas_operations_finish(struct gas_thread *t, struct operations *list, bool polls);

#endif
