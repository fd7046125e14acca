/* rpc_open.c: opens and closes the network, collectively by all processes.
 *
 * The buffer sizes are the same everywhere: settings that differ are refused, and the node with the least memory decides.
 * Nodes may have different networks: direct operations are used everywhere or nowhere. A helper's port is open, and its
 * thread runs, before any client may send to it. It runs until all processes have stopped sending. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "net/boot/agree.h"
#include "net/boot/collect.h"
#include "net/rpc/direct.h"
#include "net/rpc/rpc_engine.h"
#include "net/rpc/share.h"
#include "net/rpc/tally.h"
#include "observe/live.h"

/* A rank that waits for another node polls for this long before it sleeps. */
enum { WAIT_SPIN_NS = 60000 };

/* ---- sizes ---- */

/* The memory limit of the container, if there is one. */
static uint64_t container_memory(void) {
    unsigned long long limit = 0;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
    if (!f)
        return UINT64_MAX;
    int read = fscanf(f, "%llu", &limit);
    fclose(f);
    return read == 1 && limit > 0 ? limit : UINT64_MAX;
}

static uint64_t machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)1 << 30;
}

static uint64_t budget(const struct settings *set) {
    uint64_t machine = machine_memory(), container = container_memory();
    double all =
        (double)(machine < container ? machine : container) * set->buffer_memory / (double)set->helpers;
    return all < 1e18 ? (uint64_t)all : (uint64_t)1e18;
}

/* What all processes must know alike: how much memory there is for buffers, and the settings that give their number and sizes. */
struct sizes {
    uint64_t memory, helpers, buffers, bytes, pool_buffers, pool_buffer_bytes, size_hint;
};

static struct sizes sizes_own(void) {
    const struct settings *set = settings_get();
    return (struct sizes){.memory = budget(set),
                          .helpers = set->helpers,
                          .buffers = set->buffers,
                          .bytes = set->buffer_size,
                          .pool_buffers = set->credit_buffers,
                          .pool_buffer_bytes = set->credit_buffer_size,
                          .size_hint = (uint64_t)set->size_hint};
}

static const char *sizes_differing(const struct sizes *a, const struct sizes *b) {
    return a->helpers != b->helpers                       ? "HEARTH_HELPERS"
           : a->buffers != b->buffers                     ? "HEARTH_BUFFERS"
           : a->bytes != b->bytes                         ? "HEARTH_BUFFER_SIZE"
           : a->pool_buffers != b->pool_buffers           ? "HEARTH_CREDIT_BUFFERS"
           : a->pool_buffer_bytes != b->pool_buffer_bytes ? "HEARTH_CREDIT_BUFFER_SIZE"
           : a->size_hint != b->size_hint                 ? "HEARTH_SIZE_HINT"
                                                          : NULL;
}

/* The node with the least memory decides. A rank with other settings would put blocks where no buffer is. */
static int sizes_agree(const struct net_boot *boot, struct sizes *sizes) {
    struct sizes mine = sizes_own(), *all = malloc((size_t)boot->size * sizeof *all);
    int status = net_agree_on_memory(boot, all, "the sizes of buffers");
    if (status == 0)
        status = net_boot_gather(boot, &mine, all, sizeof mine);
    *sizes = mine;
    for (int i = 0; i < boot->size && status == 0; i++) {
        const char *name = sizes_differing(&all[0], &all[i]);
        if (name && boot->rank == 0)
            log_error("network: ranks 0 and %d have different values of %s: give all ranks the same", i,
                      name);
        if (name)
            status = -EINVAL;
        else if (all[i].memory < sizes->memory)
            sizes->memory = all[i].memory;
    }
    free(all);
    return status;
}

static int choose_limits(struct net *n, const struct net_boot *boot) {
    struct sizes sizes;
    uint64_t clients = (uint64_t)n->world->size;
    struct flow_limits *l = &n->limits;
    int status = sizes_agree(boot, &sizes);
    if (status != 0)
        return status;
    *l = (struct flow_limits){.buffers = (uint32_t)sizes.buffers,
                              .pool_buffers = (uint32_t)sizes.pool_buffers,
                              .pool_buffer_bytes = (uint32_t)round_up(sizes.pool_buffer_bytes, 64),
                              .size_hint = sizes.size_hint != 0};
    l->bytes = sizes.bytes > 0
                   ? (uint32_t)round_up(sizes.bytes, 64)
                   : net_arena_fitting(l, clients, net_server_header(), net_server_record(l), sizes.memory);
    net_arena_fit_pool(l);
    uint64_t needed = net_arena_bytes(l, clients, net_server_header()) + clients * net_server_record(l);
    if (needed <= sizes.memory)
        return 0;
    if (boot->rank == 0)
        log_error(
            "network: %u buffers of %u bytes and a record for each of %llu ranks and %u pool buffers of "
            "%u take %llu bytes of a node, of which HEARTH_BUFFER_MEMORY allows %llu: set it higher, "
            "or HEARTH_BUFFERS or HEARTH_BUFFER_SIZE lower",
            l->buffers, l->bytes, (unsigned long long)clients, l->pool_buffers, l->pool_buffer_bytes,
            (unsigned long long)needed, (unsigned long long)sizes.memory);
    return -ENOMEM;
}

/* ---- memory shared within the node ---- */

static int open_mailbox(struct net *n, const struct net_boot *boot, void *memory) {
    struct net_world *w = n->world;
    int status = w->local == 0 ? net_mailbox_make(memory, w->local_count, &n->helper_box) : 0;
    status = net_boot_agree(boot, status);
    if (status == 0)
        status = net_boot_agree(boot, net_mailbox_join(memory, w->local, &n->mailbox));
    return status;
}

static int share_node(struct net *n, const struct net_boot *boot) {
    struct net_world *w = n->world;
    void *mailbox = net_world_share(w, boot, net_mailbox_bytes(w->local_count));
    n->masks = net_world_share(w, boot, net_affinity_masks_bytes(w->local_count));
    n->lock_table = net_world_share(w, boot, net_lock_table_bytes());
    int status = net_boot_agree(boot, mailbox && n->masks && n->lock_table ? 0 : -ENOMEM);
    if (status != 0)
        return status;
    if (w->local == 0) {
        n->masks->count = w->local_count;
        status = net_lock_table_make(n->lock_table);
    }
    net_affinity_register(n->masks, w->local);
    status = net_boot_agree(boot, status);
    return status != 0 ? status : open_mailbox(n, boot, mailbox);
}

/* ---- the link, and the addresses of the helpers ---- */

static int engine_open_link(struct net *n, const void *comm) {
    const struct settings *set = settings_get();
    const struct flow_limits *l = &n->limits;
    struct link_options options = {.kind = (enum link_kind)set->net,
                                   .most = l->pool_buffers > 0 ? l->pool_buffer_bytes : l->bytes,
                                   .ports = 1 + (n->world->local == 0 ? n->helpers : 0),
                                   .comm = comm,
                                   .direct = set->direct != DIRECT_OFF};
    return net_link_open(&options, &n->link);
}

/* They are in use only if all processes have them. */
static int agree_on_direct(struct net *n, const struct net_boot *boot) {
    int status = net_boot_agree(boot, net_direct_is_wanted(n->link) ? 0 : -ENOTSUP);
    n->direct = status == 0;
    return status == -ENOTSUP ? 0 : status;
}

static int open_helpers(struct net *n) {
    n->served = live_alloc((size_t)n->helpers * sizeof *n->served);
    if (!n->served) {
        log_error("helper: no memory for its state");
        return -ENOMEM;
    }
    for (int i = 0; i < n->helpers; i++)
        n->served[i].doorbell = -1;
    for (int i = 0; i < n->helpers; i++) {
        int status = net_helper_open(&n->served[i], n, i);
        if (status != 0)
            return status;
    }
    return 0;
}

static int leader_of(const void *world, int node) {
    return net_world_leader(world, node);
}

/* The leaders contribute the addresses of all helpers; each node stores them once. */
static int exchange_addresses(struct net *n, const struct net_boot *boot) {
    struct net_world *w = n->world;
    size_t one = round_up(sizeof(uint16_t) + LINK_ADDRESS, 8), mine = one * (size_t)n->helpers;
    char *table = net_world_share(w, boot, mine * (size_t)w->nodes);
    char *brought = calloc(1, mine), *all = malloc(net_collect_scratch(w->size, mine));
    int status = net_agree_on_memory(boot, table && brought && all, "the addresses");
    for (int i = 0; status == 0 && n->served && i < n->helpers; i++) {
        int length =
            net_link_port_address(n->served[i].server.port, brought + (size_t)i * one + sizeof(uint16_t));
        uint16_t short_length = (uint16_t)(length < 0 ? 0 : length);
        memcpy(brought + (size_t)i * one, &short_length, sizeof short_length);
        status = length < 0 ? length : 0;
    }
    status = net_boot_agree(boot, status);
    if (status == 0)
        status =
            net_boot_collect(boot, brought, mine, all, w->nodes, leader_of, w, w->local == 0 ? table : NULL);
    free(brought);
    free(all);
    n->addresses = table;
    n->address_bytes = one;
    return net_boot_agree(boot, status);
}

static int open_ports(struct net *n, const struct net_boot *boot, const void *comm) {
    struct link_events events = {.arg = n, .arrived = net_call_arrived, .failed = net_call_failed};
    int status = 0;
    if (n->world->nodes > 1) {
        status = engine_open_link(n, comm);
        status = net_boot_agree(boot, status);
        if (status == 0)
            status = agree_on_direct(n, boot);
        if (status == 0)
            status = net_boot_agree(boot, net_link_port_open(n->link, 0, &events, &n->port));
    }
    if (status == 0)
        status = net_boot_agree(boot, n->world->local == 0 ? open_helpers(n) : 0);
    if (status == 0 && n->link)
        status = exchange_addresses(n, boot);
    return status;
}

/* ---- everything together ---- */

/* For hearth top. */
static void engine_show(const struct net *n) {
    static const struct live_field asking[] = {LIVE_FIELD(blocks, struct net, blocks),
                                               LIVE_FIELD(block_bytes, struct net, bytes)};
    static const struct live_field serving[] = {LIVE_FIELD(served, struct helper, server.served),
                                                LIVE_FIELD(served_bytes, struct helper, server.served_bytes),
                                                LIVE_FIELD(retried, struct helper, server.retried),
                                                LIVE_FIELD(near, struct helper, local),
                                                LIVE_FIELD(wakes, struct helper, wakes)};
    live_show(n, asking, sizeof asking / sizeof *asking);
    for (int i = 0; n->served && i < n->helpers; i++)
        live_show(&n->served[i], serving, sizeof serving / sizeof *serving);
}

static void hide(const struct net *n) {
    live_hide(n);
    for (int i = 0; n->served && i < n->helpers; i++)
        live_hide(&n->served[i]);
}

static void rpc_close_all(struct net *n) {
    hide(n);
    for (int i = 0; n->served && i < n->helpers; i++) {
        net_helper_stop(&n->served[i]);
        if (n->served[i].server.port)
            net_link_port_close(n->served[i].server.port);
        net_helper_close(&n->served[i]);
    }
    live_free(n->served);
    if (n->port)
        net_link_port_close(n->port);
    if (n->link)
        net_link_close(n->link);
    net_call_close(n);
    net_mailbox_close(n->mailbox);
    net_mailbox_close(n->helper_box);
    live_free(n);
}

static int start_helpers(struct net *n) {
    int status = 0;
    for (int i = 0; n->served && i < n->helpers && status == 0; i++)
        status = net_helper_start(&n->served[i]);
    return status;
}

static void engine_tell(const struct net *n) {
    const struct net_world *w = n->world;
    const struct flow_limits *l = &n->limits;
    log_debug(LOG_NET, "rank %d of %d is member %d of node %d, of %d nodes; %s", w->rank, w->size, w->local,
              w->node, w->nodes,
              n->served ? "it runs the node's helpers" : "another process runs the node's helpers");
    if (n->link)
        log_debug(LOG_NET,
                  "each rank has %u blocks of %u bytes at each of %d helpers of a node, which lend %u "
                  "buffers of %u bytes%s; contiguous puts "
                  "and gets go %s",
                  l->buffers, l->bytes, n->helpers, l->pool_buffers, l->pool_buffer_bytes,
                  l->size_hint ? " upon size hints" : "",
                  n->direct ? "directly to memory" : "through the helper");
    else
        log_debug(LOG_NET, "all ranks are on one node: no network is opened");
}

int net_open(const struct net_boot *boot, struct net_world *world, const struct net_service *service,
             const void *comm, struct net **net) {
    const struct settings *set = settings_get();
    struct net *n = live_alloc(sizeof *n);
    int status = net_agree_on_memory(boot, n, "the network");
    if (status != 0) {
        live_free(n);
        return status;
    }
    n->world = world;
    net_join(n, service);
    n->helpers = (int)set->helpers;
    n->timeout_ns = set->net_timeout * 1000000000u;
    n->spin_ns = WAIT_SPIN_NS;
    n->helper_spin_ns = set->helper_spin_us * 1000u;
    status = choose_limits(n, boot);
    if (status == 0)
        status = net_boot_agree(boot, net_call_open(n));
    if (status == 0)
        status = share_node(n, boot);
    if (status == 0)
        status = open_ports(n, boot, comm);
    if (status == 0)
        status = net_boot_agree(boot, start_helpers(n));
    if (status != 0) {
        rpc_close_all(n);
        return status;
    }
    engine_show(n);
    engine_tell(n);
    *net = n;
    return 0;
}

/* No process may stop while another still sends, and all close their connections together. */
void net_close(struct net *n, const struct net_boot *boot, struct net_counts *counts) {
    net_fence_all(n);
    if (n->port)
        net_link_port_quiesce(n->port);
    net_boot_barrier(boot);
    for (int i = 0; n->served && i < n->helpers; i++) {
        net_helper_stop(&n->served[i]);
        if (n->served[i].server.port)
            net_link_port_quiesce(n->served[i].server.port);
    }
    net_boot_barrier(boot);
    if (n->port)
        net_link_port_shut(n->port);
    for (int i = 0; n->served && i < n->helpers; i++)
        if (n->served[i].server.port)
            net_link_port_shut(n->served[i].server.port);
    net_boot_barrier(boot);
    if (counts)
        net_count(n, counts);
    log_debug(LOG_NET, "the engine closes: %llu blocks with %llu bytes were sent",
              (unsigned long long)n->blocks, (unsigned long long)n->bytes);
    rpc_close_all(n);
}

struct net_lock_table *net_lock_table(struct net *n) {
    return n->lock_table;
}

struct mailbox *net_mailbox(struct net *n) {
    return n->mailbox;
}

/* ---- counts ---- */

static void count_asking(const struct net *n, struct net_counts *c) {
    c->blocks = n->blocks;
    c->bytes = n->bytes;
    for (size_t i = 0; n->link && i < (size_t)n->world->nodes * (size_t)n->helpers; i++)
        if (n->targets[i]) {
            c->waits += n->targets[i]->flow.waits;
            c->size_hints += n->targets[i]->flow.size_hints;
            c->grants += n->targets[i]->flow.grants;
        }
}

/* The helper's thread may be changing the counters. */
static void count_helper(const struct helper *h, struct net_counts *c) {
    c->wakes += tally_read(&h->wakes);
    c->local += tally_read(&h->local);
    c->moves += tally_read(&h->affinity.moves);
    c->busy_seconds += (double)atomic_load(&h->busy_ns) / 1e9;
    c->seconds += (double)(clock_ns() - h->started_ns) / 1e9;
    if (!h->server.flow)
        return;
    struct flow_counts f = net_flow_helper_counts(h->server.flow);
    c->served += tally_read(&h->server.served);
    c->served_bytes += tally_read(&h->server.served_bytes);
    c->retried += tally_read(&h->server.retried);
    c->granted += f.granted;
    c->refused += f.refused;
    c->arena_bytes += h->server.arena.bytes;
}

void net_count(const struct net *n, struct net_counts *c) {
    *c = (struct net_counts){.buffers = n->limits.buffers,
                             .buffer_bytes = n->limits.bytes,
                             .pool_buffers = n->limits.pool_buffers,
                             .pool_buffer_bytes = n->limits.pool_buffer_bytes};
    count_asking(n, c);
    for (int i = 0; n->served && i < n->helpers; i++)
        count_helper(&n->served[i], c);
}
