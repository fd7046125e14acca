/* random.c: runs random puts, gets, sets, loads and stores by several threads of all ranks at once, and checks every
 * value.
 *
 * A thread that reads a word while others write must find the word's writer in it, and no version older than this
 * thread has seen before; in its own words it must find what it wrote. After a barrier every process replays what all
 * have done (random_plan.h), and all must read exactly that.
 *
 * Local memory of transfers is outside the segment or in a part of it that belongs to the thread.
 *
 *      gas_random [--seed N] [--seconds S] [--threads N] [--words N]
 * timeout: 120; quick: openmpi */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GASNET_PAR 1
#include <gasnet.h>

#include "random_plan.h"

enum {
    MOST_FLY = 64, /* pending gets with handles */
    SCRATCH = 4096 /* words of a thread in its segment */
};

static int rank, threads = 2;
static double seconds = 4;
static char **segments;
static pthread_barrier_t meeting;
static _Atomic uint64_t done, failures;

/* ---- a thread ---- */

static uint64_t *word_at(int r, size_t i) {
    return (uint64_t *)(void *)segments[r] + i;
}

/* A pending get. */
struct flight {
    gasnet_handle_t handle;
    int from;
    size_t first, count;
    uint64_t *to;
    uint64_t floors[MOST_READ];
    uint64_t own[MOST_READ]; /* the destination: `to` points here */
};

struct thread {
    int number; /* in its process */
    struct writer me;
    struct writer *others; /* the writers whose actions it replays */
    int other_count;
    uint64_t *seen; /* [rank][word]: the newest version that it has read */
    struct flight *flights;
    int flying;
    struct flight implicit[8];
    int implicit_count;
    gasnet_handle_t puts[MOST_FLY];
    int put_count;
    uint64_t *memory; /* sources of bulk puts, kept until these are synchronised */
    size_t used, near_used;
    uint64_t round;
};

static uint64_t *scratch(struct thread *t) {
    return word_at(rank, words + 64 + (size_t)t->number * SCRATCH);
}

static void complain(struct thread *t, const char *how, int r, size_t i, uint64_t value, uint64_t wanted) {
    if (atomic_fetch_add(&failures, 1) < 8)
        fprintf(stderr,
                "writer %d, round %llu: %s: word %zu of node %d, of writer %d, is %016llx, not version %llu "
                "or newer (seed "
                "%llu)\n",
                t->me.number, (unsigned long long)t->round, how, i, r, writer_of(i),
                (unsigned long long)value, (unsigned long long)wanted, (unsigned long long)seed);
}

/* GASNet guarantees no atomic words: a word that another thread writes meanwhile may be read in parts, as by a copy
 * byte by byte. Each byte must then belong to a version about as new as the others, and not too old. */
static bool is_mixture(size_t i, uint64_t value, uint64_t oldest) {
    enum { NEAR = 4 };
    uint64_t low = value & (is_set(i) ? 0xffu : 0xffffffffu), first = low > NEAR ? low - NEAR : 0;
    first = first < oldest ? oldest : first;
    for (int byte = 0; byte < 64; byte += 8) {
        bool found = false;
        for (uint64_t v = first; v <= low + NEAR && !found; v++)
            found = (uint8_t)(value >> byte) == (uint8_t)(value_of(i, v) >> byte);
        if (!found)
            return false;
    }
    return true;
}

static void check_word(struct thread *t, const char *how, int r, size_t i, uint64_t value, uint64_t floor) {
    uint64_t version;
    size_t e = entry(r, i);
    if (!version_in(i, value, &version) && writer_of(i) != t->me.number && is_mixture(i, value, floor))
        return;
    if (!version_in(i, value, &version) || version < floor ||
        (writer_of(i) == t->me.number && version > table[e])) {
        complain(t, how, r, i, value, floor);
        return;
    }
    if (version > t->seen[e])
        t->seen[e] = version;
}

/* The oldest version allowed. For a word of its own that is not being written, only the last version is. */
static uint64_t floor_of(const struct thread *t, int r, size_t i) {
    size_t e = entry(r, i);
    return writer_of(i) == t->me.number && busy[e] != t->me.phase ? table[e] : t->seen[e];
}

static void set_floors(struct thread *t, struct flight *f) {
    for (size_t i = 0; i < f->count; i++)
        f->floors[i] = floor_of(t, f->from, f->first + i);
}

static void check_flight(struct thread *t, const char *how, struct flight *f) {
    for (size_t i = 0; i < f->count; i++)
        check_word(t, how, f->from, f->first + i, f->to[i], f->floors[i]);
}

/* ---- synchronisation ---- */

static void sync_gets(struct thread *t, unsigned way) {
    gasnet_handle_t handles[MOST_FLY];
    for (int i = 0; i < t->flying; i++)
        handles[i] = t->flights[i].handle;
    size_t count = (size_t)t->flying;
    if (way % 5 == 0)
        gasnet_wait_syncnb_all(handles, count);
    else if (way % 5 == 1)
        while (gasnet_try_syncnb_all(handles, count) != GASNET_OK)
            ;
    else if (way % 5 == 2)
        for (size_t i = 0; i < count; i++)
            gasnet_wait_syncnb_some(handles, count);
    else if (way % 5 == 3)
        gasnet_wait_syncnb_all_nopoll(handles, count);
    else
        for (size_t i = 0; i < count; i++)
            while (gasnet_try_syncnb(handles[i]) != GASNET_OK)
                ;
    for (int i = 0; i < t->flying; i++)
        check_flight(t, "get with a handle", &t->flights[i]);
    t->flying = 0;
    if (way % 3 == 0)
        gasnet_wait_syncnbi_gets();
    else
        while (gasnet_try_syncnbi_gets() != GASNET_OK)
            ;
    for (int i = 0; i < t->implicit_count; i++)
        check_flight(t, "implicit get", &t->implicit[i]);
    t->implicit_count = 0;
}

static void sync_puts(struct thread *t, unsigned way) {
    if (way % 2 == 0)
        gasnet_wait_syncnb_all(t->puts, (size_t)t->put_count);
    else
        while (gasnet_try_syncnb_all(t->puts, (size_t)t->put_count) != GASNET_OK)
            ;
    t->put_count = 0;
    if (way % 3 == 0)
        gasnet_wait_syncnbi_all();
    else
        gasnet_wait_syncnbi_puts();
}

/* Called when the plan no longer counts any word of this writer as being written. Gets that are still pending may return
 * earlier versions, according to the floors that were set when they began. */
static void sync_all(struct thread *t, unsigned way) {
    sync_puts(t, way);
    sync_gets(t, way);
    t->used = t->near_used = 0;
}

/* ---- writing ---- */

/* Local memory that does not change until the next synchronisation. */
static uint64_t *source_of(struct thread *t, const struct op *o) {
    size_t *used = o->near_local ? &t->near_used : &t->used;
    uint64_t *base = o->near_local ? scratch(t) : t->memory;
    if (*used + o->count > SCRATCH / 2)
        return NULL;
    *used += o->count;
    return base + *used - o->count;
}

static void keep_handle(struct thread *t, gasnet_handle_t h) {
    if (t->put_count == MOST_FLY) {
        gasnet_wait_syncnb(h);
        return;
    }
    t->puts[t->put_count++] = h;
}

static void write_words(struct thread *t, const struct op *o) {
    gasnet_node_t to = (gasnet_node_t)o->to;
    uint64_t *dest = word_at(o->to, o->first), *from = source_of(t, o), spare[BLOCK];
    size_t bytes = o->count * sizeof *dest;
    bool bulk = from && o->way % 2 == 0;
    if (!from)
        from = spare;
    for (size_t i = 0; i < o->count; i++)
        from[i] = value_of(o->first + i, table[entry(o->to, o->first + i)]);
    switch (o->way / 2 % 4) {
    case 0:
        (bulk ? gasnet_put_bulk : gasnet_put)(to, dest, from, bytes);
        break;
    case 1:
        keep_handle(t,
                    bulk ? gasnet_put_nb_bulk(to, dest, from, bytes) : gasnet_put_nb(to, dest, from, bytes));
        break;
    case 2:
        (bulk ? gasnet_put_nbi_bulk : gasnet_put_nbi)(to, dest, from, bytes);
        break;
    default:
        gasnet_begin_nbi_accessregion();
        gasnet_put_nbi(to, dest, from, bytes / 16 * 8);
        gasnet_put_nbi(to, (char *)dest + bytes / 16 * 8, (char *)from + bytes / 16 * 8,
                       bytes - bytes / 16 * 8);
        keep_handle(t, gasnet_end_nbi_accessregion());
    }
    if (!bulk)
        memset(from, 0xee, bytes); /* the source is free again */
}

static void write_word(struct thread *t, const struct op *o) {
    gasnet_node_t to = (gasnet_node_t)o->to;
    uint64_t *dest = word_at(o->to, o->first), value = value_of(o->first, table[entry(o->to, o->first)]);
    switch (o->way % 5) {
    case 0:
        gasnet_put_val(to, dest, value, sizeof value);
        break;
    case 1:
        keep_handle(t, gasnet_put_nb_val(to, dest, value, sizeof value));
        break;
    case 2:
        gasnet_put_nbi_val(to, dest, value, sizeof value);
        break;
    case 3:
        if (o->to == rank) {
            __atomic_store_n(dest, value, __ATOMIC_RELAXED);
            break;
        } /* fall through */
    default:
        write_words(t, o);
    }
}

static void write_set(struct thread *t, const struct op *o) {
    gasnet_node_t to = (gasnet_node_t)o->to;
    void *dest = word_at(o->to, o->first);
    int value = (int)table[entry(o->to, o->first)];
    size_t bytes = o->count * 8;
    if (o->way % 3 == 0)
        gasnet_memset(to, dest, value, bytes);
    else if (o->way % 3 == 1)
        keep_handle(t, gasnet_memset_nb(to, dest, value, bytes));
    else
        gasnet_memset_nbi(to, dest, value, bytes);
}

/* ---- reading ---- */

static struct flight *flight_of(struct thread *t, struct flight *f, const struct op *o) {
    f->from = o->to;
    f->first = o->first;
    f->count = o->count;
    f->to = f->own;
    f->handle = GASNET_INVALID_HANDLE;
    set_floors(t, f);
    return f;
}

static void read_value(struct thread *t, const struct op *o) {
    gasnet_node_t from = (gasnet_node_t)o->to;
    uint64_t floor = floor_of(t, o->to, o->first), value;
    const void *at = word_at(o->to, o->first);
    if (o->way % 2 == 0)
        value = gasnet_get_val(from, at, 8);
    else
        value = gasnet_wait_syncnb_valget(gasnet_get_nb_val(from, at, 8));
    check_word(t, "value", o->to, o->first, value, floor);
}

static void load_words(struct thread *t, const struct op *o) {
    for (size_t i = o->first; i < o->first + o->count; i++) {
        uint64_t floor = floor_of(t, rank, i);
        check_word(t, "load", rank, i, __atomic_load_n(word_at(rank, i), __ATOMIC_RELAXED), floor);
    }
}

static void read_now(struct thread *t, const struct op *o) {
    static _Thread_local struct flight f;
    flight_of(t, &f, o);
    if (o->near_local)
        f.to = scratch(t) + SCRATCH / 2;
    gasnet_get(f.to, (gasnet_node_t)o->to, word_at(o->to, o->first), o->count * 8);
    check_flight(t, "get", &f);
}

static void read_words(struct thread *t, const struct op *o) {
    gasnet_node_t from = (gasnet_node_t)o->to;
    if (o->count == 1 && o->way % 2 == 0)
        read_value(t, o);
    else if (o->to == rank && o->way % 3 == 0)
        load_words(t, o);
    else if (o->way % 4 == 0 && t->flying < MOST_FLY) {
        struct flight *f = flight_of(t, &t->flights[t->flying++], o);
        f->handle = gasnet_get_nb(f->to, from, word_at(o->to, o->first), o->count * 8);
    } else if (o->way % 4 == 1 && t->implicit_count < 8) {
        struct flight *f = flight_of(t, &t->implicit[t->implicit_count++], o);
        gasnet_get_nbi_bulk(f->to, from, word_at(o->to, o->first), o->count * 8);
    } else
        read_now(t, o);
}

/* ---- rounds ---- */

static void execute(struct thread *t, const struct op *o) {
    if (o->sync_first)
        sync_all(t, o->way);
    switch (o->what) {
    case WRITE_WORD:
        write_word(t, o);
        break;
    case WRITE_BLOCK:
        write_words(t, o);
        break;
    case WRITE_SET:
        write_set(t, o);
        break;
    case READ:
        read_words(t, o);
        break;
    default:
        sync_all(t, o->way);
    }
}

/* Named, so that ranks that do different things are detected. */
static void barrier(int id) {
    gasnet_barrier_notify(id, 0);
    if (gasnet_barrier_wait(id, 0) == GASNET_OK)
        return;
    atomic_fetch_add(&failures, 1);
    fprintf(stderr, "node %d: the others are elsewhere than at barrier %d (seed %llu)\n", rank, id,
            (unsigned long long)seed);
}

static void meet(void) {
    static int met; /* written only by the thread that arrives last */
    if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
        barrier(++met & 0xffffff);
    pthread_barrier_wait(&meeting);
}

/* Checks for exactly the last version written, in some words or in all. */
static void check_all(struct thread *t, struct dice *d, bool all) {
    uint64_t got[MOST_READ];
    for (int r = 0; r < ranks; r++) {
        size_t first = all ? 0 : below(d, words), end = all ? words : first + MOST_READ;
        for (end = end < words ? end : words; first < end; first += MOST_READ) {
            size_t count = end - first < MOST_READ ? end - first : MOST_READ;
            if (r == rank && below(d, 2) == 0)
                for (size_t i = 0; i < count; i++)
                    got[i] = __atomic_load_n(word_at(r, first + i), __ATOMIC_RELAXED);
            else
                gasnet_get_bulk(got, (gasnet_node_t)r, word_at(r, first), count * 8);
            for (size_t i = 0; i < count; i++)
                if (got[i] != value_of(first + i, table[entry(r, first + i)]))
                    complain(t, "after a barrier", r, first + i, got[i], table[entry(r, first + i)]);
        }
    }
}

/* Their versions are bytes, and soon used up. */
static void begin_sets_anew(struct thread *t) {
    for (int r = 0; r < ranks; r++) {
        size_t e = entry(r, mixed + blocks);
        memset(t->seen + e, 0, sets * sizeof *t->seen);
        if (t->number == 0)
            memset(table + e, 0, sets * sizeof *table);
    }
    if (t->number == 0)
        gasnet_memset((gasnet_node_t)rank, word_at(rank, mixed + blocks), 0, sets * 8);
    meet();
}

static void play(struct thread *t) {
    struct op o;
    begin_plan(&t->me, t->round);
    for (int i = 0; i < OPS; i++) {
        plan_next(&t->me, &o);
        execute(t, &o);
    }
    t->me.phase++;
    sync_all(t, o.way);
    atomic_fetch_add_explicit(&done, OPS, memory_order_relaxed);
    meet();
    for (int i = 0; i < t->other_count; i++)
        replay(&t->others[i], t->round);
    pthread_barrier_wait(&meeting); /* the table now holds the data of all threads */
    struct dice d = {mix(seed + t->round) + (uint64_t)t->me.number};
    check_all(t, &d, t->round % 32 == 0);
    meet();
    if (t->round % 64 == 63)
        begin_sets_anew(t);
}

/* The first thread decides whether there is another round. */
static bool go_on(struct thread *t, double until) {
    if (rank == 0 && t->number == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        bool go = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 < until;
        for (int r = 0; r < ranks; r++)
            gasnet_put_val((gasnet_node_t)r, word_at(r, words), go ? t->round + 1 : UINT64_MAX, 8);
    }
    meet();
    bool go = gasnet_get_val((gasnet_node_t)rank, word_at(rank, words), 8) == t->round + 1;
    meet();
    return go;
}

static void *run(void *arg) {
    struct thread *t = arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    do
        play(t);
    while (go_on(t, (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds) && ++t->round);
    return NULL;
}

/* ---- beginning ---- */

static void *need(size_t count, size_t bytes) {
    void *p = calloc(count, bytes);
    if (!p)
        abort();
    return p;
}

static void thread_open(struct thread *t, int number) {
    *t = (struct thread){.number = number, .me = {.number = rank * threads + number, .phase = 1}};
    t->seen = need((size_t)ranks * words, sizeof *t->seen);
    t->flights = need(MOST_FLY, sizeof *t->flights);
    t->memory = need(SCRATCH, sizeof *t->memory);
    t->others = need((size_t)writers, sizeof *t->others);
    for (int w = number; w < writers; w += threads)
        if (w / threads != rank)
            t->others[t->other_count++] = (struct writer){.number = w, .phase = 1};
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--threads") == 0)
            threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--words") == 0)
            mixed = strtoull(argv[i + 1], NULL, 0);
        else {
            fprintf(stderr, "usage: %s [--seed N] [--seconds S] [--threads N] [--words N]\n", argv[0]);
            exit(2);
        }
    }
}

static void attach(void) {
    writers = ranks * threads;
    mixed = (mixed / (size_t)writers + 1) * (size_t)writers;
    blocks = (size_t)writers * BLOCK * 8;
    sets = (size_t)writers * SET * 8;
    words = mixed + blocks + sets;
    uintptr_t bytes = (words + 64 + (size_t)threads * SCRATCH) * 8;
    bytes = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
    GASNET_SAFE(gasnet_attach(NULL, 0, bytes, 0));
    gasnet_seginfo_t *info = need((size_t)ranks, sizeof *info);
    GASNET_SAFE(gasnet_getSegmentInfo(info, ranks));
    segments = need((size_t)ranks, sizeof *segments);
    for (int r = 0; r < ranks; r++)
        segments[r] = info[r].addr;
    free(info);
    table = need((size_t)ranks * words, sizeof *table);
    busy = need((size_t)ranks * words, sizeof *busy);
    gasnet_memset((gasnet_node_t)rank, segments[rank], 0, bytes);
}

/* All ranks use the seed of the first. */
static void agree_on_seed(void) {
    if (seed == 0)
        seed = (uint64_t)time(NULL);
    barrier(-1);
    if (rank == 0)
        for (int r = 0; r < ranks; r++)
            gasnet_put_val((gasnet_node_t)r, word_at(r, words), seed, 8);
    barrier(-2);
    seed = gasnet_get_val((gasnet_node_t)rank, word_at(rank, words), 8);
}

int main(int argc, char **argv) {
    GASNET_SAFE(gasnet_init(&argc, &argv));
    read_options(argc, argv);
    ranks = (int)gasnet_nodes();
    rank = (int)gasnet_mynode();
    attach();
    agree_on_seed();
    pthread_barrier_init(&meeting, NULL, (unsigned)threads);
    struct thread *all = need((size_t)threads, sizeof *all);
    pthread_t *ids = need((size_t)threads, sizeof *ids);
    for (int i = 0; i < threads; i++)
        thread_open(&all[i], i);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, run, &all[i]) != 0)
            abort();
    run(&all[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    if (rank == 0)
        printf("%llu rounds, %llu operations of this rank, %llu failed here; %d ranks, %d threads each, seed "
               "%llu\n",
               (unsigned long long)all[0].round + 1, (unsigned long long)atomic_load(&done),
               (unsigned long long)atomic_load(&failures), ranks, threads, (unsigned long long)seed);
    fflush(stdout);
    barrier(-3); /* a rank that ends early would end all others */
    gasnet_exit(atomic_load(&failures) > 0);
}
