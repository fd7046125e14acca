/* observed.c: see observed.h.
 *
 * MPI overwrites the handle of a request that it completes. A call that completes all of its requests tells before it
 * waits; the others keep copies of the handles. */
#include "mpi/requests/observed.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 64 };

struct copies {
    MPI_Request *handles, few[FEW];
};

/* Without memory the completions are not counted. */
static void copies_make(struct copies *c, int count, const MPI_Request requests[]) {
    size_t bytes = count > 0 && requests ? (size_t)count * sizeof *requests : 0;
    c->handles = count <= FEW ? c->few : malloc(bytes);
    if (c->handles)
        memcpy(c->handles, requests ? requests : c->few, bytes);
}

static void copies_complete(const struct copies *c, int index) {
    if (c->handles && index >= 0)
        receives_complete(c->handles[index]);
}

static void copies_free(struct copies *c) {
    if (c->handles != c->few)
        free(c->handles);
}

int requests_observed_wait_slow(MPI_Request *request, MPI_Status *status) {
    if (request)
        receives_complete(*request);
    return requests_Wait(request, status);
}

int requests_observed_waitall_slow(int count, MPI_Request requests[], MPI_Status statuses[]) {
    for (int i = 0; requests && i < count; i++)
        receives_complete(requests[i]);
    return requests_Waitall(count, requests, statuses);
}

int requests_observed_request_free_slow(MPI_Request *request) {
    if (request)
        receives_forget(*request);
    return requests_Request_free(request);
}

int requests_observed_test_slow(MPI_Request *request, int *flag, MPI_Status *status) {
    MPI_Request handle = request ? *request : MPI_REQUEST_NULL;
    int rc = requests_Test(request, flag, status);
    if (rc == MPI_SUCCESS && *flag)
        receives_complete(handle);
    return rc;
}

int requests_observed_testall_slow(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    struct copies c;
    copies_make(&c, count, requests);
    int rc = requests_Testall(count, requests, flag, statuses);
    for (int i = 0; rc == MPI_SUCCESS && *flag && i < count; i++)
        copies_complete(&c, i);
    copies_free(&c);
    return rc;
}

int requests_observed_waitany_slow(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct copies c;
    copies_make(&c, count, requests);
    int rc = requests_Waitany(count, requests, index, status);
    if (rc == MPI_SUCCESS && *index != MPI_UNDEFINED)
        copies_complete(&c, *index);
    copies_free(&c);
    return rc;
}

int requests_observed_testany_slow(int count, MPI_Request requests[], int *index, int *flag,
                                   MPI_Status *status) {
    struct copies c;
    copies_make(&c, count, requests);
    int rc = requests_Testany(count, requests, index, flag, status);
    if (rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED)
        copies_complete(&c, *index);
    copies_free(&c);
    return rc;
}

static void copies_complete_some(const struct copies *c, int rc, int done, const int indices[]) {
    for (int i = 0; rc == MPI_SUCCESS && done != MPI_UNDEFINED && i < done; i++)
        copies_complete(c, indices[i]);
}

typedef int some_call(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);

static int observed_some(some_call *call, int count, MPI_Request requests[], int *done, int indices[],
                         MPI_Status statuses[]) {
    struct copies c;
    copies_make(&c, count, requests);
    int rc = call(count, requests, done, indices, statuses);
    copies_complete_some(&c, rc, *done, indices);
    copies_free(&c);
    return rc;
}

int requests_observed_waitsome_slow(int count, MPI_Request requests[], int *done, int indices[],
                                    MPI_Status statuses[]) {
    return observed_some(requests_Waitsome, count, requests, done, indices, statuses);
}

int requests_observed_testsome_slow(int count, MPI_Request requests[], int *done, int indices[],
                                    MPI_Status statuses[]) {
    return observed_some(requests_Testsome, count, requests, done, indices, statuses);
}
