/* handle.h: operations under way, and the thread that they belong to. */
#ifndef HEARTH_GAS_HANDLE_H
#define HEARTH_GAS_HANDLE_H

#include <pthread.h>

#include "gas/memory.h"
#include "gas/stats.h"

enum {
    COPY_INSIDE = 32, /* bytes of a put's source that an operation itself holds */
    COPY_MOST = 8192  /* beyond, a put whose source must be free on return waits until it has left */
};

/* What a gasnet_handle_t points to: one operation, or those of an access region. */
struct gasnet_operation {
    struct memory_op memory;
    struct gasnet_operation *next; /* in a list, or that is spare */
    struct operations {
        struct gasnet_operation *first, *last;
        size_t count;
    } region; /* of an access region: its operations */
    bool is_region;
    struct gas_thread *owner; /* NULL: it is not in the list of those that are open */
    struct gasnet_operation *open_next, *open_previous;
    void *copy; /* of the source: NULL, `inside`, or allocated */
    _Alignas(8) char inside[COPY_INSIDE];
};

enum { TRANSFERS_TO_A_POLL = 16 };

/* Of the calling thread; made at its first call, and gone with it: what is then under way is waited for. */
struct gas_thread {
    struct operations gets, puts;    /* implicit */
    struct gasnet_operation *region; /* the access region that is open, or NULL */
    struct gasnet_operation *spare;
    unsigned spares;
    unsigned transfers; /* puts and gets: some of them poll */
    pthread_mutex_t
        lock; /* around `open` if there are pages; nothing else is locked under it but inside pages/ */
    struct gasnet_operation *open;      /* all that are under way */
    struct gas_thread *next, *previous; /* all threads */
    struct stats_thread stats;
};
extern _Thread_local struct gas_thread *thread_current HIDDEN
    __attribute__((tls_model("initial-exec"))); /* NULL before the thread's first call */
struct gas_thread *thread_make(void);
static inline struct gas_thread *thread_mine(void) {
    struct gas_thread *t = thread_current;
    return LIKELY(t) ? t : thread_make();
}

/* A new operation, with nothing in it; NULL: there is no memory, and the caller does it at once instead. */
struct gasnet_operation *operation_new(struct gas_thread *t);
void operation_free(struct gas_thread *t, struct gasnet_operation *o);

/* It is under way: it is finished before its thread ends, and before pages are closed. */
void operation_opened(struct gas_thread *t, struct gasnet_operation *o);

/* Before segments in pages are closed: finishes what no thread has synchronised, or ever will. */
void handle_finish_all(void);

/* A copy of the source in the operation; NULL: no memory. bytes <= COPY_MOST. */
const void *operation_copy(struct gasnet_operation *o, const void *from, size_t bytes);

/* To the open access region, or to those of the thread: `list`. */
void operation_add(struct gas_thread *t, struct operations *list, struct gasnet_operation *o);

/* Whether it is complete; then it is freed. Neither polls nor makes the network go on. */
bool operation_try(struct gas_thread *t, struct gasnet_operation *o);
bool operations_try(struct gas_thread *t, struct operations *list);

/* GASNET_ERR_NOT_READY: programs ask again at once, and whoever does the work may need the core. */
int operation_not_ready(void);

/* Until then, with a look at active messages between two of them if `polls`; freed. */
void operation_finish(struct gas_thread *t, struct gasnet_operation *o, bool polls);
void operations_finish(struct gas_thread *t, struct operations *list, bool polls);

#endif
