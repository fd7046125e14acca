/* armci_handle.c: handles of non-blocking operations: two ints that the program keeps. They hold the index of a request in
 * a table and the generation of that entry, so that a handle that was already waited for, or a copy of it, has no
 * effect:
 *
 *      target      index + 1; 0: no operation is pending
 *      aggregate   bit 0: set by ARMCI_SET_AGGREGATE_HANDLE; the rest: the generation
 *
 * A handle that is reused before it was waited for, as aggregate handles are, gets a chain of requests. Operations
 * that complete in the call (on this node, and everything of size 0) leave the handle as it is. */
#include "armci/request/armci_handle.h"

#include <sched.h>
#include <stdlib.h>

#include "armci/request/guard.h"

enum { AGGREGATE = 1, GENERATION = 2 /* the unit of the generation in `aggregate` */ };

struct place {
    struct armci_request *request; /* NULL: free */
    unsigned generation;
};

static struct {
    struct place *places;
    uint32_t count;
    uint32_t *free; /* stack of free entries */
    uint32_t free_count;
    struct armci_request *implicit_first; /* operations without a handle */
    struct armci_request *implicit_last;
} table;

static unsigned first_generation =
    1; /* of new entries: handles of an earlier ARMCI_Init stay without effect */

/* ---- table entries ---- */

static void handle_grow(const char *call) {
    uint32_t count = table.count > 0 ? 2 * table.count : 64;
    struct place *places = realloc(table.places, count * sizeof *places);
    if (places)
        table.places = places;
    uint32_t *free = places ? realloc(table.free, count * sizeof *free) : NULL;
    if (!free)
        armci_fail(call, "no memory for %u pending operations", count);
    table.free = free;
    for (uint32_t i = table.count; i < count; i++) {
        places[i] = (struct place){.generation = first_generation};
        free[table.free_count++] = i;
    }
    table.count = count;
}

static struct armci_request *first_of(const armci_hdl_t *handle) {
    uint32_t place = (uint32_t)handle->target - 1;
    if (handle->target <= 0 || place >= table.count)
        return NULL;
    struct place *p = &table.places[place];
    return p->generation == (unsigned)handle->aggregate / GENERATION ? p->request : NULL;
}

static void put_in_place(const char *call, struct armci_request *r, armci_hdl_t *handle) {
    if (table.free_count == 0)
        handle_grow(call);
    uint32_t place = table.free[--table.free_count];
    table.places[place].request = r;
    r->slot = place;
    r->chain_last = r;
    handle->target = (int)place + 1;
    handle->aggregate = (int)(table.places[place].generation * GENERATION) | (handle->aggregate & AGGREGATE);
}

static void leave_place(uint32_t place) {
    struct place *p = &table.places[place];
    p->request = NULL;
    p->generation = (p->generation + 1) & 0x3fffffff;
    table.free[table.free_count++] = place;
}

/* Frees completed requests at the head of the list, as the program may never wait for them. */
static void retire_implicit(void) {
    while (table.implicit_first && armci_request_is_over(table.implicit_first)) {
        struct armci_request *r = table.implicit_first;
        table.implicit_first = r->chain;
        if (!r->chain)
            table.implicit_last = NULL;
        armci_request_free(r);
    }
}

static void chain_implicit(struct armci_request *r) {
    if (table.implicit_last)
        table.implicit_last->chain = r;
    else
        table.implicit_first = r;
    table.implicit_last = r;
}

struct armci_request *armci_handle_request(const char *call, armci_hdl_t *handle) {
    if (!handle)
        retire_implicit();
    struct armci_request *r = armci_request_new(), *first = handle ? first_of(handle) : NULL;
    if (!r)
        armci_fail(call, "no memory for another pending operation");
    if (!handle)
        chain_implicit(r);
    else if (first) {
        first->chain_last->chain = r;
        first->chain_last = r;
    } else
        put_in_place(call, r, handle);
    return r;
}

/* ---- waiting ---- */

static void wait_chain(struct armci_request *r) {
    while (r) {
        struct armci_request *next = r->chain;
        armci_request_wait(r);
        armci_request_free(r);
        r = next;
    }
}

static void wait_place(uint32_t place) {
    struct armci_request *first = table.places[place].request;
    leave_place(place);
    wait_chain(first);
}

int PARMCI_Wait(armci_hdl_t *handle) {
    armci_need_open("ARMCI_Wait");
    armci_guard_enter();
    if (first_of(handle))
        wait_place((uint32_t)handle->target - 1);
    armci_guard_leave();
    handle->target = 0;
    return 0;
}
ALIAS(int, ARMCI_Wait, (armci_hdl_t * handle));

static bool chain_is_over(const struct armci_request *r) {
    for (; r; r = r->chain)
        if (!armci_request_is_over(r))
            return false;
    return true;
}

static bool test_chain(const armci_hdl_t *handle) {
    armci_guard_enter();
    const struct armci_request *first = first_of(handle);
    if (first)
        net_progress(armci_job.net);
    bool is_over = chain_is_over(first);
    armci_guard_leave();
    return is_over;
}

/* 0: complete, and the handle is free; 1: not yet. */
int PARMCI_Test(armci_hdl_t *handle) {
    armci_need_open("ARMCI_Test");
    if (test_chain(handle))
        return PARMCI_Wait(handle);
    sched_yield(); /* programs test in a loop, and the helper that must respond may need this core */
    return 1;
}
ALIAS(int, ARMCI_Test, (armci_hdl_t * handle));

static void wait_implicit(void) {
    struct armci_request *first = table.implicit_first;
    table.implicit_first = table.implicit_last = NULL;
    wait_chain(first);
}

int PARMCI_WaitAll(void) {
    armci_need_open("ARMCI_WaitAll");
    armci_guard_enter();
    wait_implicit();
    for (uint32_t i = 0; i < table.count; i++)
        if (table.places[i].request)
            wait_place(i);
    armci_guard_leave();
    return 0;
}
ALIAS(int, ARMCI_WaitAll, (void));

static void wait_in_chain(struct armci_request *r, int proc) {
    for (; r; r = r->chain)
        if (r->proc == proc)
            armci_request_wait(r);
}

/* The handles stay valid: a later wait for them returns at once. */
int PARMCI_WaitProc(int proc) {
    armci_need_open("ARMCI_WaitProc");
    armci_guard_enter();
    wait_in_chain(table.implicit_first, proc);
    for (uint32_t i = 0; i < table.count; i++)
        wait_in_chain(table.places[i].request, proc);
    armci_guard_leave();
    return 0;
}
ALIAS(int, ARMCI_WaitProc, (int proc));

/* ---- handles ---- */

void ARMCI_INIT_HANDLE(armci_hdl_t *handle) {
    *handle = (armci_hdl_t){0};
}

void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle) {
    handle->aggregate |= AGGREGATE;
}

void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle) {
    handle->aggregate &= ~AGGREGATE;
}

void armci_handle_close_all(void) {
    armci_request_close_all();
    for (uint32_t i = 0; i < table.count; i++)
        if (table.places[i].generation > first_generation)
            first_generation = table.places[i].generation;
    free(table.places);
    free(table.free);
    table.places = NULL;
    table.free = NULL;
    table.count = table.free_count = 0;
}
