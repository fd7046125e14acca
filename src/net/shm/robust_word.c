/* robust_word.c: see robust_word.h, and Documentation/locking/robust-futex-ABI.rst of Linux. */
#include "net/shm/robust_word.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(ROBUST_WAITERS == FUTEX_WAITERS && ROBUST_DIED == FUTEX_OWNER_DIED &&
                   (ROBUST_OTHER & FUTEX_TID_MASK) == ROBUST_OTHER,
               "the kernel's bits");

/* ---- the thread ---- */

_Thread_local struct robust_self net_robust_self __attribute__((tls_model("initial-exec")));

static void forget_self(void) {
    net_robust_self.head = NULL;
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, forget_self);
}

/* musl gives the kernel a list head only when a thread first uses a robust mutex. */
static void use_robust_mutex(void) {
    pthread_mutexattr_t kind;
    pthread_mutex_t mutex;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &kind);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    pthread_mutexattr_destroy(&kind);
}

/* Without a list head the locks still exclude each other, but do not survive their holders. */
void net_robust_find_self(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local struct robust_list_head unused;
    struct robust_list_head *head = NULL;
    size_t bytes;
    pthread_once(&once, watch_forks);
    use_robust_mutex();
    if (syscall(SYS_get_robust_list, 0, &head, &bytes) != 0 || !head)
        head = &unused;
    net_robust_self = (struct robust_self){head, (uint32_t)syscall(SYS_gettid)};
}

/* ---- the word ---- */

/* Not FUTEX_PRIVATE: processes share the word. */
static void futex(struct robust_word *w, int operation, uint32_t value, const struct timespec *most) {
    syscall(SYS_futex, &w->value, operation, value, most, NULL, 0);
}

static bool is_held(uint32_t value) {
    return (value & FUTEX_TID_MASK) != 0;
}

/* A thread that was woken and dies before it has the word cannot wake the next one. So none sleeps for longer than `nap`. */
uint32_t net_robust_wait(struct robust_word *w) {
    static const struct timespec nap = {.tv_nsec = ROBUST_NAP_NS};
    enum { SPINS = 100 }; /* most holders change a few elements */
    uint32_t value = atomic_load_explicit(&w->value, memory_order_relaxed);
    for (int i = 0; i < SPINS && is_held(value); i++) {
        cpu_relax();
        value = atomic_load_explicit(&w->value, memory_order_relaxed);
    }
    if (!is_held(value))
        return 0;
    if (!(value & ROBUST_WAITERS) &&
        !atomic_compare_exchange_strong_explicit(&w->value, &value, value | ROBUST_WAITERS,
                                                 memory_order_relaxed, memory_order_relaxed))
        return 0;
    futex(w, FUTEX_WAIT, value | ROBUST_WAITERS, &nap);
    return ROBUST_WAITERS;
}

void net_robust_wake(struct robust_word *w) {
    futex(w, FUTEX_WAKE, 1, NULL);
}
