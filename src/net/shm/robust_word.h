/* robust_word.h: a lock of one word in shared memory that the kernel releases if its holder dies.
 *
 * The word follows the kernel's rules for robust futexes. It holds the id of the thread, and the thread's list head names it
 * in list_op_pending from before it is acquired until after it is released. When a thread ends, the kernel reads the word:
 * if it holds the thread's id, it is marked, and a waiting thread is woken. A mutex of the C library links itself into the
 * list of the thread instead, so that a thread may hold several. That takes twice as long.
 *
 * So a thread has one of these locks at a time, and acquires no robust mutex meanwhile. A word may also be held on behalf of
 * something else that outlives a thread (`holder` has ROBUST_OTHER): the kernel leaves it alone then. */
#ifndef HEARTH_NET_ROBUST_WORD_H
#define HEARTH_NET_ROBUST_WORD_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { ROBUST_NAP_NS = 20000000 }; /* the longest sleep before a waiting thread looks again */

/* In shared memory; initially 0, which is free. */
struct robust_word {
    _Atomic uint32_t value; /* the holder; with ROBUST_WAITERS if threads may sleep */
};

#define ROBUST_WAITERS 0x80000000u /* FUTEX_WAITERS */
#define ROBUST_DIED    0x40000000u /* FUTEX_OWNER_DIED: the kernel's mark. The word is free. */
#define ROBUST_OTHER   0x20000000u /* no thread: larger than any thread's id */

/* ---- the thread ---- */

/* The calling thread, and the list head that the C library has given to the kernel. All of this is inline: a lock consists of
 * little else. */
struct robust_self {
    struct robust_list_head *head; /* NULL: not asked for yet */
    uint32_t id;
};
extern _Thread_local struct robust_self net_robust_self __attribute__((tls_model("initial-exec")));
void net_robust_find_self(void);

static inline uint32_t net_robust_id(void) {
    if (UNLIKELY(!net_robust_self.head))
        net_robust_find_self();
    return net_robust_self.id;
}

/* The kernel watches this word for the thread from now on, and no other. Returns the thread's id, which is its holder. */
static inline uint32_t net_robust_watch(const struct robust_word *w) {
    uint32_t id = net_robust_id();
    struct robust_list_head *head = net_robust_self.head;
    head->list_op_pending = (struct robust_list *)((uintptr_t)w - (uintptr_t)head->futex_offset);
    atomic_signal_fence(memory_order_seq_cst);
    return id;
}

static inline void net_robust_unwatch(void) {
    atomic_signal_fence(memory_order_seq_cst);
    net_robust_self.head->list_op_pending = NULL;
}

/* ---- the word ---- */

/* Acquires the word if it is free. `seen`: the value that was found. */
static inline bool net_robust_take(struct robust_word *w, uint32_t holder, uint32_t *seen) {
    *seen = 0;
    if (atomic_compare_exchange_strong_explicit(&w->value, seen, holder, memory_order_acquire,
                                                memory_order_relaxed))
        return true;
    return (*seen & ROBUST_DIED) &&
           atomic_compare_exchange_strong_explicit(&w->value, seen, holder | (*seen & ROBUST_WAITERS),
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Waits until the word was released, or for ROBUST_NAP_NS. Returns ROBUST_WAITERS if it slept, else 0: the caller then acquires
 * the word with this bit, because others may sleep, too. */
uint32_t net_robust_wait(struct robust_word *w);

void net_robust_wake(struct robust_word *w);
static inline void net_robust_release(struct robust_word *w) {
    if (UNLIKELY(atomic_exchange_explicit(&w->value, 0, memory_order_release) & ROBUST_WAITERS))
        net_robust_wake(w);
}

#endif
