/* test.c: begins and ends a job of GASNet tests. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEGMENT = 1 << 20, MOST_HANDLERS = 128 };

gasnet_seginfo_t *test_segments;

static gasnet_handlerentry_t table[MOST_HANDLERS];
static size_t handler_count;
static uintptr_t segment = SEGMENT;

void test_set_up(const gasnet_handlerentry_t *handlers, size_t count, uintptr_t bytes) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < handler_count; k++)
            if (table[k].index == handlers[i].index) {
                fprintf(stderr, "two files of this suite use handler %d\n", handlers[i].index);
                abort();
            }
        if (handler_count == MOST_HANDLERS)
            abort();
        table[handler_count++] = handlers[i];
    }
    if (bytes > segment)
        segment = bytes;
}

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
    GASNET_SAFE(gasnet_attach(table, (int)handler_count, segment, 0));
    test_segments = calloc((size_t)test_size, sizeof *test_segments);
    GASNET_SAFE(gasnet_getSegmentInfo(test_segments, test_size));
}

/* In the barrier all nodes poll until all have entered. */
const struct test_job test_job = {.member = "node",
                                  .seconds = 120,
                                  .begin = begin,
                                  .open = attach,
                                  .settle = test_barrier,
                                  .end = gasnet_exit};
