/* tracked.c: see tracked.h.
 *
 * Gets are claimed before MPI's call and concluded after it. Receives are counted only where Hearth does not manage messages. MPI
 * overwrites the handle of a request that it completes. A call that completes all of its requests tells before it waits; the others
 * keep copies of the handles. */
#include "mpi/requests/tracked.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/observe/receives.h"
#include "mpi/windows/caching/inflight/rma_request.h"

/* ---- one request ---- */

/* A request that is not a tracked get may be that of a receive, a collective or a synchronous send. */
static void note_completed(uint32_t id, MPI_Request before) {
    if (id == NO_OP && before != MPI_REQUEST_NULL)
        acquire(EVENT_REQUEST);
}

int requests_Wait(MPI_Request *request, MPI_Status *status) {
    if (!request)
        return host_Wait(request, status);
    MPI_Request before = *request;
    uint32_t id = rma_request_claim(before);
    if (UNLIKELY(receives_are_counted))
        receives_complete(before);
    int rc = host_Wait(request, status);
    rma_request_conclude(id, rc, true);
    note_completed(id, before);
    return rc;
}

int requests_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (!request)
        return host_Test(request, flag, status);
    MPI_Request before = *request;
    uint32_t id = rma_request_claim(before);
    int rc = host_Test(request, flag, status);
    bool complete = rc != MPI_SUCCESS || *flag;
    rma_request_conclude(id, rc, complete);
    if (complete)
        note_completed(id, before);
    if (UNLIKELY(receives_are_counted) && rc == MPI_SUCCESS && *flag)
        receives_complete(before);
    return rc;
}

int requests_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    uint32_t id = rma_request_claim(request);
    int rc = host_Request_get_status(request, flag, status);
    bool complete = rc != MPI_SUCCESS || *flag;
    rma_request_conclude(id, rc, complete);
    if (complete)
        note_completed(id, request);
    return rc;
}

int requests_Request_free(MPI_Request *request) {
    if (request && UNLIKELY(receives_are_counted))
        receives_forget(*request);
    if (request)
        rma_request_drop(*request);
    return host_Request_free(request);
}

/* ---- several requests ---- */

enum { FEW = 64 };

/* The requests of a call. */
struct several {
    struct rma_claims gets;
    MPI_Request *handles, few[FEW]; /* copies, to count receives; NULL: they are not counted */
};

static void several_begin(struct several *s, int count, const MPI_Request requests[]) {
    rma_request_claim_several(&s->gets, count, requests);
    s->handles = NULL;
}

/* Without memory the completions are not counted. */
static void several_copy(struct several *s, int count, const MPI_Request requests[]) {
    s->handles = count <= FEW ? s->few : malloc((size_t)count * sizeof *requests);
    if (s->handles)
        memcpy(s->handles, requests, (size_t)count * sizeof *requests);
}

/* For calls that complete requests. */
static void several_begin_counted(struct several *s, int count, const MPI_Request requests[]) {
    several_begin(s, count, requests);
    if (UNLIKELY(receives_are_counted) && count > 0 && requests)
        several_copy(s, count, requests);
}

static void several_count(struct several *s, const int indices[], int done) {
    int complete = indices || !done ? done : s->gets.count;
    for (int i = 0; i < complete; i++)
        receives_complete(s->handles[indices ? indices[i] : i]);
    if (s->handles != s->few)
        free(s->handles);
}

/* The requests at `indices` are complete; all of them if indices is NULL and done is not 0. */
static void several_end(struct several *s, int rc, const int indices[], int done) {
    if ((done || rc != MPI_SUCCESS) &&
        s->gets.ours < s->gets.count) /* untracked requests may be of any kind */
        acquire(EVENT_REQUEST);
    rma_request_conclude_several(&s->gets, rc, indices, done);
    if (UNLIKELY(s->handles != NULL))
        several_count(s, indices, done);
}

int requests_Waitall(int count, MPI_Request requests[], MPI_Status *statuses) {
    struct several s;
    for (int i = 0; UNLIKELY(receives_are_counted) && requests && i < count; i++)
        receives_complete(requests[i]);
    several_begin(&s, count, requests);
    int rc = host_Waitall(count, requests, statuses);
    several_end(&s, rc, NULL, 1);
    return rc;
}

int requests_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses) {
    struct several s;
    several_begin_counted(&s, count, requests);
    int rc = host_Testall(count, requests, flag, statuses);
    several_end(&s, rc, NULL, rc == MPI_SUCCESS && *flag);
    return rc;
}

int requests_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct several s;
    several_begin_counted(&s, count, requests);
    int rc = host_Waitany(count, requests, index, status);
    several_end(&s, rc, index, rc == MPI_SUCCESS && *index != MPI_UNDEFINED);
    return rc;
}

int requests_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    struct several s;
    several_begin_counted(&s, count, requests);
    int rc = host_Testany(count, requests, index, flag, status);
    several_end(&s, rc, index, rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED);
    return rc;
}

int requests_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                      MPI_Status *statuses) {
    struct several s;
    several_begin_counted(&s, incount, requests);
    int rc = host_Waitsome(incount, requests, outcount, indices, statuses);
    several_end(&s, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}

int requests_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                      MPI_Status *statuses) {
    struct several s;
    several_begin_counted(&s, incount, requests);
    int rc = host_Testsome(incount, requests, outcount, indices, statuses);
    several_end(&s, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}

#if HEARTH_MPI_4_1 /* these complete no request, but tell the program that its buffers may be read */

int requests_Request_get_status_all(int count, HEARTH_CONST MPI_Request requests[], int *flag,
                                    MPI_Status *statuses) {
    struct several s;
    several_begin(&s, count, requests);
    int rc = host_Request_get_status_all(count, requests, flag, statuses);
    several_end(&s, rc, NULL, rc == MPI_SUCCESS && *flag);
    return rc;
}

int requests_Request_get_status_any(int count, HEARTH_CONST MPI_Request requests[], int *index, int *flag,
                                    MPI_Status *status) {
    struct several s;
    several_begin(&s, count, requests);
    int rc = host_Request_get_status_any(count, requests, index, flag, status);
    several_end(&s, rc, index, rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED);
    return rc;
}

int requests_Request_get_status_some(int incount, HEARTH_CONST MPI_Request requests[], int *outcount,
                                     int indices[], MPI_Status *statuses) {
    struct several s;
    several_begin(&s, incount, requests);
    int rc = host_Request_get_status_some(incount, requests, outcount, indices, statuses);
    several_end(&s, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}
#endif
