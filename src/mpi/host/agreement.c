/* agreement.c: see agreement.h. A value is the same on all ranks if its minimum is its maximum, which is the minimum of the negated
 * value with the opposite sign. */
#include "mpi/host/agreement.h"

#include "base/clock.h"
#include "base/log.h"
#include "mpi/host/complaints.h"
#include "mpi/host/devices.h"
#include "mpi/host/host.h"
#include "net/net.h"
#include "observe/output.h"

/* The settings that decide which collective calls the ranks make, and how large the messages are for which they post receives. */
enum { REPORT, MATCH, MATCH_NODE, MATCH_EAGER, WINDOWS, NODE_RANKS, NET, MACHINE, HAS_GPU, AGREED };
enum { NEGATED = AGREED, CONTENT = 2 * AGREED /* no complaint about settings */, SIGN, WORDS };
/* Shows that the result is of this exchange: Open MPI may complete a reduction whose messages met those of another call. */
enum { SIGN_OF_HEARTH = 0x48656172 };

static bool matches, matches_node, is_reached;
static uint64_t match_eager;
static enum windows windows;
static unsigned node_ranks;
static enum link_over net = LINK_OVER_MPI;

static bool is_same(const int *least, int of) {
    return least[of] == -least[NEGATED + of];
}

static void agree_on_report(const int *least) {
    if (is_same(least, REPORT))
        return;
    log_debug(LOG_REPORT, "no report: HEARTH_REPORT is not the same on all ranks");
    output_disable();
    if (log_is_first_rank())
        output_differs();
}

/* Whether the ranks have the same value; rank 0 tells what is off otherwise. */
static bool agree_on(const int *least, int of, const char *name, const char *off) {
    if (!is_same(least, of) && log_is_first_rank())
        log_warn("%s is not the same on all ranks: %s; set it for all of them, by hearth run or an option of "
                 "the launcher (mpirun -x %s)",
                 name, off, name);
    return is_same(least, of);
}

static bool is_one_node(const int *least, int ranks) {
    bool is_emulated = !is_same(least, NODE_RANKS) || (least[NODE_RANKS] && ranks > least[NODE_RANKS]);
    return is_same(least, MACHINE) && least[MACHINE] && !is_emulated;
}

/* HEARTH_MATCH=auto. Between nodes, messages take longer through Hearth; device memory is the MPI's. */
static bool auto_matches(const int *least) {
    int ranks = 0;
    host_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *why = ranks < 2                    ? "the job has one rank"
                      : -least[NEGATED + HAS_GPU]  ? "a process has loaded the runtime of a GPU"
                      : !is_one_node(least, ranks) ? "the job spans nodes"
                                                   : NULL;
    log_debug(LOG_MESSAGES, "HEARTH_MATCH=auto: messages are matched by %s: %s", why ? "MPI" : "Hearth",
              why ? why : "the job is on one node");
    return !why;
}

static void agree_on_messages(const int *least) {
    bool same = agree_on(least, MATCH, "HEARTH_MATCH", "messages are left to MPI");
    matches = same && (least[MATCH] == MATCHING_AUTO ? auto_matches(least) : least[MATCH]);
    if (!matches)
        return;
    agree_on(least, MATCH_NODE, "HEARTH_MATCH_NODE", "messages inside a node go through MPI");
    agree_on(least, MATCH_EAGER, "HEARTH_MATCH_REMOTE_EAGER", "the smallest value counts");
    matches_node = least[MATCH_NODE];
    match_eager = (uint64_t)least[MATCH_EAGER];
}

static void agree_on_windows(const int *least) {
    static const char to_mpi[] = "windows are left to MPI";
    bool same = agree_on(least, WINDOWS, "HEARTH_WINDOWS", to_mpi);
    if (agree_on(least, NET, "HEARTH_NET", to_mpi))
        net = (enum link_over)least[NET];
    same &= is_same(least, NET);
    windows = same ? (enum windows)least[WINDOWS] : WINDOWS_HOST;
    node_ranks = agree_on(least, NODE_RANKS, "HEARTH_NODE_RANKS", "all ranks of a host are one node")
                     ? (unsigned)least[NODE_RANKS]
                     : 0;
}

/* ---- the exchange ---- */

/* A rank without Hearth does not join the exchange: the others wait for it, or MPI mixes its next call with theirs. MPI cannot tell which
 * rank it is. */
static const char hint[] = "is Hearth preloaded into all of them? A job needs it in all ranks or in none";

static int agreement_wait(MPI_Request *request) {
    enum { PATIENCE_S = 10 };
    const uint64_t begun = clock_ns();
    bool is_told = false;
    int done = 0, rc;
    while ((rc = host_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) {
        if (is_told || clock_ns() - begun < PATIENCE_S * 1000000000ull)
            continue;
        is_told = true;
        log_warn("MPI_Init has waited for other ranks for %d s: %s", PATIENCE_S, hint);
    }
    return rc == MPI_SUCCESS ? rc : host_Wait(request, MPI_STATUS_IGNORE); /* it is still under way */
}

/* The buffers are static: if a call fails, MPI may use them later. */
static const int *agreement_exchange(void) {
    static int own[WORDS], least[WORDS];
    const struct settings *s = settings_get();
    MPI_Request request;
    own[REPORT] = output_kind();
    own[MATCH] = s->match;
    own[MATCH_NODE] = s->match_node;
    own[MATCH_EAGER] = (int)s->match_remote_eager;
    own[WINDOWS] = s->windows;
    own[NODE_RANKS] = (int)s->node_ranks;
    own[NET] = s->net;
    own[MACHINE] = s->match == MATCHING_AUTO ? net_machine_mark() : 0;
    own[HAS_GPU] = s->match == MATCHING_AUTO && devices_have_gpu();
    for (int i = 0; i < AGREED; i++)
        own[NEGATED + i] = -own[i];
    own[CONTENT] = !settings_complaints();
    own[SIGN] = SIGN_OF_HEARTH;
    if (host_Iallreduce(own, least, WORDS, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request) == MPI_SUCCESS &&
        agreement_wait(&request) == MPI_SUCCESS)
        return least;
    own[CONTENT] = true;
    return own;
}

static void agreement_tell(void) {
    static const char *const who[] = {"MPI's", "served", "measured"};
    log_debug(LOG_JOB,
              "all ranks agree: messages are matched by %s, inside a node %s, up to %llu bytes eagerly "
              "through MPI; windows are "
              "%s; nodes of %u ranks (0: those of a host)",
              matches ? "Hearth" : "MPI", matches_node ? "through shared memory" : "through MPI",
              (unsigned long long)match_eager, who[windows], node_ranks);
}

void agreement_reach(void) {
    static const int off[WORDS] = {[CONTENT] = true};
    const int *least = agreement_exchange();
    if (least[SIGN] != SIGN_OF_HEARTH) {
        log_warn("the ranks could not compare their settings in MPI_Init: %s", hint);
        least = off;
        output_disable();
    }
    if (!least[CONTENT])
        complaints_agree();
    agree_on_report(least);
    agree_on_messages(least);
    agree_on_windows(least);
    is_reached = true;
    agreement_tell();
}

bool agreement_matches(void) {
    return matches;
}

bool agreement_matches_node(void) {
    return matches_node;
}

uint64_t agreement_match_eager(void) {
    return match_eager;
}

enum link_over agreement_net(void) {
    return net;
}

enum windows agreement_windows(void) {
    return is_reached ? windows : (enum windows)settings_get()->windows;
}

unsigned agreement_node_ranks(void) {
    return is_reached ? node_ranks : (unsigned)settings_get()->node_ranks;
}
