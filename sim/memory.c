/* memory.c: sim_memory prints the memory that each part of Hearth needs per rank, against the number of ranks.
 *
 * The last column distinguishes three sources of a number:
 *
 *      allocated   the real structures are opened for that many ranks, and the bytes from malloc are counted
 *      by size     a size function of the library, or the size of a structure times the number of structures
 *      constant    does not depend on the number of ranks
 *
 * Memory that a node needs once is divided by its ranks. "contacted": a rank has records of the ranks with
 * which it has exchanged messages, which may be few (--peers) or all. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "need.h"
#include "options.h"

#include "cache/cache.h"
#include "net/rpc/arena.h"
#include "net/rpc/flow.h"
#include "pages/protocol/directory.h"

static struct option_entry options[] = {
    {"ranks", "1000,10000,100000,1000000", "numbers of ranks", NULL},
    {"per-node", "16", "ranks of a node", NULL},
    {"peers", "64", "ranks with which a rank communicates; 0: all", NULL},
    {"memory", "16g", "memory of a node", NULL},
    {"page", "64k", "size of a page (HEARTH_PAGE_SIZE)", NULL},
    {"csv", "", "file to which the rows are appended", NULL},
    {NULL, NULL, NULL, NULL},
};

struct job {
    double ranks, per_node, nodes, peers, peer_nodes;
};

/* ---- measured allocations ---- */

static size_t in_use(void) {
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
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
    size_t before = in_use();
    must(net_flow_helper_open(&l, clients, &h) == 0, "no memory for a helper");
    for (uint32_t i = 0; i < spoken; i++) {
        struct flow_ticket ticket = {.flags = FLOW_OWN};
        must(net_flow_arrive(h, i, &ticket, &place) == 0, "the helper refuses a block");
    }
    double bytes = (double)(in_use() - before);
    net_flow_helper_close(h);
    return bytes;
}

static double clients_bytes(uint32_t count) {
    struct flow_limits l = limits();
    struct flow_client *clients = need(calloc(count, sizeof *clients));
    size_t before = in_use();
    for (uint32_t i = 0; i < count; i++)
        must(net_flow_client_open(&clients[i], &l) == 0, "no memory for a client");
    double bytes = (double)(in_use() - before);
    for (uint32_t i = 0; i < count; i++)
        net_flow_client_close(&clients[i]);
    free(clients);
    return bytes;
}

/* ---- the items: bytes per rank ---- */

static double window_targets(const struct job *j) {
    return j->ranks * (double)memory_window_target();
}

static double cache_fixed(const struct job *j) {
    struct settings settings;
    struct cache_config config;
    settings_defaults(&settings);
    cache_config_from(&config, &settings);
    (void)j;
    return (double)config.storage_bytes;
}

static double match_peers(const struct job *j) {
    return j->ranks * (double)memory_match_peer();
}

static double comm_members(const struct job *j) {
    return j->ranks * (double)memory_comm_member();
}

static double world_tables(const struct job *j) {
    return (3 * j->ranks + j->nodes) * sizeof(uint32_t) / j->per_node;
}

static double helper_addresses(const struct job *j) {
    return j->nodes * (double)memory_net_address() / j->per_node;
}

static double start_addresses(const struct job *j) {
    return j->ranks * (double)memory_net_address();
}

static double target_pointers(const struct job *j) {
    return j->nodes * sizeof(void *);
}

static double target_records(const struct job *j) {
    return j->peer_nodes * (double)memory_net_target() + clients_bytes((uint32_t)j->peer_nodes);
}

static double helper_records(const struct job *j) {
    double spoken = j->peers * j->per_node; /* peers of all its ranks */
    uint32_t clients = (uint32_t)(spoken < j->ranks ? spoken : j->ranks);
    return helper_bytes((uint32_t)j->ranks, clients) / j->per_node;
}

static double helper_buffers(const struct job *j) {
    uint64_t budget = (uint64_t)(0.05 * options_number(options, "memory")), clients = (uint64_t)j->ranks;
    struct flow_limits l = limits();
    l.bytes = net_arena_fitting(&l, clients, memory_slot_head(), memory_client_record(&l), budget);
    net_arena_fit_pool(&l);
    return (double)net_arena_bytes(&l, (uint64_t)j->ranks, memory_slot_head()) / j->per_node;
}

static double armci_parts(const struct job *j) {
    return j->ranks * (double)memory_armci_part();
}

static double segments(const struct job *j) {
    return j->ranks * (double)memory_segment();
}

static double channel(const struct job *j) {
    return j->nodes * (double)memory_channel_node() / j->per_node;
}

static size_t directory(double nodes, uint32_t pages) {
    struct pages_limits l = {.nodes = (uint32_t)nodes, .window = PAGES_WINDOW, .pages = pages, .coop = true};
    size_t bytes = pages_directory_bytes(&l);
    must(bytes != 0, "more nodes than the directory takes");
    return bytes;
}

static double directory_fixed(const struct job *j) {
    return (double)(directory(j->nodes, 1)) / j->per_node;
}

/* A share: the entry in the home's directory for each cached page, divided by the size of the page. */
static double directory_share(const struct job *j) {
    return (double)(directory(j->nodes, 2) - directory(j->nodes, 1)) / options_number(options, "page");
}

static const struct item {
    const char *system, *what, *grows, *basis;
    double (*bytes)(const struct job *j);
    bool share; /* a share of the data instead of bytes */
} items[] = {
    {"CLaMPI", "state of each rank of a window, per window", "ranks", "by size", window_targets, false},
    {"CLaMPI", "a cache of initial size, per window", "-", "constant", cache_fixed, false},
    {"matching", "state of each rank of the job", "ranks", "by size", match_peers, false},
    {"matching", "a communicator with its ranks in another order", "ranks", "by size", comm_members, false},
    {"network", "map of ranks to nodes, once per node", "ranks / ranks per node", "by size", world_tables,
     false},
    {"network", "addresses of helpers, once per node", "nodes / ranks per node", "by size", helper_addresses,
     false},
    {"network", "the same during start, in each rank", "ranks", "by size", start_addresses, false},
    {"network", "pointers to helpers", "nodes", "by size", target_pointers, false},
    {"network", "helpers that were contacted", "nodes contacted", "allocated", target_records, false},
    {"network", "the helper's clients, once per node", "ranks / ranks per node, and those contacted",
     "allocated", helper_records, false},
    {"network", "the helper's buffers, once per node (5 % of its memory at most)", "ranks, up to the limit",
     "by size", helper_buffers, false},
    {"ARMCI", "an allocation of all ranks", "ranks", "by size", armci_parts, false},
    {"vGASNet", "segments of all ranks", "ranks", "by size", segments, false},
    {"vGASNet", "addresses of services, once per node", "nodes / ranks per node", "by size", channel, false},
    {"vGASNet", "request slots of the directory, once per node", "nodes / ranks per node", "by size",
     directory_fixed, false},
    {"vGASNet", "directory, per cached page: share of the page", "nodes", "by size", directory_share, true},
};

/* ---- printing ---- */

enum { COLUMNS = 16 };

static void print_bytes(double bytes) {
    if (bytes < 10000)
        printf(" %.0f B |", bytes);
    else if (bytes < 1e7)
        printf(" %.1f KB |", bytes / 1e3);
    else
        printf(" %.1f MB |", bytes / 1e6);
}

static void print_item(const struct item *item, const struct job *jobs, unsigned count, FILE *csv) {
    printf("| %s | %s | %s |", item->system, item->what, item->grows);
    for (unsigned i = 0; i < count; i++) {
        double value = item->bytes(&jobs[i]);
        if (item->share)
            printf(" %.3f %% |", 100 * value);
        else
            print_bytes(value);
        if (csv)
            fprintf(csv, "%s,%s,%.0f,%.0f,\"%s\"\n", item->system,
                    item->share ? "millionths" : "bytes per rank", jobs[i].ranks,
                    item->share ? 1e6 * value : value, item->what);
        progress(item->what, (double)i / count);
    }
    printf(" %s |\n", item->basis);
    fflush(stdout);
}

static struct job job_of(double ranks) {
    struct job j = {.ranks = ranks,
                    .per_node = options_number(options, "per-node"),
                    .peers = options_number(options, "peers")};
    if (ranks < 1 || ranks > 1e8 || j.per_node < 1) {
        fprintf(stderr, "sim: --ranks: 1 to 100 000 000; --per-node: at least 1\n");
        exit(2);
    }
    j.nodes = j.ranks / j.per_node;
    j.nodes = (double)(uint32_t)(j.nodes < 1 ? 1 : j.nodes);
    j.peers = j.peers < 1 || j.peers > ranks ? ranks : j.peers;
    j.peer_nodes = j.peers < j.nodes ? j.peers : j.nodes;
    return j;
}

int main(int argc, char **argv) {
    struct job jobs[COLUMNS];
    unsigned count = 0;
    char word[32];
    options_read(options, argc, argv,
                 "sim_memory: memory that each part needs per rank, against the number of ranks.");
    const char *path = options_word(options, "csv");
    FILE *csv = *path ? fopen(path, "a") : NULL;
    if (*path && !csv) {
        perror(path);
        return 1;
    }
    if (csv && ftell(csv) == 0)
        fprintf(csv, "system,unit,ranks,value,what\n");
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* all from one heap, so that everything is counted in the same way */
    for (const char *at = options_word(options, "ranks");
         count < COLUMNS && options_next(&at, word, sizeof word);)
        jobs[count++] = job_of(options_parse("ranks", word));
    printf("bytes per rank; %s ranks per node; each communicates with %s others\n\n| system | what | grows "
           "with |",
           options_word(options, "per-node"),
           options_number(options, "peers") > 0 ? options_word(options, "peers") : "all");
    for (unsigned i = 0; i < count; i++)
        printf(" %.0f ranks |", jobs[i].ranks);
    printf(" source |\n|---|---|---|");
    for (unsigned i = 0; i < count; i++)
        printf("---|");
    printf("---|\n");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        print_item(&items[i], jobs, count, csv);
    progress_end();
    if (csv)
        fclose(csv);
    return 0;
}
