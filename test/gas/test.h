/* test.h: shared declarations of the GASNet tests. They are plain GASNet programs that use only the public headers.
 *
 * Cases (frame.h) run between gasnet_attach and gasnet_exit, and begin and end on all nodes together. TEST_SETUP
 * declares handlers, and the segment size if it is not the default. A suite attaches once, with the handlers of all
 * its files: their indices differ. */
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

void test_set_up(const gasnet_handlerentry_t *handlers, size_t count, uintptr_t segment); /* 0: 1 MB */

#define TEST_SETUP(table, segment_bytes)                                                                     \
    __attribute__((constructor)) static void set_up(void) {                                                  \
        test_set_up(table, sizeof table / sizeof table[0], segment_bytes);                                   \
    }
#define TEST_SEGMENT(segment_bytes)                                                                          \
    __attribute__((constructor)) static void set_up(void) {                                                  \
        test_set_up(NULL, 0, segment_bytes);                                                                 \
    }
#define HANDLER(index, function)                                                                             \
    { index, (void (*)())(function) }

/* An anonymous barrier that must succeed. */
void test_barrier(void);

#endif
