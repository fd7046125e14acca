/* gasnet_tools.h: what GASNet offers beside communication: time, barriers of memory, atomics, threads, the
 * environment.
 *
 * Before or after gasnet.h, or without it. Atomics are in one order that everybody sees; the flags that ask
 * for less are taken and change nothing. */
#ifndef GASNET_TOOLS_H
#define GASNET_TOOLS_H

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- the compiler ---- */

#define GASNETT_INLINE(name) static inline
#define GASNETT_RESTRICT     __restrict__
#define GASNETT_NORETURN     __attribute__((__noreturn__))
#define GASNETT_NORETURNP(name)
#define GASNETT_MALLOC __attribute__((__malloc__))
#define GASNETT_MALLOCP(name)
#define GASNETT_PURE __attribute__((__pure__))
#define GASNETT_PUREP(name)
#define GASNETT_CONST __attribute__((__const__))
#define GASNETT_CONSTP(name)
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#define GASNETT_USED               __attribute__((__used__))
#define GASNETT_FORMAT_PRINTF(name, format, first, declaration)                                              \
    __attribute__((__format__(__printf__, format, first))) declaration
#define GASNETT_PREDICT_TRUE(x)    __builtin_expect(!!(x), 1)
#define GASNETT_PREDICT_FALSE(x)   __builtin_expect(!!(x), 0)
#define GASNETT_PREFETCH_READ(at)  __builtin_prefetch((at), 0)
#define GASNETT_PREFETCH_WRITE(at) __builtin_prefetch((at), 1)
#define GASNETT_CURRENT_FUNCTION   __func__
#define GASNETT_CACHE_LINE_BYTES   64
#define GASNETT_PAGESIZE           4096
#define GASNETT_PAGESHIFT          12
#define GASNETT_CONFIG_STRING      "HEARTH,PTR=64bit"
#ifdef __cplusplus
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC   }
#define GASNETT_EXTERNC       extern "C"
#else
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#define GASNETT_EXTERNC extern
#endif
#define GASNETT_IDENT(name, text)                                                                            \
    extern char name[];                                                                                      \
    char name[] = text

#define GASNETT_FAST_ALIGNED_MEMCPY   memcpy
#define GASNETT_FAST_UNALIGNED_MEMCPY memcpy

/* ---- order in memory ---- */

#define gasnett_local_wmb()      __atomic_thread_fence(__ATOMIC_RELEASE)
#define gasnett_local_rmb()      __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define gasnett_local_mb()       __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define gasnett_compiler_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define gasnett_weak_wmb()       gasnett_local_wmb()
#define gasnett_weak_rmb()       gasnett_local_rmb()
#define gasnett_weak_mb()        gasnett_local_mb()

/* ---- atomics ---- */

#define GASNETT_ATOMIC_NONE              0
#define GASNETT_ATOMIC_RMB_PRE           1
#define GASNETT_ATOMIC_RMB_POST          2
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE  4
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE 8
#define GASNETT_ATOMIC_WMB_PRE           16
#define GASNETT_ATOMIC_WMB_POST          32
#define GASNETT_ATOMIC_REL               (GASNETT_ATOMIC_WMB_PRE)
#define GASNETT_ATOMIC_ACQ               (GASNETT_ATOMIC_RMB_POST)
#define GASNETT_ATOMIC_ACQ_IF_TRUE       (GASNETT_ATOMIC_RMB_POST_IF_TRUE)
#define GASNETT_ATOMIC_ACQ_IF_FALSE      (GASNETT_ATOMIC_RMB_POST_IF_FALSE)
#define GASNETT_ATOMIC_MB_PRE            (GASNETT_ATOMIC_WMB_PRE | GASNETT_ATOMIC_RMB_PRE)
#define GASNETT_ATOMIC_MB_POST           (GASNETT_ATOMIC_WMB_POST | GASNETT_ATOMIC_RMB_POST)

/* NAME_t and its calls, on values of the type `value`; they are described below. */
#define GASNETT_ATOMICS(name, value)                                                                         \
    typedef struct {                                                                                         \
        volatile value number;                                                                               \
    } name##_t;                                                                                              \
    static inline value name##_read(const name##_t *at, int flags) {                                         \
        (void)flags;                                                                                         \
        return __atomic_load_n(&at->number, __ATOMIC_SEQ_CST);                                               \
    }                                                                                                        \
    static inline void name##_set(name##_t *at, value to, int flags) {                                       \
        (void)flags;                                                                                         \
        __atomic_store_n(&at->number, to, __ATOMIC_SEQ_CST);                                                 \
    }                                                                                                        \
    static inline void name##_increment(name##_t *at, int flags) {                                           \
        (void)flags;                                                                                         \
        __atomic_add_fetch(&at->number, 1, __ATOMIC_SEQ_CST);                                                \
    }                                                                                                        \
    static inline void name##_decrement(name##_t *at, int flags) {                                           \
        (void)flags;                                                                                         \
        __atomic_sub_fetch(&at->number, 1, __ATOMIC_SEQ_CST);                                                \
    }                                                                                                        \
    static inline int name##_decrement_and_test(name##_t *at, int flags) {                                   \
        (void)flags;                                                                                         \
        return __atomic_sub_fetch(&at->number, 1, __ATOMIC_SEQ_CST) == 0;                                    \
    }                                                                                                        \
    static inline value name##_add(name##_t *at, value more, int flags) {                                    \
        (void)flags;                                                                                         \
        return __atomic_add_fetch(&at->number, more, __ATOMIC_SEQ_CST);                                      \
    }                                                                                                        \
    static inline value name##_subtract(name##_t *at, value less, int flags) {                               \
        (void)flags;                                                                                         \
        return __atomic_sub_fetch(&at->number, less, __ATOMIC_SEQ_CST);                                      \
    }                                                                                                        \
    static inline value name##_swap(name##_t *at, value to, int flags) {                                     \
        (void)flags;                                                                                         \
        return __atomic_exchange_n(&at->number, to, __ATOMIC_SEQ_CST);                                       \
    }                                                                                                        \
    static inline int name##_compare_and_swap(name##_t *at, value from, value to, int flags) {               \
        (void)flags;                                                                                         \
        return __atomic_compare_exchange_n(&at->number, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
    }

/* Calls on one of these types, which is 32 bits wide (gasnett_atomic_t, gasnett_atomic32_t) or 64
 * (gasnett_atomic64_t):
 *
 *      value gasnett_atomic_read(const gasnett_atomic_t *at, int flags);
 *      void gasnett_atomic_set(gasnett_atomic_t *at, value to, int flags);
 *      void gasnett_atomic_increment(gasnett_atomic_t *at, int flags);
 *      void gasnett_atomic_decrement(gasnett_atomic_t *at, int flags);
 *      int gasnett_atomic_decrement_and_test(gasnett_atomic_t *at, int flags);
 *      value gasnett_atomic_add(gasnett_atomic_t *at, value more, int flags);
 *      value gasnett_atomic_subtract(gasnett_atomic_t *at, value less, int flags);
 *      value gasnett_atomic_swap(gasnett_atomic_t *at, value to, int flags);
 *      int gasnett_atomic_compare_and_swap(gasnett_atomic_t *at, value from, value to, int flags);
 *
 * Those that change it and give a value back give the new one, except swap, which gives the old one;
 * compare_and_swap tells whether it did, decrement_and_test whether it is 0 now. */
GASNETT_ATOMICS(gasnett_atomic, uint32_t)
GASNETT_ATOMICS(gasnett_atomic32, uint32_t)
GASNETT_ATOMICS(gasnett_atomic64, uint64_t)
typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
#define gasnett_atomic_init(value)                                                                           \
    { (value) }
#define gasnett_atomic32_init(value)                                                                         \
    { (value) }
#define gasnett_atomic64_init(value)                                                                         \
    { (value) }
#define gasnett_atomic_signed(value) ((gasnett_atomic_sval_t)(value))
#define GASNETT_ATOMIC_MAX           ((gasnett_atomic_val_t)0xffffffffu)
#define GASNETT_ATOMIC_SIGNED_MAX    ((gasnett_atomic_sval_t)0x7fffffff)
#define GASNETT_ATOMIC_SIGNED_MIN    (-GASNETT_ATOMIC_SIGNED_MAX - 1)
#define GASNETT_HAVE_ATOMIC_CAS      1
#define GASNETT_HAVE_ATOMIC_ADD_SUB  1

/* ---- time ---- */

typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN ((gasnett_tick_t)0)
#define GASNETT_TICK_MAX ((gasnett_tick_t)-1)
gasnett_tick_t gasnett_ticks_now(void);             /* since some time in the past */
uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks); /* in nanoseconds */
#define gasnett_ticks_to_us(ticks) (gasnett_ticks_to_ns(ticks) / 1000)
double gasnett_tick_granularity(void); /* of the clock, in microseconds */
double gasnett_tick_overhead(void);    /* of reading it, in microseconds */
#define gasnett_timer_granularityus() gasnett_tick_granularity()
#define gasnett_timer_overheadus()    gasnett_tick_overhead()

/* ---- threads ---- */

#define gasnett_sched_yield() sched_yield()
#if defined(__x86_64__) || defined(__i386__)
#define gasnett_spinloop_hint() __builtin_ia32_pause()
#else
#define gasnett_spinloop_hint() gasnett_compiler_fence()
#endif
#define gasnett_spin_until(condition)                                                                        \
    do {                                                                                                     \
        while (!(condition))                                                                                 \
            gasnett_spinloop_hint();                                                                         \
        gasnett_local_rmb();                                                                                 \
    } while (0)

typedef pthread_mutex_t gasnett_mutex_t;
typedef pthread_cond_t gasnett_cond_t;
#define GASNETT_MUTEX_INITIALIZER          PTHREAD_MUTEX_INITIALIZER
#define GASNETT_COND_INITIALIZER           PTHREAD_COND_INITIALIZER
#define gasnett_mutex_init(m)              ((void)pthread_mutex_init((m), 0))
#define gasnett_mutex_destroy(m)           ((void)pthread_mutex_destroy(m))
#define gasnett_mutex_destroy_ignoreerr(m) ((void)pthread_mutex_destroy(m))
#define gasnett_mutex_lock(m)              ((void)pthread_mutex_lock(m))
#define gasnett_mutex_trylock(m)           pthread_mutex_trylock(m) /* 0: it is ours */
#define gasnett_mutex_unlock(m)            ((void)pthread_mutex_unlock(m))
#define gasnett_cond_init(c)               ((void)pthread_cond_init((c), 0))
#define gasnett_cond_destroy(c)            ((void)pthread_cond_destroy(c))
#define gasnett_cond_signal(c)             ((void)pthread_cond_signal(c))
#define gasnett_cond_broadcast(c)          ((void)pthread_cond_broadcast(c))
#define gasnett_cond_wait(c, m)            ((void)pthread_cond_wait((c), (m)))

/* A pointer of each thread, NULL at first. */
#define GASNETT_THREADKEY_DECLARE(key)           extern __thread void *gasnett_key_##key
#define GASNETT_THREADKEY_DEFINE(key)            __thread void *gasnett_key_##key
#define gasnett_threadkey_init(key)              ((void)&gasnett_key_##key)
#define gasnett_threadkey_get(key)               (gasnett_key_##key)
#define gasnett_threadkey_set(key, value)        ((void)(gasnett_key_##key = (void *)(value)))
#define gasnett_threadkey_get_noinit(key)        gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)

/* ---- the environment ---- */

/* What a variable says: yes or no; a text; a number, which if size_unit is not 0 may have one of K, M, G, T
 * behind it, and is otherwise in such units. */
int gasnett_getenv_yesno_withdefault(const char *name, int fallback);
const char *gasnett_getenv_withdefault(const char *name, const char *fallback);
int64_t gasnett_getenv_int_withdefault(const char *name, int64_t fallback, uint64_t size_unit);

/* ---- the machine, and what there is no use for here ---- */

int gasnett_cpu_count(void);      /* 0 if it is not known */
void gasnett_flush_streams(void); /* all that are open for writing */
#define gasnett_set_affinity(rank)              ((void)(rank))
#define GASNETT_TRACE_ENABLED                   0
#define GASNETT_TRACE_SETSOURCELINE(file, line) ((void)0)
#define GASNETT_TRACE_GETSOURCELINE(file, line) ((void)0)
#define GASNETT_TRACE_FREEZESOURCELINE()        ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE()      ((void)0)
#define GASNETT_TRACE_GETMASK()                 ""
#define GASNETT_TRACE_SETMASK(mask)             ((void)0)
#define GASNETT_STATS_INIT(function)            0
#define GASNETT_STATS_GETMASK()                 ""
#define GASNETT_STATS_SETMASK(mask)             ((void)0)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
