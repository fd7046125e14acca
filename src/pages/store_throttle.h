/* store_throttle.h: plays a disk of a given bandwidth on a faster one. */
#ifndef HEARTH_PAGES_STORE_THROTTLE_H
#define HEARTH_PAGES_STORE_THROTTLE_H

#include "pages/store_engine.h"

struct throttle {
    uint64_t rate;              /* bytes per second; 0: everything passes */
    uint64_t idle_from;         /* clock at which the disk that is played has done all it was given */
    struct store_request *held; /* by `due` */
    int timer, descriptor;      /* -1 if everything passes */
    bool timer_set;
};

/* `engine`: the descriptor to sleep on beside our own clock. */
int throttle_open(struct throttle *t, uint64_t rate, int engine);
void throttle_close(struct throttle *t);

/* A request begins; it is done; one whose time has come, or NULL. */
void throttle_begin(struct throttle *t, struct store_request *r);
void throttle_hold(struct throttle *t, struct store_request *r);
struct store_request *throttle_take(struct throttle *t);

/* False if one is due now. */
bool throttle_arm(struct throttle *t);

#endif
