/* compiler.h: what C lacks and each compiler and processor has in its own form. */
#ifndef HEARTH_COMPILER_H
#define HEARTH_COMPILER_H

#include <stdint.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For variables that other files read on a hot path: accessed without the global offset table. */
#define HIDDEN     __attribute__((visibility("hidden")))
#define CACHE_LINE 64u

/* Spin-wait hint: called between two polls of a word that another core writes. */
static inline void cpu_relax(void) {
#if defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__powerpc64__) /* lowers the priority of the hardware thread, and restores it */
    __asm__ volatile("or 1,1,1\n\tor 2,2,2" ::: "memory");
#elif defined(__riscv)       /* `pause`, which processors without it execute as a fence of nothing */
    __asm__ volatile(".4byte 0x0100000f" ::: "memory");
#endif
}

static inline uint64_t round_up(uint64_t n, uint64_t unit) {
    return (n + unit - 1) / unit * unit;
}

#endif
