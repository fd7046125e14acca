/* serve_window.c: windows that Hearth serves: creation, lookup, release.
 *
 * MPI_Win_allocate: one mapping holds the memory of all ranks, their gates, and the lock table for accumulates.
 * MPI_Win_create over such memory: only gates; the lock tables are those of the memory, so that an element has the
 * same lock through all windows. All ranks of the window must be on one machine, and every rank must have mapped the
 * memory of all others. If not, the host makes and serves the window. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/core/hooks.h"
#include "mpi/serve/served.h"

enum { BUCKETS = 64 };

/* Memory that was allocated with a window, and may be part of others. */
struct served_memory {
    char *base;
    size_t bytes;
    struct net_lock_table *locks;
    struct net_shared *shared;
    int uses; /* windows */
    struct served_memory *next;
};

_Atomic(struct served *) serve_recent;
bool serve_is_threaded;
pthread_mutex_t serve_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct served *buckets[BUCKETS];
static struct served_memory *memories;

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

/* ---- memory ---- */

static struct served_memory *memory_find(const char *base, size_t bytes) {
    struct served_memory *m = memories;
    while (m && !(base >= m->base && bytes <= m->bytes && (size_t)(base - m->base) <= m->bytes - bytes))
        m = m->next;
    return m;
}

static void memory_release(struct served_memory *m) {
    serve_lock();
    struct served_memory **link = &memories;
    bool last = --m->uses == 0;
    while (last && *link != m)
        link = &(*link)->next;
    if (last)
        *link = m->next;
    serve_unlock();
    if (!last)
        return;
    net_shared_leave(NULL, m->shared);
    free(m);
}

/* ---- the processes of a window ---- */

struct party {
    MPI_Comm comm;
    struct net_boot boot;
};

static int party_gather(void *arg, const void *mine, void *all, size_t bytes) {
    const struct party *p = arg;
    int one = 1, sum, rc;
    if (bytes == 0)
        rc = host_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, p->comm);
    else
        rc = host_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, p->comm);
    return rc == MPI_SUCCESS ? 0 : -EIO;
}

/* Whether all processes of the communicator are on one machine. Collective; then there is a communicator to close. */
static bool party_open(struct party *p, MPI_Comm comm) {
    int all = 0;
    if (settings_get()->node_ranks ||
        serve_host.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &p->comm))
        return false;
    p->boot = (struct net_boot){.arg = p, .gather = party_gather};
    host_Comm_rank(p->comm, &p->boot.rank);
    host_Comm_size(p->comm, &p->boot.size);
    host_Comm_size(comm, &all);
    if (all == p->boot.size)
        return true;
    serve_host.Comm_free(&p->comm);
    return false;
}

/* ---- creation ---- */

/* What each rank contributes: its part of the mapping begins with the memory; then come its gate and, in the first
 * part, the lock table. */
static size_t part_gate(uint64_t bytes) {
    return round_up(bytes, GATE_ALIGN);
}

static size_t part_bytes(uint64_t bytes, bool is_first) {
    return part_gate(bytes) + sizeof(struct serve_gate) + (is_first ? net_lock_table_bytes() : 0);
}

/* What each rank brings into the window. */
struct offer {
    uint64_t base, bytes, unit;
};

static struct served
    *spare; /* structures of freed windows: serve_find may read one that another thread frees */

static struct served *take_structure(void) {
    serve_lock();
    struct served *s = spare;
    if (s)
        spare = s->next;
    serve_unlock();
    return s ? s : malloc(sizeof *s);
}

static struct served *served_make(int rank, int size) {
    struct served *s = take_structure();
    struct served_target *targets = calloc((size_t)size, sizeof *targets);
    if (s && targets) {
        *s = (struct served){.handle = MPI_WIN_NULL, .rank = rank, .size = size, .targets = targets};
        return s;
    }
    free(targets);
    free(s);
    return NULL;
}

static void served_drop(struct served *s) {
    if (s->memory)
        memory_release(s->memory);
    else if (s->shared)
        net_shared_leave(NULL, s->shared);
    for (int i = 0; i < s->size; i++)
        if (s->targets[i].memory)
            memory_release(s->targets[i].memory);
    free(s->started);
    free(s->targets);
    s->handle = MPI_WIN_NULL;
    serve_lock();
    s->next = spare;
    spare = s;
    serve_unlock();
}

static void note_target(struct served *s, int i, char *base, const struct offer *o,
                        struct net_lock_table *locks) {
    char *part = s->shared->base + s->shared->parts[i].offset;
    s->targets[i] =
        (struct served_target){.base = base,
                               .bytes = o->bytes,
                               .unit = o->unit,
                               .gate = (struct serve_gate *)(part + (s->memory ? part_gate(o->bytes) : 0)),
                               .locks = locks};
}

/* The first rank makes the lock table; all learn whether it could. */
static int make_memory(struct served *s, const struct party *p, const struct offer *first) {
    struct served_memory *m = malloc(sizeof *m);
    int status = m ? 0 : -ENOMEM;
    if (m) {
        size_t table = s->shared->parts[0].offset + part_gate(first->bytes) + sizeof(struct serve_gate);
        *m = (struct served_memory){.base = s->shared->base,
                                    .bytes = s->shared->bytes,
                                    .locks = (struct net_lock_table *)(s->shared->base + table),
                                    .shared = s->shared,
                                    .uses = 1};
        status = p->boot.rank == 0 ? net_lock_table_make(m->locks) : 0;
    }
    status = net_boot_agree(&p->boot, status);
    if (status != 0) {
        free(m);
        return status;
    }
    s->memory = m;
    serve_lock();
    m->next = memories;
    memories = m;
    serve_unlock();
    return 0;
}

static int allocate_memory(struct served *s, const struct party *p, const struct offer *all) {
    uint64_t own = all[p->boot.rank].bytes;
    int status = net_shared_open(&p->boot, part_bytes(own, p->boot.rank == 0), NULL, &s->shared);
    if (status == 0)
        status = make_memory(s, p, &all[0]);
    for (int i = 0; status == 0 && i < s->size; i++)
        note_target(s, i, s->shared->base + s->shared->parts[i].offset, &all[i], s->memory->locks);
    return status;
}

/* Whether this process has mapped the memory of all ranks. If so, it stays mapped as long as the window is open. */
static bool hold_memories(struct served *s, const struct offer *all) {
    bool found = true;
    serve_lock();
    for (int i = 0; found && i < s->size; i++) {
        struct served_memory *m =
            all[i].bytes ? memory_find((char *)(uintptr_t)all[i].base, all[i].bytes) : NULL;
        found = m || !all[i].bytes;
        s->targets[i].memory = m;
        if (m)
            m->uses++;
    }
    serve_unlock();
    return found;
}

static int adopt_memory(struct served *s, const struct party *p, const struct offer *all) {
    int status = net_boot_agree(&p->boot, hold_memories(s, all) ? 0 : -ENOTSUP);
    if (status == 0)
        status = net_shared_open(&p->boot, sizeof(struct serve_gate), NULL, &s->shared);
    for (int i = 0; status == 0 && i < s->size; i++) {
        struct served_memory *m = s->targets[i].memory;
        note_target(s, i, (char *)(uintptr_t)all[i].base, &all[i], m ? m->locks : NULL);
        s->targets[i].memory = m;
    }
    return status;
}

/* Collective. NULL: the host serves the window. */
static struct served *served_open(MPI_Comm comm, struct offer own, bool allocates) {
    struct party p;
    if (!party_open(&p, comm))
        return NULL;
    struct served *s = served_make(p.boot.rank, p.boot.size);
    struct offer *all = malloc((size_t)p.boot.size * sizeof *all);
    int status = net_agree_on_memory(&p.boot, s && all, "a window");
    if (status == 0)
        status = net_boot_gather(&p.boot, &own, all, sizeof own);
    if (status == 0)
        status = allocates ? allocate_memory(s, &p, all) : adopt_memory(s, &p, all);
    serve_host.Comm_free(&p.comm);
    free(all);
    if (status == 0)
        return s;
    if (s)
        served_drop(s);
    return NULL;
}

/* The handle of a host window over the same memory. */
static int served_name(struct served *s, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    const struct served_target *own = &s->targets[s->rank];
    serve_start();
    int rc = serve_host.Win_create(own->base, (MPI_Aint)own->bytes, (int)own->unit, info, comm, win);
    if (rc != MPI_SUCCESS) {
        served_drop(s);
        return rc;
    }
    s->handle = *win;
    served_link(s);
    return rc;
}

/* Whether this window is to be served: its info key, or else the setting. */
static bool is_wanted(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = 0, inside = settings_get()->windows;
    if (info != MPI_INFO_NULL &&
        host_Info_get(info, "hearth_windows", MPI_MAX_INFO_VAL, value, &flag) == MPI_SUCCESS && flag) {
        int word = settings_word("host|serve", value);
        if (word >= 0)
            inside = word;
        else
            log_warn("info key hearth_windows=%.80s is not one of host|serve; it is ignored", value);
    }
    return inside == WINDOWS_SERVE;
}

static bool is_intracomm(MPI_Comm comm) {
    int inter = 1;
    return comm != MPI_COMM_NULL && host_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

/* NULL: the host makes it. */
static struct served *serve_or_not(const void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                                   MPI_Comm comm, bool allocates) {
    struct offer own = {.base = (uint64_t)(uintptr_t)base, .bytes = (uint64_t)size, .unit = (uint64_t)unit};
    bool fits = size >= 0 && unit > 0 && unit <= INT_MAX && is_intracomm(comm) && is_wanted(info);
    return fits ? served_open(comm, own, allocates) : NULL;
}

static int name_allocated(struct served *s, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    char *memory = s->targets[s->rank].base;
    int rc = served_name(s, info, comm, win);
    if (rc == MPI_SUCCESS)
        memcpy(base, &memory, sizeof memory);
    return rc;
}

int serve_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    struct served *s = serve_or_not(NULL, size, unit, info, comm, true);
    return s ? name_allocated(s, info, comm, base, win)
             : serve_host.Win_allocate(size, unit, info, comm, base, win);
}

int serve_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    struct served *s = serve_or_not(base, size, unit, info, comm, false);
    return s ? served_name(s, info, comm, win) : serve_host.Win_create(base, size, unit, info, comm, win);
}

#if MPI_VERSION >= 4
int serve_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                         MPI_Win *win) {
    struct served *s = serve_or_not(NULL, size, unit, info, comm, true);
    return s ? name_allocated(s, info, comm, base, win)
             : serve_host.Win_allocate_c(size, unit, info, comm, base, win);
}

int serve_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    struct served *s = serve_or_not(base, size, unit, info, comm, false);
    return s ? served_name(s, info, comm, win) : serve_host.Win_create_c(base, size, unit, info, comm, win);
}
#endif

/* The memory stays mapped in the processes that have not freed the window yet. */
int serve_Win_free(MPI_Win *win) {
    struct served *s = win ? serve_find(*win) : NULL;
    if (s)
        served_unlink(s);
    int rc = serve_host.Win_free(win);
    if (s && rc == MPI_SUCCESS)
        served_drop(s);
    else if (s)
        served_link(s);
    return rc;
}

/* The host window was created over memory, the program's was allocated. The processes of a node see each other's
 * stores without any call: the memory model is unified. */
int serve_Win_get_attr(MPI_Win win, int key, void *value, int *flag) {
    static int allocated = MPI_WIN_FLAVOR_ALLOCATE, unified = MPI_WIN_UNIFIED;
    int rc = serve_host.Win_get_attr(win, key, value, flag);
    const struct served *s = rc == MPI_SUCCESS && *flag ? serve_find(win) : NULL;
    if (s && key == MPI_WIN_MODEL)
        *(int **)value = &unified;
    else if (s && key == MPI_WIN_CREATE_FLAVOR && s->memory)
        *(int **)value = &allocated;
    return rc;
}

int hook_Win_get_attr(MPI_Win win, int key, void *value, int *flag) {
    return host_Win_get_attr(win, key, value, flag);
}
