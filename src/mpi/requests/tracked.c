/* tracked.c: see tracked.h. */
#include "mpi/requests/tracked.h"

#include "mpi/host/acquire.h"
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
    if (request)
        rma_request_drop(*request);
    return host_Request_free(request);
}

/* ---- several requests ---- */

/* The requests at `indices` are complete; all of them if indices is NULL and done is not 0. */
static void conclude_several(struct rma_claims *c, int rc, const int indices[], int done) {
    if ((done || rc != MPI_SUCCESS) && c->ours < c->count) /* untracked requests may be of any kind */
        acquire(EVENT_REQUEST);
    rma_request_conclude_several(c, rc, indices, done);
}

int requests_Waitall(int count, MPI_Request requests[], MPI_Status *statuses) {
    struct rma_claims c;
    rma_request_claim_several(&c, count, requests);
    int rc = host_Waitall(count, requests, statuses);
    conclude_several(&c, rc, NULL, 1);
    return rc;
}

int requests_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses) {
    struct rma_claims c;
    rma_request_claim_several(&c, count, requests);
    int rc = host_Testall(count, requests, flag, statuses);
    conclude_several(&c, rc, NULL, rc == MPI_SUCCESS && *flag);
    return rc;
}

int requests_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct rma_claims c;
    rma_request_claim_several(&c, count, requests);
    int rc = host_Waitany(count, requests, index, status);
    conclude_several(&c, rc, index, rc == MPI_SUCCESS && *index != MPI_UNDEFINED);
    return rc;
}

int requests_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    struct rma_claims c;
    rma_request_claim_several(&c, count, requests);
    int rc = host_Testany(count, requests, index, flag, status);
    conclude_several(&c, rc, index, rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED);
    return rc;
}

int requests_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                      MPI_Status *statuses) {
    struct rma_claims c;
    rma_request_claim_several(&c, incount, requests);
    int rc = host_Waitsome(incount, requests, outcount, indices, statuses);
    conclude_several(&c, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}

int requests_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                      MPI_Status *statuses) {
    struct rma_claims c;
    rma_request_claim_several(&c, incount, requests);
    int rc = host_Testsome(incount, requests, outcount, indices, statuses);
    conclude_several(&c, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}

#if HEARTH_MPI_4_1 /* these complete no request, but tell the program that its buffers may be read */

int requests_Request_get_status_all(int count, HEARTH_CONST MPI_Request requests[], int *flag,
                                    MPI_Status *statuses) {
    struct rma_claims c;
    rma_request_claim_several(&c, count, requests);
    int rc = host_Request_get_status_all(count, requests, flag, statuses);
    conclude_several(&c, rc, NULL, rc == MPI_SUCCESS && *flag);
    return rc;
}

int requests_Request_get_status_any(int count, HEARTH_CONST MPI_Request requests[], int *index, int *flag,
                                    MPI_Status *status) {
    struct rma_claims c;
    rma_request_claim_several(&c, count, requests);
    int rc = host_Request_get_status_any(count, requests, index, flag, status);
    conclude_several(&c, rc, index, rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED);
    return rc;
}

int requests_Request_get_status_some(int incount, HEARTH_CONST MPI_Request requests[], int *outcount,
                                     int indices[], MPI_Status *statuses) {
    struct rma_claims c;
    rma_request_claim_several(&c, incount, requests);
    int rc = host_Request_get_status_some(incount, requests, outcount, indices, statuses);
    conclude_several(&c, rc, indices, rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0);
    return rc;
}
#endif
