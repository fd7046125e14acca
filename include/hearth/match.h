/* match.h: message matching by MPI's rules, in queues that stay in the CPU's caches. No MPI is needed.
 *
 * An engine holds two queues: posted receives that wait for a message, and unexpected messages that wait for a
 * receive. A receive and a message match if their contexts are equal and source and tag are equal or wildcards of the
 * receive. Of several posted receives the one posted first takes a message. Of several waiting messages the one that
 * arrived first is taken.
 *
 * An engine is not thread-safe. A thread of Hearth's own may read its memory at any time to keep it in the caches, so
 * the memory is not released before match_close. */
#ifndef HEARTH_MATCH_H
#define HEARTH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MATCH_ANY_SOURCE (-1)
#define MATCH_ANY_TAG    (-1)

enum match_structure {
    MATCH_FAST, /* arrays of 64 with fingerprints, hash bins above a few hundred entries */
    MATCH_LLA,  /* linked list of arrays of K entries */
    MATCH_LIST  /* a heap node per entry */
};

struct match_options {
    enum match_structure structure;
    unsigned k;  /* MATCH_LLA: receives per array, 2, 4, 8 ... 64; 1.5 times as many messages. 0: 8 */
    bool heated; /* the heater keeps its memory in the CPU's caches (hearth.h) */
};

struct match;

/* A posted receive, for match_cancel; invalid once it is matched or cancelled. */
typedef uint64_t match_entry;

/* Opens an engine, and closes it. options may be NULL: the defaults, all zero. Returns 0, -EINVAL, or -ENOMEM.
 * Closing discards what is still queued. */
int match_open(const struct match_options *options, struct match **engine);
void match_close(struct match *engine);

/* Parses a word into options: "fast", "list", "lla" or "lla-K". Returns -EINVAL if it is none of these. */
int match_parse(const char *word, struct match_options *options);

/* Posts a receive. Returns 1 if a message matches: the first such message was taken, and *message is the pointer it
 * was queued with. Returns 0 if none does: the receive is queued with `receive`, and *entry names it. Returns -ENOMEM
 * if memory ran out: nothing was changed. */
int match_post(struct match *engine, int32_t source, int32_t tag, uint32_t context, void *receive,
               match_entry *entry, void **message);

/* Delivers a message to the engine; source and tag are no wildcards. Returns 1 if a receive matches: the first such
 * receive was taken, and *receive is the pointer it was posted with. Returns 0 if none does: the message is queued.
 * Returns -ENOMEM if memory ran out: nothing was changed. */
int match_arrive(struct match *engine, int32_t source, int32_t tag, uint32_t context, void *message,
                 void **receive);

/* Looks for a message that such a receive would take. Returns 1 and *message, or 0. The message stays in the queue. */
int match_probe(struct match *engine, int32_t source, int32_t tag, uint32_t context, void **message);

/* Takes the message that match_probe would find out of the queue. Returns 1 and *message, or 0. */
int match_take(struct match *engine, int32_t source, int32_t tag, uint32_t context, void **message);

/* Takes a receive out of the queue, in constant time. It must be queued. Returns the pointer it was posted with. */
void *match_cancel(struct match *engine, match_entry entry);

/* Takes out the first message, or posted receive, of the context; NULL if there is none. For emptying a context. */
void *match_drain_messages(struct match *engine, uint32_t context);
void *match_drain_receives(struct match *engine, uint32_t context);

#define MATCH_BUCKETS 24 /* of the histograms: bucket b counts values below 2^b, and not below 2^(b-1) */

struct match_counters {
    uint64_t posts, arrivals, probes, cancels;
    uint64_t matched;    /* arrivals that matched a posted receive */
    uint64_t unexpected; /* arrivals that matched none */
    uint64_t wildcards;  /* posts with a wildcard */
    uint64_t posted_now, unexpected_now, posted_most, unexpected_most; /* lengths of the queues */
    uint64_t depth[MATCH_BUCKETS];                                     /* entries examined per search */
    uint64_t posted_length[MATCH_BUCKETS];     /* of the searched queue, at each arrival */
    uint64_t unexpected_length[MATCH_BUCKETS]; /* likewise, at each post and probe */
    uint64_t bytes;                            /* of memory */
};

/* Reports the activity of an engine so far, and the length of its queues, in struct match_counters. */
void match_counters(const struct match *engine, struct match_counters *counters);

/* Verifies all invariants, and aborts with an error line if one does not hold. */
void match_check(const struct match *engine);

#ifdef __cplusplus
}
#endif
#endif
