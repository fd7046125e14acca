/* engine.h: the internals of a matching engine. The structures differ in how they store the two queues; the semantics
 * of the calls and the counters are the same for all. */
#ifndef HEARTH_MATCH_ENGINE_H
#define HEARTH_MATCH_ENGINE_H

#include "base/compiler.h"
#include "base/memory.h"
#include "hearth/match.h"
#include "match/engine/key.h"
#include "match/engine/supply.h"

/* For functions on the path of every message: inlined into their callers. */
#define HOT  static inline __attribute__((always_inline))
#define COLD __attribute__((noinline))

/* The operations of a structure, which match.c chooses. Each search sets engine->looked. Only post and arrive update the
 * counters: they are engine_post and engine_arrive, instantiated with the structure's own functions. */
struct structure {
    size_t bytes; /* of its state */
    int (*open)(struct match *engine, const struct match_options *options);
    void (*close)(struct match *engine);
    int (*post)(struct match *engine, int32_t source, int32_t tag, uint32_t context, void *receive,
                match_entry *entry, void **message);
    int (*arrive)(struct match *engine, int32_t source, int32_t tag, uint32_t context, void *message,
                  void **receive);
    /* Finds the first match; it stays queued unless `take`. Called only if the queue is not empty. */
    bool (*find_message)(struct match *engine, struct key key, bool take, void **message);
    void *(*cancel)(struct match *engine, match_entry entry);
    /* Takes out the first of the context. Called only if the queue is not empty. */
    bool (*drain_receive)(struct match *engine, uint32_t context, void **receive);
    bool (*drain_message)(struct match *engine, uint32_t context, void **message);
    void (*check)(const struct match *engine);
};

/* Values by their number of bits, from the highest to the lowest: index n is for 31 - n bits. */
struct histogram {
    uint64_t counts[32];
};

struct tally { /* of one queue. Lengths are below 2^31, as the numbers of a pool are */
    uint32_t now;
    struct histogram lengths; /* when it was searched; their sum is the number of searches */
    uint32_t most; /* not adjacent to `now`: the compiler must not load both as one word, see key.h */
};

struct match {
    const struct structure *structure;
    uint32_t looked; /* entries examined by the last search */
    struct tally posted, unexpected;
    struct histogram depths; /* of searches in non-empty queues */
    uint64_t probes, matched, wildcards, cancels;
    struct supply supply;
    struct memory memory;              /* the memory that holds this structure */
    _Alignas(CACHE_LINE) char state[]; /* of the structure */
};

/* ---- counting ---- */

HOT void histogram_add(struct histogram *h, uint32_t value) {
    h->counts[__builtin_clz(2 * value + 1)]++; /* the argument is never 0 */
}

/* Counts a search in a queue of this length. For an empty one, the most common case, this is one increment;
 * match_counters adds the zero depth. */
HOT void count_search(struct match *e, struct tally *tally, uint32_t length) {
    histogram_add(&tally->lengths, length);
    if (length)
        histogram_add(&e->depths, e->looked);
}

HOT void count_more(struct tally *tally) {
    if (++tally->now > tally->most)
        tally->most = tally->now;
}

/* ---- the two hot calls ---- */

typedef bool find_message(struct match *engine, struct key key, bool take, void **message);
typedef bool take_receive(struct match *engine, struct key key, void **receive);
/* Appends to the queue. Returns 0 or -ENOMEM. */
typedef int queue_receive(struct match *engine, struct key key, void *receive, match_entry *entry);
typedef int queue_message(struct match *engine, struct key key, void *message);

HOT int engine_post(struct match *e, struct key key, void *receive, match_entry *entry, void **message,
                    find_message *find, queue_receive *queue) {
    uint32_t length = e->unexpected.now;
    bool found = length && find(e, key, true, message);
    if (found) {
        e->unexpected.now--;
    } else {
        int err = queue(e, key, receive, entry);
        if (UNLIKELY(err))
            return err;
        count_more(&e->posted);
    }
    count_search(e, &e->unexpected, length);
    if (UNLIKELY(key_is_wild(key)))
        e->wildcards++;
    return found;
}

HOT int engine_arrive(struct match *e, struct key key, void *message, void **receive, take_receive *take,
                      queue_message *queue) {
    uint32_t length = e->posted.now;
    bool found = length && take(e, key, receive);
    if (found) {
        e->posted.now--;
        e->matched++;
    } else {
        int err = queue(e, key, message);
        if (UNLIKELY(err))
            return err;
        count_more(&e->unexpected);
    }
    count_search(e, &e->posted, length);
    return found;
}

/* ---- for the checks of the structures ---- */

#define MATCH_CHECK(condition)                                                                               \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            match_broken(__FILE__, __LINE__, #condition);                                                    \
    } while (0)
_Noreturn void match_broken(const char *file, int line, const char *what);

#endif
