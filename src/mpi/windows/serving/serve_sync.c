/* serve_sync.c: active-target synchronisation by messages of no data, over a communicator of the window; see serve_sync.h.
 *
 *      target     post: a message to each origin                  wait: a message from each origin
 *      origin     start: a message from each target               complete: a message to each target
 *
 * Messages between two ranks do not overtake each other, so epochs that follow each other need no numbers. */
#include "mpi/windows/serving/serve_sync.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/host/progress.h"

enum { POSTED = 1, COMPLETED = 2 }; /* tags */

/* MPICH's device ch3 and Open MPI's osc pt2pt do not wait. The user may select the latter in several ways, so the setting is not
 * looked at. */
bool serve_sync_host_waits(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    return host_real.Get_library_version && host_Get_library_version(version, &length) == MPI_SUCCESS &&
           strstr(version, "ch4:");
}

bool serve_sync_open(struct served *s, MPI_Comm comm) {
    if (serve_host.Comm_split(comm, 0, 0, &s->sync) != MPI_SUCCESS) {
        s->sync = MPI_COMM_NULL;
        return false;
    }
    host_Comm_set_errhandler(s->sync, MPI_ERRORS_RETURN);
    return true;
}

void serve_sync_close(struct served *s) {
    if (s->sync != MPI_COMM_NULL)
        serve_host.Comm_free(&s->sync);
    free(s->posted);
    s->posted = NULL;
}

/* Does not wait for the receiver, which may be this process. */
static void sync_tell(const struct served *s, int rank, int tag) {
    MPI_Request request;
    if (serve_host.Isend(NULL, 0, MPI_BYTE, rank, tag, s->sync, &request) == MPI_SUCCESS)
        serve_host.Request_free(&request);
}

enum { SPINS = 16 }; /* rounds before a waiting process offers its core to others: some 2 us */

/* The sender may wait for a message that Hearth handles. MPI's progresses in the test. */
static void sync_await(const struct served *s, int rank, int tag) {
    MPI_Request request;
    if (!progress_is_registered()) {
        serve_host.Recv(NULL, 0, MPI_BYTE, rank, tag, s->sync, MPI_STATUS_IGNORE);
        return;
    }
    if (serve_host.Irecv(NULL, 0, MPI_BYTE, rank, tag, s->sync, &request) != MPI_SUCCESS)
        return;
    for (int come = 0, rounds = 0;
         serve_host.Test(&request, &come, MPI_STATUS_IGNORE) == MPI_SUCCESS && !come;) {
        progress_make_own();
        if (rounds == SPINS)
            sched_yield();
        else
            rounds++;
    }
}

int serve_sync_barrier(const struct served *s) {
    int one = 1, sum;
    return host_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, s->sync);
}

/* MPI_MODE_NOCHECK is given on both sides or on none. */
void serve_sync_post(struct served *s, int *ranks, int count, int assertion) {
    s->posted = ranks;
    s->posted_count = count;
    for (int i = 0; !(assertion & MPI_MODE_NOCHECK) && i < count; i++)
        sync_tell(s, ranks[i], POSTED);
}

void serve_sync_start(const struct served *s, const int *ranks, int count, int assertion) {
    for (int i = 0; !(assertion & MPI_MODE_NOCHECK) && i < count; i++)
        sync_await(s, ranks[i], POSTED);
}

void serve_sync_complete(const struct served *s) {
    for (int i = 0; i < s->started_count; i++)
        sync_tell(s, s->started[i], COMPLETED);
}

/* Origins whose message has come are removed from the list. */
bool serve_sync_test(struct served *s, bool waits) {
    for (int i = 0; i < s->posted_count;) {
        int come = waits;
        if (!waits)
            serve_host.Iprobe(s->posted[i], COMPLETED, s->sync, &come, MPI_STATUS_IGNORE);
        if (!come) {
            i++;
            continue;
        }
        sync_await(s, s->posted[i], COMPLETED);
        s->posted[i] = s->posted[--s->posted_count];
    }
    if (s->posted_count)
        return false;
    free(s->posted);
    s->posted = NULL;
    return true;
}
