/* faults.c: errors of a program, and a machine with too few resources. test/fault/test_armci.sh runs one case at a
 * time. Rank 1, or all ranks, make the error. */
#include "test.h"

#include <armcix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void **parts;

static void begin(size_t bytes) {
    parts = malloc((size_t)test_size * sizeof *parts);
    expect_eq(ARMCI_Malloc(parts, (armci_size_t)bytes), 0);
    ARMCI_Barrier();
}

/* No rank leaves before the job is ended. */
static void wait_for_the_end(void) {
    fflush(stdout);
    sleep(20);
    printf("the job went on\n");
}

ON_CALL(wild_address) {
    long here = 5;
    begin(1000);
    if (test_rank == 1)
        ARMCI_Put(&here, (void *)0x12345678, sizeof here, 0);
    wait_for_the_end();
}

ON_CALL(beyond_the_allocation) {
    char data[2000] = "";
    begin(1000);
    if (test_rank == 1)
        ARMCI_Get((char *)parts[0] + 500, data, 501, 0);
    wait_for_the_end();
}

/* The same errors with memory of the rank itself. */
ON_CALL(own_wild_address) {
    long here = 5;
    begin(1000);
    if (test_rank == 1)
        ARMCI_Put(&here, (void *)0x12345678, sizeof here, 1);
    wait_for_the_end();
}

ON_CALL(own_beyond_the_allocation) {
    char data[2000] = "";
    begin(1000);
    if (test_rank == 1)
        ARMCI_Get((char *)parts[1] + 500, data, 501, 1);
    wait_for_the_end();
}

ON_CALL(own_after_free) {
    long here;
    begin(1000);
    void *there = parts[test_rank];
    ARMCI_Free(there);
    if (test_rank == 1)
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &here, there, 1, 1);
    wait_for_the_end();
}

ON_CALL(strided_beyond) {
    char data[2000] = "";
    int strides[] = {100}, counts[] = {8, 11};
    begin(1000);
    if (test_rank == 1)
        ARMCI_PutS(data, strides, parts[0], strides, counts, 1, 0);
    wait_for_the_end();
}

ON_CALL(no_such_rank) {
    long here;
    begin(1000);
    if (test_rank == 1)
        ARMCI_Get(parts[0], &here, sizeof here, test_size);
    wait_for_the_end();
}

ON_CALL(after_free) {
    long here;
    begin(1000);
    void *there = parts[0];
    ARMCI_Free(parts[test_rank]);
    if (test_rank == 1)
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &here, there, 1, 0);
    wait_for_the_end();
}

ON_CALL(unlock_of_what_is_not_held) {
    begin(8);
    ARMCI_Create_mutexes(1);
    if (test_rank == 1)
        ARMCI_Unlock(0, 0);
    wait_for_the_end();
}

ON_CALL(no_such_mutex) {
    begin(8);
    ARMCI_Create_mutexes(2);
    if (test_rank == 1)
        ARMCI_Lock(2, 0);
    wait_for_the_end();
}

/* More memory than any machine has: all ranks get an error, and everything works afterwards. */
ON_CALL(too_much_memory) {
    void **none = malloc((size_t)test_size * sizeof *none);
    armci_size_t much = test_rank == 1 ? (armci_size_t)1 << 46 : 100;
    expect(ARMCI_Malloc(none, much) != 0);
    begin(1000);
    ARMCI_PutValueInt(test_rank, parts[(test_rank + 1) % test_size], (test_rank + 1) % test_size);
    ARMCI_Barrier();
    expect_eq(*(int *)parts[test_rank], (test_rank + test_size - 1) % test_size);
    ARMCI_Barrier();
    ARMCI_Free(parts[test_rank]);
}

ON_CALL(no_descriptors) {
    struct rlimit limit, none;
    void **more = malloc((size_t)test_size * sizeof *more);
    begin(1000);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 3;
    if (test_rank == 1)
        setrlimit(RLIMIT_NOFILE, &none);
    armci_size_t much = (armci_size_t)600 << 20; /* more than is mapped already */
    int status = ARMCI_Malloc(more, much);
    setrlimit(RLIMIT_NOFILE, &limit);
    expect(status != 0);
    ARMCI_Barrier();
    expect_eq(ARMCI_Malloc(more, 100000), 0);
    ARMCI_Free(more[test_rank]);
    ARMCI_Free(parts[test_rank]);
}

/* Traffic until one of the ranks is killed, which the script does once it has seen a line of each. */
ON_CALL(traffic_until_killed) {
    char data[70000] = "";
    begin(sizeof data);
    bool told = false;
    for (double end = armci_timer() + 30; armci_timer() < end;) {
        for (int r = 0; r < test_size; r++) {
            ARMCI_Put(data, parts[r], sizeof data, r);
            ARMCI_Get(parts[r], data, sizeof data, r);
        }
        if (!told)
            fprintf(stderr, "traffic of rank %d\n", test_rank);
        told = true;
    }
    wait_for_the_end();
}
