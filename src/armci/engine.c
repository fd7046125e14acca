/* engine.c: ARMCI's network engine. In a process whose windows Hearth serves, ARMCI and the windows use one engine, if they have
 * the same processes in the same order: whichever is opened first opens it (net/rpc/share.h). It stays open until neither needs
 * it. Windows live until MPI_Finalize, so an engine of ARMCI's may outlive ARMCI_Finalize, with its communicator and its world. */
#include "armci/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "armci/request/armci_serve.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"

struct armci_engine {
    struct net_share share;
    MPI_Comm comm;
    struct net_boot boot;
    struct net_world *world;
    bool closed;   /* the network is; ARMCI still needs the rest */
    bool orphaned; /* ARMCI has left */
    struct net_counts counts;
};

static struct armci_engine
    *own; /* NULL: windows have opened it, or it has outlived an earlier ARMCI_Finalize */

static bool has_same_processes(const struct net_share *share, void *arg) {
    int same = MPI_UNEQUAL;
    const MPI_Comm *other = share->comm;
    (void)arg;
    return MPI_Comm_compare(*other, armci_job.comm, &same) == MPI_SUCCESS && same == MPI_CONGRUENT;
}

static void engine_free(struct armci_engine *e) {
    net_world_close(e->world);
    MPI_Comm_free(&e->comm);
    free(e);
}

/* Called when the last user leaves. */
static void engine_end(struct net_share *share) {
    struct armci_engine *e = share->arg;
    net_close(share->net, &e->boot, &e->counts);
    e->closed = true;
    if (e->orphaned)
        engine_free(e);
}

static int engine_make(void) {
    uint64_t key = random_mix(clock_ns() ^ (uint64_t)getpid()) | 1;
    own = calloc(1, sizeof *own);
    int status = net_agree_on_memory(&armci_job.boot, own, "the network");
    if (status == 0)
        status = net_open(&armci_job.boot, armci_job.world, &armci_service, &armci_job.comm, &armci_job.net);
    if (status != 0)
        return status;
    armci_check("ARMCI_Init", MPI_Bcast(&key, 1, MPI_UINT64_T, 0, armci_job.comm));
    *own = (struct armci_engine){.comm = armci_job.comm, .world = armci_job.world};
    net_boot_over(&own->comm, &own->boot);
    own->share = (struct net_share){.key = key,
                                    .comm = &own->comm,
                                    .abi = net_mpi_abi(),
                                    .net = armci_job.net,
                                    .close = engine_end,
                                    .arg = own};
    net_share_open(&own->share);
    armci_job.share = &own->share;
    return 0;
}

int armci_engine_open(void) {
    struct net_share *share =
        net_share_take(net_mpi_abi(), &armci_job.boot, NET_SERVICE_MAIN, has_same_processes, NULL);
    log_debug(LOG_ARMCI, "the helper is %s", share ? "that of served windows" : "its own");
    if (!share)
        return engine_make();
    own = NULL;
    armci_job.share = share;
    armci_job.net = share->net;
    net_join(share->net, &armci_service);
    log_debug(LOG_ARMCI, "ARMCI uses the helper of served windows");
    return 0;
}

void armci_engine_close(struct net_counts *counts) {
    struct armci_engine *e = own;
    net_count(armci_job.net, counts);
    armci_job.threaded = false; /* no other thread calls any more, and the guard may go with the engine */
    net_share_leave(armci_job.share, NET_SERVICE_MAIN);
    if (e && e->closed)
        *counts = e->counts;
}

void armci_engine_free(void) {
    if (!own) {
        net_world_close(armci_job.world);
        MPI_Comm_free(&armci_job.comm);
    } else if (own->closed) {
        engine_free(own);
    } else {
        own->orphaned = true;
    }
    own = NULL;
}
