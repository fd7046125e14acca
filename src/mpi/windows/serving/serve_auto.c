/* serve_auto.c: decides whether Hearth serves a window, so that no operation on it is slower than by the host.
 *
 *      its memory                          on one node                           on several nodes
 *      allocated with the window           if the host's get was measured        the host
 *      of MPI_Alloc_mem, on all ranks      to be slow, or to wait                the host
 *      other                               the host                              the host
 *
 * Hearth reaches the first two kinds of memory by loads and stores. Other memory of a node it reaches through the kernel, and other
 * nodes through a helper: there the host is faster in short operations while the target waits in MPI, and nothing tells at the start
 * whether targets will compute. A window that the host cannot create is served everywhere.
 *
 * The probe makes a window of the host, of the same kind and on the same processes, over a private communicator. Rank 0
 * gets 8 bytes from rank 1. First that rank waits in MPI, so that connections are made, and the time of a get is measured. If that is
 * short, it then computes for a millisecond without calling MPI, while rank 0 gets once more. The others wait for the result. On a
 * busy machine rank 0 may lose its core during a get, so that must happen several times in a row. In all the probe takes the time to
 * create and free a window, and one millisecond more if a get is fast. On busy cores it is ended after some 25 ms.
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
#include "mpi/host/devices.h"
#include "mpi/windows/serving/state/node_comm.h"
#include "mpi/windows/serving/state/serve_agree.h"
#include "mpi/windows/serving/serving.h"

/* A decision is one number, so that processes can exchange it: who serves, why, and the time of a get in ns. 0: none. */
enum decision { DECIDED_HOST = 1, DECIDED_SERVED = 2 };
enum reason {
    NO_PROGRESS = 1,
    SLOW,
    FAST,
    NOT_MEASURED,
    DISAGREED,
    NOT_SERVED,
    NO_WINDOW,
    GPU,
    PRIVATE,
    ACROSS
};
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
    enum serve_memory_kind memory;
    bool one_node;
};
enum { KINDS = 2 * SERVE_MEMORY_KINDS };

static _Atomic uint64_t decisions[KINDS];
static _Thread_local uint64_t recent;

static size_t index_of(struct kind k) {
    return 2 * (size_t)k.memory + k.one_node;
}

/* Whether Hearth is certainly faster if the host is slow: what the table above says. */
static bool is_measured(struct kind k) {
    return k.one_node && k.memory != SERVE_MEMORY_PRIVATE;
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
    TARGET = 1,
    BYTES = 64 /* MPICH 4.0 needs windows of whole 16 bytes */
};

/* What a get takes in a served window in shared memory, in ns. Other operations are faster by more: a host that also reaches the memory
 * by loads and stores still describes each operation, and Hearth would pass it on. */
enum { OWN_NS = 40 };

struct probe {
    MPI_Comm comm;
    MPI_Win win;
    int rank;
    struct kind kind;
};

static uint64_t probe_get(const struct probe *p) {
    uint64_t value, start = clock_ns();
    serve_host.Get(&value, sizeof value, MPI_BYTE, TARGET, 0, sizeof value, MPI_BYTE, p->win);
    serve_host.Win_flush(TARGET, p->win);
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
    serve_host.Send(&computes, 1, MPI_INT, TARGET, 0, p->comm);
}

/* The time of the fastest get, of those from a target that certainly computed; UINT64_MAX: none. The target begins to compute
 * after it is told. If a fast get ends so late after that that the target may have finished, it proves nothing. */
static uint64_t probe_computing(const struct probe *p) {
    uint64_t best = UINT64_MAX, end = clock_ns() + LONGEST_NS;
    for (int i = 0, slow = 0; i < MOST_TRIES && slow < TRIES && best >= WAITED_NS && clock_ns() < end; i++) {
        int computes;
        uint64_t start = clock_ns();
        tell_target(p, 1);
        serve_host.Recv(&computes, 1, MPI_INT, TARGET, 0, p->comm, MPI_STATUS_IGNORE);
        uint64_t ns = probe_get(p);
        bool late = clock_ns() - start >= COMPUTE_NS;
        slow += ns >= WAITED_NS;
        if (ns >= WAITED_NS || !late)
            best = ns < best ? ns : best;
    }
    return best;
}

/* If a get is slow already, whether it also waits is not asked. */
static uint64_t probe_gets(const struct probe *p) {
    uint64_t latency = probe_latency(p);
    if (latency > OWN_NS)
        return decision_make(DECIDED_SERVED, SLOW, latency);
    uint64_t computing = probe_computing(p);
    if (computing == UINT64_MAX)
        return decision_make(DECIDED_HOST, NOT_MEASURED, 0);
    return computing >= WAITED_NS ? decision_make(DECIDED_SERVED, NO_PROGRESS, computing)
                                  : decision_make(DECIDED_HOST, FAST, latency);
}

static uint64_t probe_origin(const struct probe *p) {
    serve_host.Win_lock(MPI_LOCK_SHARED, TARGET, MPI_MODE_NOCHECK, p->win);
    uint64_t result = probe_gets(p);
    tell_target(p, 0);
    serve_host.Win_unlock(TARGET, p->win);
    return result;
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
    int rc = p->kind.memory == SERVE_MEMORY_ALLOCATED
                 ? serve_host.Win_allocate(BYTES, 1, MPI_INFO_NULL, p->comm, &base, &p->win)
                 : serve_host.Win_create(memory, BYTES, 1, MPI_INFO_NULL, p->comm, &p->win);
    if (rc == MPI_SUCCESS)
        host_Win_set_errhandler(p->win, MPI_ERRORS_RETURN);
    return serve_agree(rc == MPI_SUCCESS, p->comm);
}

/* For kinds that are not measured only whether the host has such windows. */
static uint64_t probe_opened(const struct probe *p) {
    uint64_t result = decision_make(DECIDED_HOST, p->kind.one_node ? PRIVATE : ACROSS, 0);
    if (!is_measured(p->kind))
        return result;
    if (p->rank == 0)
        result = probe_origin(p);
    else if (p->rank == TARGET)
        probe_serve(p);
    if (host_Bcast(&result, 1, MPI_UINT64_T, 0, p->comm) != MPI_SUCCESS)
        serve_agree_broken("MPI_Bcast");
    return result;
}

static uint64_t probe_run(MPI_Comm comm, struct kind kind) {
    _Alignas(BYTES) char memory[BYTES] = {0};
    struct probe p = {.win = MPI_WIN_NULL, .kind = kind};
    uint64_t result = decision_make(DECIDED_HOST, NOT_MEASURED, 0);
    if (!serve_agree_copy(comm, &p.comm))
        return result;
    host_Comm_rank(p.comm, &p.rank);
    if (probe_open(&p, memory)) {
        result = probe_opened(&p);
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
    static _Atomic unsigned in_vain[KINDS];
    return reason_of(decision) != NOT_MEASURED ||
           atomic_fetch_add(&in_vain[index_of(kind)], 1) + 1 >= MOST_PROBES;
}

static void decision_tell(uint64_t decision, struct kind kind, bool is_known) {
    static const char *const memories[] = {"over private memory", "over shared memory", "allocated"};
    char why[160];
    if (!LOG_IS_ON(LOG_WINDOWS, LOG_DEBUG))
        return;
    serve_auto_text(decision, why, sizeof why);
    log_debug(LOG_WINDOWS, "windows that are %s, on %s: %s them, as %s (%s)", memories[kind.memory],
              kind.one_node ? "one node" : "several nodes",
              decision_of(decision) == DECIDED_SERVED ? "Hearth serves" : "MPI keeps", why,
              is_known            ? "decided before"
              : is_measured(kind) ? "measured now"
                                  : "decided now");
}

/* ---- what the ranks exchange ---- */

/* The largest value of all ranks counts. For each kind of window: the decision of ranks that have decided for the host, and of those
 * that have for Hearth. */
enum {
    ASKED,
    ASKED_NEGATED,
    HAS_GPU,
    MEMORY_NEGATED,
    BY_HOST,
    BY_HEARTH = BY_HOST + KINDS,
    WORDS = BY_HEARTH + KINDS
};

struct exchanged {
    enum windows windows; /* what all ranks ask for; else WINDOWS_HOST */
    bool agrees;
    int64_t words[WORDS];
};

static struct exchanged exchange(MPI_Comm comm, enum windows asked, enum serve_memory_kind memory) {
    int64_t mine[WORDS] = {
        [ASKED] = asked, [ASKED_NEGATED] = -(int64_t)asked, [MEMORY_NEGATED] = -(int64_t)memory};
    struct exchanged all = {.windows = WINDOWS_HOST};
    mine[HAS_GPU] = asked == WINDOWS_AUTO && devices_have_gpu();
    for (size_t i = 0; i < KINDS; i++) {
        uint64_t known = atomic_load(&decisions[i]);
        mine[(decision_of(known) == DECIDED_SERVED ? BY_HEARTH : BY_HOST) + i] = (int64_t)known;
    }
    if (host_Allreduce(mine, all.words, WORDS, MPI_INT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        serve_agree_broken("MPI_Allreduce");
    all.agrees = all.words[ASKED] == -all.words[ASKED_NEGATED];
    all.windows = all.agrees ? asked : WINDOWS_HOST;
    return all;
}

static uint64_t decide(MPI_Comm comm, struct kind kind, const struct exchanged *all) {
    _Atomic uint64_t *kept = &decisions[index_of(kind)];
    uint64_t known = atomic_load(kept), by_host = (uint64_t)all->words[BY_HOST + index_of(kind)],
             by_hearth = (uint64_t)all->words[BY_HEARTH + index_of(kind)];
    if (all->words[HAS_GPU])
        return decision_make(DECIDED_HOST, GPU, 0);
    if (by_host && by_hearth)
        return decision_make(DECIDED_HOST, DISAGREED, 0);
    bool is_known = by_host || by_hearth;
    uint64_t result = is_known ? by_host | by_hearth : probe_run(comm, kind);
    decision_tell(result, kind, is_known);
    if (!known && is_final(result, kind))
        atomic_store(kept, result);
    return result;
}

static bool auto_wants(MPI_Comm comm, const struct exchanged *all) {
    MPI_Comm machine = serve_node_comm(comm);
    int size = 0;
    if (machine == MPI_COMM_NULL)
        return false;
    host_Comm_size(comm, &size);
    if (size < 2) {
        log_debug(LOG_WINDOWS, "HEARTH_WINDOWS=auto leaves windows of one rank to MPI");
        return false;
    }
    struct kind kind = {(enum serve_memory_kind) - all->words[MEMORY_NEGATED],
                        serve_node_is_whole(comm, machine)};
    recent = decide(comm, kind, all);
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
bool serve_auto_wants(MPI_Comm comm, MPI_Info info, enum serve_memory_kind memory) {
    const struct exchanged all = exchange(comm, windows_setting(info), memory);
    int rank = 0;
    recent = 0;
    if (!all.agrees && host_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == 0)
        log_warn("info key hearth_windows is not the same on all ranks of a window: it is left to MPI");
    return all.windows == WINDOWS_AUTO ? auto_wants(comm, &all) : all.windows == WINDOWS_SERVE;
}

bool serve_auto_wants_memory(MPI_Info info) {
    const struct kind kind = {SERVE_MEMORY_SHARED, .one_node = true};
    enum windows windows = windows_setting(info);
    return windows == WINDOWS_SERVE ||
           (windows == WINDOWS_AUTO && decision_of(atomic_load(&decisions[index_of(kind)])) != DECIDED_HOST &&
            !devices_have_gpu());
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
    case GPU:
        snprintf(text, room, "a process has loaded the runtime of a GPU");
        break;
    case PRIVATE:
        snprintf(text, room,
                 "its memory is private to each rank, where short operations are faster by the MPI");
        break;
    case ACROSS:
        snprintf(text, room, "it spans nodes, where short operations may be faster by the MPI");
        break;
    case DISAGREED:
        snprintf(text, room, "the ranks had decided differently in other windows");
        break;
    default:
        snprintf(text, room, "a get could not be measured");
    }
}
