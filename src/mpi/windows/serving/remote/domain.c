/* domain.c: opens, finds and closes domains, and keeps the windows that their helpers serve.
 *
 * Each process of a window finds the first domain that contains all processes of the window, in an order on which they
 * agree: by id, which is larger than those of all domains that its processes belonged to before, then by key, which is
 * random. The processes compare their choices, because another thread may be opening a domain that is not in the lists of
 * all of them yet. If the choices differ, they open another domain. Later domains come later in the lists, so this ends when
 * the first one is in all of them. MPI_Finalize closes them in this order, too, so no two processes wait for each other in
 * different domains. */
#include "mpi/windows/serving/remote/domain.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/settings.h"
#include "mpi/host/agreement.h"
#include "mpi/windows/serving/remote/remote.h"
#include "mpi/windows/serving/state/node_comm.h"
#include "mpi/windows/serving/state/process.h"
#include "mpi/windows/serving/state/serve_agree.h"

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static struct serve_domain *domains;                           /* in their order */
static uint64_t last_id;

/* ---- the list ---- */

static bool is_before(const struct serve_domain *a, const struct serve_domain *b) {
    return a->id != b->id ? a->id < b->id : a->key < b->key;
}

static void domain_link(struct serve_domain *d) {
    pthread_mutex_lock(&list_mutex);
    struct serve_domain **at = &domains;
    while (*at && is_before(*at, d))
        at = &(*at)->next;
    d->next = *at;
    *at = d;
    if (last_id < d->id)
        last_id = d->id;
    pthread_mutex_unlock(&list_mutex);
}

struct serve_domain *serve_domain_find(uint64_t key) {
    pthread_mutex_lock(&list_mutex);
    struct serve_domain *d = domains;
    while (d && d->key != key)
        d = d->next;
    pthread_mutex_unlock(&list_mutex);
    return d;
}

/* ---- membership ---- */

/* The ranks in the domain of all processes of a communicator; NULL: out of memory, or not all are members. */
static int *domain_ranks(const struct serve_domain *d, MPI_Comm comm, int size) {
    MPI_Group group = MPI_GROUP_NULL;
    int *own = malloc((size_t)size * sizeof *own), *ranks = malloc((size_t)size * sizeof *ranks);
    bool ok = own && ranks && host_Comm_group(comm, &group) == MPI_SUCCESS;
    for (int i = 0; ok && i < size; i++)
        own[i] = i;
    ok = ok && host_Group_translate_ranks(group, size, own, d->group, ranks) == MPI_SUCCESS;
    for (int i = 0; ok && i < size; i++)
        ok = ranks[i] != MPI_UNDEFINED;
    if (group != MPI_GROUP_NULL)
        host_Group_free(&group);
    free(own);
    if (ok)
        return ranks;
    free(ranks);
    return NULL;
}

uint64_t *serve_domain_nodes(const struct serve_domain *d, MPI_Comm comm, int size) {
    int *ranks = domain_ranks(d, comm, size);
    uint64_t *nodes = ranks ? calloc(1, node_set_bytes(d->world->nodes)) : NULL;
    for (int i = 0; nodes && i < size; i++)
        node_set_add(nodes, (int)d->world->node_of[ranks[i]]);
    free(ranks);
    return nodes;
}

int serve_domain_node(const struct serve_domain *d, uint64_t process, int likely) {
    int rank = memory_table_find(&d->processes.table, process, likely);
    return (int)d->world->node_of[rank];
}

/* Whether the helper of every node of these processes runs in one of them. */
static bool has_leaders(const struct serve_domain *d, const int *ranks, int size) {
    bool *in = calloc((size_t)d->world->size, sizeof *in), all = in;
    for (int i = 0; in && i < size; i++)
        in[ranks[i]] = true;
    for (int i = 0; all && i < size; i++)
        all = in[net_world_leader(d->world, (int)d->world->node_of[ranks[i]])];
    free(in);
    return all;
}

/* The first domain that serves these processes, if all of them find it. A process may have run out of memory. */
static struct serve_domain *domain_find_for(MPI_Comm comm, const struct net_boot *boot) {
    struct serve_domain *found = NULL;
    pthread_mutex_lock(&list_mutex);
    for (struct serve_domain *d = domains; d && !found; d = d->next) {
        int *ranks = domain_ranks(d, comm, boot->size);
        if (ranks && has_leaders(d, ranks, boot->size))
            found = d;
        free(ranks);
    }
    pthread_mutex_unlock(&list_mutex);
    return net_agree_on_key(boot, found ? found->key : 0) ? found : NULL;
}

/* ---- opening and closing ---- */

static void domain_free(struct serve_domain *d) {
    serve_remote_small_close(d);
    serve_remote_direct_free(d);
    if (d->world)
        net_world_close(d->world);
    serve_node_table_free(&d->processes);
    if (d->group != MPI_GROUP_NULL)
        host_Group_free(&d->group);
    if (d->comm != MPI_COMM_NULL)
        host_real.Comm_free(&d->comm);
    free(d->faults);
    free(d);
}

/* Agrees on the id and the key. */
static int domain_name(struct serve_domain *d) {
    struct name {
        uint64_t id, key;
    } mine, *all = malloc((size_t)d->boot.size * sizeof *all);
    pthread_mutex_lock(&list_mutex);
    mine.id = ++last_id;
    pthread_mutex_unlock(&list_mutex);
    /* The id, because two threads may read the same time. */
    mine.key = random_mix(clock_ns() ^ serve_process_card().id ^ mine.id);
    int status = net_agree_on_memory(&d->boot, all, "a list");
    if (status == 0)
        status = net_boot_gather(&d->boot, &mine, all, sizeof mine);
    for (int i = 0; status == 0 && i < d->boot.size; i++)
        d->id = all[i].id > d->id ? all[i].id : d->id;
    d->key = status == 0 ? all[0].key : 0;
    free(all);
    return status;
}

/* ---- the engine: its own, or that of libarmci ---- */

static void *find_mpi(const char *name) {
    void *next;
    return host_find(name, &next);
}

/* Before libarmci or libvgasnet offer them: only this library finds the calls that it interposes. */
__attribute__((constructor)) static void offer_messages(void) {
    net_mpi_offer(find_mpi);
}

static bool has_same_processes(const struct net_share *share, void *arg) {
    const struct serve_domain *d = arg;
    int same = MPI_UNEQUAL;
    const MPI_Comm *other = share->comm;
    return host_Comm_compare(*other, d->comm, &same) == MPI_SUCCESS && same == MPI_CONGRUENT;
}

static void engine_log(const struct serve_domain *d, const struct net_counts *c) {
    log_debug(
        LOG_WINDOWS,
        "windows across nodes%s: sent %llu blocks of %llu bytes, waited %llu times for credits; served %llu "
        "blocks of %llu bytes, %llu retries, %llu wakes, helpers busy for %.6f s; %llu direct operations",
        d->joined ? " and ARMCI" : "", (unsigned long long)c->blocks, (unsigned long long)c->bytes,
        (unsigned long long)c->waits, (unsigned long long)c->served, (unsigned long long)c->served_bytes,
        (unsigned long long)c->retried, (unsigned long long)c->wakes, c->busy_seconds,
        (unsigned long long)d->direct_count);
}

/* The last user of the engine of a domain leaves. */
static void engine_close(struct net_share *share) {
    struct serve_domain *d = share->arg;
    struct net_counts c;
    net_close(share->net, &d->boot, &c);
    engine_log(d, &c);
    free(share);
    d->share = NULL;
    domain_free(d);
}

static int engine_open(struct serve_domain *d, const struct net_service *service) {
    struct net_share *share = calloc(1, sizeof *share);
    int status = net_agree_on_memory(&d->boot, share, "a domain");
    if (status == 0)
        status = net_open(&d->boot, d->world, service, &d->comm, &d->net);
    if (status != 0) {
        free(share);
        return status;
    }
    *share = (struct net_share){.key = d->key,
                                .comm = &d->comm,
                                .abi = net_mpi_abi(),
                                .net = d->net,
                                .close = engine_close,
                                .arg = d};
    d->share = share;
    net_share_open(share);
    return 0;
}

static int engine_join(struct serve_domain *d, struct net_share *share, const struct net_service *service) {
    d->share = share;
    d->net = share->net;
    d->joined = true;
    net_join(d->net, service);
    net_boot_barrier(&d->boot);
    log_debug(LOG_WINDOWS, "windows across nodes use the helper of ARMCI");
    return 0;
}

/* Returns after all processes have ended their use of the engine. It may live on, for ARMCI. */
static void engine_leave(struct serve_domain *d) {
    struct net_share *share = d->share;
    struct net_counts c;
    serve_domain_enter(d);
    net_fence_all(d->net);
    serve_domain_leave(d);
    net_boot_barrier(&d->boot);
    bool joined = d->joined;
    if (joined) {
        net_count(d->net, &c);
        engine_log(d, &c);
    }
    net_share_leave(share, NET_SERVICE_WINDOWS);
    if (joined)
        domain_free(d);
}

static int domain_open_net(struct serve_domain *d, int machine) {
    const struct net_service service = serve_remote_service(d);
    log_identify(d->boot.rank);
    int status = net_world_open(&d->boot, machine, agreement_node_ranks(), &d->world);
    if (status != 0)
        return status;
    bool serves = d->world->local == 0;
    d->faults = serves ? calloc((size_t)d->world->size, sizeof *d->faults) : NULL;
    status = serve_remote_small_open(d) && (d->faults || !serves) ? 0 : -ENOMEM;
    status = net_agree_on_memory(&d->boot, status == 0, "a domain");
    if (status != 0)
        return status;
    struct net_share *share =
        net_share_take(net_mpi_abi(), &d->boot, NET_SERVICE_WINDOWS, has_same_processes, d);
    status = share ? engine_join(d, share, &service) : engine_open(d, &service);
    if (status == 0) {
        size_t block = net_block_bytes(d->net);
        log_debug(
            LOG_WINDOWS,
            "a domain of %d ranks on %d nodes is open: blocks of %zu bytes; operations of other nodes are %s",
            d->world->size, d->world->nodes, block,
            serves ? "served here" : "served by the leader of this node");
        d->batch_bytes = block < REMOTE_BATCH ? block : REMOTE_BATCH;
    }
    return status;
}

/* Why this process cannot have a helper; "" if it can. Over MPI, the helper calls MPI beside the program's threads. */
static const char *why_no_helper(void) {
    if (settings_get()->net != LINK_OVER_MPI)
        return "";
    return host_has_world() && host_is_threaded()
               ? ""
               : "over MPI messages a helper needs MPI_THREAD_MULTIPLE, which the program does not request";
}

/* What the user asked for and does not get is a warning. */
static void tell_left_to_mpi(const char *why) {
    enum log_level level = settings_get()->windows == WINDOWS_SERVE ? LOG_WARN : LOG_INFO;
    log_print(level, "windows across nodes are left to MPI: %s", why);
}

/* All processes call it, also those that cannot have a helper. */
static struct serve_domain *domain_open(MPI_Comm comm, const struct net_boot *boot, int machine) {
    const char *why = why_no_helper();
    struct serve_domain *d = *why ? NULL : calloc(1, sizeof *d);
    int status = net_boot_agree(boot, d ? 0 : -ENOTSUP);
    if (d)
        *d = (struct serve_domain){.comm = MPI_COMM_NULL, .group = MPI_GROUP_NULL};
    if (status == 0)
        status = net_boot_agree(boot, host_real.Comm_split(comm, 0, 0, &d->comm) ? -EIO : 0);
    if (status == 0) {
        host_Comm_set_errhandler(d->comm, MPI_ERRORS_RETURN);
        serve_node_boot(&d->comm, &d->boot);
        pthread_mutex_init(&d->mutex, NULL);
        status = net_boot_agree(boot, host_Comm_group(d->comm, &d->group) ? -EIO : 0);
    }
    if (status == 0)
        status = domain_name(d);
    if (status == 0 && !serve_node_table_gather(&(struct node_table_member){.ready = true, .relied_on = true},
                                                d->comm, &d->processes))
        status = -ENOMEM; /* on all ranks */
    if (status == 0)
        status = domain_open_net(d, machine);
    if (status == 0) {
        domain_link(d);
        return d;
    }
    if (boot->rank == 0)
        tell_left_to_mpi(*why ? why : "the network cannot be used, see above");
    if (d)
        domain_free(d);
    return NULL;
}

struct serve_domain *serve_domain_of(MPI_Comm comm, const struct net_boot *boot, int machine) {
    static _Atomic bool failed; /* not tried again: all processes would repeat their messages */
    struct serve_domain *d = domain_find_for(comm, boot);
    log_debug(LOG_WINDOWS, "windows across nodes: %s a domain for %d ranks", d ? "there is" : "there is no",
              boot->size);
    if (d || net_boot_agree(boot, atomic_load(&failed) ? -ENOTSUP : 0) != 0)
        return d;
    d = domain_open(comm, boot, machine);
    if (!d)
        atomic_store(&failed, true);
    return d;
}

void serve_domain_close_all(void) {
    while (domains) {
        struct serve_domain *d = domains;
        domains = d->next;
        for (struct served *s = d->windows; s; s = s->next_in_domain)
            serve_remote_direct_close(s); /* of windows that the program has not freed */
        engine_leave(d);
    }
}

/* ---- windows ---- */

void serve_domain_add(struct serve_domain *d, struct served *s) {
    pthread_mutex_lock(&d->mutex);
    s->next_in_domain = d->windows;
    d->windows = s;
    pthread_mutex_unlock(&d->mutex);
    atomic_fetch_add(&d->open, 1);
}

void serve_domain_remove(struct serve_domain *d, struct served *s) {
    pthread_mutex_lock(&d->mutex);
    struct served **at = &d->windows;
    while (*at != s)
        at = &(*at)->next_in_domain;
    *at = s->next_in_domain;
    pthread_mutex_unlock(&d->mutex);
    atomic_fetch_sub(&d->open, 1);
}

struct served *serve_domain_window(struct serve_domain *d, uint64_t key) {
    pthread_mutex_lock(&d->mutex);
    struct served *s = d->windows;
    while (s && s->key != key)
        s = s->next_in_domain;
    pthread_mutex_unlock(&d->mutex);
    return s;
}
