/* serve_window.c: windows that Hearth serves: creation and release.
 *
 * MPI_Win_allocate: one mapping holds the memory of all ranks of a node. MPI_Win_create, MPI_Win_create_dynamic: memory of
 * an allocated window is used where it is mapped, other memory is reached through the kernel. A window with ranks on several
 * nodes has such mappings on each of them, and a domain (remote/domain.h) for operations between them. If there is none, or if the
 * kernel denies access, the host makes and serves the window.
 *
 * Collectives dominate the time: on a node there is one exchange before the host creates its window and one after it, and two more
 * for memory. Between nodes only the table of the ranks' memory is exchanged (node_table.h), which caching then uses as well. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/serving/remote/remote.h"
#include "mpi/windows/serving/serve_auto.h"
#include "mpi/windows/serving/serve_offer.h"
#include "mpi/windows/serving/serve_sync.h"
#include "tables/rank_table.h"

/* ---- the structure ---- */

static struct served *served_make(const struct party *p, bool dynamic) {
    struct served *s = serve_lookup_take();
    struct served_target **here = calloc((size_t)p->local.size, sizeof(struct served_target *));
    struct rank_table targets;
    if (s && here &&
        rank_table_open(&targets, (uint32_t)p->boot.size, sizeof(struct served_target),
                        &serve_no_target.head) == 0) {
        *s = (struct served){.handle = MPI_WIN_NULL,
                             .sync = MPI_COMM_NULL,
                             .dynamic = dynamic,
                             .rank = p->boot.rank,
                             .size = p->boot.size,
                             .targets = targets,
                             .here = here};
        s->gate = serve_process_take_gate();
        return s;
    }
    free(here);
    if (s)
        serve_lookup_keep(s);
    return NULL;
}

static void served_drop(struct served *s) {
    serve_remote_direct_close(s);
    if (s->key)
        serve_domain_remove(s->domain, s);
    if (s->memory)
        serve_memory_leave(s->memory);
    else if (s->shared)
        net_shared_leave(NULL, s->shared);
    for (int i = 0; i < s->here_count; i++)
        if (s->here[i]->memory)
            serve_memory_leave(s->here[i]->memory);
    if (s->gate >= 0)
        serve_process_give_gate(s->gate);
    serve_sync_close(s);
    free(s->started);
    free(s->nodes);
    free(s->attached);
    serve_node_table_free(&s->ranks);
    free(s->here);
    rank_table_close(&s->targets);
    serve_lookup_keep(s);
}

/* ---- other nodes ---- */

/* The table of the ranks' memory, and the domain: the window is known to the helper of this process, if it has one, before any rank may
 * use it. Collective among all ranks, of which some may have failed before. Fails everywhere or nowhere. */
static int served_join(struct served *s, struct serve_creation *c, uint64_t key, int status) {
    struct party *p = &c->party;
    struct node_table_member own = {.ready = status == 0, .relied_on = true, .key = key};
    struct node_table ranks;
    own.by_id = !p->domain->processes.table.one_world;
    if (status == 0)
        own.memory = (struct rank_memory){
            .base = s->own_base, .bytes = (uint64_t)s->own_bytes, .unit = (uint64_t)s->own_unit};
    if (!serve_node_table_gather(&own, p->program, &ranks))
        return status != 0 ? status : -ENOTSUP;
    s->ranks = ranks;
    if (ranks.table.one_world == own.by_id)
        return -ENOTSUP; /* MPI could not compare the processes */
    s->nodes = p->nodes;
    p->nodes = NULL;
    s->domain = p->domain;
    status = c->flavor == SERVE_ALLOCATED ? serve_remote_direct_open(s, &p->boot) : 0;
    if (status != 0)
        return status;
    s->key = ranks.key;
    serve_domain_add(s->domain, s);
    return 0;
}

/* ---- the host's window, whose handle the program sees ---- */

/* The communicator for messages between the ranks, where these are needed (serve_sync.h). Between nodes there is a copy of the program's
 * already. Returns false if this rank could not make one. */
static bool served_sync(struct served *s, struct party *p) {
    if (serve_sync_host_waits())
        return true;
    if (!p->domain)
        return serve_sync_open(s, p->comm);
    s->sync = p->comm;
    p->keeps_comm = true;
    return true;
}

/* Open MPI 4 cannot create windows of one process over existing memory, nor, as Debian builds it, any between nodes. But it
 * can create empty shared ones: then the handle is that of such a window of the ranks on this node, and serve_attribute.c
 * answers for it. On one node it synchronises as any other. Otherwise serve_sync.c does. Codes as below. */
static int served_name_empty(struct served *s, const struct serve_creation *c, MPI_Comm comm, MPI_Win *win) {
    const struct party *p = &c->party;
    void *none;
    bool reached = c->reached;
    int rc = serve_host.Win_allocate_shared(0, 1, c->info, p->domain ? p->local_comm : comm, &none, win);
    if (p->domain && s->sync == MPI_COMM_NULL)
        reached = serve_sync_open(s, p->comm) && reached;
    int status = net_boot_agree(&p->boot, rc != MPI_SUCCESS || !reached ? -ENOTSUP : 0);
    s->stand_in = status == 0;
    log_debug(LOG_WINDOWS, "MPI cannot create this window: an empty shared one %s its handle",
              status == 0 ? "is" : "cannot be made for");
    if (rc == MPI_SUCCESS && status != 0)
        serve_host.Win_free(win);
    return status;
}

/* Creates the host window over the same memory whose handle the program sees. A host that cannot create one may still be
 * able to allocate a window: only one of Open MPI's components can do both. So the error is returned, except by MPICH: that
 * numbers windows by the contexts of their communicators, and reuses the context of a freed one (4.0). Returns 0 if every rank has its window and
 * reaches all ranks; -EEXIST if all have their windows, but some do not reach all ranks; or another code. */
static int served_name(struct served *s, struct serve_creation *c, MPI_Win *win) {
    struct party *p = &c->party;
    MPI_Comm comm = host_is_open_mpi() ? p->comm : p->program;
    c->reached = served_sync(s, p) && c->reached;
    int rc = s->dynamic ? serve_host.Win_create_dynamic(c->info, comm, win)
                        : serve_host.Win_create((void *)(uintptr_t)s->own_base, s->own_bytes, s->own_unit,
                                                c->info, comm, win);
    int status = net_boot_agree(&p->boot, rc != MPI_SUCCESS ? -ENOTSUP : c->reached ? 0 : -EEXIST);
    if (status == -ENOTSUP)
        status = served_name_empty(s, c, comm, win);
    if (status == 0)
        s->handle = *win;
    return status;
}

/* ---- creation ---- */

/* Collective. Nodes may have failed for different reasons. -EFBIG: nobody can create the window; else -ENOTSUP. */
static int agree_on_failure(const struct serve_creation *c, int status) {
    int code = status == -EFBIG && c->beyond_host ? -EFBIG : -EEXIST; /* which counts least */
    return net_boot_agree(&c->party.boot, code) == -EFBIG ? -EFBIG : -ENOTSUP;
}

/* Collective. NULL: *result is -EEXIST if the host has created the window already, -EFBIG if nobody can, else the host may. */
static struct served *served_open(MPI_Comm comm, struct serve_offer *own, uint64_t key,
                                  struct serve_creation *c, MPI_Win *win, int *result) {
    struct party *p = &c->party;
    if (!serve_party_open(p, comm))
        return NULL;
    struct served *s = served_make(p, c->flavor == SERVE_DYNAMIC);
    if (s) {
        s->own_base = own->base;
        s->own_bytes = s->dynamic ? 0 : (MPI_Aint)own->bytes;
        s->own_unit = (int)own->unit;
    } else {
        log_error("no memory for a window of %d ranks: is the memory of this process limited (ulimit -v)?",
                  p->boot.size);
    }
    own->rank = p->boot.rank;
    own->pid = s ? own->pid : 0;
    own->gate = s ? s->gate : -1;
    int status = serve_offers_gather(s, c, own);
    if (p->domain)
        status = served_join(s, c, key, status);
    if (status == 0)
        status = served_name(s, c, win);
    if (status != 0 && status != -EEXIST)
        status = agree_on_failure(c, status);
    serve_party_close(p);
    if (status == 0) {
        serve_start();
        serve_lookup_add(s);
        return s;
    }
    if (status == -EEXIST && c->flavor == SERVE_ALLOCATED) {
        serve_host.Win_free(win);
        status = -ENOTSUP;
    }
    *result = status;
    if (s)
        served_drop(s);
    return NULL;
}

static bool is_intracomm(MPI_Comm comm) {
    int inter = 1;
    return comm != MPI_COMM_NULL && host_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

/* What the user asked for and does not get is a warning, once; `auto` has the reason in its report. */
static void tell_left_to_mpi(const struct serve_creation *c) {
    static _Atomic bool is_told;
    if (c->why && !serve_auto_reason() && c->party.local.rank == 0 && !atomic_exchange(&is_told, true))
        log_warn("a window of %d ranks is left to MPI: %s", c->party.boot.size, c->why);
}

static int window_no_memory(MPI_Comm comm) {
    host_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

static const char *flavor_word(enum serve_flavor flavor) {
    return flavor == SERVE_ALLOCATED ? "allocated" : flavor == SERVE_DYNAMIC ? "dynamic" : "created";
}

static void tell_served(const struct served *s, const struct serve_creation *c) {
    int mapped = 0, by_kernel = 0;
    for (int i = 0; i < s->here_count; i++) {
        mapped += s->here[i]->mapped;
        by_kernel += s->here[i]->by_kernel;
    }
    log_debug(
        LOG_WINDOWS,
        "a window of %d ranks, %s, is served: %d of %d ranks of this node are reached in mapped memory, %d "
        "through the kernel, others %s; its handle is %s",
        c->party.boot.size, flavor_word(c->flavor), mapped, s->here_count, by_kernel,
        s->domain ? "by helpers" : "are none",
        s->stand_in ? "that of an empty window" : "a window of MPI over its memory");
}

static void tell_not_served(const struct serve_creation *c, int result) {
    log_debug(LOG_WINDOWS, "a window of %d ranks, %s, is not served: %s", c->party.boot.size,
              flavor_word(c->flavor),
              c->why              ? c->why
              : result == -EFBIG  ? "no rank has so much memory"
              : result == -EEXIST ? "some ranks do not reach the memory of all others, or cannot synchronise"
                                  : "shared memory, a helper or a window of MPI could not be made on some "
                                    "rank; see the lines above");
}

/* A rank without memory keeps no other from sharing its own. */
static enum serve_memory_kind memory_kind(const void *base, MPI_Aint size, enum serve_flavor flavor) {
    struct serve_memory_name name;
    if (flavor == SERVE_ALLOCATED)
        return SERVE_MEMORY_ALLOCATED;
    bool shared = flavor == SERVE_CREATED && (!size || serve_memory_find(base, (uint64_t)size, &name));
    return shared ? SERVE_MEMORY_SHARED : SERVE_MEMORY_PRIVATE;
}

/* Why the window is not even tried: one of the conditions of is_served. */
static bool is_wanted(const void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                      enum serve_flavor flavor) {
    const char *why = NULL;
    char text[160];
    if (size < 0 || unit <= 0 || unit > INT_MAX)
        why = "its size or displacement unit is invalid, which MPI reports";
    else if (!is_intracomm(comm))
        why = "its communicator is invalid or an intercommunicator";
    else if (!serve_auto_wants(comm, info, memory_kind(base, size, flavor))) {
        why = "HEARTH_WINDOWS and the info key hearth_windows leave it to MPI";
        if (serve_auto_reason() && LOG_IS_ON(LOG_WINDOWS, LOG_DEBUG)) {
            serve_auto_text(serve_auto_reason(), text, sizeof text);
            why = text;
        }
    }
    if (why)
        log_debug(LOG_WINDOWS, "a window, %s, is not served: %s", flavor_word(flavor), why);
    return !why;
}

/* Creates the window, if it is to be served and can be. If false, the host creates it. Sets *base to its memory, or *rc if
 * the call fails. */
static bool is_served(void **base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                      enum serve_flavor flavor, MPI_Win *win, int *rc) {
    if (!is_wanted(*base, size, unit, info, comm, flavor))
        return false;
    struct serve_offer own = serve_offer_make(*base, size, unit, info, flavor);
    struct serve_creation c = {.flavor = flavor, .info = info};
    uint64_t key = random_mix(clock_ns() ^ own.process.id) | 1;
    int result = 0;
    const struct served *s = served_open(comm, &own, key, &c, win, &result);
    if (s) {
        tell_served(s, &c);
        *base = (void *)(uintptr_t)s->own_base;
        return true;
    }
    tell_not_served(&c, result);
    serve_auto_failed();
    tell_left_to_mpi(&c);
    if (result == -EFBIG)
        *rc = window_no_memory(comm);
    return result == -EFBIG || result == -EEXIST;
}

static bool is_allocated(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win,
                         int *rc) {
    void *memory = NULL;
    bool served = is_served(&memory, size, unit, info, comm, SERVE_ALLOCATED, win, rc);
    if (served && *rc == MPI_SUCCESS)
        memcpy(base, &memory, sizeof memory);
    return served;
}

int serve_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    int rc = MPI_SUCCESS;
    return is_allocated(size, unit, info, comm, base, win, &rc)
               ? rc
               : serve_host.Win_allocate(size, unit, info, comm, base, win);
}

int serve_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    int rc = MPI_SUCCESS;
    return is_served(&base, size, unit, info, comm, SERVE_CREATED, win, &rc)
               ? rc
               : serve_host.Win_create(base, size, unit, info, comm, win);
}

/* Displacements are addresses, and any attached memory may be accessed. */
int serve_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    void *all = NULL;
    int rc = MPI_SUCCESS;
    return is_served(&all, PTRDIFF_MAX, 1, info, comm, SERVE_DYNAMIC, win, &rc)
               ? rc
               : serve_host.Win_create_dynamic(info, comm, win);
}

#if HEARTH_MPI_COUNTS
int serve_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                         MPI_Win *win) {
    int rc = MPI_SUCCESS;
    return is_allocated(size, unit, info, comm, base, win, &rc)
               ? rc
               : serve_host.Win_allocate_c(size, unit, info, comm, base, win);
}

int serve_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    int rc = MPI_SUCCESS;
    return is_served(&base, size, unit, info, comm, SERVE_CREATED, win, &rc)
               ? rc
               : serve_host.Win_create_c(base, size, unit, info, comm, win);
}
#endif

bool serve_window_table(MPI_Win handle, struct node_table *table) {
    const struct served *s = serve_find(handle);
    if (!s || !s->domain)
        return false;
    *table = (struct node_table){.table = s->ranks.table, .borrowed = true};
    return true;
}

/* ---- release ---- */

/* The memory stays mapped in the processes that have not freed the window yet. The window is unlinked before the host
 * frees it, because from then on another thread may get the same handle. */
int serve_Win_free(MPI_Win *win) {
    struct served *s = win ? serve_find(*win) : NULL;
    if (s && s->domain)
        serve_remote_flush_all(s); /* unlocks in flight, too */
    if (serve_sync_fences(s))
        serve_sync_barrier(s);                           /* the host waits for the ranks of this node only */
    bool asked = s && s->stand_in && !serve_is_threaded; /* by callbacks of the program's attributes */
    if (s && !asked)
        serve_lookup_remove(s);
    if (s)
        log_debug(LOG_WINDOWS, "a served window of %d targets here is freed", s->here_count);
    int rc = serve_host.Win_free(win);
    if (asked && rc == MPI_SUCCESS)
        serve_lookup_remove(s);
    if (s && rc == MPI_SUCCESS)
        served_drop(s);
    else if (s && !asked)
        serve_lookup_add(s);
    return rc;
}
