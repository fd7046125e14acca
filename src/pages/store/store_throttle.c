/* store_throttle.c: bandwidth emulation. Each request occupies the emulated disk for its bytes / rate, sequentially in
 * the order of submission; its completion is delayed until then. The real disk works concurrently, so the observed time
 * is the maximum of both, not their sum.
 *
 * Sleeping then needs two descriptors, the engine's and a timer: both are behind one epoll. */
#include "pages/store/store_throttle.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "pages/store/store_disk.h"

enum { SECOND = 1000000000 };

static int throttle_watch(struct throttle *t, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(t->descriptor, EPOLL_CTL_ADD, descriptor, &event) ? -errno : 0;
}

static int open_descriptors(struct throttle *t, int engine) {
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    t->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (t->timer < 0 || t->descriptor < 0)
        return -EMFILE;
    int err = throttle_watch(t, engine);
    return err ? err : throttle_watch(t, t->timer);
}

int pages_throttle_open(struct throttle *t, uint64_t rate, int engine) {
    *t = (struct throttle){.rate = rate, .timer = -1, .descriptor = -1};
    int err = rate ? open_descriptors(t, engine) : 0;
    if (err)
        pages_throttle_close(t);
    return err;
}

void pages_throttle_close(struct throttle *t) {
    if (t->timer >= 0)
        close(t->timer);
    if (t->descriptor >= 0)
        close(t->descriptor);
    t->timer = t->descriptor = -1;
}

void pages_throttle_begin(struct throttle *t, struct store_request *r) {
    uint64_t now = clock_ns();
    double cost = (double)r->bytes * SECOND / (double)t->rate;
    t->idle_from = (t->idle_from > now ? t->idle_from : now) + (uint64_t)cost;
    r->due = t->idle_from;
}

void pages_throttle_hold(struct throttle *t, struct store_request *r) {
    struct store_request **at = &t->held;
    while (*at && (*at)->due <= r->due)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
}

struct store_request *pages_throttle_take(struct throttle *t) {
    struct store_request *r = t->held;
    if (!r || r->due > clock_ns())
        return NULL;
    t->held = r->next;
    return r;
}

/* A clock of 0 stops the timer. Either way an expired timer is no longer readable. */
static bool set_timer(struct throttle *t, uint64_t clock) {
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(clock / SECOND), .tv_nsec = (long)(clock % SECOND)}};
    t->timer_set = clock != 0;
    return !timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

bool pages_throttle_arm(struct throttle *t) {
    if (!t->held)
        return !t->timer_set || set_timer(t, 0);
    return t->held->due > clock_ns() && set_timer(t, t->held->due);
}
