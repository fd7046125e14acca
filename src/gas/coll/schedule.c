/* schedule.c: collective operations under way.
 *
 * An operation is a list of steps, built by the call: sends, receives, and functions that copy or compute. Any thread
 * that polls executes them in order, one thread at a time. A send may run handlers of other messages, and a reduction runs
 * functions of the program. The executing thread therefore holds no lock except `drive`, which keeps other threads from
 * executing steps; they only try to take it.
 *
 * Data is sent in internal active messages:
 *
 *      team, number of the operation in the team, tag, ranks of sender and receiver, offset; at most AM_MEDIUM bytes of data
 *
 * The handler finds the operation and the matching receive, and copies the data to its destination. Data that arrives
 * before this rank has called the operation is kept until then. Operations and early data are in a hash table with chains,
 * and are found by team, number and rank: several members of a team may be on one node. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gas/am/am.h"
#include "gas/coll/coll.h"

enum { CHAINS = 256 };

struct block { /* of memory */
    struct block *next;
    _Alignas(16) char data[];
};

struct gasnet_coll_operation {
    const char *call;
    gasnet_team_handle_t team;
    uint64_t team_id;
    uint32_t number;
    gasnet_node_t rank; /* in the team */
    struct step *steps;
    size_t count, room, at; /* `at`: the next step */
    struct block *memory;
    struct gasnet_coll_operation *chain;           /* for lookup by handlers */
    struct gasnet_coll_operation *next, *previous; /* operations under way, in the order of their calls */
    /* Released by the thread that did the last step, which does not touch the operation afterwards. The thread that frees
     * the operation acquires it in gas_schedule_is_complete. */
    _Atomic bool complete;
};

/* Data that arrived before the call. */
struct early {
    struct early *next;
    uint64_t team_id, offset;
    uint32_t number, tag;
    gasnet_node_t peer, rank; /* of the sender, and of the receiver */
    size_t bytes;
    char data[];
};

/* Leaf lock: protects all below, and the state of receives. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Held by the thread that executes steps. Other threads try it, and never wait for it. Taken before `lock`. */
static pthread_mutex_t drive = PTHREAD_MUTEX_INITIALIZER;
static struct chain {
    struct gasnet_coll_operation *operations;
    struct early *early, **early_end;
} chains[CHAINS];
static struct gasnet_coll_operation *first, *last;

static struct chain *chain_of(uint64_t team_id, uint32_t number) {
    return &chains[(team_id * 31 + (team_id >> 32) + number) % CHAINS];
}

/* ---- building ---- */

struct gasnet_coll_operation *gas_schedule_new(const char *call, gasnet_team_handle_t team) {
    gas_need(call, 0);
    gas_need_free(call);
    struct gasnet_coll_operation *o = calloc(1, sizeof *o);
    if (!o)
        gas_fail(call, "no memory for a collective operation");
    o->call = call;
    o->team = team;
    o->team_id = team->id;
    o->rank = team->rank;
    return o;
}

void *gas_schedule_memory(struct gasnet_coll_operation *o, size_t bytes) {
    struct block *b = malloc(sizeof *b + bytes);
    if (!b)
        gas_fail(o->call, "no memory for %zu bytes of a collective operation", bytes);
    b->next = o->memory;
    o->memory = b;
    return b->data;
}

static struct step *add_step(struct gasnet_coll_operation *o, enum step_kind kind) {
    if (o->count == o->room) {
        o->room = o->room > 0 ? 2 * o->room : 16;
        struct step *steps = realloc(o->steps, o->room * sizeof *steps);
        if (!steps)
            gas_fail(o->call, "no memory for %zu steps of a collective operation", o->room);
        o->steps = steps;
    }
    struct step *s = &o->steps[o->count++];
    *s = (struct step){.kind = kind};
    return s;
}

void gas_schedule_send(struct gasnet_coll_operation *o, gasnet_node_t to, uint32_t tag, const void *at,
                       size_t bytes) {
    struct step *s = add_step(o, STEP_SEND);
    s->peer = to;
    s->tag = tag;
    s->at = (char *)at;
    s->bytes = bytes;
}

void gas_schedule_receive(struct gasnet_coll_operation *o, gasnet_node_t from, uint32_t tag, void *at,
                          size_t bytes) {
    struct step *s = add_step(o, STEP_RECEIVE);
    s->peer = from;
    s->tag = tag;
    s->at = at;
    s->bytes = bytes;
}

void gas_schedule_next_round(struct gasnet_coll_operation *o) {
    add_step(o, STEP_ROUND);
}

void gas_schedule_run(struct gasnet_coll_operation *o,
                      void (*run)(struct gasnet_coll_operation *, struct step *), void *arg, void *at) {
    struct step *s = add_step(o, STEP_RUN);
    s->run = run;
    s->arg = arg;
    s->at = at;
}

static void schedule_copy_data(struct gasnet_coll_operation *o, struct step *s) {
    (void)o;
    if (s->at != s->arg)
        memmove(s->at, s->arg, s->bytes);
}

void gas_schedule_copy(struct gasnet_coll_operation *o, void *to, const void *from, size_t bytes) {
    gas_schedule_run(o, schedule_copy_data, (void *)from, to);
    o->steps[o->count - 1].bytes = bytes;
}

/* Dissemination barrier: in round i each rank hears from the rank 2^i before it; after log2(size) rounds it has heard of
 * all. */
void gas_schedule_barrier(struct gasnet_coll_operation *o, uint32_t tag) {
    gasnet_node_t size = o->team->size, rank = o->team->rank;
    gas_schedule_next_round(o);
    for (uint64_t distance = 1; distance < size; distance *= 2, tag++) {
        gas_schedule_send(o, (gasnet_node_t)((rank + distance) % size), tag, NULL, 0);
        gas_schedule_receive(o, (gasnet_node_t)((rank + size - distance) % size), tag, NULL, 0);
        gas_schedule_next_round(o);
    }
}

/* ---- receiving ---- */

static struct step *receive_of(struct gasnet_coll_operation *o, gasnet_node_t peer, uint32_t tag) {
    for (size_t i = 0; i < o->count; i++) {
        struct step *s = &o->steps[i];
        if (s->kind == STEP_RECEIVE && s->peer == peer && s->tag == tag && !s->complete)
            return s;
    }
    return NULL;
}

static void schedule_deliver(struct gasnet_coll_operation *o, gasnet_node_t peer, uint32_t tag,
                             uint64_t offset, const void *data, size_t bytes) {
    struct step *s = receive_of(o, peer, tag);
    if (!s || offset > s->bytes || bytes > s->bytes - offset)
        gas_fail(o->call,
                 "node %u makes a different call in operation %u of this team: all its members must make the "
                 "same calls, in the same order, with the same sizes",
                 peer < o->team->size ? o->team->nodes[peer] : peer, o->number);
    if (bytes > 0)
        memcpy(s->at + offset, data, bytes);
    s->arrived += bytes;
    s->complete = s->arrived == s->bytes;
}

static bool is_for(const struct early *e, const struct gasnet_coll_operation *o) {
    return e->team_id == o->team_id && e->number == o->number && e->rank == o->rank;
}

static struct gasnet_coll_operation *schedule_find(struct chain *c, const struct early *e) {
    struct gasnet_coll_operation *o = c->operations;
    while (o && !is_for(e, o))
        o = o->chain;
    return o;
}

static void schedule_keep(struct chain *c, const struct early *what, const void *data) {
    struct early *e = malloc(sizeof *e + what->bytes);
    if (!e)
        gas_fail("collective operation", "no memory for %zu bytes that arrived before this rank's call",
                 what->bytes);
    *e = *what;
    e->next = NULL;
    memcpy(e->data, data, what->bytes);
    if (!c->early_end)
        c->early_end = &c->early;
    *c->early_end = e;
    c->early_end = &e->next;
}

static uint64_t wide(gasnet_handlerarg_t low, gasnet_handlerarg_t high) {
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

/* The handler of AM_COLL. It copies under `lock`: resolving a page fault takes none of the locks of this file. */
static void schedule_arrived(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t team_low,
                             gasnet_handlerarg_t team_high, gasnet_handlerarg_t number,
                             gasnet_handlerarg_t tag, gasnet_handlerarg_t peer, gasnet_handlerarg_t rank,
                             gasnet_handlerarg_t offset_low, gasnet_handlerarg_t offset_high) {
    struct early e = {.team_id = wide(team_low, team_high),
                      .number = (uint32_t)number,
                      .tag = (uint32_t)tag,
                      .peer = (gasnet_node_t)peer,
                      .rank = (gasnet_node_t)rank,
                      .offset = wide(offset_low, offset_high),
                      .bytes = bytes};
    struct chain *c = chain_of(e.team_id, e.number);
    (void)token;
    pthread_mutex_lock(&lock);
    struct gasnet_coll_operation *o = schedule_find(c, &e);
    if (o)
        schedule_deliver(o, e.peer, e.tag, e.offset, data, bytes);
    else
        schedule_keep(c, &e, data);
    pthread_mutex_unlock(&lock);
}

static void deliver_early(struct chain *c, struct gasnet_coll_operation *o) {
    struct early **at = &c->early;
    while (*at) {
        struct early *e = *at;
        if (!is_for(e, o)) {
            at = &e->next;
            continue;
        }
        schedule_deliver(o, e->peer, e->tag, e->offset, e->data, e->bytes);
        *at = e->next;
        free(e);
    }
    c->early_end = at;
}

/* ---- execution ---- */

static void send(struct gasnet_coll_operation *o, const struct step *s) {
    size_t sent = 0;
    do {
        size_t bytes = s->bytes - sent < AM_MEDIUM ? s->bytes - sent : AM_MEDIUM;
        int32_t args[] = {(int32_t)o->team_id, (int32_t)(o->team_id >> 32),    (int32_t)o->number,
                          (int32_t)s->tag,     (int32_t)o->team->rank,         (int32_t)s->peer,
                          (int32_t)sent,       (int32_t)((uint64_t)sent >> 32)};
        gas_am_send_data((int)o->team->nodes[s->peer], AM_COLL, s->at + sent, bytes, 8, args);
        sent += bytes;
    } while (sent < s->bytes);
}

/* Whether all receives before this step are complete. */
static bool have_arrived(struct gasnet_coll_operation *o, size_t count) {
    bool all = true;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && all; i++)
        all = o->steps[i].kind != STEP_RECEIVE || o->steps[i].complete;
    pthread_mutex_unlock(&lock);
    return all;
}

/* Advances as far as possible; returns whether the operation is complete. */
static bool schedule_advance(struct gasnet_coll_operation *o, bool *happened) {
    for (; o->at < o->count; o->at++) {
        struct step *s = &o->steps[o->at];
        if (s->kind == STEP_SEND)
            send(o, s);
        else if (s->kind == STEP_RUN)
            s->run(o, s);
        else if (s->kind == STEP_ROUND && !have_arrived(o, o->at))
            return false;
        *happened = true;
    }
    return have_arrived(o, o->count);
}

static void unlink_operation(struct gasnet_coll_operation *o) {
    struct gasnet_coll_operation **at = &chain_of(o->team_id, o->number)->operations;
    pthread_mutex_lock(&lock);
    while (*at != o)
        at = &(*at)->chain;
    *at = o->chain;
    *(o->previous ? &o->previous->next : &first) = o->next;
    *(o->next ? &o->next->previous : &last) = o->previous;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&gas_tended.open, 1, memory_order_relaxed);
    atomic_store_explicit(&o->complete, true, memory_order_release); /* from now on its owner may free it */
}

static struct gasnet_coll_operation *schedule_next_of(struct gasnet_coll_operation *o) {
    pthread_mutex_lock(&lock);
    struct gasnet_coll_operation *next = o ? o->next : first;
    pthread_mutex_unlock(&lock);
    return next;
}

/* A send may poll and so re-enter this function. This thread then holds `drive` already, and the inner call does nothing. */
static bool coll_tend(void) {
    bool happened = false;
    if (pthread_mutex_trylock(&drive) != 0)
        return false;
    for (struct gasnet_coll_operation *o = schedule_next_of(NULL), *next; o; o = next) {
        bool over = schedule_advance(o, &happened);
        next = schedule_next_of(o);
        if (over)
            unlink_operation(o);
    }
    pthread_mutex_unlock(&drive);
    return happened;
}

/* ---- start and completion ---- */

gasnet_coll_handle_t gas_schedule_start(struct gasnet_coll_operation *o) {
    pthread_mutex_lock(&lock);
    o->number = o->team->next++;
    struct chain *c = chain_of(o->team_id, o->number);
    o->chain = c->operations;
    c->operations = o;
    o->previous = last;
    *(last ? &last->next : &first) = o;
    last = o;
    deliver_early(c, o);
    atomic_fetch_add_explicit(&gas_tended.open, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    coll_tend();
    return o;
}

bool gas_schedule_is_complete(gasnet_coll_handle_t o) {
    return atomic_load_explicit(&o->complete, memory_order_acquire);
}

void gas_schedule_free(gasnet_coll_handle_t o) {
    while (o->memory) {
        struct block *b = o->memory;
        o->memory = b->next;
        free(b);
    }
    free(o->steps);
    free(o);
}

bool gas_schedule_try(gasnet_coll_handle_t o) {
    if (!gas_schedule_is_complete(o))
        return false;
    gas_schedule_free(o);
    return true;
}

void gas_schedule_wait(gasnet_coll_handle_t o) {
    unsigned round = 0;
    while (!gas_schedule_is_complete(o))
        if (gas_poll())
            round = 0;
        else
            gas_poll_rest(&round);
    gas_schedule_free(o);
}

void gas_coll_open(void) {
    gas_tended.collectives = coll_tend;
    gas_am_register_own(AM_COLL, (am_handler *)schedule_arrived, 8, GEX_FLAG_AM_MEDIUM);
    gas_team_open();
}
