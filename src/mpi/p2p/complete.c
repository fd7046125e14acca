/* complete.c: waiting for requests and testing them, ours and MPI's in any mixture.
 *
 * Requests that are none of ours go on to rma/request.c. While the program waits for those, its messages must go on, and while it waits
 * for ours MPI must: so where there are messages of ours no call waits inside MPI; it tests, in turn with a round of progress.
 * In calls that take one of many, what is MPI's stands together in an array of its own, because only MPI knows which of
 * them are inactive. */
#include <stdlib.h>

#include "mpi/hooks.h"
#include "mpi/p2p/p2p.h"

/* What to tell at the end of a call. */
struct outcome {
    struct comm *failed; /* of the first that failed */
    int error;
    bool news;
};

static MPI_Status *status_at(MPI_Status statuses[], int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static bool is_complete(const struct request *r) {
    return !r->active || r->done;
}

/* The program gets what has become of a complete request; the request is gone, or inactive. Under the lock. */
static int take(MPI_Request *handle, struct request *r, MPI_Status *status, struct outcome *o) {
    int error = MPI_SUCCESS;
    if (r->active && r->kind == REQUEST_RECV)
        error = recv_conclude(r);
    status_of(status, r);
    o->news |= r->active && (r->kind == REQUEST_RECV || r->mode == MODE_SYNC);
    if (UNLIKELY(error != MPI_SUCCESS && !o->failed)) {
        o->failed = r->comm;
        o->failed->references++;
        o->error = error;
    }
    if (r->persistent) {
        r->active = false;
        return error;
    }
    *handle = MPI_REQUEST_NULL;
    if (r != request_sent)
        request_free(r);
    return error;
}

/* Without the lock: error handlers are the program's. */
static int conclude(struct outcome *o, bool several) {
    if (o->news)
        acquire(NEWS_REQUEST);
    if (LIKELY(!o->failed))
        return MPI_SUCCESS;
    int rc = comm_error(o->failed, several ? MPI_ERR_IN_STATUS : o->error);
    p2p_lock();
    comm_release(o->failed);
    p2p_unlock();
    return rc;
}

/* ---- one ---- */

int complete_wait(MPI_Request *request, MPI_Status *status) {
    struct outcome o = {0};
    struct request *r = request_of(*request);
    p2p_lock();
    if (r->active)
        p2p_wait(r);
    take(request, r, status, &o);
    p2p_unlock();
    return conclude(&o, false);
}

static int progress(void) {
    p2p_lock();
    int n = p2p_progress();
    p2p_unlock();
    return n;
}

static int wait_foreign(MPI_Request *request, MPI_Status *status) {
    struct pause pause = {0};
    int flag = 0, rc;
    if (*request == MPI_REQUEST_NULL)
        return rma_Wait(request, status);
    while ((rc = rma_Test(request, &flag, status)) == MPI_SUCCESS && !flag)
        if (!progress())
            p2p_pause(&pause);
    return rc;
}

int hook_Wait(MPI_Request *request, MPI_Status *status) {
    if (LIKELY(!p2p_on) || !request)
        return rma_Wait(request, status);
    return request_is_ours(*request) ? complete_wait(request, status) : wait_foreign(request, status);
}

int hook_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (LIKELY(!p2p_on) || !request || !request_is_ours(*request)) {
        if (p2p_on)
            progress();
        return rma_Test(request, flag, status);
    }
    struct outcome o = {0};
    struct request *r = request_of(*request);
    p2p_lock();
    if (!is_complete(r))
        p2p_progress();
    *flag = is_complete(r);
    if (*flag)
        take(request, r, status, &o);
    p2p_unlock();
    return conclude(&o, false);
}

int hook_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (LIKELY(!p2p_on) || !request_is_ours(request)) {
        if (p2p_on)
            progress();
        return rma_Request_get_status(request, flag, status);
    }
    struct request *r = request_of(request);
    p2p_lock();
    if (!is_complete(r))
        p2p_progress();
    *flag = is_complete(r);
    bool news = *flag && r->active && (r->kind == REQUEST_RECV || r->mode == MODE_SYNC);
    if (*flag && r->active && r->kind == REQUEST_RECV)
        recv_conclude(r); /* the program may look at its buffer */
    if (*flag)
        status_of(status, r);
    p2p_unlock();
    if (news)
        acquire(NEWS_REQUEST);
    return MPI_SUCCESS;
}

int hook_Request_free(MPI_Request *request) {
    if (LIKELY(!p2p_on) || !request || !request_is_ours(*request))
        return rma_Request_free(request);
    struct request *r = request_of(*request);
    p2p_lock();
    if (!is_complete(r)) {
        r->orphan = true;
    } else if (r != request_sent) {
        if (r->active && r->kind == REQUEST_RECV)
            recv_conclude(r);
        request_free(r);
    }
    p2p_unlock();
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* ---- all ---- */

static int count_ours(int count, const MPI_Request requests[]) {
    int n = 0;
    for (int i = 0; requests && i < count; i++)
        n += request_is_ours(requests[i]);
    return n;
}

/* None of ours: MPI's way, but without waiting in there. */
static int wait_all_foreign(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct pause pause = {0};
    int flag = 0, rc;
    while ((rc = rma_Testall(count, requests, &flag, statuses)) == MPI_SUCCESS && !flag)
        if (!progress())
            p2p_pause(&pause);
    return rc;
}

static void set_error(MPI_Status *status, int error) {
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
}

static int take_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct outcome o = {0};
    int rc = MPI_SUCCESS;
    p2p_lock();
    for (int i = 0; i < count; i++) {
        if (!request_is_ours(requests[i]))
            continue;
        struct request *r = request_of(requests[i]);
        if (r->active)
            p2p_wait(r);
        set_error(status_at(statuses, i), take(&requests[i], r, status_at(statuses, i), &o));
    }
    p2p_unlock();
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || request_is_ours(requests[i]))
            continue;
        int error = wait_foreign(&requests[i], status_at(statuses, i));
        set_error(status_at(statuses, i), error);
        rc = error == MPI_SUCCESS ? rc : MPI_ERR_IN_STATUS;
    }
    int mine = conclude(&o, true);
    return mine == MPI_SUCCESS ? rc : mine;
}

/* Those that are null to begin with get an empty status, and only those. */
static void clear(int count, const MPI_Request requests[], MPI_Status statuses[]) {
    if (statuses == MPI_STATUSES_IGNORE)
        return;
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL) {
            status_empty(&statuses[i]);
            statuses[i].MPI_ERROR = MPI_SUCCESS;
        }
}

int hook_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (LIKELY(!p2p_on) || count <= 0 || !requests)
        return rma_Waitall(count, requests, statuses);
    if (!count_ours(count, requests))
        return wait_all_foreign(count, requests, statuses);
    clear(count, requests, statuses);
    return take_all(count, requests, statuses);
}

/* Whether all are complete, without taking any. */
static bool all_complete(int count, MPI_Request requests[], int *rc) {
    bool all = true;
    p2p_lock();
    for (int i = 0; all && i < count; i++)
        all = !request_is_ours(requests[i]) || is_complete(request_of(requests[i]));
    p2p_unlock();
    for (int i = 0; all && i < count; i++) {
        int flag = 1;
        if (requests[i] != MPI_REQUEST_NULL && !request_is_ours(requests[i]))
            *rc = rma_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        all = flag && *rc == MPI_SUCCESS;
    }
    return all;
}

int hook_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    int rc = MPI_SUCCESS;
    if (p2p_on)
        progress();
    if (LIKELY(!p2p_on) || !count_ours(count, requests))
        return rma_Testall(count, requests, flag, statuses);
    *flag = all_complete(count, requests, &rc);
    if (!*flag)
        return rc;
    clear(count, requests, statuses);
    return take_all(count, requests, statuses);
}

/* ---- some ---- */

enum { FEW = 64 };

/* A call for some of many. */
struct some {
    int count, most; /* most: how many to take */
    bool several;    /* each with a status of its own */
    MPI_Request *requests;
    int done, *indices;
    MPI_Status *statuses;
    bool any; /* at least one is active */
    int rc;
    struct outcome outcome;
    /* those that are MPI's */
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
        return comm_error(comm_find(MPI_COMM_WORLD), MPI_ERR_NO_MEM);
    s->theirs = large ? (MPI_Request *)(void *)(s->place + 2 * s->count) : s->few_requests;
    for (int i = 0; i < s->count; i++) {
        if (request_is_ours(s->requests[i]) || s->requests[i] == MPI_REQUEST_NULL)
            continue;
        s->place[s->foreign] = i;
        s->theirs[s->foreign++] = s->requests[i];
    }
    return MPI_SUCCESS;
}

static void take_ours(struct some *s) {
    p2p_lock();
    for (int i = 0; i < s->count; i++) {
        struct request *r = request_is_ours(s->requests[i]) ? request_of(s->requests[i]) : NULL;
        if (!r || !r->active)
            continue;
        s->any = true;
        if (!r->done || s->done == s->most)
            continue;
        MPI_Status *status = status_at(s->statuses, s->done);
        int error = take(&s->requests[i], r, status, &s->outcome);
        if (s->several)
            set_error(status, error);
        s->indices[s->done++] = i;
    }
    p2p_unlock();
}

/* `done` of them are complete, at the indices that follow those of ours. */
static void take_back(struct some *s, int done) {
    if (done == MPI_UNDEFINED)
        return;
    s->any = true;
    for (int i = s->done; i < s->done + done; i++) {
        int theirs = s->indices[i];
        s->indices[i] = s->place[theirs];
        s->requests[s->place[theirs]] = s->theirs[theirs];
    }
    s->done += done;
}

static void test_foreign(struct some *s) {
    int done = 0, flag;
    if (!s->foreign || s->done == s->most)
        return;
    int *indices = s->indices + s->done;
    MPI_Status *statuses = s->statuses == MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : s->statuses + s->done;
    if (s->several) {
        s->rc = rma_Testsome(s->foreign, s->theirs, &done, indices, statuses);
    } else {
        s->rc = rma_Testany(s->foreign, s->theirs, indices, &flag, statuses);
        done = !flag ? 0 : *indices == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    }
    if (s->rc == MPI_SUCCESS || s->rc == MPI_ERR_IN_STATUS)
        take_back(s, done);
}

/* One look at all of them. */
static bool look(struct some *s) {
    take_ours(s);
    test_foreign(s);
    return s->done || s->rc != MPI_SUCCESS || !s->any;
}

/* Returns the call's return code; s->done of them are complete, or MPI_UNDEFINED if none is active. */
static int run_some(struct some *s, bool wait) {
    struct pause pause = {0};
    int rc = begin_some(s);
    if (rc != MPI_SUCCESS)
        return rc;
    progress();
    while (!look(s) && wait)
        if (!progress())
            p2p_pause(&pause);
    if (s->place != s->few_places)
        free(s->place);
    if (!s->any && s->rc == MPI_SUCCESS)
        s->done = MPI_UNDEFINED;
    rc = conclude(&s->outcome, s->several);
    return rc == MPI_SUCCESS ? s->rc : rc;
}

static bool is_for_us(int count, MPI_Request requests[]) {
    return UNLIKELY(p2p_on) && count > 0 && requests;
}

static int run_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status, bool wait) {
    int found = MPI_UNDEFINED;
    struct some s = {.count = count, .most = 1, .several = false};
    s.requests = requests;
    s.indices = &found;
    s.statuses = status;
    int rc = run_some(&s, wait);
    bool none = s.done == MPI_UNDEFINED;
    if (none)
        status_empty(status);
    *index = s.done == 1 ? found : MPI_UNDEFINED;
    *flag = none || s.done == 1;
    return rc;
}

int hook_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    int flag;
    if (!is_for_us(count, requests))
        return rma_Waitany(count, requests, index, status);
    return run_any(count, requests, index, &flag, status, true);
}

int hook_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    if (!is_for_us(count, requests))
        return rma_Testany(count, requests, index, flag, status);
    return run_any(count, requests, index, flag, status, false);
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

int hook_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (!is_for_us(count, requests))
        return rma_Waitsome(count, requests, done, indices, statuses);
    return run_several(count, requests, done, indices, statuses, true);
}

int hook_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    if (!is_for_us(count, requests))
        return rma_Testsome(count, requests, done, indices, statuses);
    return run_several(count, requests, done, indices, statuses, false);
}
