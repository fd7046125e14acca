/* cpu.h: the vector instructions of this processor, asked at run time, so that one binary runs on all of its kind. */
#ifndef HEARTH_CPU_H
#define HEARTH_CPU_H

#include <stdbool.h>

static inline bool cpu_has_avx2(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* The ones that Hearth uses, for `hearth info`. */
static inline const char *cpu_vectors(void) {
#if defined(__aarch64__)
    return "NEON";
#elif defined(__x86_64__)
    return cpu_has_avx2() ? "AVX2" : "SSE2";
#else
    return "none";
#endif
}

#endif
