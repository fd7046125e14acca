/* Memory that all members of a group allocate together.
 *
 * The members on one node share one mapping, at the same address in all of them (net/shared.h), and the node's helper
 * has it too; members on other nodes only know where each part begins in its owner's memory. So an address names the
 * same byte for its owner, for all processes of its node and for its helper, and is what programs, as with any
 * ARMCI, pass around together with a rank. */
#include "armci/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "armci/ops.h"

static struct allocation *allocations; /* newest first: the one used last is moved to the front */

/* ---- finding ---- */

static bool holds(const struct allocation *a, int proc, uint64_t low, uint64_t high) {
    int member = a->member_of ? a->member_of[proc] : proc;
    return member >= 0 && low >= a->parts[member].base &&
           high <= a->parts[member].base + a->parts[member].bytes && low < high;
}

struct allocation *memory_find(int proc, const void *low, const void *high) {
    for (struct allocation **at = &allocations; *at; at = &(*at)->next) {
        struct allocation *a = *at;
        if (!holds(a, proc, (uint64_t)(uintptr_t)low, (uint64_t)(uintptr_t)high))
            continue;
        *at = a->next;
        a->next = allocations;
        return allocations = a;
    }
    return NULL;
}

/* ---- the members of a group on this node ---- */

static int node_key = MPI_KEYVAL_INVALID; /* of a communicator: that of its members on this node */

static int free_node_comm(MPI_Comm comm, int key, void *value, void *extra) {
    MPI_Comm *node = value;
    (void)comm, (void)key, (void)extra;
    int status = MPI_Comm_free(node);
    free(node);
    return status;
}

/* Made when a group allocates for the first time, and kept as long as the group. */
static MPI_Comm node_comm_of(const ARMCI_Group *group) {
    MPI_Comm *node;
    int found;
    if (node_key == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_node_comm, &node_key, NULL);
    MPI_Comm_get_attr(group->comm, node_key, &node, &found);
    if (found)
        return *node;
    node = malloc(sizeof *node);
    if (!node)
        armci_fail("ARMCI_Malloc", "no memory for a communicator's handle");
    MPI_Comm_split(group->comm, armci.world->node, group->rank, node);
    MPI_Comm_set_attr(group->comm, node_key, node);
    return *node;
}

/* ---- making and freeing ---- */

static int attach(void *arg, const struct net_shared_place *place) {
    (void)arg;
    return (int)near_ask(NEAR_ATTACH, place, sizeof *place);
}

static void detach(void *arg, const struct net_shared_place *place) {
    (void)arg;
    near_ask(NEAR_DETACH, place, sizeof *place);
}

static const struct net_shared_far helper_far = {.attach = attach, .detach = detach};

/* The helper's process is asked, unless it takes part itself. */
static const struct net_shared_far *far_of(const struct allocation *a) {
    int leader = net_world_leader(armci.world, armci.world->node);
    bool takes_part = !a->member_of || a->member_of[leader] >= 0;
    return takes_part ? NULL : &helper_far;
}

static struct allocation *allocation_make(const ARMCI_Group *group) {
    struct allocation *a = calloc(1, sizeof *a + (size_t)group->size * sizeof a->parts[0]);
    if (!a)
        return NULL;
    a->count = group->size;
    if (group->size == armci.size && group->comm == armci.world_group.comm)
        return a;
    a->member_of = malloc((size_t)armci.size * sizeof(int));
    if (!a->member_of) {
        free(a);
        return NULL;
    }
    for (int i = 0; i < armci.size; i++)
        a->member_of[i] = -1;
    for (int i = 0; i < group->size; i++)
        a->member_of[ARMCI_Absolute_id((ARMCI_Group *)group, i)] = i;
    return a;
}

static void allocation_free(struct allocation *a) {
    if (a)
        free(a->member_of);
    free(a);
}

static int all_agree(MPI_Comm comm, int status) {
    int worst;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, comm);
    return worst;
}

static int open_part(struct allocation *a, const ARMCI_Group *group, size_t bytes) {
    MPI_Comm comm = node_comm_of(group);
    net_boot_over(&comm, &a->node);
    int status = net_shared_open(&a->node, bytes, far_of(a), &a->shared);
    int worst = all_agree(group->comm, status);
    if (worst != 0 && status == 0) /* another node failed */
        net_shared_close(&a->node, far_of(a), a->shared);
    return worst;
}

static void exchange_parts(struct allocation *a, const ARMCI_Group *group, size_t bytes) {
    struct owned mine = {.bytes = bytes};
    if (bytes > 0)
        mine.base = (uint64_t)(uintptr_t)(a->shared->base + a->shared->parts[a->node.rank].offset);
    MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, a->parts, (int)sizeof mine, MPI_BYTE, group->comm);
}

/* ---- around the helpers ---- */

/* A node's key, as its leader brings it; and what was made of it at first use. */
struct reach {
    int node, length; /* 0: not to be reached so */
    char key[NET_KEY];
    struct link_window *window;
};

/* The leaders among the members expose their mappings; everybody learns how to reach them. Nodes whose leader is not among
 * them, or cannot, are reached through their helpers. */
static void open_reach(struct allocation *a, const ARMCI_Group *group) {
    if (!net_is_direct(armci.net))
        return;
    struct reach mine = {.node = armci.world->node}, *all = calloc((size_t)a->count, sizeof *all);
    a->reach = calloc((size_t)armci.world->nodes, sizeof *a->reach);
    if (armci.world->local == 0 && a->shared->base)
        mine.length = net_expose(armci.net, a->shared->base, a->shared->bytes, &a->exposed, mine.key);
    if (all_agree(group->comm, all && a->reach ? 0 : -ENOMEM) == 0) {
        MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, group->comm);
        for (int i = 0; i < a->count; i++)
            if (all[i].length > 0)
                a->reach[all[i].node] = all[i];
    }
    free(all);
}

static void close_reach(struct allocation *a) {
    for (int node = 0; a->reach && node < armci.world->nodes; node++)
        if (a->reach[node].window)
            net_window_close(a->reach[node].window);
    if (a->exposed)
        net_hide(armci.net, a->exposed);
    free(a->reach);
    a->reach = NULL;
    a->exposed = NULL;
}

void memory_close_reach(void) {
    for (struct allocation *a = allocations; a; a = a->next)
        close_reach(a);
}

struct link_window *memory_window(struct allocation *a, int node) {
    if (!a || !a->reach || a->reach[node].length <= 0)
        return NULL;
    struct reach *r = &a->reach[node];
    if (!r->window && net_window_open(armci.net, node, r->key, &r->window) != 0)
        r->length = 0;
    return r->window;
}

/* ---- the calls ---- */

int ARMCI_Malloc_group(void **pointers, armci_size_t bytes, ARMCI_Group *group) {
    armci_need_open("ARMCI_Malloc");
    if (bytes < 0)
        armci_fail("ARMCI_Malloc", "%ld bytes cannot be allocated", (long)bytes);
    struct allocation *a = allocation_make(group);
    int status = all_agree(group->comm, a ? 0 : -ENOMEM);
    if (status == 0)
        status = open_part(a, group, (size_t)bytes);
    if (status != 0) {
        allocation_free(a);
        return status;
    }
    exchange_parts(a, group, (size_t)bytes);
    open_reach(a, group);
    for (int i = 0; i < a->count; i++)
        pointers[i] = (void *)(uintptr_t)a->parts[i].base;
    a->next = allocations;
    allocations = a;
    return 0;
}

int PARMCI_Malloc(void **pointers, armci_size_t bytes) {
    return ARMCI_Malloc_group(pointers, bytes, &armci.world_group);
}
ALIAS(int, ARMCI_Malloc, (void **pointers, armci_size_t bytes));

/* Which allocation: one of those who have memory in it says. NULL: nobody has, so there is none. */
static struct allocation *agree_which(const void *pointer, const ARMCI_Group *group) {
    struct {
        uint64_t address;
        int proc;
    } named = {.address = (uint64_t)(uintptr_t)pointer, .proc = armci.rank};
    int mine = pointer ? group->rank : group->size, first;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, group->comm);
    if (first == group->size)
        return NULL;
    MPI_Bcast(&named, (int)sizeof named, MPI_BYTE, first, group->comm);
    const char *low = (const char *)(uintptr_t)named.address;
    return memory_find(named.proc, low, low + 1);
}

static void unlist(struct allocation *a) {
    struct allocation **at = &allocations;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
}

static void close_allocation(struct allocation *a) {
    unlist(a);
    close_reach(a);
    net_shared_close(&a->node, far_of(a), a->shared);
    allocation_free(a);
}

int ARMCI_Free_group(void *pointer, ARMCI_Group *group) {
    armci_need_open("ARMCI_Free");
    PARMCI_AllFence(); /* what others still send to it is theirs to fence, ours is ours */
    MPI_Barrier(group->comm);
    struct allocation *a = agree_which(pointer, group);
    int worst = all_agree(group->comm, a || !pointer ? 0 : -EINVAL);
    if (worst != 0)
        armci_fail("ARMCI_Free", "%p was not allocated by this group with ARMCI_Malloc, or was freed before",
                   pointer);
    if (a)
        close_allocation(a);
    return 0;
}

int PARMCI_Free(void *pointer) {
    return ARMCI_Free_group(pointer, &armci.world_group);
}
ALIAS(int, ARMCI_Free, (void *pointer));

void memory_close_all(void) {
    while (allocations) {
        struct allocation *a = allocations;
        allocations = a->next;
        /* Not a collective act: members of groups may have been freed in any order. The mappings go with the process. */
        allocation_free(a);
    }
}

/* ---- by the name of a device: there is one kind of memory, and every name means it ---- */

int PARMCI_Malloc_group_memdev(void **pointers, armci_size_t bytes, ARMCI_Group *group, const char *device) {
    log_debug("memory of device \"%s\" is ordinary shared memory", device ? device : "");
    return ARMCI_Malloc_group(pointers, bytes, group);
}
ALIAS(int, ARMCI_Malloc_group_memdev,
      (void **pointers, armci_size_t bytes, ARMCI_Group *group, const char *device));

int PARMCI_Malloc_memdev(void **pointers, armci_size_t bytes, const char *device) {
    return PARMCI_Malloc_group_memdev(pointers, bytes, &armci.world_group, device);
}
ALIAS(int, ARMCI_Malloc_memdev, (void **pointers, armci_size_t bytes, const char *device));

int PARMCI_Free_memdev(void *pointer) {
    return PARMCI_Free(pointer);
}
ALIAS(int, ARMCI_Free_memdev, (void *pointer));

/* ---- of this process alone ---- */

void *PARMCI_Malloc_local(armci_size_t bytes) {
    return bytes < 0 ? NULL
                     : aligned_alloc(CACHE_LINE, round_up(bytes > 0 ? (uint64_t)bytes : 1, CACHE_LINE));
}
ALIAS(void *, ARMCI_Malloc_local, (armci_size_t bytes));

int PARMCI_Free_local(void *pointer) {
    free(pointer);
    return 0;
}
ALIAS(int, ARMCI_Free_local, (void *pointer));

void PARMCI_Access_begin(void *pointer) {
    (void)pointer;
    atomic_thread_fence(memory_order_seq_cst);
}
ALIAS(void, ARMCI_Access_begin, (void *pointer));

void PARMCI_Access_end(void *pointer) {
    (void)pointer;
    atomic_thread_fence(memory_order_seq_cst);
}
ALIAS(void, ARMCI_Access_end, (void *pointer));
