/* polled.c: polls requests of the MPI library without completing them.
 *
 * MPI_Request_get_status does that, and works for all kinds but one: in MPICH 4.0, file requests progress only in a call
 * that could complete them. They are recognised here by their handles and tested together with a request that is
 * never complete, so that MPI_Testall progresses them and completes nothing. Of several, only the first incomplete
 * one is tested, as MPI_Waitall does, because collective calls on a file receive each other's messages if they
 * progress in another order. MPI_Testall is no substitute for MPI_Request_get_status: MPICH 4.0 aborts in it if a
 * persistent collective or a partitioned message is among several requests.
 *
 * MPICH 4.2 allows neither: once a file request is complete, MPI_Request_get_status releases it and MPI_Testall reports an error, unless
 * this very call completes it. Such a request is not polled, and the caller completes it by a test of its own (wait.c). MPI_Testall must not
 * complete a part of its requests: one that its test completes is replaced by a managed request that keeps the result.
 *
 *      handles[hash]    of files, open addressing, 0 if free, GONE if removed; kept when the request is complete
 *
 * MPI reuses handles. A stale handle does harm only if MPI reuses it for a persistent request, or for a generalized one, whose callbacks
 * would be called too early. MPI_Start and MPI_Grequest_start remove the handle from the table. */
#include "mpi/requests/polled.h"

#include <stdlib.h>

#include "base/random.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/state/p2p_peer.h"
#include "mpi/messages/state/p2p_request.h"
#include "mpi/requests/tracked.h"

#ifdef OPEN_MPI
static bool is_of_file(MPI_Request request) {
    return false;
}

static bool foreign_advance(MPI_Request request) {
    return false;
}

static const bool is_tested_once = false;

void requests_poll_open(void) {
}

#else

#define GONE ((MPI_Request)(intptr_t)-1) /* tombstone: entries behind it are still found */

static MPI_Request *handles;
static size_t slots, used;
static bool is_tested_once; /* file requests must not be tested after they are complete */

/* By the version of the MPI that is loaded, not that of its header: MPICH's versions share a binary interface. */
void requests_poll_open(void) {
    int (*get_version)(int *version, int *subversion), version = 0, subversion = 0;
    void *unused;
    *(void **)&get_version = host_find("MPI_Get_version", &unused);
    if (get_version)
        get_version(&version, &subversion);
    is_tested_once = version > 4 || (version == 4 && subversion >= 1);
}

static MPI_Request *foreign_slot_of(MPI_Request request) {
    size_t i = random_mix((uint64_t)request) & (slots - 1);
    while (handles[i] && handles[i] != request)
        i = (i + 1) & (slots - 1);
    return &handles[i];
}

static void foreign_grow(void) {
    MPI_Request *old = handles;
    size_t old_slots = slots;
    slots = slots ? 2 * slots : 64;
    handles = calloc(slots, sizeof *handles);
    if (!handles)
        p2p_out_of_memory("the list of file requests");
    used = 0;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i] && old[i] != GONE) {
            *foreign_slot_of(old[i]) = old[i];
            used++;
        }
    free(old);
}

static void foreign_note(int rc, const MPI_Request *request) {
    if (!p2p_on || host_is_open_mpi() || rc != MPI_SUCCESS || *request == MPI_REQUEST_NULL)
        return;
    p2p_lock();
    if (2 * used >= slots)
        foreign_grow();
    MPI_Request *slot = foreign_slot_of(*request);
    used += !*slot;
    *slot = *request;
    p2p_unlock();
}

void requests_poll_forget(MPI_Request request) {
    p2p_lock();
    if (slots && *foreign_slot_of(request))
        *foreign_slot_of(request) = GONE;
    p2p_unlock();
}

static bool is_of_file(MPI_Request request) {
    p2p_lock();
    bool found = slots && *foreign_slot_of(request);
    p2p_unlock();
    return found;
}

static int foreign_query(void *state, MPI_Status *status) {
    return MPI_SUCCESS;
}

static int foreign_release(void *state) {
    return MPI_SUCCESS;
}

static int foreign_cancel(void *state, int complete) {
    return MPI_SUCCESS;
}

/* Returns true if it is complete now. */
static bool foreign_advance(MPI_Request request) {
    MPI_Request both[2] = {request, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int flag = 0;
    if (host_Grequest_start(foreign_query, foreign_release, foreign_cancel, NULL, &both[1]) != MPI_SUCCESS)
        return false;
    host_real.Testall(2, both, &flag, statuses);
    host_Grequest_complete(both[1]);
    host_real.Wait(&both[1], MPI_STATUS_IGNORE);
    flag = both[0] == MPI_REQUEST_NULL; /* it has failed */
    int rc = flag ? MPI_SUCCESS : host_real.Request_get_status(request, &flag, &statuses[0]);
    return flag || rc != MPI_SUCCESS;
}

int hook_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,
                        MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request) {
    int rc = host_Grequest_start(query, release, cancel, state, request);
    if (p2p_on && rc == MPI_SUCCESS)
        requests_poll_forget(*request);
    return rc;
}

#define START(name, params, args)                                                                            \
    int hook_##name params {                                                                                 \
        int rc = host_##name args;                                                                           \
        foreign_note(rc, request);                                                                           \
        return rc;                                                                                           \
    }

#define STARTS(way, count_t, suffix, type)                                                                   \
    START(File_i##way##suffix,                                                                               \
          (MPI_File fh, type buffer, count_t count, MPI_Datatype datatype, MPI_Request * request),           \
          (fh, buffer, count, datatype, request))                                                            \
    START(File_i##way##_all##suffix,                                                                         \
          (MPI_File fh, type buffer, count_t count, MPI_Datatype datatype, MPI_Request * request),           \
          (fh, buffer, count, datatype, request))                                                            \
    START(File_i##way##_shared##suffix,                                                                      \
          (MPI_File fh, type buffer, count_t count, MPI_Datatype datatype, MPI_Request * request),           \
          (fh, buffer, count, datatype, request))                                                            \
    START(File_i##way##_at##suffix,                                                                          \
          (MPI_File fh, MPI_Offset offset, type buffer, count_t count, MPI_Datatype datatype,                \
           MPI_Request * request),                                                                           \
          (fh, offset, buffer, count, datatype, request))                                                    \
    START(File_i##way##_at_all##suffix,                                                                      \
          (MPI_File fh, MPI_Offset offset, type buffer, count_t count, MPI_Datatype datatype,                \
           MPI_Request * request),                                                                           \
          (fh, offset, buffer, count, datatype, request))

STARTS(read, int, , void *)
STARTS(write, int, , const void *)
#if HEARTH_MPI_COUNTS
STARTS(read, MPI_Count, _c, void *)
STARTS(write, MPI_Count, _c, const void *)
#endif
#endif

/* After a number of incomplete requests, further ones are not queried: each query costs as much as a test, and MPI
 * progresses all of them at once. */
bool requests_poll(struct foreign_look *look, MPI_Request request) {
    enum { POLLS = 16 };
    MPI_Status status;
    int flag = 0, rc = MPI_SUCCESS;
    if (is_tested_once && is_of_file(request)) {
        look->unknown = true;
        return true;
    }
    if (look->incomplete < POLLS)
        rc = host_real.Request_get_status(request, &flag, &status);
    if (flag || rc != MPI_SUCCESS)
        return true;
    if (!look->advanced && is_of_file(request)) {
        look->advanced = true;
        if (foreign_advance(request))
            return true;
    }
    look->incomplete++;
    return false;
}

static MPI_Request foreign_result(int error, const MPI_Status *status) {
    MPI_Count bytes = 0;
    if (error == MPI_SUCCESS)
        host_Get_elements_x(status, MPI_BYTE, &bytes);
    p2p_lock();
    struct p2p_request *r = p2p_request_new(REQUEST_RESULT, NULL);
    if (!r)
        p2p_out_of_memory("the result of a file request");
    r->error = error;
    r->got_source = status->MPI_SOURCE;
    r->got_tag = status->MPI_TAG;
    r->got_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    r->done = true;
    p2p_unlock();
    return p2p_request_handle(r);
}

void requests_poll_keep(int count, MPI_Request requests[]) {
    MPI_Status status;
    for (int i = 0, flag = 0; is_tested_once && i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || p2p_request_is_ours(requests[i]) || !is_of_file(requests[i]))
            continue;
        int rc = requests_Test(&requests[i], &flag, &status);
        if (rc == MPI_SUCCESS && !flag)
            return;
        requests[i] = foreign_result(rc, &status);
    }
}
