/* serve_auto.c: measures whether the host's one-sided operations progress while their target computes.
 *
 * The probe makes a window of the host, of the same kind and on the same processes, over a private communicator. Rank 0
 * gets 8 bytes from one other rank: on another node if there are several. First that rank waits in MPI, so that
 * connections are made, and the time of a get is measured. Then it computes for a millisecond without calling MPI, while
 * rank 0 gets once more. The others wait for the result. On a busy machine rank 0 may lose its core during a get, so that
 * must happen several times in a row. In all the probe takes one millisecond if operations progress, otherwise three,
 * and the time to create and free a window. On busy cores it is ended after some 25 ms.
 *
 * All of it happens inside a collective call of the program, on its communicator or a duplicate. So it waits only for
 * processes that are in the same call, and groups that create windows at once cannot block each other.
 *
 * Processes may have decided in different groups before. If those decisions are the same, all adopt them. If they differ,
 * the host serves the window. */
#include "mpi/windows/serving/serve_auto.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "mpi/host/agreement.h"
#include "mpi/windows/serving/state/node_comm.h"
#include "mpi/windows/serving/state/serve_agree.h"
#include "mpi/windows/serving/serving.h"

/* A decision is one number, so that processes can exchange it: who serves, why, and the time of a get in ns. 0: none. */
enum decision { DECIDED_HOST = 1, DECIDED_SERVED = 2 };
enum reason { NO_PROGRESS = 1, SLOW, FAST, NOT_MEASURED, DISAGREED, NOT_SERVED, NO_WINDOW };
enum { NS_BITS = 48, REASON_BITS = 8 };

static uint64_t decision_make(enum decision decision, enum reason reason, uint64_t ns) {
    const uint64_t most = ((uint64_t)1 << NS_BITS) - 1;
    return ((uint64_t)decision << REASON_BITS | reason) << NS_BITS | (ns < most ? ns : most);
}

static enum decision decision_of(uint64_t d) {
    return (enum decision)(d >> (NS_BITS + REASON_BITS));
}

static enum reason reason_of(uint64_t d) {
    return (enum reason)(d >> NS_BITS & ((1u << REASON_BITS) - 1));
}

static uint64_t ns_of(uint64_t d) {
    return d & (((uint64_t)1 << NS_BITS) - 1);
}

struct kind {
    bool allocated, one_node;
};

static _Atomic uint64_t decisions[4];
static _Thread_local uint64_t recent;

static _Atomic uint64_t *decision_for(struct kind k) {
    return &decisions[k.allocated * 2 + k.one_node];
}

/* ---- the probe ---- */

enum {
    COMPUTE_NS = 1000000,       /* a target that computes */
    WAITED_NS = COMPUTE_NS / 2, /* a get that takes longer has waited for it */
    TRIES = 3,                  /* gets that must have waited, in a row */
    MOST_TRIES = 9,             /* including those that prove nothing */
    LONGEST_NS = 20000000,      /* for all of them: on busy cores each may take a slice */
    WARM = 3,
    GETS = 9,
    BYTES = 64 /* MPICH 4.0 needs windows of whole 16 bytes */
};

/* What a get takes in a served window on a node, in ns: in shared memory, and through the kernel. */
enum { OWN_NS = 100, KERNEL_NS = 600, WORTHWHILE = 2 };

struct probe {
    MPI_Comm comm;
    MPI_Win win;
    int rank, target;
    struct kind kind;
};

/* The lowest rank on another node than rank 0; rank 1 if there is only one node. */
static int probe_target(MPI_Comm comm, MPI_Comm machine, struct kind kind) {
    int rank, within, lowest = 0, mine, target = 1, per_node = (int)agreement_node_ranks();
    if (kind.one_node)
        return 1;
    host_Comm_rank(comm, &rank);
    host_Comm_rank(machine, &within);
    int rc = host_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, machine);
    mine = lowest > 0 || (per_node && within >= per_node) ? rank : INT_MAX;
    if (rc != MPI_SUCCESS || host_Allreduce(&mine, &target, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        serve_agree_broken("MPI_Allreduce");
    return target;
}

static uint64_t probe_get(const struct probe *p) {
    uint64_t value, start = clock_ns();
    serve_host.Get(&value, sizeof value, MPI_BYTE, p->target, 0, sizeof value, MPI_BYTE, p->win);
    serve_host.Win_flush(p->target, p->win);
    return clock_ns() - start;
}

/* On busy cores each get may take a slice: then a few must do. */
static uint64_t probe_latency(const struct probe *p) {
    uint64_t best = UINT64_MAX, end = clock_ns() + LONGEST_NS / 4;
    for (int i = 0; i < WARM + GETS && (i < 2 || clock_ns() < end); i++) {
        uint64_t ns = probe_get(p);
        bool first =
            i == 0 ||
            i == WARM; /* those before WARM make connections, and count only if there are no others */
        best = first || ns < best ? ns : best;
    }
    return best;
}

static void tell_target(const struct probe *p, int computes) {
    serve_host.Send(&computes, 1, MPI_INT, p->target, 0, p->comm);
}

/* The time of the fastest get, of those from a target that certainly computed; UINT64_MAX: none. The target begins to compute
 * after it is told. If a fast get ends so late after that that the target may have finished, it proves nothing. */
static uint64_t probe_computing(const struct probe *p) {
    uint64_t best = UINT64_MAX, end = clock_ns() + LONGEST_NS;
    for (int i = 0, slow = 0; i < MOST_TRIES && slow < TRIES && best >= WAITED_NS && clock_ns() < end; i++) {
        int computes;
        uint64_t start = clock_ns();
        tell_target(p, 1);
        serve_host.Recv(&computes, 1, MPI_INT, p->target, 0, p->comm, MPI_STATUS_IGNORE);
        uint64_t ns = probe_get(p);
        bool late = clock_ns() - start >= COMPUTE_NS;
        slow += ns >= WAITED_NS;
        if (ns >= WAITED_NS || !late)
            best = ns < best ? ns : best;
    }
    return best;
}

static uint64_t probe_origin(const struct probe *p) {
    serve_host.Win_lock(MPI_LOCK_SHARED, p->target, MPI_MODE_NOCHECK, p->win);
    uint64_t latency = probe_latency(p), computing = probe_computing(p);
    tell_target(p, 0);
    serve_host.Win_unlock(p->target, p->win);
    uint64_t own = p->kind.allocated ? OWN_NS : KERNEL_NS;
    if (computing == UINT64_MAX)
        return decision_make(DECIDED_HOST, NOT_MEASURED, 0);
    if (computing >= WAITED_NS)
        return decision_make(DECIDED_SERVED, NO_PROGRESS, computing);
    if (p->kind.one_node && latency > WORTHWHILE * own)
        return decision_make(DECIDED_SERVED, SLOW, latency);
    return decision_make(DECIDED_HOST, FAST, latency);
}

static void compute(void) {
    for (uint64_t end = clock_ns() + COMPUTE_NS; clock_ns() < end;)
        cpu_relax();
}

static void probe_serve(const struct probe *p) {
    for (int computes = 1; computes;) {
        serve_host.Recv(&computes, 1, MPI_INT, 0, 0, p->comm, MPI_STATUS_IGNORE);
        if (computes) {
            serve_host.Send(&computes, 1, MPI_INT, 0, 0, p->comm);
            compute();
        }
    }
}

/* Returns whether all ranks have the window. */
static bool probe_open(struct probe *p, void *memory) {
    void *base = NULL;
    int rc = p->kind.allocated ? serve_host.Win_allocate(BYTES, 1, MPI_INFO_NULL, p->comm, &base, &p->win)
                               : serve_host.Win_create(memory, BYTES, 1, MPI_INFO_NULL, p->comm, &p->win);
    if (rc == MPI_SUCCESS)
        host_Win_set_errhandler(p->win, MPI_ERRORS_RETURN);
    return serve_agree(rc == MPI_SUCCESS, p->comm);
}

static uint64_t probe_run(MPI_Comm comm, MPI_Comm machine, struct kind kind) {
    _Alignas(BYTES) char memory[BYTES] = {0};
    struct probe p = {.win = MPI_WIN_NULL, .kind = kind, .target = probe_target(comm, machine, kind)};
    uint64_t result = decision_make(DECIDED_HOST, NOT_MEASURED, 0);
    if (!serve_agree_copy(comm, &p.comm))
        return result;
    host_Comm_rank(p.comm, &p.rank);
    if (probe_open(&p, memory)) {
        if (p.rank == 0)
            result = probe_origin(&p);
        else if (p.rank == p.target)
            probe_serve(&p);
        if (host_Bcast(&result, 1, MPI_UINT64_T, 0, p.comm) != MPI_SUCCESS)
            serve_agree_broken("MPI_Bcast");
        serve_host.Win_free(&p.win);
    } else {
        result = decision_make(DECIDED_SERVED, NO_WINDOW,
                               0); /* a window that only some ranks have cannot be freed */
    }
    serve_host.Comm_free(&p.comm);
    return result;
}

/* ---- decisions ---- */

/* A probe that measured nothing, on busy cores, is repeated for the next windows, a few times. */
static bool is_final(uint64_t decision, struct kind kind) {
    enum { MOST_PROBES = 3 };
    static _Atomic unsigned in_vain[4];
    return reason_of(decision) != NOT_MEASURED ||
           atomic_fetch_add(&in_vain[kind.allocated * 2 + kind.one_node], 1) + 1 >= MOST_PROBES;
}

static void decision_tell(uint64_t decision, struct kind kind, bool is_known) {
    char why[160];
    if (!LOG_IS_ON(LOG_WINDOWS, LOG_DEBUG))
        return;
    serve_auto_text(decision, why, sizeof why);
    log_debug(LOG_WINDOWS, "windows that are %s, on %s: %s them, as %s (%s)",
              kind.allocated ? "allocated" : "created over memory",
              kind.one_node ? "one node" : "several nodes",
              decision_of(decision) == DECIDED_SERVED ? "Hearth serves" : "MPI keeps", why,
              is_known ? "decided before" : "measured now");
}

static uint64_t decide(MPI_Comm comm, MPI_Comm machine, struct kind kind) {
    _Atomic uint64_t *kept = decision_for(kind);
    uint64_t known = atomic_load(kept), all[2] = {0};
    const uint64_t mine[2] = {decision_of(known) == DECIDED_HOST ? known : 0,
                              decision_of(known) == DECIDED_SERVED ? known : 0};
    if (host_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        serve_agree_broken("MPI_Allreduce");
    if (all[0] && all[1])
        return decision_make(DECIDED_HOST, DISAGREED, 0);
    bool is_known = all[0] || all[1];
    uint64_t result = is_known ? all[0] | all[1] : probe_run(comm, machine, kind);
    decision_tell(result, kind, is_known);
    if (!known && is_final(result, kind))
        atomic_store(kept, result);
    return result;
}

static bool auto_wants(MPI_Comm comm, bool allocated) {
    MPI_Comm machine = serve_node_comm(comm);
    int all = 0;
    if (machine == MPI_COMM_NULL)
        return false;
    host_Comm_size(comm, &all);
    if (all < 2) {
        log_debug(LOG_WINDOWS, "HEARTH_WINDOWS=auto leaves windows of one rank to MPI");
        return false;
    }
    recent = decide(comm, machine, (struct kind){allocated, serve_node_is_whole(comm, machine)});
    return decision_of(recent) == DECIDED_SERVED;
}

/* ---- the setting ---- */

static enum windows windows_setting(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = 0, inside = agreement_windows();
    if (info != MPI_INFO_NULL &&
        host_Info_get(info, "hearth_windows", MPI_MAX_INFO_VAL, value, &flag) == MPI_SUCCESS && flag) {
        int word = settings_word("host|serve|auto", value);
        if (word >= 0)
            inside = word;
        else
            log_warn("info key hearth_windows=%.80s is not one of host|serve|auto; it is ignored", value);
    }
    return (enum windows)inside;
}

/* The value of the info key may differ between the ranks, and so may which of them pass it; the collective calls that follow may not. */
static enum windows windows_agreed(MPI_Comm comm, MPI_Info info) {
    int mine = windows_setting(info), rank = 0, least[2];
    const int own[2] = {mine, -mine};
    if (host_Allreduce(own, least, 2, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        serve_agree_broken("MPI_Allreduce");
    if (least[0] == -least[1])
        return (enum windows)mine;
    host_Comm_rank(comm, &rank);
    if (rank == 0)
        log_warn("info key hearth_windows is not the same on all ranks of a window: it is left to MPI");
    return WINDOWS_HOST;
}

bool serve_auto_wants(MPI_Comm comm, MPI_Info info, bool allocated) {
    enum windows windows = windows_agreed(comm, info);
    recent = 0;
    return windows == WINDOWS_AUTO ? auto_wants(comm, allocated) : windows == WINDOWS_SERVE;
}

bool serve_auto_wants_memory(MPI_Info info) {
    enum windows windows = windows_setting(info);
    uint64_t known = atomic_load(decision_for((struct kind){.allocated = false, .one_node = true}));
    return windows == WINDOWS_SERVE || (windows == WINDOWS_AUTO && decision_of(known) != DECIDED_HOST);
}

/* ---- reports ---- */

void serve_auto_failed(void) {
    if (recent)
        recent = decision_make(DECIDED_HOST, NOT_SERVED, ns_of(recent));
}

uint64_t serve_auto_reason(void) {
    return recent;
}

static void text_time(uint64_t ns, char *text, size_t room) {
    if (ns < 1000)
        snprintf(text, room, "%" PRIu64 " ns", ns);
    else if (ns < 100000)
        snprintf(text, room, "%.1f us", (double)ns / 1e3);
    else
        snprintf(text, room, "%.1f ms", (double)ns / 1e6);
}

void serve_auto_text(uint64_t reason, char *text, size_t room) {
    char time[32];
    text_time(ns_of(reason), time, sizeof time);
    switch (reason_of(reason)) {
    case NO_PROGRESS:
        snprintf(text, room, "the MPI's own get from a rank that computed for %d ms took %s",
                 COMPUTE_NS / 1000000, time);
        break;
    case SLOW:
        snprintf(text, room, "the MPI's own get took %s", time);
        break;
    case FAST:
        snprintf(text, room, "its get took %s, and needs no call at the target", time);
        break;
    case NO_WINDOW:
        snprintf(text, room, "the MPI cannot create such windows");
        break;
    case NOT_SERVED:
        snprintf(text, room, "Hearth cannot serve it, though its get took %s", time);
        break;
    case DISAGREED:
        snprintf(text, room, "the ranks had decided differently in other windows");
        break;
    default:
        snprintf(text, room, "a get could not be measured");
    }
}
