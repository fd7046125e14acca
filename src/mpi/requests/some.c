/* some.c: waits for some of several requests and tests them, if managed ones are among them. MPI's requests
 * are collected in an array of their own, because only MPI knows which of them are inactive. A set without managed
 * requests goes to MPI: see wait.c. MPI_Request_get_status_any and _some take the same path, and complete none. */
#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/messages/state/status.h"
#include "mpi/requests/mixed.h"

enum { FEW = 64 };

/* The state of one call. */
struct some {
    int count, most; /* most: how many to complete */
    bool several;    /* each has its own status */
    bool keeps;      /* no request is completed; `requests` may be constant */
    MPI_Request *requests;
    int done, *indices;
    MPI_Status *statuses;
    bool any; /* at least one is active */
    int rc;
    struct outcome outcome;
    /* MPI's requests */
    int foreign, *place, few_places[FEW];
    MPI_Request *theirs, few_requests[FEW];
};

static int begin_some(struct some *s) {
    s->foreign = s->done = 0;
    s->rc = MPI_SUCCESS;
    s->any = false;
    s->outcome = (struct outcome){0};
    bool large = s->count > FEW;
    s->place = large ? malloc((size_t)s->count * (2 * sizeof *s->place + sizeof *s->theirs)) : s->few_places;
    if (!s->place)
        return p2p_comm_error(p2p_comm_find(MPI_COMM_WORLD), MPI_ERR_NO_MEM);
    s->theirs = large ? (MPI_Request *)(void *)(s->place + 2 * s->count) : s->few_requests;
    for (int i = 0; i < s->count; i++) {
        if (p2p_request_is_ours(s->requests[i]) || s->requests[i] == MPI_REQUEST_NULL)
            continue;
        s->place[s->foreign] = i;
        s->theirs[s->foreign++] = s->requests[i];
    }
    return MPI_SUCCESS;
}

static void take_ours(struct some *s) {
    p2p_lock();
    for (int i = 0; i < s->count; i++) {
        struct p2p_request *r = p2p_request_is_ours(s->requests[i]) ? p2p_request_of(s->requests[i]) : NULL;
        if (!r || !r->active)
            continue;
        s->any = true;
        if (!r->done || s->done == s->most)
            continue;
        MPI_Status *status = p2p_complete_status_at(s->statuses, s->done);
        int error = MPI_SUCCESS;
        if (s->keeps)
            p2p_complete_show(r, status, &s->outcome);
        else
            error = p2p_complete_take(&s->requests[i], r, status, &s->outcome);
        if (s->several && status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = error;
        s->indices[s->done++] = i;
    }
    p2p_unlock();
}

/* `done` of them are complete, at the indices that follow those of managed requests. */
static void some_take_back(struct some *s, int done) {
    if (done == MPI_UNDEFINED)
        return;
    s->any = true;
    for (int i = s->done; i < s->done + done; i++) {
        int theirs = s->indices[i];
        s->indices[i] = s->place[theirs];
        if (!s->keeps)
            s->requests[s->place[theirs]] = s->theirs[theirs];
    }
    s->done += done;
}

/* MPI_Testany failed: finds the failed request. MPI identifies it by the index, or by the handle, which is then null. */
static int find_failed(const struct some *s, int index) {
    for (int i = 0; i < s->foreign && (unsigned)index >= (unsigned)s->foreign; i++)
        if (s->theirs[i] == MPI_REQUEST_NULL)
            index = i;
    return (unsigned)index < (unsigned)s->foreign ? index : MPI_UNDEFINED;
}

static int ask_any(const struct some *s, int *index, int *flag, MPI_Status *status) {
#if HEARTH_MPI_4_1
    if (s->keeps)
        return requests_Request_get_status_any(s->foreign, s->theirs, index, flag, status);
#endif
    return requests_Testany(s->foreign, s->theirs, index, flag, status);
}

static int ask_some(const struct some *s, int *done, int indices[], MPI_Status statuses[]) {
#if HEARTH_MPI_4_1
    if (s->keeps)
        return requests_Request_get_status_some(s->foreign, s->theirs, done, indices, statuses);
#endif
    return requests_Testsome(s->foreign, s->theirs, done, indices, statuses);
}

/* Tests MPI's requests and completes at most one. Returns how many, or MPI_UNDEFINED if none is active. */
static int test_any(struct some *s, int *index, MPI_Status *status) {
    int flag = 0;
    *index = MPI_UNDEFINED;
    s->rc = ask_any(s, index, &flag, status);
    if (s->rc == MPI_SUCCESS)
        return !flag ? 0 : *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    *index = find_failed(s, *index);
    return *index != MPI_UNDEFINED;
}

/* Completes all of MPI's that are done. Sets each status, because the program reads them if a managed request has
 * failed. */
static int test_some(struct some *s, int indices[], MPI_Status statuses[]) {
    int done = 0;
    s->rc = ask_some(s, &done, indices, statuses);
    for (int i = 0; s->rc == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE && i < done; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    return s->rc == MPI_SUCCESS || s->rc == MPI_ERR_IN_STATUS ? done : 0;
}

static void test_foreign(struct some *s) {
    if (!s->foreign || s->done == s->most)
        return;
    int *indices = s->indices + s->done;
    MPI_Status *statuses = s->statuses == MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : s->statuses + s->done;
    some_take_back(s, s->several ? test_some(s, indices, statuses) : test_any(s, indices, statuses));
}

/* Tests all requests once. */
static bool some_look(struct some *s) {
    take_ours(s);
    test_foreign(s);
    return s->done || s->rc != MPI_SUCCESS || !s->any;
}

/* Returns the call's code. s->done of them are complete, or MPI_UNDEFINED if none is active. */
static int run_some(struct some *s, bool wait) {
    struct pause pause = {0};
    int rc = begin_some(s);
    if (rc != MPI_SUCCESS)
        return rc;
    requests_progress();
    while (!some_look(s) && wait)
        p2p_wait_round(&pause);
    if (s->place != s->few_places)
        free(s->place);
    if (!s->any && s->rc == MPI_SUCCESS)
        s->done = MPI_UNDEFINED;
    rc = p2p_complete_conclude(&s->outcome, s->several);
    return rc == MPI_SUCCESS ? s->rc : rc;
}

/* Whether managed requests are among them; if not, MPI's call is made unchanged. */
static bool is_for_us(int count, const MPI_Request requests[]) {
    return UNLIKELY(p2p_on) && count > 0 && requests_count_ours(count, requests);
}

static int run_one(struct some *s, int *index, int *flag, MPI_Status *status, bool wait) {
    int found = MPI_UNDEFINED;
    s->most = 1;
    s->indices = &found;
    s->statuses = status;
    int rc = run_some(s, wait);
    bool none = s->done == MPI_UNDEFINED;
    if (none)
        p2p_status_empty(status);
    *index = s->done == 1 ? found : MPI_UNDEFINED;
    *flag = none || s->done == 1;
    return rc;
}

static int run_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status, bool wait) {
    struct some s = {.count = count, .requests = requests};
    return run_one(&s, index, flag, status, wait);
}

/* Does not wait in MPI, because messages arrive through it. */
static int wait_any_foreign(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct pause pause = {0};
    int flag = 0, rc;
    while ((rc = requests_Testany(count, requests, index, &flag, status)) == MPI_SUCCESS && !flag)
        p2p_wait_round(&pause);
    return rc;
}

int hook_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    int flag;
    if (is_for_us(count, requests))
        return run_any(count, requests, index, &flag, status, true);
    if (p2p_comm_must_poll())
        return wait_any_foreign(count, requests, index, status);
    p2p_enter();
    int rc = requests_Waitany(count, requests, index, status);
    p2p_leave();
    return rc;
}

int hook_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    if (is_for_us(count, requests))
        return run_any(count, requests, index, flag, status, false);
    p2p_poll();
    return requests_Testany(count, requests, index, flag, status);
}

static int run_several(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[],
                       bool wait) {
    struct some s = {.count = count, .most = count, .several = true};
    s.requests = requests;
    s.indices = indices;
    s.statuses = statuses;
    int rc = run_some(&s, wait);
    *done = s.done;
    return rc;
}

static int wait_some_foreign(int count, MPI_Request requests[], int *done, int indices[],
                             MPI_Status statuses[]) {
    struct pause pause = {0};
    int rc;
    while ((rc = requests_Testsome(count, requests, done, indices, statuses)) == MPI_SUCCESS && !*done)
        p2p_wait_round(&pause);
    return rc;
}

int hook_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (is_for_us(count, requests))
        return run_several(count, requests, done, indices, statuses, true);
    if (p2p_comm_must_poll())
        return wait_some_foreign(count, requests, done, indices, statuses);
    p2p_enter();
    int rc = requests_Waitsome(count, requests, done, indices, statuses);
    p2p_leave();
    return rc;
}

int hook_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (is_for_us(count, requests))
        return run_several(count, requests, done, indices, statuses, false);
    p2p_poll();
    return requests_Testsome(count, requests, done, indices, statuses);
}

#if HEARTH_MPI_4_1
int hook_Request_get_status_any(int count, HEARTH_CONST MPI_Request requests[], int *index, int *flag,
                                MPI_Status *status) {
    if (is_for_us(count, requests)) {
        struct some s = {.count = count, .keeps = true, .requests = (MPI_Request *)requests};
        return run_one(&s, index, flag, status, false);
    }
    p2p_poll();
    return requests_Request_get_status_any(count, requests, index, flag, status);
}

int hook_Request_get_status_some(int count, HEARTH_CONST MPI_Request requests[], int *done, int indices[],
                                 MPI_Status statuses[]) {
    if (is_for_us(count, requests)) {
        struct some s = {.count = count, .most = count, .several = true, .keeps = true};
        s.requests = (MPI_Request *)requests;
        s.indices = indices;
        s.statuses = statuses;
        int rc = run_some(&s, false);
        *done = s.done;
        return rc;
    }
    p2p_poll();
    return requests_Request_get_status_some(count, requests, done, indices, statuses);
}
#endif
