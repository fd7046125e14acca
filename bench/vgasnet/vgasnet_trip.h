/* vgasnet_trip.h: handlers of round trips: a short request and its reply, and a message that ends the program. */
#ifndef HEARTH_BENCH_VGASNET_TRIP_H
#define HEARTH_BENCH_VGASNET_TRIP_H

#include "vgasnet_nodes.h"

enum { WANTED = 130, GIVEN, OVER };

static volatile int given, over; /* replies, and messages that end the program, so far */

static void on_wanted(gasnet_token_t token) {
    gasnet_AMReplyShort0(token, GIVEN);
}

static void on_given(gasnet_token_t token) {
    (void)token;
    given++;
}

static void on_over(gasnet_token_t token) {
    (void)token;
    over++;
}

static gasnet_handlerentry_t handlers[] = {
    {WANTED, (void (*)())on_wanted}, {GIVEN, (void (*)())on_given}, {OVER, (void (*)())on_over}};

#endif
