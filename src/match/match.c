/* match.c: the calls of match.h. It is the only file that names all structures; post and arrive are in engine.h, as parts of each. */
#include "hearth/match.h"

#include <errno.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "match/fast/fast.h"
#include "match/lists/list.h"
#include "match/lists/lla.h"
#include "observe/live.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- opening and closing ---- */

/* The variant of fast.c for this processor. */
static const struct structure *fast_here(void) {
#if defined(__x86_64__)
    if (cpu_has_avx2())
        return &fast_avx2_structure;
#endif
    return &fast_structure;
}

static const struct structure *structure_of(enum match_structure structure) {
    switch (structure) {
    case MATCH_FAST:
        return fast_here();
    case MATCH_LLA:
        return &lla_structure;
    case MATCH_LIST:
        return &list_structure;
    }
    return NULL;
}

/* For hearth top. The number of arrived messages is the number of searches for receives: the sum of the histogram. */
static void match_show(const struct match *e) {
#define PLACE(n)  LIVE_FIELD(arrived, struct match, posted.lengths.counts[n])
#define PLACES(n) PLACE(n), PLACE(n + 1), PLACE(n + 2), PLACE(n + 3)
    static const struct live_field fields[] = {LIVE_FIELD(posted, struct match, posted.now),
                                               LIVE_FIELD(unexpected, struct match, unexpected.now),
                                               LIVE_FIELD(matched, struct match, matched),
                                               PLACES(0),
                                               PLACES(4),
                                               PLACES(8),
                                               PLACES(12),
                                               PLACES(16),
                                               PLACES(20),
                                               PLACES(24),
                                               PLACES(28)};
#undef PLACE
#undef PLACES
    live_show(e, fields, sizeof fields / sizeof *fields);
}

EXPORT int match_open(const struct match_options *options, struct match **engine) {
    static const struct match_options defaults;
    options = options ? options : &defaults;
    const struct structure *structure = structure_of(options->structure);
    struct supply supply = {.heated = options->heated};
    struct memory memory;
    if (!structure)
        return -EINVAL;
    size_t bytes = sizeof(struct match) + structure->bytes;
    int err = supply_take_shown(&supply, &memory, bytes, bytes);
    if (err)
        return err;
    struct match *e = memory.base;
    e->structure = structure;
    e->supply = supply;
    e->memory = memory;
    err = structure->open(e, options);
    if (err) {
        match_close(e);
        return err;
    }
    match_show(e);
    *engine = e;
    return 0;
}

EXPORT void match_close(struct match *e) {
    live_hide(e);
    e->structure->close(e);
    struct supply supply = e->supply;
    struct memory memory = e->memory;
    supply_return(&supply, &memory);
}

/* The number after "lla-", all digits, or 0. */
static unsigned parse_k(const char *digits) {
    unsigned k = 0;
    if (!strlen(digits) || strlen(digits) > 2 || strspn(digits, "0123456789") != strlen(digits) ||
        *digits == '0')
        return 0;
    for (; *digits; digits++)
        k = k * 10 + (unsigned)(*digits - '0');
    return k >= 2 && k <= 64 && !(k & (k - 1)) ? k : 0;
}

EXPORT int match_parse(const char *word, struct match_options *options) {
    struct match_options parsed = *options;
    parsed.k = 0;
    if (!strcmp(word, "fast"))
        parsed.structure = MATCH_FAST;
    else if (!strcmp(word, "list"))
        parsed.structure = MATCH_LIST;
    else if (!strncmp(word, "lla", 3))
        parsed.structure = MATCH_LLA;
    else
        return -EINVAL;
    if (parsed.structure == MATCH_LLA && word[3]) {
        parsed.k = word[3] == '-' ? parse_k(word + 4) : 0;
        if (!parsed.k)
            return -EINVAL;
    }
    *options = parsed;
    return 0;
}

/* ---- counters ---- */

static uint64_t searches(const struct tally *tally) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 32; i++)
        sum += tally->lengths.counts[i];
    return sum;
}

static void match_spread(const struct histogram *h, uint64_t *buckets) {
    for (unsigned bits = 0; bits < 32; bits++)
        buckets[bits < MATCH_BUCKETS ? bits : MATCH_BUCKETS - 1] += h->counts[31 - bits];
}

EXPORT void match_counters(const struct match *e, struct match_counters *c) {
    *c = (struct match_counters){
        .posts = searches(&e->unexpected) - e->probes,
        .arrivals = searches(&e->posted),
        .probes = e->probes,
        .cancels = e->cancels,
        .matched = e->matched,
        .unexpected = searches(&e->posted) - e->matched,
        .wildcards = e->wildcards,
        .posted_now = e->posted.now,
        .unexpected_now = e->unexpected.now,
        .posted_most = e->posted.most,
        .unexpected_most = e->unexpected.most,
        .bytes = e->supply.bytes,
    };
    match_spread(&e->depths, c->depth);
    match_spread(&e->posted.lengths, c->posted_length);
    match_spread(&e->unexpected.lengths, c->unexpected_length);
    c->depth[0] += c->posted_length[0] + c->unexpected_length[0];
}

/* ---- matching ---- */

EXPORT int match_post(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                      match_entry *entry, void **message) {
    return e->structure->post(e, source, tag, context, receive, entry, message);
}

EXPORT int match_arrive(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                        void **receive) {
    return e->structure->arrive(e, source, tag, context, message, receive);
}

static int match_find(struct match *e, struct key key, bool take, void **message) {
    uint32_t length = e->unexpected.now;
    bool found = length && e->structure->find_message(e, key, take, message);
    e->probes++;
    count_search(e, &e->unexpected, length);
    return found;
}

EXPORT int match_probe(struct match *e, int32_t source, int32_t tag, uint32_t context, void **message) {
    return match_find(e, key_of(source, tag, context), false, message);
}

EXPORT int match_take(struct match *e, int32_t source, int32_t tag, uint32_t context, void **message) {
    int found = match_find(e, key_of(source, tag, context), true, message);
    e->unexpected.now -= (unsigned)found;
    return found;
}

EXPORT void *match_cancel(struct match *e, match_entry entry) {
    void *receive = e->structure->cancel(e, entry);
    e->posted.now--;
    e->cancels++;
    return receive;
}

/* ---- emptying ---- */

EXPORT void *match_drain_messages(struct match *e, uint32_t context) {
    void *message = NULL;
    if (e->unexpected.now && e->structure->drain_message(e, context, &message))
        e->unexpected.now--;
    return message;
}

EXPORT void *match_drain_receives(struct match *e, uint32_t context) {
    void *receive = NULL;
    if (e->posted.now && e->structure->drain_receive(e, context, &receive))
        e->posted.now--;
    return receive;
}

EXPORT void match_check(const struct match *e) {
    e->structure->check(e);
    MATCH_CHECK(e->posted.now <= e->posted.most && e->unexpected.now <= e->unexpected.most);
    MATCH_CHECK(e->matched <= searches(&e->posted) && e->probes <= searches(&e->unexpected));
}
