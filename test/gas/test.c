/* test.c: how the GASNet tests begin and end. */
#include "test.h"

#include <stdlib.h>

enum { SEGMENT = 1 << 20 };

gasnet_seginfo_t *test_segments;
__attribute__((weak)) const struct test_setup test_setup = {NULL, 0, 0};

void test_barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    expect_eq(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
}

static void begin(int *argc, char ***argv) {
    GASNET_SAFE(gasnet_init(argc, argv));
    test_rank = (int)gasnet_mynode();
    test_size = (int)gasnet_nodes();
}

static void attach(int *argc, char ***argv) {
    (void)argc, (void)argv;
    GASNET_SAFE(gasnet_attach(test_setup.handlers, test_setup.count,
                              test_setup.segment ? test_setup.segment : SEGMENT, 0));
    test_segments = calloc((size_t)test_size, sizeof *test_segments);
    GASNET_SAFE(gasnet_getSegmentInfo(test_segments, test_size));
}

/* In the barrier all poll until all are through. */
const struct test_job test_job = {.member = "node",
                                  .seconds = 60,
                                  .begin = begin,
                                  .open = attach,
                                  .settle = test_barrier,
                                  .end = gasnet_exit};
