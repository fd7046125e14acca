/* spin.h: whether to look again and again for a while before sleeping.
 *
 * Spinning pays where the answer comes within that time, on another core. Where the one who would answer needs this
 * core, it only keeps him from it. So it is tried, and left off while it does not pay; now and then it is tried again. */
#ifndef HEARTH_NET_SPIN_H
#define HEARTH_NET_SPIN_H

#include <stdbool.h>

struct spin {
    int worth; /* 0: it has not paid lately */
    unsigned passed_over;
};

enum { SPIN_BEST = 8, SPIN_AGAIN = 32 /* waits until it is tried again */ };

/* At the beginning of a wait. */
static inline bool spin_is_wanted(struct spin *s) {
    return s->worth > 0 || ++s->passed_over % SPIN_AGAIN == 0;
}

/* At its end, if it was wanted: whether something came meanwhile. */
static inline void spin_has_paid(struct spin *s, bool paid) {
    s->worth += paid ? 2 : -1;
    if (s->worth > SPIN_BEST)
        s->worth = SPIN_BEST;
    if (s->worth < 0)
        s->worth = 0;
}

#endif
