/* order.c: after a put is synchronised everybody sees it: gets of all nodes, and loads at its target. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 1 << 20, ROUNDS = 300 };
TEST_SEGMENT(SEGMENT)

static uint64_t *word(int node, size_t i) {
    return (uint64_t *)test_segments[node].addr + i;
}

static uint64_t load(size_t i) {
    return __atomic_load_n(word(test_rank, i), __ATOMIC_ACQUIRE);
}

static void clear(void) {
    gasnet_memset((gasnet_node_t)test_rank, test_segments[test_rank].addr, 0, SEGMENT);
    test_barrier();
}

/* Data, then a flag: who loads the flag, finds the data. They are in different pages. */
CASE(flag_after_data_by_loads) {
    enum { FLAG = 0, DATA = 20000, COUNT = 64 };
    int next = (test_rank + 1) % test_size;
    clear();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t data[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            data[i] = round;
        if (round % 2 == 0)
            gasnet_put((gasnet_node_t)next, word(next, DATA), data, sizeof data);
        else
            gasnet_wait_syncnb(gasnet_put_nb_bulk((gasnet_node_t)next, word(next, DATA), data, sizeof data));
        gasnet_put_val((gasnet_node_t)next, word(next, FLAG), round, 8);
        while (load(FLAG) < round)
            gasnet_AMPoll();
        for (size_t i = 0; i < COUNT; i++)
            if (!expect(load(DATA + i) >= round))
                break;
    }
    test_barrier();
}

/* The same, read by gets from a third node. */
CASE(flag_after_data_by_gets) {
    enum { FLAG = 8, DATA = 30000 };
    int home = (test_rank + 1) % test_size, writer = (test_rank + test_size - 1) % test_size;
    int read_at = (writer + 1) % test_size; /* where the one before this rank writes: here */
    clear();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        gasnet_put_val((gasnet_node_t)home, word(home, DATA), round, 8);
        gasnet_put_val((gasnet_node_t)home, word(home, FLAG), round, 8);
        while (gasnet_get_val((gasnet_node_t)read_at, word(read_at, FLAG), 8) < round)
            gasnet_AMPoll();
        expect(gasnet_get_val((gasnet_node_t)read_at, word(read_at, DATA), 8) >= round);
        uint64_t flag, data;
        gasnet_get(&flag, (gasnet_node_t)home, word(home, FLAG), 8);
        gasnet_get(&data, (gasnet_node_t)home, word(home, DATA), 8);
        expect(data >= flag);
    }
    test_barrier();
}

/* Two nodes each put to their own word and then get the other's: one at least sees the other's put. */
CASE(one_of_two_sees_the_other) {
    enum { STRIDE = 4096 };
    SKIP_IF(test_size < 2, "needs two nodes");
    int partner = test_rank ^ 1;
    bool plays = partner < test_size;
    int home = test_rank / 2 * 2; /* both words lie with the even one, on different pages */
    clear();
    for (uint64_t round = 1; round <= 60; round++) {
        uint64_t seen = 0;
        if (plays) {
            gasnet_put_val((gasnet_node_t)home, word(home, (size_t)(test_rank % 2) * STRIDE), round, 8);
            seen = gasnet_get_val((gasnet_node_t)home, word(home, (size_t)(partner % 2) * STRIDE), 8);
            gasnet_put_val((gasnet_node_t)partner, word(partner, 20000), seen, 8);
        }
        test_barrier();
        if (plays)
            expect(seen == round || load(20000) == round);
        test_barrier();
    }
}

/* What is stored at home before a barrier, everybody gets after it. */
CASE(stores_before_a_barrier) {
    clear();
    for (uint64_t round = 1; round <= 30; round++) {
        for (size_t i = 0; i < 3000; i += 97)
            *word(test_rank, i) = round * 1000 + (uint64_t)test_rank;
        test_barrier();
        for (int node = 0; node < test_size; node++)
            for (size_t i = 0; i < 3000; i += 97)
                expect(gasnet_get_val((gasnet_node_t)node, word(node, i), 8) ==
                       round * 1000 + (uint64_t)node);
        test_barrier();
    }
}
