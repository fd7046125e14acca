/* gas_sync.c: synchronisation of operations by their handles.
 *
 * A wait polls active messages once, then tests the operations for a while, and then sleeps until the first of them is
 * complete: no operation needs handlers to run. */
#include "gas/rma/ask.h"
#include "gas/rma/gas_handle.h"

static void sync_go_on(bool polls) {
    if (polls)
        gas_poll();
    else
        gas_ask_progress();
}

static void sync_begin(const char *call) {
    if (UNLIKELY(!gas_is_attached()))
        gas_fail(call, "this process is not attached to the job: call gasnet_attach first");
    gas_need_free(call);
}

/* ---- one ---- */

static int sync_try_one(const char *call, gasnet_handle_t handle, bool polls) {
    if (handle == GASNET_INVALID_HANDLE)
        return GASNET_OK;
    sync_begin(call);
    sync_go_on(polls);
    return gas_operation_try(gas_thread_mine(), handle) ? GASNET_OK : gas_operation_not_ready();
}

static void wait_one(const char *call, gasnet_handle_t handle, bool polls) {
    if (handle == GASNET_INVALID_HANDLE)
        return;
    sync_begin(call);
    sync_go_on(polls);
    if (!gas_operation_try(gas_thread_mine(), handle))
        gas_operation_finish(gas_thread_mine(), handle, polls);
}

void gasnet_wait_syncnb(gasnet_handle_t handle) {
    wait_one("gasnet_wait_syncnb", handle, true);
}
ALSO(void, wait_syncnb, (gasnet_handle_t handle));

int gasnet_try_syncnb(gasnet_handle_t handle) {
    return sync_try_one("gasnet_try_syncnb", handle, true);
}
ALSO(int, try_syncnb, (gasnet_handle_t handle));

void gasnet_wait_syncnb_nopoll(gasnet_handle_t handle) {
    wait_one("gasnet_wait_syncnb_nopoll", handle, false);
}
ALSO(void, wait_syncnb_nopoll, (gasnet_handle_t handle));

int gasnet_try_syncnb_nopoll(gasnet_handle_t handle) {
    return sync_try_one("gasnet_try_syncnb_nopoll", handle, false);
}
ALSO(int, try_syncnb_nopoll, (gasnet_handle_t handle));

/* ---- several ---- */

/* Tests all: the number of valid handles, and how many of them are complete now. */
static void sync_look_at_all(gasnet_handle_t *handles, size_t count, size_t *valid, size_t *complete) {
    struct gas_thread *t = gas_thread_mine();
    *valid = *complete = 0;
    for (size_t i = 0; i < count; i++) {
        if (handles[i] == GASNET_INVALID_HANDLE)
            continue;
        ++*valid;
        if (gas_operation_try(t, handles[i])) {
            handles[i] = GASNET_INVALID_HANDLE;
            ++*complete;
        }
    }
}

static int try_some(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    size_t valid, complete;
    sync_begin(call);
    sync_go_on(polls);
    sync_look_at_all(handles, count, &valid, &complete);
    return valid == 0 || complete > 0 ? GASNET_OK : gas_operation_not_ready();
}

static int try_all(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    size_t valid, complete;
    sync_begin(call);
    sync_go_on(polls);
    sync_look_at_all(handles, count, &valid, &complete);
    return valid == complete ? GASNET_OK : gas_operation_not_ready();
}

static void finish_first(gasnet_handle_t *handles, size_t count, bool polls) {
    for (size_t i = 0; i < count; i++)
        if (handles[i] != GASNET_INVALID_HANDLE) {
            gas_operation_finish(gas_thread_mine(), handles[i], polls);
            handles[i] = GASNET_INVALID_HANDLE;
            return;
        }
}

static void wait_some(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    enum { LOOKS = 16 };
    for (int i = 0; i < LOOKS; i++)
        if (try_some(call, handles, count, polls) == GASNET_OK)
            return;
    finish_first(handles, count, polls);
}

static void wait_all(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    struct gas_thread *t = gas_thread_mine();
    sync_begin(call);
    sync_go_on(polls);
    for (size_t i = 0; i < count; i++) {
        if (handles[i] == GASNET_INVALID_HANDLE)
            continue;
        if (!gas_operation_try(t, handles[i])) {
            sync_go_on(polls);
            gas_operation_finish(t, handles[i], polls);
        }
        handles[i] = GASNET_INVALID_HANDLE;
    }
}

void gasnet_wait_syncnb_some(gasnet_handle_t *phandle, size_t numhandles) {
    wait_some("gasnet_wait_syncnb_some", phandle, numhandles, true);
}
ALSO(void, wait_syncnb_some, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_some(gasnet_handle_t *phandle, size_t numhandles) {
    return try_some("gasnet_try_syncnb_some", phandle, numhandles, true);
}
ALSO(int, try_syncnb_some, (gasnet_handle_t * phandle, size_t numhandles));

void gasnet_wait_syncnb_all(gasnet_handle_t *phandle, size_t numhandles) {
    wait_all("gasnet_wait_syncnb_all", phandle, numhandles, true);
}
ALSO(void, wait_syncnb_all, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_all(gasnet_handle_t *phandle, size_t numhandles) {
    return try_all("gasnet_try_syncnb_all", phandle, numhandles, true);
}
ALSO(int, try_syncnb_all, (gasnet_handle_t * phandle, size_t numhandles));

void gasnet_wait_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    wait_some("gasnet_wait_syncnb_some_nopoll", phandle, numhandles, false);
}
ALSO(void, wait_syncnb_some_nopoll, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    return try_some("gasnet_try_syncnb_some_nopoll", phandle, numhandles, false);
}
ALSO(int, try_syncnb_some_nopoll, (gasnet_handle_t * phandle, size_t numhandles));

void gasnet_wait_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    wait_all("gasnet_wait_syncnb_all_nopoll", phandle, numhandles, false);
}
ALSO(void, wait_syncnb_all_nopoll, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    return try_all("gasnet_try_syncnb_all_nopoll", phandle, numhandles, false);
}
ALSO(int, try_syncnb_all_nopoll, (gasnet_handle_t * phandle, size_t numhandles));
