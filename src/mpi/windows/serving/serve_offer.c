/* serve_offer.c: the part of each rank in a window that is being created, and the memory, gates and targets of this node.
 *
 * A rank's gate is in the segment of its process (process.h). If a process has no gate left, a mapping holds those of all ranks
 * of the node, after their memory. */
#include "mpi/windows/serving/serve_offer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/random.h"
#include "mpi/windows/serving/alloc.h"
#include "mpi/windows/serving/serving.h"
#include "mpi/windows/serving/state/vm.h"

enum { FEW = 512 }; /* ranks whose offers are on the stack: one exchange less */

struct serve_offer serve_offer_make(const void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                                    enum serve_flavor flavor) {
    static char probe;
    struct serve_offer own = {
        .base = (uint64_t)(uintptr_t)base, .bytes = (uint64_t)size, .unit = (uint64_t)unit};
    own.memory.owner = own.process = serve_process_card();
    own.pid = own.process.pid;
    own.probe = (uint64_t)(uintptr_t)&probe;
    if (flavor == SERVE_ALLOCATED) {
        own.memory.id = random_mix(clock_ns() ^ own.process.id);
        own.alignment = serve_alloc_alignment(info);
    } else if (flavor == SERVE_CREATED && size) {
        serve_memory_find(base, own.bytes, &own.memory);
    }
    return own;
}

/* ---- memory and gates ---- */

/* Whether every rank of this node has a gate in its process. */
static bool has_gates(const struct serve_offer *all, int count) {
    for (int i = 0; i < count; i++)
        if (all[i].gate < 0)
            return false;
    return true;
}

static uint64_t page_size(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A part of a mapping is aligned to a page if it is as long as one (net/shm/shared.c). No part is aligned to more. */
static bool is_aligned_by_pages(const struct serve_offer *all, int count) {
    uint64_t most = 0;
    for (int i = 0; i < count; i++)
        most = all[i].alignment > most ? all[i].alignment : most;
    return most <= page_size();
}

/* A rank's part of the mapping begins with its memory, if that is allocated with the window; its gate follows, if the
 * processes have none left. */
static uint64_t memory_bytes(const struct serve_offer *o, enum serve_flavor flavor) {
    if (flavor != SERVE_ALLOCATED)
        return 0;
    if (o->alignment <= CACHE_LINE)
        return o->bytes;
    uint64_t page = page_size();
    return o->bytes < page ? page : o->bytes;
}

static uint64_t part_bytes(const struct serve_offer *o, enum serve_flavor flavor, bool gates) {
    uint64_t memory = memory_bytes(o, flavor);
    return gates ? memory : round_up(memory, GATE_ALIGN) + sizeof(struct serve_gate);
}

static struct serve_gate *target_gate(const struct serve_offer *o, const struct serve_process *p, char *part,
                                      enum serve_flavor flavor, bool gates) {
    if (gates)
        return p ? &p->gates[o->gate] : NULL;
    return (struct serve_gate *)(part + round_up(memory_bytes(o, flavor), GATE_ALIGN));
}

/* ---- targets ---- */

/* Whether the kernel lets this process access the memory of the other one, which is asked once. */
static bool is_allowed(struct serve_process *p, uint64_t address) {
    if (!p->is_allowed) {
        p->is_allowed = serve_vm_is_allowed(p->pid, address);
        log_debug(LOG_WINDOWS,
                  "the kernel %s this process access the memory of process %d (process_vm_readv)",
                  p->is_allowed ? "lets" : "does not let", p->pid);
    }
    return p->is_allowed;
}

/* Makes the target whose part of the mapping this is, if there is one. Returns whether its memory can be reached. */
static bool note_target(struct served *s, char *part, const struct serve_offer *o, enum serve_flavor flavor,
                        bool gates) {
    const struct serve_process *owner = serve_process_join(&o->memory.owner, (int)o->rank);
    struct serve_process *process = serve_process_join(&o->process, (int)o->rank);
    struct served_target *t = serve_target_make_here(s, (int)o->rank);
    if (!t)
        return false;
    s->here[s->here_count++] = t;
    *t = (struct served_target){.head = t->head,
                                .base = flavor == SERVE_ALLOCATED ? (uint64_t)(uintptr_t)part : o->base,
                                .bytes = o->bytes,
                                .unit = (uint32_t)o->unit,
                                .pid = (int)o->pid,
                                .gate = target_gate(o, process, part, flavor, gates),
                                .locks = owner ? owner->locks : NULL};
    if (flavor != SERVE_ALLOCATED && o->memory.id)
        t->memory = serve_memory_attach(&o->memory);
    t->is_attached = flavor == SERVE_DYNAMIC && o->rank == s->rank;
    if (t->is_attached)
        t->bytes = 0; /* each access is looked up */
    t->mapped = flavor == SERVE_ALLOCATED || t->memory || o->rank == s->rank || !o->bytes;
    t->by_kernel = !t->mapped && process && is_allowed(process, o->probe);
    log_trace(LOG_WINDOWS, "rank %d of this node: %llu bytes at %llx are %s", (int)o->rank,
              (unsigned long long)o->bytes, (unsigned long long)t->base,
              t->mapped      ? "mapped here"
              : t->by_kernel ? "reached through the kernel"
                             : "not reached");
    return owner && t->gate && (t->mapped || t->by_kernel);
}

/* Returns whether all memory of this node can be reached. */
static bool note_targets(struct served *s, const struct serve_creation *c, const struct serve_offer *all,
                         bool gates) {
    const struct serve_domain *d = c->party.domain;
    bool reached = true;
    for (int i = 0; i < c->party.local.size; i++) {
        char *part = s->shared && s->shared->base ? s->shared->base + s->shared->parts[i].offset : NULL;
        int before = s->here_count;
        reached = note_target(s, part, &all[i], c->flavor, gates) && reached;
        if (s->here_count > before && s->here[before]->gate)
            atomic_store(&s->here[before]->gate->domain, d ? d->key : 0);
        if (all[i].rank == s->rank && c->flavor == SERVE_ALLOCATED)
            s->own_base = (uint64_t)(uintptr_t)part;
    }
    return reached;
}

static bool take_memory(struct served *s, const struct serve_offer *all, int count) {
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
static bool is_beyond_host(const struct serve_offer *all, int size) {
    const int address_bits = 48;
    bool beyond = host_is_open_mpi();
    for (int i = 0; i < size; i++)
        beyond |= all[i].bytes >> address_bits != 0;
    return beyond;
}

static int offers_fill(struct served *s, struct serve_creation *c, const struct serve_offer *all) {
    const struct net_boot *local = &c->party.local;
    bool gates = has_gates(all, local->size);
    log_trace(LOG_WINDOWS, "a window of %d ranks of this node: gates are %s", local->size,
              gates ? "those of the processes" : "in memory of its own, as a process has none left");
    uint64_t sizes[local->size];
    c->beyond_host = is_beyond_host(all, local->size);
    if (!is_aligned_by_pages(all, local->size)) {
        c->why = "its memory is to be aligned to more than a page";
        return -ENOTSUP;
    }
    for (int i = 0; i < local->size; i++)
        sizes[i] = part_bytes(&all[i], c->flavor, gates);
    int status = c->flavor == SERVE_ALLOCATED || !gates ? net_shared_open_sizes(local, sizes, &s->shared) : 0;
    if (status != 0)
        return status;
    c->reached = c->flavor != SERVE_ALLOCATED || take_memory(s, all, local->size);
    bool found = note_targets(s, c, all, gates);
    if (!found && c->flavor != SERVE_ALLOCATED)
        c->why =
            "the kernel lets no process read the memory of another (process_vm_readv): allow it, or allocate "
            "the window by MPI_Win_allocate";
    c->reached = found && c->reached;
    return 0;
}

/* Exchanges the offers of this node. Fails on all its ranks or on none. */
static int offers_gather(const struct net_boot *local, const struct serve_offer *own,
                         struct serve_offer *all) {
    int status = net_boot_gather(local, own, all, sizeof *own);
    for (int i = 0; i < local->size && status == 0; i++)
        status = all[i].pid ? 0 : -ENOMEM;
    return status;
}

int serve_offers_gather(struct served *s, struct serve_creation *c, const struct serve_offer *own) {
    const struct net_boot *local = &c->party.local;
    struct serve_offer few[local->size <= FEW ? local->size : 1], *all = few;
    int status = 0;
    if (local->size > FEW) {
        all = malloc((size_t)local->size * sizeof *all);
        status = net_agree_on_memory(local, all, "a window");
    }
    if (status == 0)
        status = offers_gather(local, own, all);
    if (status == 0)
        status = offers_fill(s, c, all);
    if (all != few)
        free(all);
    return status;
}
