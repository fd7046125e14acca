/* gas_sync.c: synchronisation of operations by their handles.
 *
 * A wait polls active messages once, then tests the operations for a while, and then sleeps until the first of them is
 * complete. Operations that complete in handlers are polled for instead. */
#include "gas/rma/gas_sync.h"

#include "base/compiler.h"
#include "gas/memory/ask.h"
#include "gas/rma/gas_leaf.h"

static void sync_go_on(bool polls) {
    if (polls)
        gas_poll();
    else
        gas_ask_progress();
}

static void sync_begin(const char *call) {
    if (UNLIKELY(!gas_is_attached()))
        gas_not_attached(call);
    gas_need_free(call);
}

/* ---- one ---- */

int gas_sync_try(const char *call, gasnet_handle_t handle, bool polls) {
    if (handle == GASNET_INVALID_HANDLE)
        return GASNET_OK;
    sync_begin(call);
    sync_go_on(polls);
    return gas_operation_try(gas_thread_mine(), handle) ? GASNET_OK : gas_operation_not_ready();
}

void gas_sync_wait(const char *call, gasnet_handle_t handle, bool polls) {
    if (handle == GASNET_INVALID_HANDLE)
        return;
    sync_begin(call);
    sync_go_on(polls);
    if (!gas_operation_try(gas_thread_mine(), handle))
        gas_operation_finish(gas_thread_mine(), handle, polls);
}

void gasnet_wait_syncnb(gasnet_handle_t handle) {
    gas_sync_wait("gasnet_wait_syncnb", handle, true);
}
ALSO(void, wait_syncnb, (gasnet_handle_t handle));

int gasnet_try_syncnb(gasnet_handle_t handle) {
    return gas_sync_try("gasnet_try_syncnb", handle, true);
}
ALSO(int, try_syncnb, (gasnet_handle_t handle));

void gasnet_wait_syncnb_nopoll(gasnet_handle_t handle) {
    gas_sync_wait("gasnet_wait_syncnb_nopoll", handle, false);
}
ALSO(void, wait_syncnb_nopoll, (gasnet_handle_t handle));

int gasnet_try_syncnb_nopoll(gasnet_handle_t handle) {
    return gas_sync_try("gasnet_try_syncnb_nopoll", handle, false);
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

int gas_sync_try_some(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    size_t valid, complete;
    sync_begin(call);
    sync_go_on(polls);
    sync_look_at_all(handles, count, &valid, &complete);
    return valid == 0 || complete > 0 ? GASNET_OK : gas_operation_not_ready();
}

int gas_sync_try_all(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    size_t valid, complete;
    sync_begin(call);
    sync_go_on(polls);
    sync_look_at_all(handles, count, &valid, &complete);
    return valid == complete ? GASNET_OK : gas_operation_not_ready();
}

/* Whether waiting for one of them never takes longer than waiting for all: they need no handlers, and no other rank. */
static bool sync_may_sleep(const gasnet_handle_t *handles, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (handles[i] != GASNET_INVALID_HANDLE &&
            (gas_leaf_tag(handles[i]) != LEAF_NONE || handles[i]->polled))
            return false;
    return true;
}

static void finish_first(gasnet_handle_t *handles, size_t count, bool polls) {
    for (size_t i = 0; i < count; i++)
        if (handles[i] != GASNET_INVALID_HANDLE) {
            gas_operation_finish(gas_thread_mine(), handles[i], polls);
            handles[i] = GASNET_INVALID_HANDLE;
            return;
        }
}

void gas_sync_wait_some(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
    enum { LOOKS = 16 };
    unsigned round = 0;
    for (int i = 0; i < LOOKS || !sync_may_sleep(handles, count); i++) {
        if (gas_sync_try_some(call, handles, count, polls) == GASNET_OK)
            return;
        if (i >= LOOKS && !gas_poll())
            gas_poll_rest(&round);
    }
    finish_first(handles, count, polls);
}

void gas_sync_wait_all(const char *call, gasnet_handle_t *handles, size_t count, bool polls) {
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
    gas_sync_wait_some("gasnet_wait_syncnb_some", phandle, numhandles, true);
}
ALSO(void, wait_syncnb_some, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_some(gasnet_handle_t *phandle, size_t numhandles) {
    return gas_sync_try_some("gasnet_try_syncnb_some", phandle, numhandles, true);
}
ALSO(int, try_syncnb_some, (gasnet_handle_t * phandle, size_t numhandles));

void gasnet_wait_syncnb_all(gasnet_handle_t *phandle, size_t numhandles) {
    gas_sync_wait_all("gasnet_wait_syncnb_all", phandle, numhandles, true);
}
ALSO(void, wait_syncnb_all, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_all(gasnet_handle_t *phandle, size_t numhandles) {
    return gas_sync_try_all("gasnet_try_syncnb_all", phandle, numhandles, true);
}
ALSO(int, try_syncnb_all, (gasnet_handle_t * phandle, size_t numhandles));

void gasnet_wait_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    gas_sync_wait_some("gasnet_wait_syncnb_some_nopoll", phandle, numhandles, false);
}
ALSO(void, wait_syncnb_some_nopoll, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    return gas_sync_try_some("gasnet_try_syncnb_some_nopoll", phandle, numhandles, false);
}
ALSO(int, try_syncnb_some_nopoll, (gasnet_handle_t * phandle, size_t numhandles));

void gasnet_wait_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    gas_sync_wait_all("gasnet_wait_syncnb_all_nopoll", phandle, numhandles, false);
}
ALSO(void, wait_syncnb_all_nopoll, (gasnet_handle_t * phandle, size_t numhandles));

int gasnet_try_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles) {
    return gas_sync_try_all("gasnet_try_syncnb_all_nopoll", phandle, numhandles, false);
}
ALSO(int, try_syncnb_all_nopoll, (gasnet_handle_t * phandle, size_t numhandles));
