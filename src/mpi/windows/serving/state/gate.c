/* gate.c: the ticket lock of gate.h. A waiting process spins for a moment, because most locks are held briefly. Then it
 * sleeps on `changes`, and wakes from time to time to let its MPI progress: the holder may wait for a message from it. */
#include "mpi/windows/serving/state/gate.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 200, LONGEST_SLEEP_NS = 1000000 };

void (*serve_gate_remote)(const struct serve_gate *g);

static uint32_t gate_bit(uint32_t ticket) {
    return 1u << ticket % 32;
}

/* The bit of the ticket selects the sleepers that a wakeup reaches. FUTEX_WAIT_BITSET takes an absolute time limit. */
static void gate_nap(_Atomic uint32_t *word, uint32_t seen, uint32_t ticket) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LONGEST_SLEEP_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, &until, NULL, gate_bit(ticket));
}

/* Wakes only the processes whose tickets may enter: all others would compete with them for the processors. */
static void gate_wake(struct serve_gate *g) {
    if (LIKELY(!atomic_load(&g->sleepers)))
        return;
    uint32_t bits = gate_bit(atomic_load(&g->shared)) | gate_bit(atomic_load(&g->alone));
    atomic_fetch_add(&g->changes, 1);
    syscall(SYS_futex, &g->changes, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
    if (atomic_load(&g->remote))
        serve_gate_remote(g);
}

/* The count of sleepers is raised before the word is read again, and a leaving process changes the word before it
 * reads the count. Both are sequentially consistent, so one of the two sees the other. */
static void gate_wait(struct serve_gate *g, _Atomic uint32_t *word, uint32_t ticket, void (*idle)(void)) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) == ticket)
            return;
        cpu_relax();
    }
    for (;;) {
        idle();
        atomic_fetch_add(&g->sleepers, 1);
        uint32_t seen = atomic_load(&g->changes);
        bool entered = atomic_load(word) == ticket;
        if (!entered)
            gate_nap(&g->changes, seen, ticket);
        atomic_fetch_sub(&g->sleepers, 1);
        if (entered)
            return;
    }
}

/* The holder of a shared ticket lets the next one in, if that is shared, too. */
static void gate_pass(struct serve_gate *g, uint32_t ticket) {
    atomic_store(&g->shared, ticket + 1); /* only the holder of this ticket may change it now */
    gate_wake(g);
}

void serve_gate_enter(struct serve_gate *g, bool exclusive, void (*idle)(void)) {
    uint32_t ticket = atomic_fetch_add(&g->next, 1);
    gate_wait(g, exclusive ? &g->alone : &g->shared, ticket, idle);
    if (!exclusive)
        gate_pass(g, ticket);
}

/* While ticket `next` is not drawn, neither word moves beyond it. So the ticket may enter if it is drawn after the word has
 * been read. */
bool serve_gate_enter_now(struct serve_gate *g, bool exclusive) {
    uint32_t next = atomic_load(&g->next);
    if (atomic_load(exclusive ? &g->alone : &g->shared) != next ||
        !atomic_compare_exchange_strong(&g->next, &next, next + 1))
        return false;
    if (!exclusive)
        gate_pass(g, next);
    return true;
}

void serve_gate_leave(struct serve_gate *g, bool exclusive) {
    if (exclusive) /* no other process is inside, so no other changes `shared` */
        atomic_store(&g->shared, atomic_load_explicit(&g->shared, memory_order_relaxed) + 1);
    atomic_fetch_add(&g->alone, 1);
    gate_wake(g);
}

/* ---- the helper ---- */

uint32_t serve_gate_draw(struct serve_gate *g) {
    return atomic_fetch_add(&g->next, 1);
}

bool serve_gate_try(struct serve_gate *g, uint32_t ticket, bool exclusive) {
    if (atomic_load(exclusive ? &g->alone : &g->shared) != ticket)
        return false;
    if (!exclusive)
        gate_pass(g, ticket);
    return true;
}

void serve_gate_sleep(struct serve_gate *g) {
    atomic_fetch_add(&g->remote, 1);
    atomic_fetch_add(&g->sleepers, 1);
}

void serve_gate_awake(struct serve_gate *g) {
    atomic_fetch_sub(&g->sleepers, 1);
    atomic_fetch_sub(&g->remote, 1);
}
