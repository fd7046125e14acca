/* node_table.c: the exchange of the ranks' memory when a window is created.
 *
 *      up to 64 ranks   one MPI_Allgather on the stack, so that no rank can fail to take part; a private table
 *      more             one MPI_Allreduce of the ranges, which are all that there is to know where all ranks are equal;
 *                       otherwise:
 *
 *          rows of a node  --MPI_Gather-->  its first rank  --MPI_Allgatherv-->  first ranks of all nodes
 *                                                                 |
 *                                                                 v  table in shared memory, once per node
 *
 * Where the MPI cannot name the ranks of a node, each rank has a table of its own.
 *
 * A rank in MPI_COMM_WORLD identifies a process only among those of one MPI_COMM_WORLD. Each rank asks MPI whether the next rank
 * of the window is in its own. If that holds for all, they are of one world. */
#include "mpi/windows/serving/state/node_table.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "mpi/host/agreement.h"
#include "mpi/windows/serving/state/node_comm.h"
#include "mpi/windows/serving/state/serve_agree.h"

enum { FEW = 64 };

/* ---- this process ---- */

static uint64_t own_id;
static int own_rank = -1; /* in MPI_COMM_WORLD */

static void process_identify(void) {
    if (getrandom(&own_id, sizeof own_id, 0) != (ssize_t)sizeof own_id)
        own_id = random_mix(clock_ns() ^ (uint64_t)getpid() << 32);
    if (host_has_world())
        host_Comm_rank(MPI_COMM_WORLD, &own_rank);
}

/* Whether the next rank belongs to this process's MPI_COMM_WORLD. */
static bool next_is_ours(MPI_Comm comm, int rank, int size) {
    MPI_Group these = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int next = (rank + 1) % size, there = MPI_UNDEFINED;
    if (comm == MPI_COMM_WORLD || !host_has_world())
        return comm == MPI_COMM_WORLD;
    bool known = host_Comm_group(comm, &these) == MPI_SUCCESS &&
                 host_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
                 host_Group_translate_ranks(these, 1, &next, world, &there) == MPI_SUCCESS;
    if (these != MPI_GROUP_NULL)
        host_Group_free(&these);
    if (world != MPI_GROUP_NULL)
        host_Group_free(&world);
    return known && there != MPI_UNDEFINED;
}

static struct rank_memory memory_in(const struct rank_memory *m, uint64_t id, bool one_world) {
    struct rank_memory r = *m;
    r.process = one_world ? m->process : id;
    return r;
}

/* A member with what the exchange adds. */
struct self {
    const struct node_table_member *own;
    struct rank_memory memory;
    int rank, size; /* in the communicator */
    bool one_world; /* the next rank belongs to this one's MPI_COMM_WORLD */
};

static void self_open(struct self *self, const struct node_table_member *own, MPI_Comm comm) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, process_identify);
    *self = (struct self){.own = own, .memory = own->memory};
    self->memory.process = (uint64_t)own_rank;
    host_Comm_rank(comm, &self->rank);
    host_Comm_size(comm, &self->size);
    self->one_world = !own->by_id && next_is_ours(comm, self->rank, self->size);
}

static void exchange_check(int rc, const char *what) {
    if (rc != MPI_SUCCESS)
        serve_agree_broken(what);
}

/* ---- few ranks ---- */

struct offer {
    struct rank_memory memory;
    uint64_t id, key;
    uint32_t ready, one_world;
};

static bool offers_agree(const struct offer *all, int size, bool *one_world) {
    bool ready = true;
    *one_world = true;
    for (int i = 0; i < size; i++) {
        ready &= all[i].ready != 0;
        *one_world &= all[i].one_world != 0;
    }
    return ready;
}

static void offers_write(const struct offer *all, int size, bool one_world, unsigned char *rows,
                         struct node_table *out) {
    struct memory_table_range range = memory_table_no_range;
    struct memory_table *t = &out->table;
    out->key = UINT64_MAX;
    for (int i = 0; i < size; i++) {
        out->key = all[i].key < out->key ? all[i].key : out->key;
        struct rank_memory m = memory_in(&all[i].memory, all[i].id, one_world);
        memory_table_extend(&range, &m, i, size, one_world);
    }
    memory_table_plan(t, size, one_world, &range);
    t->rows = rows;
    for (int i = 0; i < size; i++) {
        struct rank_memory m = memory_in(&all[i].memory, all[i].id, one_world);
        memory_table_write(t, i, &m, rows + (size_t)i * t->row_bytes);
    }
}

static bool gather_few(const struct self *self, MPI_Comm comm, struct node_table *out) {
    struct offer mine = {.memory = self->memory,
                         .id = own_id,
                         .key = self->own->key,
                         .one_world = self->one_world},
                 all[FEW];
    bool one_world;
    unsigned char *rows = malloc((size_t)self->size * MEMORY_COLUMNS * sizeof(uint64_t));
    mine.ready = self->own->ready && rows;
    int rc = host_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, comm);
    if (self->own->relied_on)
        exchange_check(rc, "MPI_Allgather");
    if (rc != MPI_SUCCESS || !offers_agree(all, self->size, &one_world)) {
        free(rows);
        return false;
    }
    offers_write(all, self->size, one_world, rows, out);
    return true;
}

/* ---- many ranks: what all have in common ---- */

/* Merged by the minimum of each word. */
struct summary {
    struct memory_table_range by_world, by_id;
    uint64_t ready, one_world;
    uint64_t key;
};

static bool summarise(const struct self *self, MPI_Comm comm, struct summary *all) {
    struct summary mine = {.by_world = memory_table_no_range,
                           .by_id = memory_table_no_range,
                           .ready = self->own->ready,
                           .one_world = self->one_world,
                           .key = self->own->key};
    struct rank_memory m = memory_in(&self->memory, own_id, false);
    memory_table_extend(&mine.by_world, &self->memory, self->rank, self->size, true);
    memory_table_extend(&mine.by_id, &m, self->rank, self->size, false);
    exchange_check(host_Allreduce(&mine, all, sizeof mine / sizeof(uint64_t), MPI_UINT64_T, MPI_MIN, comm),
                   "MPI_Allreduce");
    return all->ready;
}

/* ---- many ranks: rows ---- */

/* One row on its way: the rank, then the row. */
struct sent_row {
    int rank;
    unsigned char row[MEMORY_COLUMNS * sizeof(uint64_t)];
};

static int sent_bytes(const struct memory_table *t) {
    return (int)sizeof(int) + t->row_bytes;
}

/* Every rank has all rows. */
static bool gather_alone(struct memory_table *t, const struct sent_row *own, MPI_Comm comm) {
    unsigned char *rows = malloc((size_t)t->size * t->row_bytes);
    bool done = serve_agree(rows != NULL, comm) &&
                serve_agree(host_Allgather(own->row, t->row_bytes, MPI_BYTE, rows, t->row_bytes, MPI_BYTE,
                                           comm) == MPI_SUCCESS,
                            comm);
    if (!done) {
        free(rows);
        return false;
    }
    t->rows = rows;
    return true;
}

/* What the first rank of a node needs for the exchange; in the other ranks nothing. */
struct leader {
    MPI_Comm comm; /* MPI_COMM_NULL: this process is none */
    int nodes, *counts, *places;
    char *own, *all;
};

static bool leader_open(struct leader *l, const struct memory_table *t, int here) {
    size_t each = (size_t)sent_bytes(t);
    if (l->comm == MPI_COMM_NULL)
        return true;
    host_Comm_size(l->comm, &l->nodes);
    l->counts = malloc(2 * (size_t)l->nodes * sizeof *l->counts);
    l->places = l->counts ? l->counts + l->nodes : NULL;
    l->own = malloc((size_t)here * each);
    l->all = malloc((size_t)t->size * each);
    return l->counts && l->own && l->all;
}

static void leader_close(struct leader *l) {
    free(l->counts);
    free(l->own);
    free(l->all);
}

/* The rows of all nodes, from those of this node. */
static void leader_exchange(struct leader *l, const struct memory_table *t, int here) {
    int each = sent_bytes(t), bytes = here * each;
    exchange_check(host_Allgather(&bytes, 1, MPI_INT, l->counts, 1, MPI_INT, l->comm), "MPI_Allgather");
    for (int i = 0, at = 0; i < l->nodes; at += l->counts[i++])
        l->places[i] = at;
    exchange_check(host_Allgatherv(l->own, bytes, MPI_BYTE, l->all, l->counts, l->places, MPI_BYTE, l->comm),
                   "MPI_Allgatherv");
}

static void leader_place(const struct leader *l, const struct memory_table *t) {
    int each = sent_bytes(t);
    for (int i = 0; i < t->size; i++) {
        const char *from = l->all + (size_t)i * (size_t)each;
        int rank;
        memcpy(&rank, from, sizeof rank);
        memcpy(t->rows + (size_t)rank * t->row_bytes, from + sizeof rank, t->row_bytes);
    }
}

/* The agreement at the end is a barrier, too: the rows are complete when it returns. */
static bool exchange(struct node_table *m, struct leader *l, const struct sent_row *own, MPI_Comm node,
                     int here, MPI_Comm comm) {
    struct memory_table *t = &m->table;
    int each = sent_bytes(t);
    exchange_check(host_Gather(own, each, MPI_BYTE, l->own, each, MPI_BYTE, 0, node), "MPI_Gather");
    if (l->comm != MPI_COMM_NULL) {
        leader_exchange(l, t, here);
        leader_place(l, t);
    }
    return serve_agree(true, comm);
}

/* Memory for the rows that all ranks of the node map. A node of one rank needs no shared memory. */
static bool rows_open(struct node_table *m, MPI_Comm *node) {
    struct net_boot boot;
    size_t bytes = (size_t)m->table.size * m->table.row_bytes;
    serve_node_boot(node, &boot);
    if (boot.size == 1)
        return (m->table.rows = malloc(bytes)) != NULL;
    if (net_shared_open(&boot, boot.rank == 0 ? bytes : 0, NULL, &m->shared))
        return false;
    m->table.rows = (unsigned char *)m->shared->base + m->shared->parts[0].offset;
    return true;
}

static bool gather_on_nodes(struct node_table *m, const struct sent_row *own, MPI_Comm node, MPI_Comm leaders,
                            MPI_Comm comm) {
    struct leader l = {.comm = leaders};
    int here = 0;
    host_Comm_size(node, &here);
    bool ready = leader_open(&l, &m->table, here), opened = rows_open(m, &node);
    bool done = serve_agree(ready && opened, comm) && exchange(m, &l, own, node, here, comm);
    leader_close(&l);
    return done;
}

/* Nodes of HEARTH_NODE_RANKS ranks. */
static bool gather_on_emulated_nodes(struct node_table *m, const struct sent_row *own, MPI_Comm machine,
                                     int per_node, MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
    int rank = 0;
    host_Comm_rank(machine, &rank);
    bool made = host_real.Comm_split(machine, rank / per_node, 0, &node) == MPI_SUCCESS;
    if (host_real.Comm_split(comm, rank % per_node ? MPI_UNDEFINED : 0, 0, &leaders) != MPI_SUCCESS)
        made = false;
    bool done = serve_agree(made, comm) && gather_on_nodes(m, own, node, leaders, comm);
    if (leaders != MPI_COMM_NULL)
        host_real.Comm_free(&leaders);
    if (node != MPI_COMM_NULL)
        host_real.Comm_free(&node);
    return done;
}

static bool gather_rows(struct node_table *m, const struct sent_row *own, MPI_Comm comm) {
    int per_node = (int)agreement_node_ranks();
    MPI_Comm node = serve_node_comm(comm), leaders;
    if ((uint64_t)m->table.size * (uint64_t)sent_bytes(&m->table) > INT_MAX)
        return false; /* MPI counts in int */
    if (node == MPI_COMM_NULL)
        return gather_alone(&m->table, own, comm);
    if (per_node)
        return gather_on_emulated_nodes(m, own, node, per_node, comm);
    return serve_leader_comm(comm, &leaders) && gather_on_nodes(m, own, node, leaders, comm);
}

static bool gather_many(const struct self *self, MPI_Comm comm, struct node_table *out) {
    struct summary all;
    struct sent_row sent = {.rank = self->rank};
    if (!summarise(self, comm, &all))
        return false;
    bool one_world = all.one_world != 0;
    struct rank_memory m = memory_in(&self->memory, own_id, one_world);
    out->key = all.key;
    memory_table_plan(&out->table, self->size, one_world, one_world ? &all.by_world : &all.by_id);
    memory_table_write(&out->table, self->rank, &m, sent.row);
    return !out->table.row_bytes || gather_rows(out, &sent, comm);
}

/* ---- both ---- */

bool serve_node_table_gather(const struct node_table_member *own, MPI_Comm comm, struct node_table *out) {
    struct self self;
    self_open(&self, own, comm);
    *out = (struct node_table){.shared = NULL};
    bool few = self.size <= FEW && !agreement_node_ranks();
    bool done = few ? gather_few(&self, comm, out) : gather_many(&self, comm, out);
    if (!done)
        serve_node_table_free(out);
    return done;
}

void serve_node_table_free(struct node_table *t) {
    if (t->shared)
        net_shared_leave(NULL, t->shared);
    else if (!t->borrowed)
        free(t->table.rows);
    *t = (struct node_table){.shared = NULL};
}
