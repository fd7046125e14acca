/* gas_handle.h: operations under way, and the thread that they belong to. */
#ifndef HEARTH_GAS_HANDLE_H
#define HEARTH_GAS_HANDLE_H

#include <pthread.h>

#include "base/compiler.h"
#include "gas/am/am.h"
#include "gas/rma/stats.h"
#include "gas/memory/gas_memory.h"

enum {
    COPY_INSIDE = 32, /* bytes of a put's source that the record itself can hold */
    COPY_MOST = 8192  /* larger puts that must free their source on return wait until it has left */
};

/* What completes an operation. */
enum operation_kind {
    OPERATION_MEMORY, /* a put, get or set */
    OPERATION_REGION, /* the operations of an access region */
    OPERATION_COLL    /* a collective operation */
};
enum operation_category { CATEGORY_GET, CATEGORY_PUT, CATEGORY_RMW };

/* Target of a gasnet_handle_t. A leaf event of GASNet-EX is the address of its root with a tag: see gas_leaf.h. */
struct gasnet_operation {
    struct memory_op memory;
    struct gasnet_coll_operation *coll;
    struct gasnet_operation *next; /* in a list of operations or of spare records */
    struct operations {
        struct gasnet_operation *first, *last;
        size_t count;
    } region;                 /* of an access region: its operations */
    uint8_t kind, category;   /* enum operation_kind, enum operation_category */
    bool complete;            /* it was found to be complete */
    bool polled;              /* handlers complete it, or part of a region */
    struct gas_thread *owner; /* NULL: not in the list of open operations */
    struct gasnet_operation *open_next, *open_previous;
    void *copy; /* of the source: NULL, `inside`, or allocated */
    _Alignas(8) char inside[COPY_INSIDE];
};

enum { TRANSFERS_TO_A_POLL = 16 };

/* Of the calling thread; created at its first call. When the thread ends, its operations are waited for. */
struct gas_thread {
    struct operations gets, puts, rmws; /* implicit */
    struct gasnet_operation *region;    /* the open access region, or NULL */
    struct gasnet_operation *spare;
    unsigned spares;
    unsigned until_poll;  /* puts and gets before the next one that polls */
    pthread_mutex_t lock; /* protects `open` if there are pages; leaf lock except for those of pages/ */
    struct gasnet_operation *open;      /* all operations under way */
    struct gasnet_operation *tended;    /* the one that the next poll advances first; NULL: `open` */
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

/* Adds it to the open access region, or else to the thread's implicit operations of its category. */
void gas_operation_add(struct gas_thread *t, struct gasnet_operation *o);

/* Whether it is complete; does not free it. */
bool gas_operation_is_complete(struct gasnet_operation *o);
/* The same for the source of a put. */
bool gas_operation_source_is_free(struct gasnet_operation *o);

/* From now on polls advance operations in pages. */
void gas_handle_open(void);

/* Whether it is complete; then it is freed. Neither polls nor makes the network progress. */
bool gas_operation_try(struct gas_thread *t, gasnet_handle_t handle);
bool gas_operations_try(struct gas_thread *t, struct operations *list);

/* ---- access regions: region.c ---- */

void gas_region_begin(const char *call);
gasnet_handle_t gas_region_end(const char *call);
/* The calling thread, which must have no region open. Called first by calls that synchronise implicit operations. */
struct gas_thread *gas_region_none(const char *call);

/* ---- waiting ---- */

/* Returns GASNET_ERR_NOT_READY after yielding: programs retry immediately, and the thread that does the work may need
 * the core. */
int gas_operation_not_ready(void);

/* Wait for completion, and free. If `polls`, active messages are polled between two operations. Operations that need
 * handlers to run are polled for in any case. */
void gas_operation_finish(struct gas_thread *t, gasnet_handle_t handle, bool polls);
void gas_operations_finish(struct gas_thread *t, struct operations *list, bool polls);

#endif
