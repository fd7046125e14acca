/* vectors.h: loops over long rows use the processor's widest vectors. Internal to data/.
 *
 * The compiler makes two versions of a function, and the loader chooses one of them by an ifunc, which needs glibc. There is
 * none for AVX-512: in the L2 cache it is not faster than AVX2, and some processors lower their clock for it. The sanitizers
 * are not ready when the loader calls their instrumented code. */
#ifndef HEARTH_DATA_VECTORS_H
#define HEARTH_DATA_VECTORS_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__)
#define WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_VECTORS
#endif

enum { LONG_ROW = 512 }; /* bytes; for shorter rows the call takes longer than the vectors save */

#endif
