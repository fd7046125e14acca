/* silence.c: tests that a long get that bypasses the helper, whose data flows for longer than HEARTH_NET_TIMEOUT,
 * does not end the job. The clock of these processes runs fast to keep the test short. ranks: 2; configs: nodes1; quick: openmpi;
 * timeout: 60 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 300 << 20, FASTER = 24 };

__attribute__((constructor)) static void set_limits(void) {
    setenv("HEARTH_NET_TIMEOUT", "1", 1);
    setenv("HEARTH_DIRECT", "on", 1);
}

/* Replaces the function of the C library, for the library under test too. The clock never goes backwards. */
static bool fast;
static int64_t fast_since, ahead;

static int64_t real_ns(clockid_t clock, struct timespec *t) {
    syscall(SYS_clock_gettime, clock, t);
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    int64_t now = real_ns(clock, t);
    if (clock != CLOCK_MONOTONIC)
        return 0;
    now += ahead + (fast ? (now - fast_since) * (FASTER - 1) : 0);
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    return 0;
}

static void run_fast(bool on) {
    struct timespec t;
    int64_t now = real_ns(CLOCK_MONOTONIC, &t);
    ahead += fast ? (now - fast_since) * (FASTER - 1) : 0;
    fast_since = now;
    fast = on;
}

CASE(a_long_get_whose_data_flows) {
    SKIP_IF_STOCK();
    void **at = calloc((size_t)test_size, sizeof *at);
    expect_eq(ARMCI_Malloc(at, test_rank == 1 ? BYTES : 64), 0);
    if (test_rank == 1)
        memset(at[1], 7, BYTES);
    ARMCI_Barrier();
    if (test_rank == 0) {
        char *to = calloc(1, BYTES);
        run_fast(true);
        expect_eq(ARMCI_Get(at[1], to, BYTES, 1), 0);
        run_fast(false);
        expect_eq(to[BYTES - 1], 7);
        free(to);
    }
    ARMCI_Barrier();
    expect_eq(ARMCI_Free(at[test_rank]), 0);
    free(at);
}
