/* world.c: the mapping of ranks to nodes, stored once per node.
 *
 * The area is a list of blocks of shared memory. The first begins with the tables:
 *
 *      | token, nodes | node_of [size] | local_of [size] | first [size + 1] | members [size] | shared | free |
 *
 * All processes contribute their machine. From that, each computes its leader: the lowest rank of the group of k
 * ranks of its machine to which it belongs. Only leaders compute the tables, in the area; the others read them
 * there.
 *
 * A process that fails still takes part in the collective exchanges (agree.h), so that all processes of all nodes
 * fail or none does. */
#include "net/node/world.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/boot/agree.h"
#include "net/shm/segment.h"

#define OTHERWISE "the processes of this node cannot work together"

enum { ALIGNMENT = 128, BLOCK = 64 << 10 /* sizes of blocks are multiples of it */ };

struct block {
    struct segment segment;
    size_t used;
};

struct net_area {
    struct block *blocks; /* [count]; only the last may have free space */
    int count;
};

/* The beginning of the first block. */
struct tables {
    struct segment_token token;
    uint32_t nodes;
    uint32_t numbers[];
};

static size_t tables_bytes(int size) {
    return sizeof(struct tables) + (4 * (size_t)size + 1) * sizeof(uint32_t);
}

/* ---- adding a block ---- */

/* State of one call of world_add_block. */
struct addition {
    struct segment segment;
    struct net_address mine, *all; /* all: [size] */
};

/* Reserves memory, so that adding the block to the list cannot fail later. */
static int world_reserve(struct net_area *a, const struct net_boot *boot, struct addition *n) {
    struct block *more = realloc(a->blocks, ((size_t)a->count + 1) * sizeof *more);
    a->blocks = more ? more : a->blocks;
    n->all = calloc((size_t)boot->size, sizeof *n->all);
    if (more && n->all)
        return 0;
    log_error("no memory for the addresses of %d processes; %s", boot->size, OTHERWISE);
    return -ENOMEM;
}

/* Maps the leader's block. A block of another size means that the leader runs another version. */
static int attach(struct segment *s, const struct net_address *address, int leader, size_t bytes) {
    int err = net_segment_attach_for(OTHERWISE, s, address, leader);
    if (err || s->bytes == bytes)
        return err;
    log_error("shared memory of rank %d: it has %zu bytes instead of %zu; do all run the same version?",
              leader, s->bytes, bytes);
    return -EPROTO;
}

static int world_exchange(const struct net_boot *boot, int leader, size_t bytes, struct addition *n) {
    int err = net_boot_gather(boot, &n->mine, n->all, sizeof n->mine);
    if (err)
        return err;
    if (bytes && leader != boot->rank)
        err = attach(&n->segment, &n->all[leader], leader, bytes);
    return net_boot_agree(boot, err);
}

/* Rounding could overflow. A size above INT64_MAX is passed on unrounded, and creating the file then fails. */
static size_t block_bytes(size_t bytes) {
    return bytes <= INT64_MAX ? round_up(bytes, BLOCK) : bytes;
}

/* Collective among all processes. `bytes` is the same within a node, and 0 if the node needs no block. */
static int world_add_block(struct net_area *a, const struct net_boot *boot, int leader, size_t bytes) {
    struct addition n = {.segment.file = -1};
    size_t whole = block_bytes(bytes);
    int err = world_reserve(a, boot, &n);
    if (!err && whole && leader == boot->rank)
        err = net_segment_create_for(OTHERWISE, &n.segment, whole, &n.mine);
    err = net_boot_agree(boot, err);
    if (!err)
        err = world_exchange(boot, leader, whole, &n);
    free(n.all);
    if (err) {
        net_segment_close(&n.segment);
    } else if (whole) {
        net_segment_settle(&n.segment);
        a->blocks[a->count++] = (struct block){.segment = n.segment, .used = sizeof(struct segment_token)};
    }
    return err;
}

static void close_area(struct net_area *a) {
    for (int i = 0; i < a->count; i++)
        net_segment_close(&a->blocks[i].segment);
    free(a->blocks);
    free(a);
}

static bool world_fits(const struct block *b, size_t bytes) {
    return bytes <= b->segment.bytes && round_up(b->used, ALIGNMENT) <= b->segment.bytes - bytes;
}

static void *world_take(struct block *b, size_t bytes) {
    size_t offset = round_up(b->used, ALIGNMENT);
    b->used = offset + bytes;
    return (char *)b->segment.base + offset;
}

void *net_world_share(struct net_world *w, const struct net_boot *boot, size_t bytes) {
    struct net_area *a = w->area;
    bool fit = world_fits(&a->blocks[a->count - 1], bytes);
    size_t more = bytes < SIZE_MAX - ALIGNMENT ? bytes + ALIGNMENT : bytes; /* plus room for the token */
    if (world_add_block(a, boot, net_world_leader(w, w->node), fit ? 0 : more))
        return NULL;
    return world_take(&a->blocks[a->count - 1], bytes);
}

/* ---- the tables: the leader ---- */

static int world_compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Ranks by machine, ascending. */
static void sort_ranks(const int32_t *machines, int size, uint64_t *keys) {
    for (int i = 0; i < size; i++)
        keys[i] = (uint64_t)(uint32_t)machines[i] << 32 | (uint32_t)i;
    qsort(keys, (size_t)size, sizeof *keys, world_compare_keys);
}

/* The lowest rank of each rank's node. */
static void find_leaders(const uint64_t *keys, int size, unsigned node_ranks, uint32_t *leader_of) {
    uint32_t leader = 0;
    unsigned count = 0; /* ranks of the current node so far */
    for (int i = 0; i < size; i++) {
        uint32_t rank = (uint32_t)keys[i];
        bool same = i > 0 && keys[i] >> 32 == keys[i - 1] >> 32 && (!node_ranks || count < node_ranks);
        leader = same ? leader : rank;
        count = same ? count + 1 : 1;
        leader_of[rank] = leader;
    }
}

/* The leader has the lowest rank of its node, so its node is numbered before its other ranks are visited. */
static uint32_t number_nodes(const uint32_t *leader_of, int size, uint32_t *node_of) {
    uint32_t nodes = 0;
    for (int i = 0; i < size; i++)
        node_of[i] = leader_of[i] == (uint32_t)i ? nodes++ : node_of[leader_of[i]];
    return nodes;
}

static void sort_members(const uint32_t *node_of, int size, uint32_t nodes, uint32_t *local_of,
                         uint32_t *first, uint32_t *members) {
    memset(first, 0, ((size_t)nodes + 1) * sizeof *first);
    for (int i = 0; i < size; i++)
        local_of[i] = first[node_of[i] + 1]++;
    for (uint32_t n = 0; n < nodes; n++)
        first[n + 1] += first[n];
    for (int i = 0; i < size; i++)
        members[first[node_of[i]] + local_of[i]] = (uint32_t)i;
}

/* ---- opening ---- */

/* Contributions of all processes, while the world is being opened. */
struct census {
    int32_t *machines; /* [size] */
    uint64_t *keys;    /* [size], in the leader */
};

/* The first rank of the group of node_ranks ranks of our machine to which we belong. */
static int find_leader(const int32_t *machines, int rank, unsigned node_ranks) {
    int leader = rank;
    unsigned count = 0;
    for (int i = 0; i <= rank; i++) {
        if (machines[i] != machines[rank])
            continue;
        leader = count == 0 ? i : leader;
        count = count + 1 == node_ranks ? 0 : count + 1;
    }
    return leader;
}

static void point(struct net_world *w, const struct tables *t) {
    size_t size = (size_t)w->size;
    w->node_of = t->numbers;
    w->local_of = w->node_of + size;
    w->first = w->local_of + size;
    w->members = w->first + size + 1;
}

static void write_tables(struct net_world *w, struct tables *t, const struct census *c, unsigned node_ranks) {
    uint32_t *node_of = t->numbers, *local_of = node_of + w->size, *first = local_of + w->size,
             *members = first + w->size + 1;
    sort_ranks(c->machines, w->size, c->keys);
    find_leaders(c->keys, w->size, node_ranks, local_of);
    t->nodes = number_nodes(local_of, w->size, node_of);
    sort_members(node_of, w->size, t->nodes, local_of, first, members);
}

static void find_self(struct net_world *w, const struct tables *t) {
    point(w, t);
    w->nodes = (int)t->nodes;
    w->node = (int)w->node_of[w->rank];
    w->local = (int)w->local_of[w->rank];
    w->local_count = net_world_count(w, w->node);
}

static int world_no_memory(int size) {
    log_error("no memory for a list of %d processes; %s", size, OTHERWISE);
    return -ENOMEM;
}

static int world_allocate(const struct net_boot *boot, struct net_world **world, struct census *c) {
    struct net_world *w = calloc(1, sizeof *w);
    *world = w;
    c->machines = calloc((size_t)boot->size, sizeof *c->machines);
    c->keys = calloc((size_t)boot->size, sizeof *c->keys);
    if (!w || !c->machines || !c->keys)
        return world_no_memory(boot->size);
    w->rank = boot->rank;
    w->size = boot->size;
    w->area = calloc(1, sizeof *w->area);
    return w->area ? 0 : world_no_memory(boot->size);
}

/* After the last barrier all processes may read the tables. */
static int open_area(struct net_world *w, const struct net_boot *boot, struct census *c,
                     unsigned node_ranks) {
    int leader = find_leader(c->machines, w->rank, node_ranks);
    int err = world_add_block(w->area, boot, leader, tables_bytes(w->size));
    if (err)
        return err;
    struct block *b = &w->area->blocks[0];
    b->used = tables_bytes(w->size);
    if (leader == w->rank)
        write_tables(w, b->segment.base, c, node_ranks);
    err = net_boot_barrier(boot);
    if (!err)
        find_self(w, b->segment.base);
    return err;
}

int net_world_open(const struct net_boot *boot, int machine, unsigned node_ranks, struct net_world **world) {
    struct census c = {0};
    struct net_world *w;
    int32_t mine = machine;
    int err = net_boot_agree(boot, world_allocate(boot, &w, &c));
    if (!err)
        err = net_boot_gather(boot, &mine, c.machines, sizeof mine);
    if (!err)
        err = open_area(w, boot, &c, node_ranks);
    free(c.machines);
    free(c.keys);
    if (err)
        net_world_close(w);
    else
        *world = w;
    return err;
}

void net_world_close(struct net_world *w) {
    if (!w)
        return;
    if (w->area)
        close_area(w->area);
    free(w);
}
