/* heater_affinity.c: whether the heater runs, on which core, and how much it touches.
 *
 * Without a spare core, the heater would cost the program more than it gains. Unless forced, it therefore runs only
 * on an idle core, and checks every second whether the core is still idle (cores.c). It touches at most half of the
 * cache: more would evict the program's data, and then its own. */
#include "heater/heater_affinity.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "heater/cores.h"
#include "heater/heater.h"

#define UNKNOWN_CACHE ((uint64_t)1 << 20) /* assumed size if it is unknown */
#define IDLE          0.25                /* a core with less load than this is idle */

static struct cores cores;              /* used by the heater's thread, or by heater_preview */
static _Atomic unsigned neighbours = 1; /* relaxed: no other data depends on it */
static _Atomic int caller = -1;         /* core of the last caller of heater_add; relaxed, likewise */

/* Held while the cores are detected. hwloc has internal locks: a child forked meanwhile would find them locked
 * forever. */
static pthread_mutex_t looking_up = PTHREAD_MUTEX_INITIALIZER;

void heater_affinity_before_fork(void) {
    pthread_mutex_lock(&looking_up);
}

void heater_affinity_after_fork(void) {
    pthread_mutex_unlock(&looking_up);
}

static unsigned wanted_level(void) {
    static const unsigned levels[] = {[HEATER_L2] = 2, [HEATER_L3] = 3, [HEATER_ANY] = 0};
    return levels[settings_get()->heater_level];
}

int heater_affinity_open(void) {
    pthread_mutex_lock(&looking_up);
    int err = cores_open(&cores, wanted_level());
    pthread_mutex_unlock(&looking_up);
    return err;
}

unsigned heater_affinity_level(void) {
    return cores.level;
}

uint64_t heater_affinity_most(void) {
    uint64_t most = settings_get()->heater_max;
    if (most)
        return most;
    most = cores.cache_bytes ? cores.cache_bytes : UNKNOWN_CACHE;
    return most / 2 / heater_affinity_neighbours();
}

/* Share of a core that this thread used since the last call. */
static double own_load(struct heater_place *p) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    uint64_t used = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, when = clock_ns();
    double share = p->when ? (double)(used - p->used) / (double)(when - p->when) : 0;
    p->used = used;
    p->when = when;
    return share;
}

static int choose_core(struct heater_place *p) {
    struct cores_wish wish = {.neighbour = atomic_load_explicit(&caller, memory_order_relaxed),
                              .any_cache = settings_get()->heater_level == HEATER_ANY,
                              .most_load = p->insist ? 1 : IDLE,
                              .own = p->core,
                              .own_load = own_load(p)};
    double needed = heater_affinity_neighbours() + 1.0;
    return p->insist || cores.count >= needed ? cores_choose(&cores, &wish) : -1;
}

static void settle_on(int core) {
    cpu_set_t one;
    if (core < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof one, &one))
        log_debug(LOG_HEATER, "cannot be bound to core %d", core);
}

bool heater_affinity_choose(struct heater_place *p) {
    int next = p->insist || cores_look(&cores) ? choose_core(p) : p->core;
    if (next != p->core) {
        log_debug(LOG_HEATER, "%s core %d", next < 0 ? "leaves" : "moves to", next < 0 ? p->core : next);
        settle_on(next);
        p->core = next;
    }
    return p->insist || p->core >= 0;
}

void heater_affinity_note_caller(void) {
    atomic_store_explicit(&caller, sched_getcpu(), memory_order_relaxed);
}

void heater_neighbours(unsigned processes) {
    atomic_store_explicit(&neighbours, processes ? processes : 1, memory_order_relaxed);
}

unsigned heater_affinity_neighbours(void) {
    return atomic_load_explicit(&neighbours, memory_order_relaxed);
}

int heater_preview(unsigned processes) {
    struct heater_place place = {.insist = settings_get()->heater == HEATER_ON, .core = -1};
    struct timespec a_while = {.tv_nsec = 200000000};
    if (settings_get()->heater == HEATER_OFF)
        return -1;
    heater_neighbours(processes);
    heater_affinity_note_caller();
    if (cores_open(&cores, wanted_level()))
        return -1;
    cores_look(&cores);
    nanosleep(&a_while, NULL);
    cores_look(&cores);
    return choose_core(&place);
}
