/* p2p_count.c: message statistics per rank. Writes nothing if HEARTH_MATCH was off. */
#include "mpi/messages/transport/p2p_count.h"

#include <inttypes.h>

#include "base/random.h"
#include "mpi/observe/records.h"
#include "mpi/messages/transport/arrive.h"

_Alignas(LIVE_ALONE) union p2p_counted p2p_counted;
struct p2p_search p2p_count_search = {.left = 1, .distance = 1};

struct count_record {
    int rank, used;
    struct p2p_counters sent;
    struct match_counters matched;
    double search_seconds;
};

static struct count_record own, *records;
static int record_count;

/* Draws the distance to the next sample, 1 to 63, because programs repeat themselves. */
void p2p_count_search_end_slow(uint64_t begin) {
    static uint64_t drawn;
    struct p2p_search *s = &p2p_count_search;
    s->ticks += clock_ticks_since(begin) * s->distance;
    s->left = s->distance = 1 + (uint32_t)(random_mix(++drawn) % 63);
}

void p2p_count_keep(void) {
    own.used = 1;
    own.sent = p2p_counted.of;
    match_counters(p2p_engine, &own.matched);
    own.search_seconds = (double)p2p_count_search.ticks * clock_ns_per_tick() / 1e9;
}

void p2p_count_collect(int rank, int ranks) {
    own.rank = rank;
    records = &own;
    record_count = own.used;
    if (ranks == 1 || !own.used) /* all ranks use it or none */
        return;
    struct count_record *all = records_gather(&own, sizeof own, rank, ranks);
    if (all) {
        records = all;
        record_count = ranks;
    }
}

/* An upper bound for the search depth of this share of the searches: the smallest power of two that they did not
 * reach. */
static uint64_t bound(const uint64_t histogram[MATCH_BUCKETS], double share) {
    uint64_t all = 0, so_far = 0;
    for (int b = 0; b < MATCH_BUCKETS; b++)
        all += histogram[b];
    for (int b = 0; b < MATCH_BUCKETS; b++) {
        so_far += histogram[b];
        if (all && (double)so_far >= share * (double)all)
            return (uint64_t)1 << b;
    }
    return 0;
}

/* Each bucket counts as its middle. */
static double mean(const uint64_t histogram[MATCH_BUCKETS]) {
    double sum = 0, all = 0;
    for (int b = 0; b < MATCH_BUCKETS; b++) {
        double middle = b < 2 ? b : 0.75 * (double)((uint64_t)1 << b);
        sum += middle * (double)histogram[b];
        all += (double)histogram[b];
    }
    return all > 0 ? sum / all : 0;
}

static void json_histogram(struct json *j, const char *name, const uint64_t histogram[MATCH_BUCKETS]) {
    json_open(j, name, '[');
    for (int b = 0; b < MATCH_BUCKETS; b++)
        json_count(j, NULL, histogram[b]);
    json_close(j, ']');
}

/* clang-format off */
#define SENT(X)                                                                                              \
    X(node) X(far) X(self) X(node_bytes) X(far_bytes) X(self_bytes) X(rendezvous) X(pulled) X(delayed) X(reordered) X(batched)
#define MATCHED(X)                                                                                           \
    X(posts) X(arrivals) X(probes) X(cancels) X(matched) X(unexpected) X(wildcards) X(posted_most)           \
    X(unexpected_most) X(bytes)
/* clang-format on */

void p2p_count_json(struct json *j) {
    if (!record_count)
        return;
    json_open(j, "messages", '[');
    for (int i = 0; i < record_count; i++) {
        const struct count_record *r = &records[i];
        json_open(j, NULL, '{');
        json_count(j, "rank", (uint64_t)r->rank);
#define X(field) json_count(j, #field, r->sent.field);
        SENT(X)
#undef X
#define X(field) json_count(j, #field, r->matched.field);
        MATCHED(X)
#undef X
        json_number(j, "search_seconds", r->search_seconds);
        json_number(j, "depth_mean", mean(r->matched.depth));
        json_count(j, "depth_below_50", bound(r->matched.depth, 0.5));
        json_count(j, "depth_below_99", bound(r->matched.depth, 0.99));
        json_histogram(j, "depth", r->matched.depth);
        json_histogram(j, "posted_length", r->matched.posted_length);
        json_histogram(j, "unexpected_length", r->matched.unexpected_length);
        json_close(j, '}');
    }
    json_close(j, ']');
}
