/* armci_memory.c: memory that all members of a group allocate collectively.
 *
 * Each group that allocates has a heap (net/shm/heap.h). The members on one node share its memory, at the same address
 * in all of them, and the node's helper maps it too. Members on other nodes only know the address of each part in
 * its owner. So an address names the same byte for its owner, for all processes of its node and for its helper. As
 * with any ARMCI, programs pass it around together with a rank.
 *
 * ARMCI_Malloc takes one collective exchange of the members, and ARMCI_Free another one, in which they also agree on
 * the allocation, by its number in the group. On networks with direct access to memory there is a third one
 * (reach.c).
 *
 * *Lookup.* Memory of this node is found by its address without a lock (net_heap_owner), even while other threads
 * allocate. Addresses of other nodes may equal addresses of this one; their allocations are in a list. */
#include "armci/request/armci_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "armci/request/guard.h"
#include "armci/request/local_ask.h"
#include "armci/request/reach.h"
#include "base/log.h"

static struct allocation *allocations; /* most recently created or found first */
static struct memory_group *groups;    /* groups with a heap */

/* ---- lookup ---- */

static bool is_held(const struct allocation *a, int proc, uint64_t low, uint64_t high) {
    int member = a->group->member_of ? a->group->member_of[proc] : proc;
    if (member < 0 || low >= high)
        return false;
    struct net_heap_part part = armci_memory_part(a, member);
    return low >= part.base && high <= part.base + part.bytes;
}

/* Call with the guard held. */
static struct allocation *find_listed(int proc, uint64_t first, uint64_t end) {
    for (struct allocation **at = &allocations; *at; at = &(*at)->next) {
        struct allocation *a = *at;
        if (!is_held(a, proc, first, end))
            continue;
        *at = a->next;
        a->next = allocations;
        return allocations = a;
    }
    return NULL;
}

struct allocation *armci_memory_find(int proc, const void *low, const void *high) {
    uint64_t first = (uint64_t)(uintptr_t)low, end = (uint64_t)(uintptr_t)high;
    if (armci_way_to(proc) != WAY_REMOTE) {
        struct allocation *a = first < end ? net_heap_owner(low, end - first) : NULL;
        return a && is_held(a, proc, first, end) ? a : NULL;
    }
    armci_guard_enter();
    struct allocation *a = find_listed(proc, first, end);
    armci_guard_leave();
    return a;
}

bool armci_memory_is_heap(const void *address) {
    bool is = false;
    armci_guard_enter();
    for (const struct memory_group *g = groups; g && !is; g = g->next)
        is = net_heap_covers(g->heap, address);
    armci_guard_leave();
    return is;
}

/* ---- the heap of a group ---- */

static int group_key = MPI_KEYVAL_INVALID; /* attribute of a communicator: its struct memory_group */

static int heap_attach(void *arg, const struct net_shared_place *place) {
    (void)arg;
    return (int)armci_local_ask(LOCAL_ATTACH, place, sizeof *place);
}

static void heap_detach(void *arg, const struct net_shared_place *place) {
    (void)arg;
    armci_local_ask(LOCAL_DETACH, place, sizeof *place);
}

static const struct net_shared_remote helper_remote = {.attach = heap_attach, .detach = heap_detach};

/* Drops one reference. The heap is closed with the communicator or with its last allocation, whichever is later. */
static void group_release(struct memory_group *g) {
    if (--g->uses > 0)
        return;
    armci_guard_enter();
    struct memory_group **at = &groups;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    armci_guard_leave();
    if (armci_job.opened > 0) /* otherwise the network is closed, and the memory is freed with the process */
        net_heap_close(g->heap);
    free(g->member_of);
    free(g);
}

static int group_forget(MPI_Comm comm, int key, void *value, void *extra) {
    struct memory_group *g = value;
    (void)comm, (void)key, (void)extra;
    int status = MPI_Comm_free(&g->node);
    group_release(g);
    return status;
}

/* The key outlives ARMCI_Finalize, as groups may. Threads use it when their groups allocate, so it is made before. */
void armci_memory_open(void) {
    if (group_key == MPI_KEYVAL_INVALID)
        armci_check("ARMCI_Init",
                    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, group_forget, &group_key, NULL));
}

/* NULL for the group of all processes, whose ranks are the absolute ids. */
static int *group_members(const ARMCI_Group *group) {
    if (group->size == armci_job.size && group->comm == armci_job.world_group.comm)
        return NULL;
    int *member_of = malloc((size_t)armci_job.size * sizeof *member_of);
    if (!member_of)
        armci_fail("ARMCI_Malloc", "no memory for a list of %d processes", armci_job.size);
    for (int i = 0; i < armci_job.size; i++)
        member_of[i] = -1;
    for (int i = 0; i < group->size; i++)
        member_of[ARMCI_Absolute_id((ARMCI_Group *)group, i)] = i;
    return member_of;
}

/* The members ask the helper's process to map a chunk, unless it is a member and maps it anyway. */
static const struct net_shared_remote *group_remote(const struct memory_group *g) {
    int leader = net_world_leader(armci_job.world, armci_job.world->node);
    return !g->member_of || g->member_of[leader] >= 0 ? NULL : &helper_remote;
}

static struct net_heap *group_heap(const struct memory_group *g, const ARMCI_Group *group) {
    int *node_of = malloc((size_t)group->size * sizeof *node_of);
    struct net_heap_group members = {
        .node_of = node_of, .reserve = armci_job.reserve, .remote = group_remote(g)};
    for (int i = 0; node_of && i < group->size; i++)
        node_of[i] = (int)armci_job.world->node_of[ARMCI_Absolute_id((ARMCI_Group *)group, i)];
    net_boot_over(&group->comm, &members.all);
    net_boot_over(&g->node, &members.node);
    struct net_heap *heap = node_of ? net_heap_open(&members) : NULL;
    if (!heap)
        armci_fail("ARMCI_Malloc", "no memory for the bookkeeping of %d processes", group->size);
    free(node_of);
    return heap;
}

/* Created when a group allocates for the first time, and kept as long as the group. */
static struct memory_group *group_of(const ARMCI_Group *group) {
    static const char call[] = "ARMCI_Malloc";
    struct memory_group *g;
    int found;
    armci_check(call, MPI_Comm_get_attr(group->comm, group_key, &g, &found));
    if (found)
        return g;
    g = calloc(1, sizeof *g);
    if (!g)
        armci_fail(call, "no memory for the bookkeeping of %d processes", group->size);
    g->uses = 1;
    g->member_of = group_members(group);
    armci_check(call, MPI_Comm_split(group->comm, armci_job.world->node, group->rank, &g->node));
    g->heap = group_heap(g, group);
    armci_check(call, MPI_Comm_set_attr(group->comm, group_key, g));
    armci_guard_enter();
    g->next = groups;
    groups = g;
    armci_guard_leave();
    return g;
}

/* ---- allocation ---- */

static struct allocation *allocation_make(struct memory_group *g, int count) {
    struct allocation *a = calloc(1, sizeof *a);
    if (!a)
        armci_fail("ARMCI_Malloc", "no memory for an allocation of %d processes", count);
    a->count = count;
    a->group = g;
    g->uses++;
    return a;
}

static void allocation_free(struct allocation *a) {
    group_release(a->group);
    free(a);
}

int ARMCI_Malloc_group(void **pointers, armci_size_t bytes, ARMCI_Group *group) {
    armci_need_open("ARMCI_Malloc");
    if (bytes < 0)
        armci_fail("ARMCI_Malloc", "the size is negative: %ld bytes", (long)bytes);
    struct memory_group *g = group_of(group);
    struct allocation *a = allocation_make(g, group->size);
    int status = net_heap_take(g->heap, (uint64_t)bytes, 0, a, &a->block);
    log_debug(LOG_ARMCI, "%zu bytes of this rank in an allocation of %d ranks: %s", (size_t)bytes,
              group->size, status ? "refused" : "taken");
    for (int i = 0; i < a->count && status == 0; i++)
        pointers[i] = a->block.bytes ? (void *)(uintptr_t)armci_memory_part(a, i).base : NULL;
    if (status != 0 || a->block.bytes == 0) { /* empty: all its pointers are NULL, so it has no entry */
        allocation_free(a);
        return status;
    }
    a->number = ++g->numbered;
    armci_reach_open(a, group->comm);
    armci_guard_enter();
    a->next = allocations;
    allocations = a;
    armci_guard_leave();
    return 0;
}

int PARMCI_Malloc(void **pointers, armci_size_t bytes) {
    return ARMCI_Malloc_group(pointers, bytes, &armci_job.world_group);
}
ALIAS(int, ARMCI_Malloc, (void **pointers, armci_size_t bytes));

/* ---- release ---- */

/* Agrees on the number of the allocation that all members name. 0: all of them passed NULL, as for an empty allocation. */
static int64_t agree_which(const void *pointer, const struct allocation *a, const ARMCI_Group *group) {
    int64_t mine[2] = {0, INT64_MIN}, most[2]; /* the largest number, and the negated smallest */
    if (pointer) {
        mine[0] = a ? a->number : INT64_MAX;
        mine[1] = -mine[0];
    }
    armci_check("ARMCI_Free", MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, group->comm));
    if (most[0] == 0)
        return 0;
    if (pointer && !a)
        armci_fail("ARMCI_Free", "%p was not allocated by this group with ARMCI_Malloc, or was freed before",
                   pointer);
    if (most[0] != -most[1] && pointer)
        armci_fail("ARMCI_Free", "%p: the members of the group free different allocations", pointer);
    return most[0];
}

static struct allocation *find_number(const struct memory_group *g, int64_t number) {
    armci_guard_enter();
    struct allocation *a = allocations;
    while (a && (a->group != g || a->number != number))
        a = a->next;
    armci_guard_leave();
    return a;
}

static void allocation_close(struct allocation *a) {
    armci_guard_enter();
    struct allocation **at = &allocations;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    armci_reach_close(a);
    armci_guard_leave();
    net_heap_give(a->group->heap, &a->block);
    allocation_free(a);
}

/* The exchange in agree_which comes after all members have fenced: from then on no process accesses the memory. */
int ARMCI_Free_group(void *pointer, ARMCI_Group *group) {
    armci_need_open("ARMCI_Free");
    PARMCI_AllFence(); /* each member fences its own operations */
    struct memory_group *g = group_of(group);
    struct allocation *a = pointer ? armci_memory_find(armci_job.rank, pointer, (char *)pointer + 1) : NULL;
    if (a && a->group != g)
        a = NULL;
    int64_t number = agree_which(pointer, a, group);
    if (!a && number != 0)
        a = find_number(g, number);
    if (a)
        allocation_close(a);
    return 0;
}

int PARMCI_Free(void *pointer) {
    return ARMCI_Free_group(pointer, &armci_job.world_group);
}
ALIAS(int, ARMCI_Free, (void *pointer));

void armci_memory_close_reach(void) {
    for (struct allocation *a = allocations; a; a = a->next)
        armci_reach_close(a);
}

/* Not collective: groups may have been freed in any order. Memory that is still allocated is freed with the process. */
void armci_memory_close_all(void) {
    while (allocations) {
        struct allocation *a = allocations;
        allocations = a->next;
        net_heap_forget(a->group->heap, &a->block);
        allocation_free(a);
    }
}

/* ---- by device name: there is only one kind of memory, which every name denotes ---- */

int PARMCI_Malloc_group_memdev(void **pointers, armci_size_t bytes, ARMCI_Group *group, const char *device) {
    log_debug(LOG_ARMCI, "memory of device \"%s\" is ordinary shared memory", device ? device : "");
    return ARMCI_Malloc_group(pointers, bytes, group);
}
ALIAS(int, ARMCI_Malloc_group_memdev,
      (void **pointers, armci_size_t bytes, ARMCI_Group *group, const char *device));

int PARMCI_Malloc_memdev(void **pointers, armci_size_t bytes, const char *device) {
    return PARMCI_Malloc_group_memdev(pointers, bytes, &armci_job.world_group, device);
}
ALIAS(int, ARMCI_Malloc_memdev, (void **pointers, armci_size_t bytes, const char *device));

int PARMCI_Free_memdev(void *pointer) {
    return PARMCI_Free(pointer);
}
ALIAS(int, ARMCI_Free_memdev, (void *pointer));
