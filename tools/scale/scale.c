/* scale.c: the memory that each part of Hearth needs, for a number of ranks: see scale.h. */
#include "scale/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scale/heap_use.h"
#include "scale/sizes.h"

#include "base/settings.h"
#include "cache/cache.h"
#include "net/boot/collect.h"
#include "net/rpc/arena.h"
#include "net/rpc/flow.h"
#include "net/shm/heap.h"
#include "pages/protocol/directory.h"

/* ---- measured allocations ---- */

/* Wrong structures must not print numbers. */
static void must(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "scale: broken: %s\n", what);
    exit(3);
}

/* The defaults: 4 own buffers, a credit pool of 4 buffers of 32 KB. */
static struct flow_limits limits(void) {
    return (struct flow_limits){
        .buffers = 4, .bytes = 384, .pool_buffers = 4, .pool_buffer_bytes = 32768, .size_hint = true};
}

/* A helper that `spoken` of its clients have sent blocks to. */
static double helper_bytes(uint32_t clients, uint32_t spoken) {
    struct flow_limits l = limits();
    struct flow_helper *h = NULL;
    struct flow_place place;
    size_t before = heap_in_use();
    must(net_flow_helper_open(&l, clients, &h) == 0, "no memory for a helper");
    for (uint32_t i = 0; i < spoken; i++) {
        struct flow_ticket ticket = {.flags = FLOW_OWN};
        must(net_flow_arrive(h, i, &ticket, &place) == 0, "the helper refuses a block");
    }
    double bytes = (double)(heap_in_use() - before);
    net_flow_helper_close(h);
    return bytes;
}

static double clients_bytes(uint32_t count) {
    struct flow_limits l = limits();
    struct flow_client *clients = calloc(count, sizeof *clients);
    must(clients, "no memory for clients");
    size_t before = heap_in_use();
    for (uint32_t i = 0; i < count; i++)
        must(net_flow_client_open(&clients[i], &l) == 0, "no memory for a client");
    double bytes = (double)(heap_in_use() - before);
    for (uint32_t i = 0; i < count; i++)
        net_flow_client_close(&clients[i]);
    free(clients);
    return bytes;
}

/* ---- the items: bytes per rank ---- */

static double window_targets(const struct scale_job *j) {
    return (double)memory_window((uint32_t)j->ranks, (uint32_t)j->peers);
}

static double window_rows(const struct scale_job *j) {
    return (double)memory_window_rows((int)j->ranks, false);
}

static double window_widest_rows(const struct scale_job *j) {
    return (double)memory_window_rows((int)j->ranks, true);
}

static double window_creation(const struct scale_job *j) {
    return (double)memory_window_creation((int)j->ranks, (int)j->nodes);
}

static double served_targets(const struct scale_job *j) {
    return (double)memory_served((uint32_t)j->ranks, (uint32_t)j->peers, (uint32_t)j->per_node,
                                 (int)j->nodes);
}

static double served_creation(const struct scale_job *j) {
    return (double)memory_served_creation((int)j->ranks);
}

static double served_domain(const struct scale_job *j) {
    return (double)memory_domain((int)j->nodes);
}

static double served_faults(const struct scale_job *j) {
    return (double)memory_domain_faults((int)j->ranks);
}

static double cache_fixed(const struct scale_job *j) {
    struct settings settings;
    struct cache_config config;
    settings_defaults(&settings);
    cache_config_from(&config, &settings);
    (void)j;
    return (double)config.storage_bytes;
}

static double match_peers(const struct scale_job *j) {
    double used = j->peers + j->per_node;
    return (double)memory_match_peers((uint32_t)j->ranks, (uint32_t)(used < j->ranks ? used : j->ranks));
}

static double comm_members(const struct scale_job *j) {
    return j->ranks * (double)memory_comm_member();
}

static double world_tables(const struct scale_job *j) {
    return (3 * j->ranks + j->nodes) * sizeof(uint32_t);
}

static double helper_addresses(const struct scale_job *j) {
    return j->nodes * (double)memory_net_address();
}

static double start_addresses(const struct scale_job *j) {
    return (double)net_collect_scratch((int)j->ranks, memory_net_address());
}

static double target_pointers(const struct scale_job *j) {
    return j->nodes * sizeof(void *);
}

static double target_records(const struct scale_job *j) {
    return j->peer_nodes * (double)memory_net_target() + clients_bytes((uint32_t)j->peer_nodes);
}

static double helper_records(const struct scale_job *j) {
    double spoken = j->peers * j->per_node; /* peers of all its ranks */
    uint32_t clients = (uint32_t)(spoken < j->ranks ? spoken : j->ranks);
    return helper_bytes((uint32_t)j->ranks, clients);
}

static double helper_buffers(const struct scale_job *j) {
    uint64_t budget = (uint64_t)(0.05 * j->memory), clients = (uint64_t)j->ranks;
    struct flow_limits l = limits();
    l.bytes = net_arena_fitting(&l, clients, memory_slot_head(), memory_client_record(&l), budget);
    net_arena_fit_pool(&l);
    return (double)net_arena_bytes(&l, (uint64_t)j->ranks, memory_slot_head());
}

static double armci_group(const struct scale_job *j) {
    return j->ranks * (double)net_heap_member_bytes();
}

static double armci_parts(const struct scale_job *j) {
    return j->ranks * (double)net_heap_part_bytes();
}

static double armci_allocation(const struct scale_job *j) {
    (void)j;
    return (double)memory_armci_allocation();
}

static double segments(const struct scale_job *j) {
    return j->ranks * (double)memory_segment();
}

static double channel(const struct scale_job *j) {
    return j->nodes * (double)memory_channel_node();
}

static double directory(double nodes, uint32_t pages) {
    struct pages_limits l = {.nodes = (uint32_t)nodes, .window = PAGES_WINDOW, .pages = pages, .coop = true};
    size_t bytes = pages_directory_bytes(&l);
    return bytes ? (double)bytes : NAN; /* more nodes than the directory takes */
}

static double directory_fixed(const struct scale_job *j) {
    return directory(j->nodes, 1);
}

/* A share: the entry in the home's directory for each cached page, divided by the size of the page. */
static double directory_share(const struct scale_job *j) {
    return (directory(j->nodes, 2) - directory(j->nodes, 1)) / j->page;
}

const struct scale_item scale_items[] = {
    {"CLaMPI", "a window, with the targets that the rank uses", "targets used", "by size", SCALE_RANK,
     window_targets},
    {"CLaMPI", "a window's addresses, sizes and units equal", "ranks", "by size", SCALE_NODE, window_rows},
    {"CLaMPI", "the same, all different, ranks in another order", "ranks", "by size", SCALE_NODE,
     window_widest_rows},
    {"CLaMPI", "creating such a window", "ranks", "by size", SCALE_MAKE, window_creation},
    {"CLaMPI", "a served window, in addition", "targets used", "by size", SCALE_RANK, served_targets},
    {"CLaMPI", "creating a served window", "ranks", "by size", SCALE_START, served_creation},
    {"CLaMPI", "served windows across nodes, all together", "nodes", "by size", SCALE_RANK, served_domain},
    {"CLaMPI", "errors of operations on dynamic ones", "ranks", "by size", SCALE_NODE, served_faults},
    {"CLaMPI", "a cache of initial size, per window", "-", "constant", SCALE_RANK, cache_fixed},
    {"matching", "ranks with which messages were exchanged", "ranks used", "by size", SCALE_RANK,
     match_peers},
    {"matching", "a communicator with its ranks in irregular order", "ranks", "by size", SCALE_RANK,
     comm_members},
    {"network", "map of ranks to nodes", "ranks", "by size", SCALE_NODE, world_tables},
    {"network", "addresses of helpers", "nodes", "by size", SCALE_NODE, helper_addresses},
    {"network", "exchanging them at the start", "ranks, up to 16 MB", "by size", SCALE_START,
     start_addresses},
    {"network", "pointers to helpers", "nodes", "by size", SCALE_RANK, target_pointers},
    {"network", "helpers that were contacted", "nodes contacted", "allocated", SCALE_RANK, target_records},
    {"network", "the helper's clients", "ranks, and those contacted", "allocated", SCALE_NODE,
     helper_records},
    {"network", "the helper's buffers (5 % of the memory at most)", "ranks, up to the limit", "by size",
     SCALE_NODE, helper_buffers},
    {"ARMCI", "a group that allocates", "ranks of the group", "by size", SCALE_RANK, armci_group},
    {"ARMCI", "an allocation of one size", "-", "by size", SCALE_RANK, armci_allocation},
    {"ARMCI", "an allocation of different sizes", "ranks", "by size", SCALE_RANK, armci_parts},
    {"vGASNet", "segments of all ranks", "ranks", "by size", SCALE_NODE, segments},
    {"vGASNet", "addresses of services", "nodes", "by size", SCALE_NODE, channel},
    {"vGASNet", "request slots of the directory", "nodes", "by size", SCALE_NODE, directory_fixed},
    {"vGASNet", "directory, per cached page: share of the page", "nodes", "by size", SCALE_SHARE,
     directory_share},
};
const size_t scale_item_count = sizeof scale_items / sizeof *scale_items;

void scale_job_fill(struct scale_job *j, double ranks, double per_node, double peers) {
    j->ranks = ranks;
    j->per_node = per_node;
    j->nodes = (double)(uint32_t)(ranks / per_node < 1 ? 1 : ranks / per_node);
    j->peers = peers < 1 || peers > ranks ? ranks : peers;
    j->peer_nodes = j->peers < j->nodes ? j->peers : j->nodes;
}
