/* store_throttle.h: emulates a disk of a given bandwidth on a faster one. */
#ifndef HEARTH_PAGES_STORE_THROTTLE_H
#define HEARTH_PAGES_STORE_THROTTLE_H

#include "pages/store/store_engine.h"

struct throttle {
    uint64_t rate;              /* bytes per second; 0: unlimited */
    uint64_t idle_from;         /* clock at which the emulated disk has completed everything submitted */
    struct store_request *held; /* sorted by `due` */
    int timer, descriptor;      /* -1 if unlimited */
    bool timer_set;
};

/* `engine`: the descriptor to wait for in addition to our own timer. */
int pages_throttle_open(struct throttle *t, uint64_t rate, int engine);
void pages_throttle_close(struct throttle *t);

/* A request starts; it has completed; take a request that is due, or NULL. */
void pages_throttle_begin(struct throttle *t, struct store_request *r);
void pages_throttle_hold(struct throttle *t, struct store_request *r);
struct store_request *pages_throttle_take(struct throttle *t);

/* False if one is due now. */
bool pages_throttle_arm(struct throttle *t);

#endif
