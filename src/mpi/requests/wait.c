/* wait.c: waits for one request and for all of several, managed and MPI's in any mixture. some.c waits for some.
 *
 * A set without managed requests goes to tracked.c, and so to MPI, unchanged. While MPI waits there, the helper
 * thread progresses messages. If some process is reached through MPI, the requests are polled first (polled.c),
 * alternating with rounds of progress, and passed to MPI when it need not wait for any. In a mixed set both kinds are
 * polled until all are complete; then each kind is completed by its own call, so that MPI reports its own errors. If some
 * of MPI's cannot be polled, a call that waits completes MPI's requests one by one, in order, as MPI_Waitall does. */
#include "mpi/requests/mixed.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/observe/receives.h"
#include "mpi/messages/state/status.h"
#include "mpi/requests/polled.h"

/* ---- one ---- */

/* A request that is complete already, like those of operations on served windows, is not waited for. */
static int wait_inside(MPI_Request *request, MPI_Status *status) {
    int flag = 0, rc = MPI_SUCCESS;
    if (LIKELY(!host_has_tool && !receives_are_counted))
        rc = requests_Test(request, &flag, status);
    if (flag || rc != MPI_SUCCESS)
        return rc;
    p2p_enter();
    rc = requests_Wait(request, status);
    p2p_leave();
    return rc;
}

static int wait_foreign(MPI_Request *request, MPI_Status *status) {
    struct pause pause = {0};
    if (!p2p_remote_is_used)
        return wait_inside(request, status);
    for (int rc, flag = 0;;) {
        struct foreign_look look = {0};
        if (*request == MPI_REQUEST_NULL || (requests_poll(&look, *request) && !look.unknown))
            return requests_Wait(request, status);
        if (look.unknown && ((rc = requests_Test(request, &flag, status)) != MPI_SUCCESS || flag))
            return rc;
        p2p_wait_round(&pause);
    }
}

int hook_Wait(MPI_Request *request, MPI_Status *status) {
    if (LIKELY(!p2p_on) || !request)
        return requests_Wait(request, status);
    return p2p_request_is_ours(*request) ? p2p_complete_wait(request, status) : wait_foreign(request, status);
}

int hook_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (LIKELY(!p2p_on) || !request || !p2p_request_is_ours(*request)) {
        if (p2p_on)
            requests_progress();
        return requests_Test(request, flag, status);
    }
    struct outcome o = {0};
    struct p2p_request *r = p2p_request_of(*request);
    p2p_lock();
    if (!p2p_complete_is_over(r))
        p2p_progress();
    *flag = p2p_complete_is_over(r);
    if (*flag)
        p2p_complete_take(request, r, status, &o);
    p2p_unlock();
    return p2p_complete_conclude(&o, false);
}

int hook_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (LIKELY(!p2p_on) || !p2p_request_is_ours(request)) {
        if (p2p_on)
            requests_progress();
        return requests_Request_get_status(request, flag, status);
    }
    struct p2p_request *r = p2p_request_of(request);
    struct outcome o = {0};
    p2p_lock();
    if (!p2p_complete_is_over(r))
        p2p_progress();
    *flag = p2p_complete_is_over(r);
    if (*flag)
        p2p_complete_show(r, status, &o);
    p2p_unlock();
    return p2p_complete_conclude(&o, false);
}

int hook_Request_free(MPI_Request *request) {
    if (LIKELY(!p2p_on) || !request || !p2p_request_is_ours(*request))
        return requests_Request_free(request);
    struct p2p_request *r = p2p_request_of(*request);
    p2p_lock();
    if (!p2p_complete_is_over(r)) {
        r->orphan = true;
    } else if (r != p2p_request_sent) {
        if (r->active && r->kind == REQUEST_RECV)
            p2p_request_conclude(r);
        p2p_request_free(r);
    }
    p2p_unlock();
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* ---- all ---- */

enum { FEW = 64 };

/* A set of requests that is looked at again and again. */
struct watched {
    int count;
    const MPI_Request *requests;
    int next;     /* Hearth's requests before this one are complete, and stay so */
    bool foreign; /* some are MPI's */
};

static bool is_foreign(MPI_Request request) {
    return request != MPI_REQUEST_NULL && !p2p_request_is_ours(request);
}

static struct watched watch(int count, const MPI_Request requests[]) {
    struct watched w = {.count = count, .requests = requests};
    for (int i = 0; i < count && !w.foreign; i++)
        w.foreign = is_foreign(requests[i]);
    return w;
}

static bool ours_are_complete(struct watched *w) {
    p2p_lock();
    for (; w->next < w->count; w->next++)
        if (p2p_request_is_ours(w->requests[w->next]) &&
            !p2p_complete_is_over(p2p_request_of(w->requests[w->next])))
            break;
    p2p_unlock();
    return w->next == w->count;
}

/* Polls both kinds each time, so that both progress. */
static bool all_complete(struct watched *w, bool *unknown) {
    struct foreign_look look = {0};
    for (int i = 0; w->foreign && i < w->count; i++)
        if (is_foreign(w->requests[i]))
            requests_poll(&look, w->requests[i]);
    *unknown = look.unknown;
    return ours_are_complete(w) && !look.incomplete;
}

/* Returns false at once if some of MPI's cannot be polled. */
static bool wait_until_complete(struct watched *w) {
    struct pause pause = {0};
    bool unknown;
    while (!all_complete(w, &unknown) && !unknown)
        p2p_wait_round(&pause);
    return !unknown;
}

/* MPI's requests of a set, in arrays of their own, because its call takes all of them at once. */
struct theirs {
    int count, *place, few_places[FEW];
    MPI_Request *requests, few_requests[FEW];
    MPI_Status *statuses, few_statuses[FEW];
};

static bool complete_make_room(struct theirs *t, int count) {
    size_t n = (size_t)count;
    t->requests = t->few_requests;
    t->statuses = t->few_statuses;
    t->place = t->few_places;
    if (count <= FEW)
        return true;
    t->requests = malloc(n * (sizeof *t->requests + sizeof *t->statuses + sizeof *t->place));
    t->statuses = (MPI_Status *)(void *)(t->requests + n); /* ordered by decreasing alignment */
    t->place = (int *)(void *)(t->statuses + n);
    return t->requests;
}

static bool gather_theirs(struct theirs *t, int count, const MPI_Request requests[]) {
    t->count = 0;
    if (!complete_make_room(t, count))
        return false;
    for (int i = 0; i < count; i++)
        if (is_foreign(requests[i])) {
            t->place[t->count] = i;
            t->requests[t->count++] = requests[i];
        }
    return true;
}

static void set_error(MPI_Status *status, int error) {
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
}

/* Returns the results of MPI's requests to the program: `rc` is that of their call. */
static int return_theirs(struct theirs *t, int rc, MPI_Request requests[], MPI_Status statuses[]) {
    for (int i = 0; i < t->count; i++) {
        requests[t->place[i]] = t->requests[i];
        if (statuses == MPI_STATUSES_IGNORE)
            continue;
        if (rc != MPI_ERR_IN_STATUS)
            t->statuses[i].MPI_ERROR = rc;
        statuses[t->place[i]] = t->statuses[i];
    }
    if (t->requests != t->few_requests)
        free(t->requests);
    return rc;
}

/* Tests them in order, from *next on, up to the first that is incomplete. Returns whether all are complete. */
static bool test_theirs(struct theirs *t, int *next, int *rc) {
    int flag = 1;
    for (; *next < t->count; ++*next) {
        int code = requests_Test(&t->requests[*next], &flag, &t->statuses[*next]);
        if (code == MPI_SUCCESS && !flag)
            return false;
        t->statuses[*next].MPI_ERROR = code;
        if (code != MPI_SUCCESS)
            *rc = MPI_ERR_IN_STATUS;
    }
    return true;
}

/* Requests that are null on entry get an empty status, and only those. */
static void clear_statuses(int count, const MPI_Request requests[], MPI_Status statuses[]) {
    if (statuses == MPI_STATUSES_IGNORE)
        return;
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL) {
            p2p_status_empty(&statuses[i]);
            statuses[i].MPI_ERROR = MPI_SUCCESS;
        }
}

/* Hearth's requests are complete, and so are MPI's, with this result. */
static int take_all(struct theirs *t, int rc, int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct outcome o = {0};
    clear_statuses(count, requests, statuses);
    p2p_lock();
    for (int i = 0; i < count; i++)
        if (p2p_request_is_ours(requests[i])) {
            MPI_Status *status = p2p_complete_status_at(statuses, i);
            set_error(status, p2p_complete_take(&requests[i], p2p_request_of(requests[i]), status, &o));
        }
    p2p_unlock();
    return_theirs(t, rc, requests, statuses);
    int mine = p2p_complete_conclude(&o, true);
    return mine == MPI_SUCCESS ? rc : mine;
}

static int complete_fail(void) {
    return p2p_comm_error(p2p_comm_find(MPI_COMM_WORLD), MPI_ERR_NO_MEM);
}

/* Waits for all of a set, of any kinds, and completes them. */
static int complete_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct theirs t;
    struct watched w = watch(count, requests);
    struct pause pause = {0};
    int rc = MPI_SUCCESS, next = 0;
    bool polled = wait_until_complete(&w);
    if (!gather_theirs(&t, w.foreign ? count : 0, requests))
        return complete_fail();
    if (polled && t.count)
        rc = requests_Waitall(t.count, t.requests, t.statuses);
    while (!polled && !(test_theirs(&t, &next, &rc) && ours_are_complete(&w)))
        p2p_wait_round(&pause);
    return take_all(&t, rc, count, requests, statuses);
}

static int wait_all_foreign(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (p2p_remote_is_used) {
        struct watched w = watch(count, requests);
        return wait_until_complete(&w) ? requests_Waitall(count, requests, statuses)
                                       : complete_all(count, requests, statuses);
    }
    p2p_enter();
    int rc = requests_Waitall(count, requests, statuses);
    p2p_leave();
    return rc;
}

int hook_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (LIKELY(!p2p_on) || count <= 0 || !requests)
        return requests_Waitall(count, requests, statuses);
    if (!requests_count_ours(count, requests))
        return wait_all_foreign(count, requests, statuses);
    return complete_all(count, requests, statuses);
}

#if HEARTH_MPI_4_1
int hook_Request_get_status_all(int count, HEARTH_CONST MPI_Request requests[], int *flag,
                                MPI_Status statuses[]) {
    if (p2p_on)
        requests_progress();
    if (LIKELY(!p2p_on) || count <= 0 || !requests_count_ours(count, requests))
        return requests_Request_get_status_all(count, requests, flag, statuses);
    int rc = MPI_SUCCESS, over = 1;
    for (int i = 0; i < count && over && rc == MPI_SUCCESS; i++)
        rc = hook_Request_get_status(requests[i], &over, p2p_complete_status_at(statuses, i));
    *flag = over;
    return rc;
}
#endif

int hook_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    if (p2p_on)
        requests_progress();
    if (LIKELY(!p2p_on) || count <= 0 || !requests_count_ours(count, requests))
        return requests_Testall(count, requests, flag, statuses);
    bool unknown;
    struct theirs t;
    requests_poll_keep(count, requests);
    struct watched w = watch(count, requests);
    *flag = all_complete(&w, &unknown) && !unknown;
    if (!*flag)
        return MPI_SUCCESS;
    if (!gather_theirs(&t, w.foreign ? count : 0, requests))
        return complete_fail();
    int rc = t.count ? requests_Waitall(t.count, t.requests, t.statuses) : MPI_SUCCESS;
    return take_all(&t, rc, count, requests, statuses);
}
