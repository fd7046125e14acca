/* random_plan.h: what each writer of random.c does in a round, and what each word then holds.
 *
 * Each thread of the job is a writer, and each word of each segment has one writer, so that its possible contents are
 * known:
 *
 *      mixed    words of all writers in turn: they share pages and cache lines on purpose
 *      blocks   some hundred consecutive words of one writer: for long puts
 *      sets     the same, written by memset alone: a word is eight times the same byte
 *
 * A word holds its writer and the number of its version. What a writer does depends only on the seed, the round and
 * its number, so that every process can replay it. */
#ifndef HEARTH_TEST_GAS_RANDOM_PLAN_H
#define HEARTH_TEST_GAS_RANDOM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOCK = 300, /* consecutive words of a writer */
    SET = 40,    /* the same in the part for memset */
    OPS = 120,   /* of a writer in a round */
    MOST_READ = 700
};

static int ranks, writers;
static uint64_t seed;
/* Of a segment: words in each part, and all words that are checked. */
static size_t mixed = 6000, blocks, sets, words;
/* [rank][word]: the version that each word has, or will have when its writer has synchronised. */
static uint64_t *table;
static uint32_t *busy; /* [rank][word]: being written, if it equals the phase of its writer */

/* ---- numbers ---- */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct dice {
    uint64_t state;
};

static uint64_t below(struct dice *d, uint64_t n) {
    d->state += 0x9e3779b97f4a7c15u;
    return mix(d->state) % n;
}

/* ---- words ---- */

static size_t entry(int r, size_t i) {
    return (size_t)r * words + i;
}

static int writer_of(size_t i) {
    if (i < mixed)
        return (int)(i % (size_t)writers);
    if (i < mixed + blocks)
        return (int)((i - mixed) / BLOCK % (size_t)writers);
    return (int)((i - mixed - blocks) / SET % (size_t)writers);
}

static bool is_set(size_t i) {
    return i >= mixed + blocks;
}

/* The contents of a word in a version; 0 at first. Every byte changes with each version, so that a missing byte is
 * detected; versions of a word of the sets are bytes. */
static uint64_t value_of(size_t i, uint64_t version) {
    uint64_t writer = (uint64_t)writer_of(i) + 1;
    if (version == 0)
        return 0;
    return is_set(i) ? version * 0x0101010101010101u
                     : mix(i * 0x9e3779b97f4a7c15u + version) << 48 | writer << 32 | (version & 0xffffffffu);
}

static bool version_in(size_t i, uint64_t value, uint64_t *version) {
    *version = value & (is_set(i) ? 0xffu : 0xffffffffu);
    return value == value_of(i, *version);
}

/* ---- actions of a writer ---- */

enum what { WRITE_WORD, WRITE_BLOCK, WRITE_SET, READ, SYNC, WHATS };

struct op {
    enum what what;
    int to;
    size_t first, count;
    unsigned way;    /* which of the calls */
    bool near_local; /* local memory is in the segment */
    bool sync_first; /* the words to write are still being written */
};

struct writer {
    int number;
    struct dice dice;
    uint32_t phase; /* counts synchronisations of writes */
};

static void begin_plan(struct writer *w, uint64_t round) {
    w->dice.state = mix(seed ^ mix(round * 1000003 + (uint64_t)w->number));
}

/* Chooses words of a writer in the blocks or sets: a part of one of its rows. */
static void choose_row(struct writer *w, size_t base, size_t part, size_t row, struct op *o) {
    size_t rows = part / row / (size_t)writers;
    size_t at = base + (below(&w->dice, rows) * (size_t)writers + (size_t)w->number) * row;
    size_t skip = below(&w->dice, row);
    o->first = at + skip;
    o->count = 1 + below(&w->dice, row - skip);
}

static bool is_busy(const struct writer *w, const struct op *o) {
    for (size_t i = 0; i < o->count; i++)
        if (busy[entry(o->to, o->first + i)] == w->phase)
            return true;
    return false;
}

/* Sets the versions that will be written. */
static void claim(struct writer *w, struct op *o) {
    o->sync_first = is_busy(w, o);
    w->phase += o->sync_first;
    uint64_t highest = 0;
    for (size_t i = 0; i < o->count; i++) {
        size_t e = entry(o->to, o->first + i);
        table[e]++;
        busy[e] = w->phase;
        highest = table[e] > highest ? table[e] : highest;
    }
    for (size_t i = 0; o->what == WRITE_SET && i < o->count; i++)
        table[entry(o->to, o->first + i)] = highest; /* one byte for all of them */
}

static bool has_room(const struct op *o) {
    for (size_t i = 0; i < o->count; i++)
        if (table[entry(o->to, o->first + i)] == 255)
            return false;
    return true;
}

static void plan_next(struct writer *w, struct op *o) {
    struct dice *d = &w->dice;
    static const enum what mixture[] = {WRITE_WORD, WRITE_WORD, WRITE_WORD, WRITE_BLOCK, WRITE_SET,
                                        READ,       READ,       READ,       READ,        SYNC};
    *o = (struct op){.what = mixture[below(d, sizeof mixture / sizeof mixture[0])],
                     .to = (int)below(d, (uint64_t)ranks),
                     .way = (unsigned)below(d, 840),
                     .near_local = below(d, 3) == 0,
                     .count = 1};
    if (o->what == WRITE_WORD)
        o->first = below(d, mixed / (size_t)writers) * (size_t)writers + (size_t)w->number;
    else if (o->what == WRITE_BLOCK)
        choose_row(w, mixed, blocks, BLOCK, o);
    else if (o->what == WRITE_SET)
        choose_row(w, mixed + blocks, sets, SET, o);
    else if (o->what == READ) {
        o->first = below(d, words);
        o->count = 1 + below(d, below(d, 8) == 0 ? MOST_READ : 12);
        o->count = o->count < words - o->first ? o->count : words - o->first;
    }
    if (o->what == WRITE_SET && !has_room(o))
        o->what = SYNC;
    if (o->what == SYNC)
        w->phase++;
    else if (o->what != READ)
        claim(w, o);
}

/* Repeats the actions, as far as others can see them. */
static void replay(struct writer *w, uint64_t round) {
    struct op o;
    begin_plan(w, round);
    for (int i = 0; i < OPS; i++)
        plan_next(w, &o);
    w->phase++;
}

#endif
