/* unit_net_faults.c: makes each system call and allocation of one process fail in turn. A collective call then fails in all
 * processes or in none, and none waits for another forever. */
#include "test.h"

#include <sys/wait.h>

#include "base/log.h"
#include "net/boot/agree.h"
#include "net/node/node.h"
#include "net/node/world.h"
#include "net/rpc/arena.h"
#include "net/shm/heap.h"
#include "net/shm/mailbox.h"
#include "net/shm/memory_limit.h"
#include "net/shm/promise.h"
#include "net/shm/segment.h"
#include "net/shm/shared.h"
#include "fail_calls.h"
#include "net_boot.h"

enum { MOST_CALLS = 300, RANKS = 2, SECONDS = 100 };

/* ---- collective calls ---- */

typedef int collective(const struct net_boot *boot);

static collective *work;
static int failing_rank;
static unsigned failing_call;
static _Atomic bool *was_reached; /* shared by all processes */

static void expect_same(const struct net_boot *boot, int status) {
    int mine = status != 0, all[BOOT_MOST];
    net_boot_gather(boot, &mine, all, sizeof mine);
    for (int i = 0; i < boot->size; i++)
        expect_eq(all[i], all[0]);
}

static void attempt(const struct net_boot *boot) {
    bool fails = boot->rank == failing_rank;
    log_set_level(LOG_ERROR);
    if (fails)
        fail_calls_at(failing_call);
    int status = work(boot);
    if (fails)
        atomic_store(was_reached, fail_calls_end());
    expect_same(boot, status);
}

static void let_each_fail(collective *calls) {
    was_reached = mmap(NULL, sizeof *was_reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    work = calls;
    alarm(SECONDS); /* for rank 0, which is this process */
    for (failing_rank = 0; failing_rank < RANKS; failing_rank++) {
        atomic_store(was_reached, true);
        for (failing_call = 1; failing_call < MOST_CALLS && atomic_load(was_reached); failing_call++)
            boot_run(RANKS, attempt);
        expect(failing_call > 2 && !atomic_load(was_reached));
    }
    alarm(0);
    munmap((void *)was_reached, sizeof *was_reached);
}

static int open_world(const struct net_boot *boot) {
    struct net_world *w = NULL;
    int status = net_world_open(boot, 0, 0, &w);
    if (status)
        return status;
    char *memory = net_world_share(w, boot, 200000);
    if (memory)
        memory[w->local] = 1;
    net_world_close(w);
    return memory ? 0 : -ENOMEM;
}

TEST(the_processes_of_a_node)
{ let_each_fail(open_world); }

static int open_shared(const struct net_boot *boot) {
    struct net_shared *s = NULL;
    int status = net_shared_open(boot, boot->rank ? 100000 : 90u << 20, NULL, &s);
    if (status)
        return status;
    s->base[s->parts[boot->rank].offset] = 1;
    net_shared_settle(s);
    net_shared_close(boot, NULL, s);
    return 0;
}

TEST(shared_memory)
{ let_each_fail(open_shared); }

static struct net_reserve *reserve;

static int open_heap(const struct net_boot *boot) {
    static const int node_of[RANKS];
    struct boot_seat seat;
    struct net_heap_group g = {.all = *boot,
                               .node = boot_at(&seat, 1, boot->rank, boot->size),
                               .node_of = node_of,
                               .reserve = reserve};
    struct net_heap *heap = net_heap_open(&g);
    struct net_heap_block block;
    int status = net_boot_agree(boot, heap ? 0 : -ENOMEM);
    if (!status)
        status = net_heap_take(heap, 100000, 0, &block, &block);
    if (!status) {
        memset((void *)(uintptr_t)net_heap_part(heap, &block, boot->rank).base, 1, 100000);
        net_heap_give(heap, &block);
    }
    if (heap)
        net_heap_close(heap);
    return status;
}

TEST(a_heap)
{
    reserve = mmap(NULL, net_reserve_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    let_each_fail(open_heap);
}

/* ---- calls of one process ---- */

static void let_each_fail_here(int (*run)(void)) {
    bool is_reached = true;
    unsigned k = 1;
    log_set_level(LOG_ERROR);
    for (; k < MOST_CALLS && is_reached; k++) {
        unsigned files = count_files(), maps = count_maps();
        fail_calls_at(k);
        int status = run();
        is_reached = fail_calls_end();
        expect(is_reached || status == 0);
        expect_eq(count_files(), files);
        expect_eq(count_maps(), maps);
    }
    expect(k > 2);
    log_set_level(LOG_WARN);
}

static int open_two_nodes(void) {
    struct net_options o[2] = {{.rank = 0, .count = 2, .limit = 4 << 20, .header_bytes = 64},
                               {.rank = 1, .count = 2, .limit = 4 << 20, .header_bytes = 64}};
    struct net_node *nodes[2] = {NULL, NULL};
    struct net_address addresses[2];
    int status = net_node_open(&o[0], &nodes[0], &addresses[0]);
    status = status ? status : net_node_open(&o[1], &nodes[1], &addresses[1]);
    for (int i = 0; i < 2 && !status; i++)
        status = net_node_connect(nodes[i], addresses);
    net_node_close(nodes[0]);
    net_node_close(nodes[1]);
    return status;
}

TEST(messages_inside_a_node)
{ let_each_fail_here(open_two_nodes); }

static int open_arena(void) {
    struct flow_limits limits = {.buffers = 2, .bytes = 4096, .pool_buffers = 2, .pool_buffer_bytes = 8192};
    struct flow_helper *helper = NULL;
    struct flow_client client;
    bool has_client = false;
    struct flow_ticket ticket = {.flags = FLOW_OWN};
    struct flow_place place;
    struct arena a = {0};
    int status = net_arena_open(&a, &limits, 3, 64);
    status = status ? status : net_flow_helper_open(&limits, 3, &helper);
    status = status ? status : net_flow_arrive(helper, 0, &ticket, &place);
    if (!status) {
        status = net_flow_client_open(&client, &limits);
        has_client = !status;
    }
    if (helper)
        net_flow_helper_close(helper);
    if (has_client)
        net_flow_client_close(&client);
    net_arena_close(&a);
    return status;
}

TEST(buffers_of_a_helper)
{ let_each_fail_here(open_arena); }

static int open_mailbox(void) {
    static _Alignas(128) char memory[1 << 16];
    struct mailbox *helper = NULL, *client = NULL;
    if (net_mailbox_bytes(2) > sizeof memory)
        return -ENOSPC;
    memset(memory, 0, sizeof memory);
    int status = net_mailbox_make(memory, 2, &helper);
    status = status ? status : net_mailbox_join(memory, 1, &client);
    if (client)
        net_mailbox_close(client);
    if (helper)
        net_mailbox_close(helper);
    return status;
}

TEST(a_mailbox)
{ let_each_fail_here(open_mailbox); }

/* Without the ledger, or the limit of the system, nothing is refused. */
static void promise(unsigned k) {
    struct memory_limit room;
    fail_calls_at(k);
    uint64_t id = net_promise_id();
    struct net_promise *p = net_promise_open(id);
    net_promise_add(p, 1 << 20);
    net_promise_others(id, NULL, NULL);
    bool has_room = net_room_has(id, 4096, &room);
    net_promise_close(p);
    fail_calls_end();
    _exit(id && has_room ? 0 : 1);
}

TEST(the_ledger_of_promises)
{
    for (unsigned k = 1; k < 30; k++) {
        pid_t child = team_fork();
        if (!child)
            promise(k);
        expect(team_join(child));
    }
}
