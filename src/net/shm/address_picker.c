/* address_picker.c: picks an address for memory that all processes of a node map at the same address.
 *
 *      0     1/8                     5/8 2/3                    1 of 2^39, 2^47, 2^48 ... bytes
 *      |--+---|-----------------------|---|-+------------------|
 *      program      hardly anything     program         libraries, mmap, stack
 *      (fixed)                          (movable), heap
 *
 * On x86-64 and aarch64, Linux places mappings at the ends and at two thirds of the address space, at random
 * distances that differ between processes. The middle is empty. A probe finds the size of the space: a mapping at an
 * address of the system's choice lies in its upper half (with an unlimited stack, at a third: the space then seems
 * half as large, and its middle is still empty).
 *
 * The first pick follows the last mapping if that is in the middle, so that the mappings of a job share page tables and lie in
 * one zone, which was picked at random once. The leaders of different groups of processes pick different zones. After that,
 * every other pick is random in the middle. The remaining picks are random below the probe, first near it and then
 * farther away: an emulator that keeps the middle for itself still lets programs map near the probe. ThreadSanitizer
 * keeps all but some gigabytes around the probe, and ends the program if another address is tried. Under it, only
 * addresses near the probe are picked. */
#include "net/shm/address_picker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1 /* GCC's name for it */
#endif
#endif
#ifdef __SANITIZE_THREAD__
enum { CLOSE_ONLY = true, CLOSE_MOST = 31 };
#else
enum { CLOSE_ONLY = false, CLOSE_MOST = 62 };
#endif

static _Atomic uint64_t following;  /* end of the last mapping; 0: none yet */
static _Atomic uint64_t middle_end; /* 0: nothing was picked in the middle yet */

static uint64_t alignment(uint64_t bytes) {
    enum { HUGE = 2 << 20 };
    return bytes >= HUGE ? HUGE : (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The address that the system would choose, or 0. */
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

/* 0 if it does not fit. */
static uint64_t pick_middle(uint64_t seen, uint64_t bytes) {
    uint64_t space = (uint64_t)1 << (64 - __builtin_clzll(seen));
    uint64_t start = space / 8, room = space / 2;
    atomic_store_explicit(&middle_end, start + room, memory_order_relaxed);
    return bytes < room ? start + below(room - bytes) : 0;
}

/* Within 2^(28 + try) bytes below the probe, or less if that is more than a quarter of the space below it. */
static uint64_t pick_close(uint64_t seen, uint64_t bytes, unsigned try) {
    uint64_t range = (uint64_t)1 << (28 + try < CLOSE_MOST ? 28 + try : CLOSE_MOST);
    if (seen / 2 < bytes)
        return 0;
    return seen - bytes - below(range < seen / 4 ? range : seen / 4);
}

uint64_t net_address_pick(uint64_t bytes, unsigned try) {
    uint64_t unit = alignment(bytes);
    uint64_t next = round_up(atomic_load_explicit(&following, memory_order_relaxed), unit);
    if (try == 0 && next && next + bytes <= atomic_load_explicit(&middle_end, memory_order_relaxed))
        return next;
    uint64_t seen = trial(bytes);
    if (!seen)
        return 0;
    uint64_t at = try % 2 || CLOSE_ONLY ? pick_close(seen, bytes, try) : pick_middle(seen, bytes);
    errno = ENOMEM;
    return at / unit * unit;
}

bool net_address_is_scarce(void) {
    return CLOSE_ONLY;
}

/* Leaves a free page between two mappings, so that an overrun of one does not write into the next. */
void net_address_took(uint64_t base, uint64_t bytes) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    atomic_store_explicit(&following, round_up(base + bytes, page) + page, memory_order_relaxed);
}
