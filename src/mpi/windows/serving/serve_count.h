/* serve_count.h: how operations on served windows reached their targets, for the report. */
#ifndef HEARTH_MPI_SERVE_COUNT_H
#define HEARTH_MPI_SERVE_COUNT_H

#include "base/compiler.h"
#include "mpi/observe/call_time.h"
#include "mpi/windows/serving/serving.h"
#include "observe/json.h"

enum serve_way { SERVE_SHARED, SERVE_KERNEL, SERVE_HELPER, SERVE_WAYS };
extern HIDDEN _Atomic uint64_t serve_counted[SERVE_WAYS];

/* A load and a store: concurrent threads may lose a count, but no thread pays for a locked instruction. */
static inline void serve_count(const struct served_target *t) {
    if (LIKELY(!call_time_is_on))
        return;
    _Atomic uint64_t *n = &serve_counted[t->remote ? SERVE_HELPER : t->mapped ? SERVE_SHARED : SERVE_KERNEL];
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* Writes the member "served", if there were any. */
void serve_count_json(struct json *j);

#endif
