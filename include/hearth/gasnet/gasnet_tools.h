/* gasnet_tools.h: GASNet tools: time, memory barriers, atomics, threads, the environment.
 *
 * May be included before or after gasnet.h, or without it. Atomics are sequentially consistent; flags that request
 * weaker ordering are accepted and have no effect. */
#ifndef GASNET_TOOLS_H
#define GASNET_TOOLS_H
#define _INCLUDED_GASNET_TOOLS_H 1 /* tested by Realm */

#include "gasnet_portable_platform.h"

#include <inttypes.h>
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

/* ---- versions ---- */

#define GASNETT_SPEC_VERSION_MAJOR    1
#define GASNETT_SPEC_VERSION_MINOR    18
#define GASNETT_RELEASE_VERSION_MAJOR 2021 /* the same as GASNET_RELEASE_VERSION */
#define GASNETT_RELEASE_VERSION_MINOR 9
#define GASNETT_RELEASE_VERSION_PATCH 0

const char *gasnett_release_version_str(void); /* the release, such as 2021.9.0 */
uint64_t gasnett_release_version(void);        /* a number that grows from release to release */

/* All calls may be made by any thread, whatever mode the program defines. */
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE  1
#define GASNETT_THREAD_MODEL PAR
#ifdef GASNET_SEQ
#define GASNETT_MAX_THREADS 1
#else
#define GASNETT_MAX_THREADS 1024 /* limit for the program; the library itself has none */
#endif

/* The machine and the compiler that the program is compiled for and with. */
#if defined(__x86_64__)
#define GASNETT_SYSTEM_TUPLE "x86_64-unknown-linux-gnu"
#elif defined(__aarch64__)
#define GASNETT_SYSTEM_TUPLE "aarch64-unknown-linux-gnu"
#elif defined(__powerpc64__)
#define GASNETT_SYSTEM_TUPLE "powerpc64-unknown-linux-gnu"
#elif defined(__riscv)
#define GASNETT_SYSTEM_TUPLE "riscv64-unknown-linux-gnu"
#elif defined(__i386__)
#define GASNETT_SYSTEM_TUPLE "i686-unknown-linux-gnu"
#else
#define GASNETT_SYSTEM_TUPLE "unknown-unknown-linux-gnu"
#endif
#define GASNETT_CONFIGURE_ARGS             ""
#define GASNETT_PLATFORM_COMPILER_IDSTR    PLATFORM_COMPILER_IDSTR
#define GASNETT_PLATFORM_COMPILER_FAMILYID PLATFORM_COMPILER_FAMILYID
#define GASNETT_PLATFORM_COMPILER_ID       PLATFORM_COMPILER_ID
#define GASNETT_PLATFORM_COMPILER_VERSION  PLATFORM_COMPILER_VERSION
#define GASNETT_PTR_CONFIG                 64bit
#define GASNETT_DEBUG_CONFIG               nodebug
#define GASNETT_TIMER_CONFIG               timers_posixrt
#define GASNETT_MEMBAR_CONFIG              membars_native
#define GASNETT_ATOMIC_CONFIG              atomics_native
#define GASNETT_ATOMIC32_CONFIG            atomic32_native
#define GASNETT_ATOMIC64_CONFIG            atomic64_native

/* ---- the compiler ---- */

#ifndef if_pf /* conditions that rarely hold, and that mostly hold */
#define if_pf(condition) if (__builtin_expect(!!(condition), 0))
#define if_pt(condition) if (__builtin_expect(!!(condition), 1))
#endif
#define gasneti_builtin_unreachable() __builtin_unreachable() /* the name that UPC++ takes */
#define gasnett_unreachable()         __builtin_unreachable()
#define gasnett_assume(condition)     ((condition) ? (void)0 : __builtin_unreachable())
#if defined(__GNUC__) && __GNUC__ >= 7
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#else
#define GASNETT_FALLTHROUGH
#endif
#ifndef _STRINGIFY /* names that programs take from GASNet's headers */
#define _STRINGIFY_HELPER(x) #x
#define _STRINGIFY(x)        _STRINGIFY_HELPER(x)
#endif
#ifndef _CONCAT
#define _CONCAT_HELPER(a, b) a##b
#define _CONCAT(a, b)        _CONCAT_HELPER(a, b)
#endif
#ifndef MIN
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#endif
#ifndef MAX
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#endif
#ifndef PRIuSZ /* conversions of a size_t for printf */
#define PRIdSZ "zd"
#define PRIiSZ "zi"
#define PRIoSZ "zo"
#define PRIuSZ "zu"
#define PRIxSZ "zx"
#define PRIXSZ "zX"
#endif
#define GASNETT_INLINE(name)                    static inline
#define GASNETT_ALWAYS_INLINE(name)             static inline __attribute__((__always_inline__))
#define GASNETT_PLEASE_INLINE(name)             static inline
#define GASNETT_NEVER_INLINE(name, declaration) __attribute__((__noinline__)) declaration
#define GASNETT_UNUSED                          __attribute__((__unused__))
#define GASNETT_HOT                             __attribute__((__hot__))
#define GASNETT_COLD                            __attribute__((__cold__))
#define GASNETT_DEPRECATED                      __attribute__((__deprecated__))
#define gasnett_constant_p(x)                   __builtin_constant_p(x)
#define GASNETT_RESTRICT                        __restrict__
#define GASNETT_NORETURN                        __attribute__((__noreturn__))
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
#define GASNETT_FORMAT_PRINTF_FUNCPTR(name, format, first, declaration)                                      \
    __attribute__((__format__(__printf__, format, first))) declaration
#define GASNETT_PREDICT_TRUE(x)         __builtin_expect(!!(x), 1)
#define GASNETT_PREDICT_FALSE(x)        __builtin_expect(!!(x), 0)
#define GASNETT_PREFETCH_READ(at)       __builtin_prefetch((at), 0)
#define GASNETT_PREFETCH_WRITE(at)      __builtin_prefetch((at), 1)
#define GASNETT_PREFETCH_READ_HINT(at)  __builtin_prefetch((at), 0)
#define GASNETT_PREFETCH_WRITE_HINT(at) __builtin_prefetch((at), 1)
#define GASNETT_CURRENT_FUNCTION        __func__
#define GASNETT_CACHE_LINE_BYTES        64
#define GASNETT_PAGESIZE                4096
#define GASNETT_PAGESHIFT               12
#define GASNETT_CONFIG_STRING           "HEARTH,PTR=64bit"
#ifdef __cplusplus
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC   }
#define GASNETT_EXTERNC       extern "C"
#else
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#define GASNETT_EXTERNC extern
#endif
#ifdef __cplusplus
#define GASNETT_TENTATIVE_EXTERN extern
#else
#define GASNETT_TENTATIVE_EXTERN
#endif
#define GASNETT_IDENT(name, text)                                                                            \
    extern char name[];                                                                                      \
    char name[] = text

#define GASNETT_FAST_ALIGNED_MEMCPY   memcpy
#define GASNETT_FAST_UNALIGNED_MEMCPY memcpy

/* Position of the low-order bytes of a word. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GASNETI_LAST_BYTES(nbytes) (sizeof(uintptr_t) - (nbytes))
#else
#define GASNETI_LAST_BYTES(nbytes) 0
#endif

/* Values of 1 to sizeof(uintptr_t) bytes: store to dst, load from src. */
static inline void gasnett_value_store(void *dst, uintptr_t value, size_t nbytes) {
    memcpy(dst, (const char *)&value + GASNETI_LAST_BYTES(nbytes), nbytes);
}
static inline uintptr_t gasnett_value_load(const void *src, size_t nbytes) {
    uintptr_t value = 0;
    memcpy((char *)&value + GASNETI_LAST_BYTES(nbytes), src, nbytes);
    return value;
}
#define GASNETT_VALUE_ASSIGN(dst, value, nbytes) gasnett_value_store((dst), (value), (nbytes))
#define GASNETT_VALUE_RETURN(src, nbytes)        return gasnett_value_load((src), (nbytes))

/* ---- memory ordering ---- */

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

/* NAME_t and its calls, on values of the type `value`; described below. */
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

/* Calls on one of these types, which are 32 bits wide (gasnett_atomic_t, gasnett_atomic32_t) or 64
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
 * add and subtract return the new value, swap returns the old one; compare_and_swap returns whether it swapped,
 * decrement_and_test whether the value is now 0. */
GASNETT_ATOMICS(gasnett_atomic, uint32_t)
GASNETT_ATOMICS(gasnett_atomic32, uint32_t)
GASNETT_ATOMICS(gasnett_atomic64, uint64_t)
/* Types that are atomic in every thread mode: gasnett_strongatomic_t and so on. Here the types above are too. */
GASNETT_ATOMICS(gasnett_strongatomic, uint32_t)
GASNETT_ATOMICS(gasnett_strongatomic32, uint32_t)
GASNETT_ATOMICS(gasnett_strongatomic64, uint64_t)
#define gasnett_strongatomic_init(value)                                                                     \
    { (value) }
#define gasnett_strongatomic32_init(value)                                                                   \
    { (value) }
#define gasnett_strongatomic64_init(value)                                                                   \
    { (value) }
#define GASNETT_HAVE_STRONGATOMIC_CAS     1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
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
gasnett_tick_t gasnett_ticks_now(void);             /* since an arbitrary time in the past */
uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks); /* in nanoseconds */
#define gasnett_ticks_to_us(ticks) (gasnett_ticks_to_ns(ticks) / 1000)
double gasnett_tick_granularity(void); /* resolution of the clock, in microseconds */
double gasnett_tick_overhead(void);    /* time to read the clock, in microseconds */
#define gasnett_tick_granularityus()  gasnett_tick_granularity()
#define gasnett_tick_overheadus()     gasnett_tick_overhead()
#define gasnett_timer_granularityus() gasnett_tick_granularity()
#define gasnett_timer_overheadus()    gasnett_tick_overhead()
int64_t gasnett_gettimeofday_us(void);    /* time of day, in microseconds since 1970 */
int gasnett_nsleep(uint64_t nanoseconds); /* sleeps at least that long, signals included; returns 0 */

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
#define gasnett_mutex_trylock(m)           pthread_mutex_trylock(m) /* 0: acquired */
#define gasnett_mutex_unlock(m)            ((void)pthread_mutex_unlock(m))
#define gasnett_cond_init(c)               ((void)pthread_cond_init((c), 0))
#define gasnett_cond_destroy(c)            ((void)pthread_cond_destroy(c))
#define gasnett_cond_signal(c)             ((void)pthread_cond_signal(c))
#define gasnett_cond_broadcast(c)          ((void)pthread_cond_broadcast(c))
#define gasnett_cond_wait(c, m)            ((void)pthread_cond_wait((c), (m)))

#define gasnett_mutex_assertlocked(m)   ((void)(m)) /* owners are not recorded */
#define gasnett_mutex_assertunlocked(m) ((void)(m))

/* Reader-writer locks; readers have priority. The try calls return 0 if they acquired the lock, else EBUSY. */
typedef struct gasnett_rwlock {
    pthread_mutex_t mutex; /* leaf lock, protects `holders` */
    pthread_cond_t freed;
    int holders; /* readers; -1: a writer */
} gasnett_rwlock_t;
#define GASNETT_RWLOCK_INITIALIZER                                                                           \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }
/* Initialise, destroy, lock for reading or writing, try to, and unlock a reader-writer lock. */
void gasnett_rwlock_init(gasnett_rwlock_t *lock);
void gasnett_rwlock_destroy(gasnett_rwlock_t *lock);
void gasnett_rwlock_rdlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_wrlock(gasnett_rwlock_t *lock);
int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *lock);
int gasnett_rwlock_trywrlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_unlock(gasnett_rwlock_t *lock);
#define gasnett_rwlock_assertlocked(lock)   ((void)(lock)) /* owners are not recorded */
#define gasnett_rwlock_assertrdlocked(lock) ((void)(lock))
#define gasnett_rwlock_assertwrlocked(lock) ((void)(lock))
#define gasnett_rwlock_assertunlocked(lock) ((void)(lock))

/* A pointer per thread, initially NULL. */
#define GASNETT_THREADKEY_DECLARE(key)           extern __thread void *gasnett_key_##key
#define GASNETT_THREADKEY_DEFINE(key)            __thread void *gasnett_key_##key
#define gasnett_threadkey_init(key)              ((void)&gasnett_key_##key)
#define gasnett_threadkey_get(key)               (gasnett_key_##key)
#define gasnett_threadkey_set(key, value)        ((void)(gasnett_key_##key = (void *)(value)))
#define gasnett_threadkey_get_noinit(key)        gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)

/* ---- the environment ---- */

/* Return the value of an environment variable as yes (1) or no (0), a text or a number; fallback if it is not set. If
 * size_unit is not 0, an integer may have one of the suffixes K, M, G, T. Without a suffix it is in units of
 * size_unit. */
int gasnett_getenv_yesno_withdefault(const char *name, int fallback);
char *gasnett_getenv_withdefault(const char *name, const char *fallback);
int64_t gasnett_getenv_int_withdefault(const char *name, int64_t fallback, uint64_t size_unit);
double gasnett_getenv_dbl_withdefault(const char *name, double fallback); /* or a fraction, such as 3/4 */
char *gasnett_getenv(const char *name);                                   /* NULL if it is not set */
void gasnett_setenv(const char *name, const char *value);                 /* in this process only */
void gasnett_unsetenv(const char *name);

/* gasnett_verboseenv returns whether GASNET_VERBOSEENV is yes. If so, the display calls write a variable and its value
 * to stderr. */
int gasnett_verboseenv(void);
void gasnett_envstr_display(const char *name, const char *value, int is_default);
void gasnett_envint_display(const char *name, int64_t value, int is_default, int is_mem_size);
void gasnett_envdbl_display(const char *name, double value, int is_default);

/* Parses a number as gasnett_getenv_int_withdefault does; an invalid number ends the process. */
int64_t gasnett_parse_int(const char *text, uint64_t size_unit);
/* Formats a number into the buffer, which it returns. A memory size gets the largest unit that divides it, such as
 * 3 MB. */
char *gasnett_format_number(int64_t value, char *buffer, size_t bufsz, int is_mem_size);

/* ---- types, operators and queries of GASNet-EX as text ---- */

/* Write the names in a set of GEX_DT_*, GEX_OP_* or GEX_TI_*, separated by |, and a final 0. Return the bytes that this
 * takes; a buffer of NULL receives nothing. */
size_t gasnett_format_dt(char *buffer, uint32_t types);
size_t gasnett_format_op(char *buffer, uint32_t operators);
size_t gasnett_format_ti(char *buffer, uint32_t fields);

/* ---- bytes ---- */

uint64_t gasnett_checksum(const void *data, int nbytes);                /* fast, not secure */
size_t gasnett_count0s(const void *src, size_t nbytes);                 /* number of bytes that are 0 */
size_t gasnett_count0s_copy(void *dst, const void *src, size_t nbytes); /* the same, and copies them */
int gasnett_isLittleEndian(void); /* whether the machine is little-endian */
/* Number of bytes of a value that are 0. */
static inline int gasnett_count0s_uint64_t(uint64_t x) {
    uint64_t low = ((uint64_t)-1 / 255 * 127),
             set = ((x & low) + low) | x; /* the high bit of each nonzero byte */
    return 8 - (int)(((set & ~low) >> 7) * ((uint64_t)-1 / 255) >> 56);
}
static inline int gasnett_count0s_uint32_t(uint32_t x) {
    return gasnett_count0s_uint64_t(x) - 4;
}
#define gasnett_count0s_uintptr_t(x)                                                                         \
    (sizeof(uintptr_t) == 8 ? gasnett_count0s_uint64_t(x) : gasnett_count0s_uint32_t((uint32_t)(x)))

/* ---- the process ---- */

/* Writes the line "*** FATAL ERROR: ...", and aborts. */
void gasnett_fatalerror(const char *format, ...) __attribute__((__format__(__printf__, 1, 2), __noreturn__));
#define gasnett_fatalerror_nopos gasnett_fatalerror /* no position is written in any case */
void gasnett_killmyprocess(int exitcode)
    __attribute__((__noreturn__)); /* immediately, without atexit handlers */

/* Returns the location as "function at file:line", in memory that is never freed. */
char *gasnett_build_loc_str(const char *function, const char *file, int line);
#define gasnett_current_loc gasnett_build_loc_str(GASNETT_CURRENT_FUNCTION, __FILE__, __LINE__)

typedef void (*gasnett_sighandlerfn_t)(int);
/* Installs a signal handler; returns the previous one. */
gasnett_sighandlerfn_t gasnett_reghandler(int signal, gasnett_sighandlerfn_t handler);
const char *gasnett_signame_fromval(int signal); /* such as SIGTERM */

/* Writes a backtrace of the calling thread to a file; returns 0 on success. A function of the program in
 * gasnett_backtrace_user is tried first. _ifenabled: only if GASNET_BACKTRACE is yes, else returns nonzero. */
typedef struct gasnett_backtrace_type {
    const char *name;
    int (*fnp)(int fd);
    int threadsupport;
} gasnett_backtrace_type_t;
extern gasnett_backtrace_type_t gasnett_backtrace_user;
void gasnett_backtrace_init(const char *exename); /* does nothing: no preparation is needed */
/* Writes a backtrace of the calling thread to a file, as described above. */
int gasnett_print_backtrace(int fd);
int gasnett_print_backtrace_ifenabled(int fd);

/* Wait until a debugger sets the flag to 0. gasnett_freezeForDebuggerErr does so with gasnet_frozen, and only if
 * GASNET_FREEZE_ON_ERROR is yes. */
extern volatile int gasnet_frozen;
void gasnett_freezeForDebuggerNow(volatile int *flag, const char *name);
void gasnett_freezeForDebuggerErr(void);

/* Raises a limit of the process (RLIMIT_...), or all limits on CPU and memory, as far as permitted; returns nonzero on
 * success. */
int gasnett_maximize_rlimit(int resource, const char *description);
int gasnett_maximize_rlimits(void);

/* ---- memory ---- */

void *gasnett_mmap(uintptr_t nbytes); /* new memory, in whole pages; ends the process if there is none */
void *gasnett_malloc_aligned(size_t alignment, size_t nbytes); /* likewise; alignment: a power of 2 */
void gasnett_free_aligned(void *memory);                       /* memory from gasnett_malloc_aligned */

/* ---- the machine, and calls without effect here ---- */

int gasnett_cpu_count(void);                         /* 0 if unknown */
const char *gasnett_gethostname(void);               /* never freed */
const char *gasnett_exe_name(void);                  /* path of the program, or NULL; never freed */
uint64_t gasnett_getPhysMemSz(int failure_is_fatal); /* bytes of physical memory; 0 if unknown */
void gasnett_flush_streams(void);                    /* flushes all streams that are open for writing */
void gasnett_close_streams(void);                    /* flushes, then closes stdin, stdout and stderr */
const char *gasnett_performance_warning_str(void);   /* empty: nothing makes this build slow */
/* Binds no thread: returns nonzero, as releases do where GASNETT_SET_AFFINITY_SUPPORT is not defined. */
static inline int gasnett_set_affinity(int rank) {
    (void)rank;
    return 1;
}
#define GASNETT_TRACE_ENABLED 0
GASNETT_UNUSED static void _gasnett_trace_printf_noop(const char *format, ...) {
    (void)format;
}
#define GASNETT_TRACE_PRINTF                    _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE              _gasnett_trace_printf_noop
#define GASNETT_TRACE_GET_TRACELOCAL()          0
#define GASNETT_TRACE_SET_TRACELOCAL(value)     ((void)0)
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
