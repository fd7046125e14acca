/* team.c: collective operations of all ranks, made of GASNet's. */
#include "dgemm.h"

#include <gasnet_coll.h>
#include <stdlib.h>

enum { FLAGS = GASNET_COLL_LOCAL | GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC };

void dgemm_barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

/* Memory for data of every rank. A rank without it could not even report that to the others, and ends the job. */
static void *room_for_all(size_t bytes) {
    void *all = malloc(gasnet_nodes() * bytes);
    if (!all) {
        app_complain("no memory for %zu bytes of each of %u ranks", bytes, (unsigned)gasnet_nodes());
        gasnet_exit(APP_FAILED);
    }
    return all;
}

void dgemm_gather(const void *mine, size_t bytes, void *all) {
    gasnet_coll_gather_all(GASNET_TEAM_ALL, all, (void *)(uintptr_t)mine, bytes, FLAGS);
}

double dgemm_most(double mine) {
    double *all = room_for_all(sizeof *all), most = mine;
    dgemm_gather(&mine, sizeof mine, all);
    for (gasnet_node_t i = 0; i < gasnet_nodes(); i++)
        most = all[i] > most ? all[i] : most;
    free(all);
    return most;
}

int dgemm_agree(int code, const char *complaint) {
    int highest = (int)dgemm_most(code);
    if (highest && complaint && gasnet_mynode() == 0)
        app_complain("%s", complaint);
    return highest;
}

void dgemm_sum(double *values, uint64_t count) {
    double *all = room_for_all(count * sizeof *all);
    dgemm_gather(values, count * sizeof *values, all);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = 0;
        for (uint64_t k = 0; k < gasnet_nodes(); k++)
            values[i] += all[k * count + i];
    }
    free(all);
}
