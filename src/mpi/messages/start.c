/* start.c: start and end of message passing.
 *
 * In MPI_Init all processes allocate their resources and then agree whether Hearth manages messages. In MPI_Finalize
 * each process drives progress until all others are in it as well, because their messages may still need it.
 *
 * MPI_Finalize first deletes the attributes of MPI_COMM_SELF, in the reverse order of their setting. The program's
 * callbacks may still send, receive and wait for requests. Hearth therefore ends in such a callback of its own: set
 * first, it is called last. */
#include "mpi/messages/start.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"
#include "heater/heater.h"
#include "mpi/host/agreement.h"
#include "mpi/host/host.h"
#include "mpi/host/progress.h"
#include "mpi/host/sync_table.h"
#include "mpi/messages/collective/prebarrier.h"
#include "mpi/messages/state/fortran.h"
#include "mpi/messages/state/status.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_helper.h"
#include "mpi/messages/transport/p2p_progress.h"
#include "observe/live.h"
#include "observe/output.h"

/* ---- end ---- */

/* Sends everything that is queued before the other processes learn that this one is done. */
static void send_the_rest(void) {
    struct pause pause = {0};
    p2p_lock();
    while (p2p_channel_waiting || !p2p_remote_is_idle())
        p2p_wait_round_locked(&pause);
    p2p_unlock();
}

/* All processes, in MPI_Finalize. */
static void prebarrier_at_end(void) {
    MPI_Request request;
    send_the_rest();
    if (p2p_remote_barrier(&request) == MPI_SUCCESS)
        p2p_wait_host(&request, MPI_STATUS_IGNORE);
}

static void engine_close_all(void) {
    p2p_remote_close();
    p2p_link_close();
    p2p_data_close();
    p2p_comm_close();
    p2p_node_close();
    p2p_arrive_close();
    p2p_request_close();
    p2p_channel_close();
    p2p_peer_close();
    if (p2p_engine)
        match_close(p2p_engine);
    p2p_engine = NULL;
}

/* The processes leave together, by messages of Hearth, and none polls MPI any more: MPICH 4.0 over TCP hangs in MPI_Finalize if a process
 * that is already closing its connections there is answered by one that is not, as that one is not answered later. */
static void link_end(void) {
    if (!p2p_link_is_used)
        return;
    p2p_lock();
    p2p_remote_withdraw();
    p2p_progress_leave_host();
    p2p_unlock();
    p2p_prebarrier_all_slow(MPI_COMM_WORLD);
    p2p_link_shut();
}

static void engine_end(void) {
    if (!p2p_on)
        return;
    log_debug(LOG_MESSAGES, "message passing ends: pre-barrier of all processes");
    prebarrier_at_end();
    link_end();
    p2p_helper_stop();
    p2p_on = false;
    host_is_careful_waiting = host_is_careful;
    progress_register(NULL);
    p2p_careful = 0;
    engine_close_all();
}

static bool ends_by_itself; /* the attribute of MPI_COMM_SELF is set: its deletion calls engine_end */

static int on_delete(MPI_Comm comm, int key, void *value, void *state) {
    engine_end();
    return MPI_SUCCESS;
}

/* MPI keeps the freed key until its only attribute is deleted. */
static bool end_in_finalize(void) {
    int key;
    if (host_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL) != MPI_SUCCESS)
        return false;
    int rc = host_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    host_Comm_free_keyval(&key);
    return rc == MPI_SUCCESS;
}

/* The report is gathered before MPI_Finalize proper, by calls in which messages are not answered, so all processes
 * synchronise first. */
void p2p_finish(void) {
    if (!p2p_on)
        return;
    if (output_is_wanted())
        prebarrier_at_end();
    p2p_count_keep();
    if (!ends_by_itself)
        engine_end();
}

void p2p_keep_counts(void) {
    if (!p2p_on || (p2p_careful && !p2p_try_lock()))
        return;
    p2p_count_keep();
    p2p_unlock();
}

/* ---- start ---- */

static int engine_open_matching(void) {
    struct match_options options = {.structure = MATCH_FAST};
    const struct settings *s = settings_get();
    if (match_parse(s->match_queue, &options) && !p2p_rank)
        log_warn(
            "HEARTH_MATCH_QUEUE=%.80s is not fast, list, lla or lla-K with K = 2, 4, 8 ... 64; using fast",
            s->match_queue);
    options.heated = s->match_heated;
    return match_open(&options, &p2p_engine) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static void learn_world(void) {
    int *most, found, level;
    host_Comm_rank(MPI_COMM_WORLD, &p2p_rank);
    host_Comm_size(MPI_COMM_WORLD, &p2p_size);
    host_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    p2p_tag_most = found ? (unsigned)*most : 32767;
    host_Query_thread(&level);
    p2p_threads = level == MPI_THREAD_MULTIPLE;
}

/* Some of these are collective, so all are called even if one fails. A heater needs a core that no process uses, so it must
 * know the number of processes on this node. */
static bool engine_open_parts(unsigned *on_node) {
    int node = p2p_node_find(on_node), remote = p2p_remote_open(), data = p2p_data_open(),
        peers = p2p_peer_open();
    heater_neighbours(*on_node);
    return node == MPI_SUCCESS && remote == MPI_SUCCESS && data == MPI_SUCCESS && peers == MPI_SUCCESS &&
           engine_open_matching() == MPI_SUCCESS;
}

static bool engine_open_all(void) {
    unsigned on_node;
    int ok = engine_open_parts(&on_node), every = 0;
    host_Allreduce(&ok, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!every)
        return false;
    p2p_node_open();
    p2p_link_open(on_node);
    ok = p2p_comm_open() == MPI_SUCCESS && p2p_remote_start() == MPI_SUCCESS &&
         p2p_request_open() == MPI_SUCCESS && p2p_fortran_open() == MPI_SUCCESS;
    p2p_status_open();
    p2p_arrive_open();
    p2p_request_sent = p2p_request_new(REQUEST_SEND, NULL);
    int mine[2] = {ok && p2p_request_sent, !p2p_threads}, all[2] = {0};
    host_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    p2p_some_threads = !all[1];
    return all[0];
}

/* For hearth top. */
static void show_counters(void) {
    static const struct live_field fields[] = {LIVE_FIELD(sent, struct p2p_counters, node),
                                               LIVE_FIELD(sent, struct p2p_counters, far),
                                               LIVE_FIELD(sent, struct p2p_counters, self),
                                               LIVE_FIELD(sent_bytes, struct p2p_counters, node_bytes),
                                               LIVE_FIELD(sent_bytes, struct p2p_counters, far_bytes),
                                               LIVE_FIELD(sent_bytes, struct p2p_counters, self_bytes)};
    live_adopt(&p2p_counted, sizeof p2p_counted);
    live_show(&p2p_counted, fields, sizeof fields / sizeof *fields);
}

void p2p_start(void) {
    if (!agreement_matches()) {
        log_debug(LOG_MESSAGES, "messages are left to MPI: HEARTH_MATCH is off, differs between ranks, or is "
                                "auto and the job cannot gain");
        return;
    }
    learn_world();
    show_counters();
    if (!engine_open_all()) {
        if (!p2p_rank)
            log_error(
                "HEARTH_MATCH: no memory or no communicators for message matching; messages are left to MPI");
        engine_close_all();
        return;
    }
    p2p_request_sent->done = true;
    sync_table_agree();
    p2p_progress_open(p2p_node_count());
    p2p_remote_listen();
    if (p2p_threads) {
        p2p_careful = 1;
        p2p_unlock_slow();
    }
    p2p_on = true;
    host_is_careful_waiting = true;
    progress_register(p2p_poll_slow);
    ends_by_itself = end_in_finalize();
    p2p_helper_start();
    log_info(
        LOG_MESSAGES,
        "messages are matched by Hearth: %d of %d processes are reached through shared memory, eager limit "
        "%llu bytes",
        p2p_node_count(), p2p_size, (unsigned long long)p2p_node_eager);
}
