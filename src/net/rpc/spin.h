/* spin.h: adaptive spinning before sleep.
 *
 * Spinning pays if the answer comes soon, from another core. If the responder needs this core, spinning starves the
 * responder. So the policy is learned: spinning stops while it does not pay, and is tried again now and then. */
#ifndef HEARTH_NET_SPIN_H
#define HEARTH_NET_SPIN_H

#include <stdbool.h>
#include <stdint.h>

struct spin {
    int score; /* 0: it has not paid lately */
    unsigned passed_over;
};

enum { SPIN_BEST = 8, SPIN_AGAIN = 32 /* waits until it is tried again */ };

/* Added to the time to spin while the peer copies or computes with so many bytes. */
static inline uint64_t net_spin_for_bytes(uint64_t bytes) {
    enum { BYTES_PER_NS = 4, MOST_BYTES = 65536 };
    return (bytes < MOST_BYTES ? bytes : MOST_BYTES) / BYTES_PER_NS;
}

/* At the beginning of a wait. */
static inline bool net_spin_is_wanted(struct spin *s) {
    return s->score > 0 || ++s->passed_over % SPIN_AGAIN == 0;
}

/* At the end of a wait that spun. `paid`: something arrived while spinning. */
static inline void net_spin_has_paid(struct spin *s, bool paid) {
    s->score += paid ? 2 : -1;
    if (s->score > SPIN_BEST)
        s->score = SPIN_BEST;
    if (s->score < 0)
        s->score = 0;
}

#endif
