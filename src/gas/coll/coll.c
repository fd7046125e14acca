/* coll.c: collective operations as lists of steps (schedule.c).
 *
 *      broadcast, reduce     a binomial tree (coll_tree.c)
 *      scatter, gather       each member with the root
 *      gather_all, exchange  each member with each, each starting at a different one
 *      scan                  a chain
 *
 * Data is read and written by its own node only, after it has entered the call: GASNET_COLL_IN_MYSYNC and OUT_MYSYNC
 * need no extra steps, and are used for NOSYNC too. ALLSYNC is a barrier before or after.
 *
 * Nothing here calls MPI, so its thread level does not matter. No system call accesses memory of the program: part of it
 * may be in pages that are not mapped. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gas/coll/coll.h"

static bool is_root(const struct collective *c) {
    return c->team->rank == c->root;
}

/* Checks the call, and creates its operation with the steps before the data. */
static struct gasnet_coll_operation *coll_begin(const struct collective *c) {
    struct gasnet_coll_operation *o = gas_schedule_new(c->call, c->team);
    if (c->root >= c->team->size)
        gas_fail(c->call, "there is no image %u in a team of %u", c->root, c->team->size);
    if (c->flags & GASNET_COLL_IN_ALLSYNC)
        gas_schedule_barrier(o, TAG_IN);
    return o;
}

static gasnet_coll_handle_t coll_finish(const struct collective *c, struct gasnet_coll_operation *o) {
    if (c->flags & GASNET_COLL_OUT_ALLSYNC)
        gas_schedule_barrier(o, TAG_OUT);
    gasnet_coll_handle_t handle = gas_schedule_start(o);
    if (!(c->flags & GASNET_COLL_AGGREGATE))
        return handle;
    gas_schedule_wait(handle);
    return GASNET_COLL_INVALID_HANDLE;
}

static char *block(void *base, const struct collective *c, gasnet_node_t i) {
    return (char *)base + (size_t)i * c->bytes;
}

/* ---- rooted operations ---- */

gasnet_coll_handle_t gas_coll_broadcast(const struct collective *c) {
    struct gasnet_coll_operation *o = coll_begin(c);
    if (is_root(c))
        gas_schedule_copy(o, c->dst, c->src, c->bytes);
    gas_tree_broadcast(o, c->team, c->root, TAG_DATA, c->src, c->dst, c->bytes);
    return coll_finish(c, o);
}

gasnet_coll_handle_t gas_coll_scatter(const struct collective *c) {
    struct gasnet_coll_operation *o = coll_begin(c);
    gasnet_node_t size = c->team->size;
    if (!is_root(c))
        gas_schedule_receive(o, c->root, TAG_DATA, c->dst, c->bytes);
    else {
        for (gasnet_node_t i = 1; i < size; i++) {
            gasnet_node_t to = (c->root + i) % size;
            gas_schedule_send(o, to, TAG_DATA, block(c->src, c, to), c->bytes);
        }
        gas_schedule_copy(o, c->dst, block(c->src, c, c->root), c->bytes);
    }
    return coll_finish(c, o);
}

gasnet_coll_handle_t gas_coll_gather(const struct collective *c) {
    struct gasnet_coll_operation *o = coll_begin(c);
    if (!is_root(c))
        gas_schedule_send(o, c->root, TAG_DATA, c->src, c->bytes);
    else
        for (gasnet_node_t i = 0; i < c->team->size; i++)
            if (i == c->root)
                gas_schedule_copy(o, block(c->dst, c, i), c->src, c->bytes);
            else
                gas_schedule_receive(o, i, TAG_DATA, block(c->dst, c, i), c->bytes);
    return coll_finish(c, o);
}

/* ---- all-to-all operations ---- */

/* Sends to each rank its part: all of src, or a block of it. */
static gasnet_coll_handle_t all_to_all(const struct collective *c, bool blocks) {
    struct gasnet_coll_operation *o = coll_begin(c);
    gasnet_node_t size = c->team->size, rank = c->team->rank;
    for (gasnet_node_t i = 1; i < size; i++) {
        gasnet_node_t to = (rank + i) % size, from = (rank + size - i) % size;
        gas_schedule_receive(o, from, TAG_DATA, block(c->dst, c, from), c->bytes);
        gas_schedule_send(o, to, TAG_DATA, blocks ? block(c->src, c, to) : c->src, c->bytes);
    }
    gas_schedule_copy(o, block(c->dst, c, rank), blocks ? block(c->src, c, rank) : c->src, c->bytes);
    return coll_finish(c, o);
}

gasnet_coll_handle_t gas_coll_gather_all(const struct collective *c) {
    return all_to_all(c, false);
}

gasnet_coll_handle_t gas_coll_exchange(const struct collective *c) {
    return all_to_all(c, true);
}

/* ---- reduction ---- */

/* Leaf lock. Each image of the process passes the table to gasnet_coll_init; the last one counts. */
static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;
static gasnet_coll_fn_entry_t *functions; /* as given to gasnet_coll_init */
static size_t function_count;

void gasnet_coll_init(const gasnet_image_t images[], gasnet_image_t my_image, gasnet_coll_fn_entry_t fn_tbl[],
                      size_t fn_count, int init_flags) {
    const char *call = "gasnet_coll_init";
    (void)init_flags;
    gas_need(call, 0);
    gas_image_init(images, my_image);
    gasnet_coll_fn_entry_t *table = malloc(fn_count > 0 ? fn_count * sizeof *table : 1);
    if (!table)
        gas_fail(call, "no memory for a table of %zu functions", fn_count);
    if (fn_count > 0)
        memcpy(table, fn_tbl, fn_count * sizeof *table);
    pthread_mutex_lock(&functions_lock);
    free(functions);
    functions = table;
    function_count = fn_count;
    pthread_mutex_unlock(&functions_lock);
}
ALSO(void, coll_init,
     (const gasnet_image_t images[], gasnet_image_t my_image, gasnet_coll_fn_entry_t fn_tbl[],
      size_t fn_count, int init_flags));

struct reduction {
    gasnet_coll_fn_entry_t function;
    size_t elem_size, elem_count;
    int arg;
    char *sum, *other; /* the partial result, and the buffer for the next */
};

static void coll_add(struct gasnet_coll_operation *o, struct step *s) {
    struct reduction *r = s->arg;
    (void)o;
    r->function.fnptr(r->other, r->elem_count, r->sum, r->elem_count, s->at, r->elem_size,
                      (int)r->function.flags, r->arg);
    char *sum = r->other;
    r->other = r->sum;
    r->sum = sum;
}

/* The address of the partial result is not known before the steps run. */
static void coll_settle(struct gasnet_coll_operation *o, struct step *s) {
    struct reduction *r = s->arg;
    (void)o;
    memcpy(s->at, r->sum, r->elem_size * r->elem_count);
}

static gasnet_coll_fn_entry_t function_of(const char *call, gasnet_coll_fn_handle_t func) {
    pthread_mutex_lock(&functions_lock);
    if (func < 0 || (size_t)func >= function_count)
        gas_fail(call, "function %d is not one of the %zu given to gasnet_coll_init", (int)func,
                 function_count);
    gasnet_coll_fn_entry_t function = functions[func];
    pthread_mutex_unlock(&functions_lock);
    return function;
}

static struct reduction *reduction_new(struct gasnet_coll_operation *o, const struct collective *c,
                                       size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                       int arg) {
    struct reduction *r = gas_schedule_memory(o, sizeof *r);
    *r = (struct reduction){.function = function_of(c->call, func),
                            .elem_size = elem_size,
                            .elem_count = elem_count,
                            .arg = arg,
                            .sum = gas_schedule_memory(o, c->bytes),
                            .other = gas_schedule_memory(o, c->bytes)};
    return r;
}

/* Partial results are combined in the order of the ranks, counted from the root; from 0 if the function is not commutative. */
gasnet_coll_handle_t gas_coll_reduce(const struct collective *c, size_t elem_size, size_t elem_count,
                                     gasnet_coll_fn_handle_t func, int arg) {
    struct gasnet_coll_operation *o = coll_begin(c);
    struct reduction *r = reduction_new(o, c, elem_size, elem_count, func, arg);
    struct tree_reduction tree = {.add = coll_add, .settle = coll_settle, .arg = r, .bytes = c->bytes};
    gasnet_node_t first = r->function.flags & GASNET_COLL_NONCOMM ? 0 : c->root;
    gas_schedule_copy(o, r->sum, c->src, c->bytes);
    gas_tree_reduce_to(o, c->team, first, c->root, c->dst, &tree);
    return coll_finish(c, o);
}

/* Each rank receives the result of all ranks before it from its predecessor, and sends on to the next. */
gasnet_coll_handle_t gas_coll_scan(const struct collective *c, size_t elem_size, size_t elem_count,
                                   gasnet_coll_fn_handle_t func, int arg) {
    bool inclusive = c->flags & GASNET_COLL_INCLUSIVE_SCAN, exclusive = c->flags & GASNET_COLL_EXCLUSIVE_SCAN;
    struct gasnet_coll_operation *o = coll_begin(c);
    if (inclusive == exclusive)
        gas_fail(c->call, "give one of GASNET_COLL_INCLUSIVE_SCAN and GASNET_COLL_EXCLUSIVE_SCAN");
    struct reduction *r = reduction_new(o, c, elem_size, elem_count, func, arg);
    gasnet_node_t rank = c->team->rank;
    if (rank == 0)
        gas_schedule_copy(o, r->sum, c->src, c->bytes);
    else {
        char *own = gas_schedule_memory(o, c->bytes); /* src may be dst */
        gas_schedule_copy(o, own, c->src, c->bytes);
        gas_schedule_receive(o, rank - 1, TAG_DATA, r->sum, c->bytes);
        gas_schedule_next_round(o);
        if (exclusive)
            gas_schedule_run(o, coll_settle, r, c->dst);
        gas_schedule_run(o, coll_add, r, own);
    }
    if (inclusive)
        gas_schedule_run(o, coll_settle, r, c->dst);
    if (rank + 1 < c->team->size) {
        char *result = gas_schedule_memory(o, c->bytes);
        gas_schedule_run(o, coll_settle, r, result);
        gas_schedule_send(o, rank + 1, TAG_DATA, result, c->bytes);
    }
    return coll_finish(c, o);
}
