/* heap_use.h: the bytes that the C library has allocated. 0 where it does not tell: only glibc does. */
#ifndef HEARTH_TOOLS_HEAP_USE_H
#define HEARTH_TOOLS_HEAP_USE_H

#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static inline size_t heap_in_use(void) {
#if !defined(__GLIBC__)
    return 0;
#elif __GLIBC_PREREQ(2, 33)
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
#else
    struct mallinfo m = mallinfo();
    return (size_t)(unsigned)m.uordblks + (size_t)(unsigned)m.hblkhd;
#endif
}

#endif
