/* test.h: what the GASNet tests share. They are plain GASNet programs: nothing but the public headers.
 *
 * Cases (frame.h) run between gasnet_attach and gasnet_exit, and begin and end with all nodes together. Handlers and
 * the size of the segment, if it is not the usual one, are given by TEST_SETUP. */
#ifndef HEARTH_TEST_GAS_H
#define HEARTH_TEST_GAS_H

#ifndef GASNET_SEQ
#ifndef GASNET_PARSYNC
#ifndef GASNET_PAR
#define GASNET_PAR 1
#endif
#endif
#endif
#include <gasnet.h>

#include "frame/frame.h"

extern gasnet_seginfo_t *test_segments;

struct test_setup {
    gasnet_handlerentry_t *handlers;
    int count;
    uintptr_t segment; /* bytes; 0: 1 MB */
};
extern const struct test_setup test_setup;
#define TEST_SETUP(table, segment_bytes)                                                                     \
    const struct test_setup test_setup = {table, sizeof table / sizeof table[0], segment_bytes}
#define HANDLER(index, function)                                                                             \
    { index, (void (*)())(function) }

/* An anonymous barrier; that it is one is expected. */
void test_barrier(void);

#endif
