/* rma_verify.c: which hits of mode auto are verified, and the end of that mode.
 *
 *      hits of a window     1 ... 64    every one is verified
 *                           then        one in 2, in 4, ... up to one in 1000 on average; 16 of each stage
 *
 * A hit is verified like under HEARTH_CHECK: it is fetched as well, the program receives the fetched data, and the call that
 * completes the fetch compares. In a program for which acquire mode is correct, no verified hit differs: no other process may write what
 * a get reads before the two have synchronised, and the synchronisation would have invalidated the entry.
 *
 * A stale hit shows that this process learns of writes in a way that Hearth cannot see, or that the program has a race. Then the
 * window is transparent from now on, and so are all windows that this process creates later in mode auto. The hits of its other
 * windows in mode auto are verified as those of new ones. Other processes find out for themselves. */
#include "mpi/windows/caching/inflight/rma_verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "mpi/observe/callers.h"
#include "mpi/windows/caching/record/record.h"

enum { AT_FIRST = 64, OF_EACH_STAGE = 16, SELDOM = 1000, MOST_MESSAGES = 8 };

static bool is_turned; /* a hit of this process was stale */

enum mode rma_verify_enter(struct window *w) {
    static bool has_callers;
    log_debug(LOG_CACHE, "window %llu: mode auto begins as %s", (unsigned long long)w->serial,
              is_turned ? "transparent, as a hit was stale before" : "acquire");
    if (!has_callers && !rma_record_is_on)
        callers_start();
    has_callers = true;
    w->fresh.is_auto = !is_turned;
    w->fresh.verified = 0;
    w->fresh.recheck = 1;
    return is_turned ? MODE_TRANSPARENT : MODE_ACQUIRE;
}

uint64_t rma_verify_interval(const struct window *w) {
    uint64_t verified = w->fresh.verified,
             stage = verified < AT_FIRST ? 0 : 1 + (verified - AT_FIRST) / OF_EACH_STAGE;
    return stage < 10 ? 1u << stage : SELDOM;
}

void rma_verify_begin(struct op *op) {
    op->window->fresh.verified++;
    op->site = callers_here();
}

static void say_turned(const struct op *op, const unsigned char *cached, const unsigned char *fresh) {
    static unsigned said;
    const struct window *w = op->window;
    char name[MPI_MAX_OBJECT_NAME], at[512] = "an unknown place";
    uint64_t byte = 0;
    while (cached[byte] == fresh[byte])
        byte++;
    if (op->site) {
        struct caller_place place = callers_place(op->site);
        snprintf(at, sizeof at, "%.200s%s%.200s+0x%" PRIx64, place.function, *place.function ? " in " : "",
                 place.file, place.offset);
    }
    rma_window_name(w, name);
    log_print(said++ < MOST_MESSAGES ? LOG_WARN : LOG_INFO,
              "window %" PRIu64
              " '%s': a hit in mode auto was stale: transparent mode from now on; get of %" PRIu64
              " bytes from rank %d, byte %" PRIu64 ", made at %s: byte %" PRIu64
              " is 0x%02x in the cache and 0x%02x at the target; hits before it may have been stale "
              "unnoticed (verified: %" PRIu64 ")",
              w->serial, name, op->bytes, rma_op_rank(op), op->address - op->target->base, at, byte,
              cached[byte], fresh[byte], w->fresh.verified);
}

static void watch_closely(struct window *w, void *arg) {
    if (!w->fresh.is_auto)
        return;
    w->fresh.verified = 0;
    w->fresh.recheck = 1;
}

void rma_verify_turn(const struct op *op, const unsigned char *cached, const unsigned char *fresh) {
    struct window *w = op->window;
    if (!w->fresh.is_auto)
        return; /* another get of the same flush has turned it */
    say_turned(op, cached, fresh);
    rma_record_event(w, RECORD_STALE, op->site, 0);
    is_turned = true;
    w->fresh.is_auto = false;
    w->mode = MODE_TRANSPARENT;
    if (w->cache)
        cache_invalidate(w->cache);
    rma_window_each(watch_closely, NULL);
}
