/* sizes.c: tests that GASNET_MAX_SEGSIZE limits the largest segment, in the forms that GASNet defines, and that the
 * largest segment can be attached and used at both ends. configs: off off1 node */
#define GASNET_PAR 1
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>

static void barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

/* Writes the first and last byte of the next rank's segment, through the network or not, and checks what the previous
 * rank put into this one. */
static int use_ends(const gasnet_seginfo_t *segments, uintptr_t bytes) {
    unsigned me = gasnet_mynode(), size = gasnet_nodes(), next = (me + 1) % size;
    unsigned char value = (unsigned char)(me + 1), first, last;
    gasnet_put(next, segments[next].addr, &value, 1);
    gasnet_put(next, (char *)segments[next].addr + bytes - 1, &value, 1);
    barrier();
    gasnet_get(&first, (gasnet_node_t)me, segments[me].addr, 1);
    gasnet_get(&last, (gasnet_node_t)me, (char *)segments[me].addr + bytes - 1, 1);
    unsigned expected = (me + size - 1) % size + 1;
    return first == expected && last == expected;
}

int main(int argc, char **argv) {
    setenv("GASNET_MAX_SEGSIZE", "0.03125GB/P", 1);
    gasnet_init(&argc, &argv);
    uintptr_t most = gasnet_getMaxLocalSegmentSize(), wanted = (uintptr_t)32 << 20;
    int wrong = most != wanted || gasnet_getMaxGlobalSegmentSize() != wanted;
    if (wrong)
        fprintf(stderr, "the largest segment has %lu bytes instead of %lu\n", (unsigned long)most,
                (unsigned long)wanted);
    gasnet_seginfo_t *segments = calloc(gasnet_nodes(), sizeof *segments);
    if (gasnet_attach(NULL, 0, most < wanted ? most : wanted, 0) != GASNET_OK)
        gasnet_exit(2);
    gasnet_getSegmentInfo(segments, (int)gasnet_nodes());
    if (!use_ends(segments, segments[gasnet_mynode()].size)) {
        fprintf(stderr, "node %u: its segment does not hold what was put\n", (unsigned)gasnet_mynode());
        wrong = 1;
    }
    barrier();
    gasnet_exit(wrong);
}
