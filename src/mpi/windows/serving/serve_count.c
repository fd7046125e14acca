/* serve_count.c: see serve_count.h. */
#include "mpi/windows/serving/serve_count.h"

_Atomic uint64_t serve_counted[SERVE_WAYS];

void serve_count_json(struct json *j) {
    static const char *const names[SERVE_WAYS] = {"shared", "kernel", "helper"};
    uint64_t counts[SERVE_WAYS], sum = 0;
    for (int i = 0; i < SERVE_WAYS; i++)
        sum += counts[i] = atomic_load_explicit(&serve_counted[i], memory_order_relaxed);
    if (!sum)
        return;
    json_open(j, "served", '{');
    for (int i = 0; i < SERVE_WAYS; i++)
        json_count(j, names[i], counts[i]);
    json_close(j, '}');
}
