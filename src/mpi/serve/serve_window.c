/* serve_window.c: windows that Hearth serves: creation, lookup, release.
 *
 * MPI_Win_allocate: one mapping holds the memory of all ranks of a node. MPI_Win_create, MPI_Win_create_dynamic: memory of
 * an allocated window is used where it is mapped, other memory is reached through the kernel. A window with ranks on several
 * nodes has such mappings on each of them, and a domain (remote/domain.h) for operations between them. If there is none, or if the
 * kernel denies access, the host makes and serves the window.
 *
 * Collectives dominate the time: on a node there is one exchange before the host creates its window and one after it, and two more
 * for memory. Between nodes only the table of the ranks' memory is exchanged (node_table.h), which rma/ then uses as well. A rank's gate is in the segment of its process (process.h). If a process has no gate left, a mapping holds
 * those of all ranks of the node, after their memory. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/core/hooks.h"
#include "mpi/serve/alloc.h"
#include "mpi/serve/memory.h"
#include "mpi/serve/party.h"
#include "mpi/serve/remote/remote.h"
#include "mpi/serve/serve_auto.h"
#include "mpi/serve/serve_sync.h"
#include "mpi/serve/vm.h"

enum { BUCKETS = 64 };

_Atomic(struct served *) serve_recent;
bool serve_is_threaded;
pthread_mutex_t serve_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct served *buckets[BUCKETS];

/* ---- lookup ---- */

static struct served **served_bucket(MPI_Win handle) {
    return &buckets[random_mix((uint64_t)(uintptr_t)handle) % BUCKETS];
}

struct served *serve_find_slow(MPI_Win handle) {
    serve_lock();
    struct served *s = *served_bucket(handle);
    while (s && s->handle != handle)
        s = s->next;
    if (s)
        atomic_store_explicit(&serve_recent, s, memory_order_release);
    serve_unlock();
    return s;
}

static void served_link(struct served *s) {
    struct served **bucket = served_bucket(s->handle);
    serve_lock();
    s->next = *bucket;
    *bucket = s;
    serve_unlock();
}

static void served_unlink(struct served *s) {
    serve_lock();
    struct served **link = served_bucket(s->handle);
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    atomic_store_explicit(&serve_recent, NULL, memory_order_release);
    serve_unlock();
}

/* ---- creation ---- */

enum flavor { ALLOCATED, CREATED, DYNAMIC };

/* A window that is being created. */
struct creation {
    struct party party;
    enum flavor flavor;
    MPI_Info info;
    bool reached;     /* all memory of this node; by each rank for itself */
    bool pt2pt;       /* some rank of this node asks for this component of Open MPI */
    bool beyond_host; /* see is_beyond_host */
};

/* A rank's part of the window, as it is sent to the others of its node. */
struct offer {
    uint64_t base, bytes, unit;
    uint64_t alignment; /* of allocated memory, that the program asks for */
    int64_t rank;       /* in the window */
    /* That it is part of. If allocated, the id of the node's lowest rank counts. The owner's locks protect it. */
    struct serve_memory_name memory;
    struct serve_card process;
    uint64_t probe; /* address of a byte of its process that can be read */
    int64_t gate;   /* number of its gate in its process; -1: none */
    uint64_t pt2pt; /* its environment selects this component of Open MPI for windows */
    int64_t pid;    /* 0: no memory to describe the window */
};

/* Structures of freed windows are reused and never freed: serve_find may read one that another thread releases. */
static struct served *spare;

static struct served *take_structure(void) {
    serve_lock();
    struct served *s = spare;
    if (s)
        spare = s->next;
    serve_unlock();
    return s ? s : malloc(sizeof *s);
}

static void keep_structure(struct served *s) {
    s->handle = MPI_WIN_NULL;
    serve_lock();
    s->next = spare;
    spare = s;
    serve_unlock();
}

static struct served *served_make(const struct party *p, bool dynamic) {
    struct served *s = take_structure();
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
        keep_structure(s);
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
    serve_node_table_free(&s->ranks);
    free(s->here);
    rank_table_close(&s->targets);
    keep_structure(s);
}

/* Whether every rank of this node has a gate in its process. */
static bool has_gates(const struct offer *all, int count) {
    for (int i = 0; i < count; i++)
        if (all[i].gate < 0)
            return false;
    return true;
}

static uint64_t page_size(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A part of a mapping is aligned to a page if it is as long as one (net/shm/shared.c). No part is aligned to more. */
static bool is_aligned_by_pages(const struct offer *all, int count) {
    uint64_t most = 0;
    for (int i = 0; i < count; i++)
        most = all[i].alignment > most ? all[i].alignment : most;
    return most <= page_size();
}

/* A rank's part of the mapping begins with its memory, if that is allocated with the window; its gate follows, if the
 * processes have none left. */
static uint64_t memory_bytes(const struct offer *o, enum flavor flavor) {
    if (flavor != ALLOCATED)
        return 0;
    if (o->alignment <= CACHE_LINE)
        return o->bytes;
    uint64_t page = page_size();
    return o->bytes < page ? page : o->bytes;
}

static uint64_t part_bytes(const struct offer *o, enum flavor flavor, bool gates) {
    uint64_t memory = memory_bytes(o, flavor);
    return gates ? memory : round_up(memory, GATE_ALIGN) + sizeof(struct serve_gate);
}

static struct serve_gate *target_gate(const struct offer *o, const struct serve_process *p, char *part,
                                      enum flavor flavor, bool gates) {
    if (gates)
        return p ? &p->gates[o->gate] : NULL;
    return (struct serve_gate *)(part + round_up(memory_bytes(o, flavor), GATE_ALIGN));
}

/* Whether the kernel lets this process access the memory of the other one, which is asked once. */
static bool is_allowed(struct serve_process *p, uint64_t address) {
    if (!p->is_allowed)
        p->is_allowed = serve_vm_is_allowed(p->pid, address);
    return p->is_allowed;
}

/* Makes the target whose part of the mapping this is, if there is one. Returns whether its memory can be reached. */
static bool note_target(struct served *s, char *part, const struct offer *o, enum flavor flavor, bool gates) {
    const struct serve_process *owner = serve_process_join(&o->memory.owner, (int)o->rank);
    struct serve_process *process = serve_process_join(&o->process, (int)o->rank);
    struct served_target *t = serve_target_make_here(s, (int)o->rank);
    if (!t)
        return false;
    s->here[s->here_count++] = t;
    *t = (struct served_target){.head = t->head,
                                .base = flavor == ALLOCATED ? (uint64_t)(uintptr_t)part : o->base,
                                .bytes = o->bytes,
                                .unit = (uint32_t)o->unit,
                                .pid = (int)o->pid,
                                .gate = target_gate(o, process, part, flavor, gates),
                                .locks = owner ? owner->locks : NULL};
    if (flavor != ALLOCATED && o->memory.id)
        t->memory = serve_memory_attach(&o->memory);
    t->mapped = flavor == ALLOCATED || t->memory || o->rank == s->rank || !o->bytes;
    t->by_kernel = !t->mapped && process && is_allowed(process, o->probe);
    return owner && t->gate && (t->mapped || t->by_kernel);
}

/* Returns whether all memory of this node can be reached. */
static bool note_targets(struct served *s, const struct creation *c, const struct offer *all, bool gates) {
    const struct serve_domain *d = c->party.domain;
    bool reached = true;
    for (int i = 0; i < c->party.local.size; i++) {
        char *part = s->shared && s->shared->base ? s->shared->base + s->shared->parts[i].offset : NULL;
        int before = s->here_count;
        reached = note_target(s, part, &all[i], c->flavor, gates) && reached;
        if (s->here_count > before && s->here[before]->gate)
            atomic_store(&s->here[before]->gate->domain, d ? d->key : 0);
        if (all[i].rank == s->rank && c->flavor == ALLOCATED)
            s->own_base = (uint64_t)(uintptr_t)part;
    }
    return reached;
}

static bool take_memory(struct served *s, const struct offer *all, int count) {
    struct serve_card *owners = malloc((size_t)count * sizeof *owners);
    for (int i = 0; owners && i < count; i++)
        owners[i] = all[i].memory.owner;
    s->memory = owners ? serve_memory_open(all[0].memory.id, s->shared, owners) : NULL;
    free(owners);
    return s->memory;
}

/* Whether the host must not be asked for memory that the node does not have. MPICH gives addresses that the kernel backs later, if there
 * are enough addresses; beyond that it ends the job. In Open MPI 6 the rank that finds too little space returns an error, and the others
 * wait for it forever. */
static bool is_beyond_host(const struct offer *all, int size) {
    const int address_bits = 48;
    bool beyond = host_is_open_mpi();
    for (int i = 0; i < size; i++)
        beyond |= all[i].bytes >> address_bits != 0;
    return beyond;
}

/* Collective among the ranks of this node. Fails on all of them or on none. */
static int served_fill(struct served *s, struct creation *c, const struct offer *all) {
    const struct net_boot *local = &c->party.local;
    bool gates = has_gates(all, local->size);
    uint64_t sizes[local->size];
    c->beyond_host = is_beyond_host(all, local->size);
    if (!is_aligned_by_pages(all, local->size))
        return -ENOTSUP;
    for (int i = 0; i < local->size; i++) {
        sizes[i] = part_bytes(&all[i], c->flavor, gates);
        c->pt2pt |= all[i].pt2pt;
    }
    int status = c->flavor == ALLOCATED || !gates ? net_shared_open_sizes(local, sizes, &s->shared) : 0;
    if (status != 0)
        return status;
    c->reached = c->flavor != ALLOCATED || take_memory(s, all, local->size);
    c->reached = note_targets(s, c, all, gates) && c->reached;
    return 0;
}

/* The table of the ranks' memory, and the domain: the window is known to the helper of this process, if it has one, before any rank may
 * use it. Collective among all ranks, of which some may have failed before. Fails everywhere or nowhere. */
static int served_join(struct served *s, struct creation *c, uint64_t key, int status) {
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
    status = c->flavor == ALLOCATED ? serve_remote_direct_open(s, &p->boot) : 0;
    if (status != 0)
        return status;
    s->key = ranks.key;
    serve_domain_add(s->domain, s);
    return 0;
}

/* Open MPI 4 cannot create windows of one process over existing memory, nor, as Debian builds it, any between nodes. But it
 * can create empty shared ones: then the handle is that of such a window of the ranks on this node, and serve_attribute.c
 * answers for it. On one node it synchronises as any other. Otherwise serve_sync.c does. Codes as below. */
static int served_name_empty(struct served *s, const struct creation *c, MPI_Comm comm, MPI_Win *win) {
    const struct party *p = &c->party;
    void *none;
    bool reached = c->reached;
    int rc = serve_host.Win_allocate_shared(0, 1, c->info, p->domain ? p->local_comm : comm, &none, win);
    if (p->domain)
        reached = serve_sync_open(s, p->comm) && reached;
    int status = net_boot_agree(&p->boot, rc != MPI_SUCCESS || !reached ? -ENOTSUP : 0);
    s->stand_in = status == 0;
    if (rc == MPI_SUCCESS && status != 0)
        serve_host.Win_free(win);
    return status;
}

/* Creates the host window over the same memory whose handle the program sees. A host that cannot create one may still be
 * able to allocate a window: only one of Open MPI's components can do both. So the error is returned, except by MPICH: that
 * numbers windows by the contexts of their communicators, and reuses the context of a freed one (4.0). Returns 0 if every rank has its window and
 * reaches all memory; -EEXIST if all have their windows, but some do not reach all memory; or another code. */
static int served_name(struct served *s, const struct creation *c, MPI_Win *win) {
    const struct party *p = &c->party;
    MPI_Comm comm = host_is_open_mpi() ? p->comm : p->program;
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

/* Posts and starts of Open MPI need messages of Hearth's (serve_sync.h). Between nodes the copy of the program's communicator is there
 * already. On one node osc pt2pt is used only if the user asks for it. Returns 0 or -EEXIST on all ranks. */
static int take_sync(struct served *s, struct creation *c) {
    struct party *p = &c->party;
    if (s->sync == MPI_COMM_NULL && p->domain && host_is_open_mpi()) {
        s->sync = p->comm;
        p->keeps_comm = true;
    }
    if (s->sync != MPI_COMM_NULL || p->domain || !c->pt2pt)
        return 0;
    return net_boot_agree(&p->boot, serve_sync_open(s, p->comm) ? 0 : -EEXIST);
}

/* Exchanges the offers of this node. Fails on all its ranks or on none. */
static int offers_gather(const struct net_boot *local, const struct offer *own, struct offer *all) {
    int status = net_boot_gather(local, own, all, sizeof *own);
    for (int i = 0; i < local->size && status == 0; i++)
        status = all[i].pid ? 0 : -ENOMEM;
    return status;
}

enum { FEW = 512 }; /* ranks whose offers are on the stack: one exchange less */

/* The ranks of this node. Codes as for served_fill. */
static int served_gather(struct served *s, struct creation *c, const struct offer *own) {
    const struct net_boot *local = &c->party.local;
    struct offer few[local->size <= FEW ? local->size : 1], *all = few;
    int status = 0;
    if (local->size > FEW) {
        all = malloc((size_t)local->size * sizeof *all);
        status = net_agree_on_memory(local, all, "a window");
    }
    if (status == 0)
        status = offers_gather(local, own, all);
    if (status == 0)
        status = served_fill(s, c, all);
    if (all != few)
        free(all);
    return status;
}

/* Collective. Nodes may have failed for different reasons. -EFBIG: nobody can create the window; else -ENOTSUP. */
static int agree_on_failure(const struct creation *c, int status) {
    int code = status == -EFBIG && c->beyond_host ? -EFBIG : -EEXIST; /* which counts least */
    return net_boot_agree(&c->party.boot, code) == -EFBIG ? -EFBIG : -ENOTSUP;
}

/* Collective. NULL: *result is -EEXIST if the host has created the window already, -EFBIG if nobody can, else the host may. */
static struct served *served_open(MPI_Comm comm, struct offer *own, uint64_t key, struct creation *c,
                                  MPI_Win *win, int *result) {
    struct party *p = &c->party;
    if (!serve_party_open(p, comm))
        return NULL;
    struct served *s = served_make(p, c->flavor == DYNAMIC);
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
    int status = served_gather(s, c, own);
    if (p->domain)
        status = served_join(s, c, key, status);
    if (status == 0)
        status = served_name(s, c, win);
    if (status == 0)
        status = take_sync(s, c);
    if (status != 0 && status != -EEXIST)
        status = agree_on_failure(c, status);
    serve_party_close(p);
    if (status == 0) {
        serve_start();
        served_link(s);
        return s;
    }
    if (status == -EEXIST && c->flavor == ALLOCATED) {
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

static struct offer make_offer(const void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                               enum flavor flavor) {
    static char probe;
    struct offer own = {.base = (uint64_t)(uintptr_t)base, .bytes = (uint64_t)size, .unit = (uint64_t)unit};
    own.memory.owner = own.process = serve_process_card();
    own.pid = own.process.pid;
    own.probe = (uint64_t)(uintptr_t)&probe;
    const char *component = getenv("OMPI_MCA_osc");
    own.pt2pt = host_is_open_mpi() && component && strstr(component, "pt2pt");
    if (flavor == ALLOCATED) {
        own.memory.id = random_mix(clock_ns() ^ own.process.id);
        own.alignment = serve_alloc_alignment(info);
    } else if (flavor == CREATED && size) {
        serve_memory_find(base, own.bytes, &own.memory);
    }
    return own;
}

static int window_no_memory(MPI_Comm comm) {
    host_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

/* Creates the window, if it is to be served and can be. If false, the host creates it. Sets *base to its memory, or *rc if
 * the call fails. */
static bool is_served(void **base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                      enum flavor flavor, MPI_Win *win, int *rc) {
    if (size < 0 || unit <= 0 || unit > INT_MAX || !is_intracomm(comm) ||
        !serve_auto_wants(comm, info, flavor == ALLOCATED))
        return false;
    struct offer own = make_offer(*base, size, unit, info, flavor);
    struct creation c = {.flavor = flavor, .info = info};
    uint64_t key = random_mix(clock_ns() ^ own.process.id) | 1;
    int result = 0;
    const struct served *s = served_open(comm, &own, key, &c, win, &result);
    if (s) {
        *base = (void *)(uintptr_t)s->own_base;
        return true;
    }
    serve_auto_failed();
    if (result == -EFBIG)
        *rc = window_no_memory(comm);
    return result == -EFBIG || result == -EEXIST;
}

static bool is_allocated(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win,
                         int *rc) {
    void *memory = NULL;
    bool served = is_served(&memory, size, unit, info, comm, ALLOCATED, win, rc);
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
    return is_served(&base, size, unit, info, comm, CREATED, win, &rc)
               ? rc
               : serve_host.Win_create(base, size, unit, info, comm, win);
}

/* Displacements are addresses, and any attached memory may be accessed. */
int serve_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    void *all = NULL;
    int rc = MPI_SUCCESS;
    return is_served(&all, PTRDIFF_MAX, 1, info, comm, DYNAMIC, win, &rc)
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
    return is_served(&base, size, unit, info, comm, CREATED, win, &rc)
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
        served_unlink(s);
    int rc = serve_host.Win_free(win);
    if (asked && rc == MPI_SUCCESS)
        served_unlink(s);
    if (s && rc == MPI_SUCCESS)
        served_drop(s);
    else if (s && !asked)
        served_link(s);
    return rc;
}
