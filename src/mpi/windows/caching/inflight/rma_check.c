/* rma_check.c: compares hits with the data at the target and reports differences.
 *
 * To show which event a program may have missed, the calls that it made are kept in a ring. Each entry stores the
 * number of calls at the time it was filled. */
#include "mpi/windows/caching/inflight/rma_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"

enum { RING = 256, PLACES = 256, NAMED = 8 };

struct called {
    const char *name;
    uint64_t ns;
};

struct place {
    uint64_t window, address;
    int target;
};

bool rma_check_is_on;
static struct called ring[RING];
static _Atomic uint32_t calls;
static struct place places[PLACES]; /* locations already reported */
static unsigned place_count;
static uint64_t compared, stale;

void rma_check_note_slow(const char *call) {
    uint32_t n = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    ring[n % RING] = (struct called){.name = call, .ns = clock_ns()};
}

uint32_t rma_check_calls(void) {
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

static bool is_reported(const struct op *op) {
    for (unsigned i = 0; i < place_count; i++)
        if (places[i].window == op->window->serial && places[i].address == op->address &&
            places[i].target == rma_op_rank(op))
            return true;
    if (place_count == PLACES) /* limit on log lines; further ones are only counted */
        return true;
    places[place_count++] =
        (struct place){.window = op->window->serial, .address = op->address, .target = rma_op_rank(op)};
    return false;
}

/* The names of the calls since number `first`, newest first, each once. */
static void list_calls(uint32_t first, char *text, size_t room) {
    const char *named[NAMED];
    unsigned count = 0;
    uint32_t end = rma_check_calls(), from = end - first > RING ? end - RING : first;
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = end; i > from && count < NAMED; i--) {
        const char *name = ring[(i - 1) % RING].name;
        bool seen = false;
        for (unsigned k = 0; k < count; k++)
            seen |= named[k] == name;
        if (seen || n >= room)
            continue;
        named[count++] = name;
        n += (size_t)snprintf(text + n, room - n, "%s%s", n ? ", " : "", name);
    }
}

static double seconds_since(uint32_t call) {
    uint32_t end = rma_check_calls();
    if (end - call >= RING || call >= end)
        return -1; /* too long ago, or no call since */
    return (double)(clock_ns() - ring[call % RING].ns) * 1e-9;
}

static void check_report(const struct op *op, const unsigned char *cached, const unsigned char *fresh) {
    char name[MPI_MAX_OBJECT_NAME] = "", since[256], age[32] = "before the last calls on record";
    int length;
    uint64_t at = 0;
    while (cached[at] == fresh[at])
        at++;
    host_Win_get_name(op->window->handle, name, &length);
    list_calls(op->filled, since, sizeof since);
    double seconds = seconds_since(op->filled);
    if (seconds >= 0)
        snprintf(age, sizeof age, "%.6f s ago", seconds);
    log_error("stale hit: get of %" PRIu64 " bytes from rank %d, byte %" PRIu64 " of window %" PRIu64
              " '%s': byte %" PRIu64
              " is 0x%02x in the cache and 0x%02x at the target; cached %s; called since: %s",
              op->bytes, rma_op_rank(op), op->address - op->target->base, op->window->serial, name, at,
              cached[at], fresh[at], age, *since ? since : "nothing");
}

void rma_check_compare(const struct op *op, const void *cached, const void *fresh) {
    compared++;
    if (!memcmp(cached, fresh, op->bytes))
        return;
    stale++;
    if (!is_reported(op))
        check_report(op, cached, fresh);
}

void rma_check_summary(void) {
    if (!settings_get()->check)
        return;
    if (stale)
        log_error("HEARTH_CHECK: %" PRIu64 " of %" PRIu64
                  " hits were stale: this mode is not safe for this program",
                  stale, compared);
    else
        log_warn("HEARTH_CHECK: none of %" PRIu64 " hits was stale", compared);
}
