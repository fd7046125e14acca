/* sparse.c: where in the address space to map what all processes of a node shall see at the same
 * address.
 *
 *      0     1/8                     5/8 2/3                    1 of 2^39, 2^47, 2^48 ... bytes
 *      |--+---|-----------------------|---|-+------------------|
 *      program      hardly anything     program         libraries, mmap, stack
 *      (fixed)                          (movable), heap
 *
 * Linux puts things at the ends and at two thirds, on x86-64 and on aarch64 alike, in each process at
 * other random distances. The middle is empty. How large the space is, a trial shows: a mapping at an
 * address of the system's choice lies in the upper half of it (with an unlimited stack, at a third:
 * the space then seems half as large, and its middle is still empty).
 *
 * The first pick follows what was taken last, so that the many mappings of a job share page tables and
 * lie in one zone, which was picked at random once. Who leads different groups of processes picks
 * different zones. Every other pick after that is random in the middle, the rest is random below the
 * trial, first near it, and then less: where an emulator keeps the middle for itself, that is where it
 * lets programs map. ThreadSanitizer keeps all but some gigabytes around the trial, and ends the
 * program when something else is tried: under it, only these are. */
#include "net/sparse.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/base.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1 /* as GCC says it */
#endif
#endif
#ifdef __SANITIZE_THREAD__
enum { NEAR_ONLY = true, NEAR_MOST = 31 };
#else
enum { NEAR_ONLY = false, NEAR_MOST = 62 };
#endif

static _Atomic uint64_t following; /* behind what was taken last; 0: nothing yet */

static _Atomic uint64_t forced_base;
static _Atomic unsigned forced_picks;

void sparse_force(uint64_t base, unsigned picks) {
    atomic_store(&forced_base, base);
    atomic_store(&forced_picks, picks);
}

static bool is_forced(void) {
    unsigned left = atomic_load(&forced_picks);
    if (left)
        atomic_store(&forced_picks, left - 1);
    return left > 0;
}

static uint64_t alignment(uint64_t bytes) {
    enum { HUGE = 2 << 20 };
    return bytes >= HUGE ? HUGE : (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Where the system would put it, or 0. */
static uint64_t trial(uint64_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    if (at == MAP_FAILED)
        return 0;
    munmap(at, bytes);
    return (uint64_t)(uintptr_t)at;
}

static uint64_t below(uint64_t n) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = random_mix(clock_ns() + (uint64_t)getpid());
    return n ? number % n : 0;
}

/* 0 where it does not fit. */
static uint64_t pick_middle(uint64_t seen, uint64_t bytes) {
    uint64_t space = (uint64_t)1 << (64 - __builtin_clzll(seen));
    uint64_t start = space / 8, room = space / 2;
    return bytes < room ? start + below(room - bytes) : 0;
}

/* From 256 MiB below the trial on, and each time in a range four times as large. */
static uint64_t pick_near(uint64_t seen, uint64_t bytes, unsigned try) {
    uint64_t range = (uint64_t)1 << (28 + try < NEAR_MOST ? 28 + try : NEAR_MOST);
    if (seen / 2 < bytes)
        return 0;
    return seen - bytes - below(range < seen / 4 ? range : seen / 4);
}

uint64_t sparse_pick(uint64_t bytes, unsigned try) {
    uint64_t next = atomic_load_explicit(&following, memory_order_relaxed), unit = alignment(bytes);
    if (is_forced())
        return atomic_load(&forced_base);
    if (try == 0 && next)
        return round_up(next, unit);
    uint64_t seen = trial(bytes);
    if (!seen)
        return 0;
    uint64_t at = try % 2 || NEAR_ONLY ? pick_near(seen, bytes, try) : pick_middle(seen, bytes);
    errno = ENOMEM;
    return at / unit * unit;
}

bool sparse_is_scarce(void) {
    return NEAR_ONLY;
}

/* A page remains free between two of them: who runs over the end of one does not write into the next. */
void sparse_took(uint64_t base, uint64_t bytes) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    atomic_store_explicit(&following, round_up(base + bytes, page) + page, memory_order_relaxed);
}
