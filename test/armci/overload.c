/* overload.c: all ranks send to rank 0 at full speed while rank 0 only computes. The memory of its process (helper,
 * buffers and network library together) must not grow. timeout: 60 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Per operation; fewer if a block holds 64 bytes, as a megabyte then takes seconds. */
static int bytes = 1 << 20;

static long resident_kb(void) {
    long kb = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld kB", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void compute_until(double end) {
    volatile double x = 0;
    while (armci_timer() < end)
        for (int i = 0; i < 10000; i++)
            x += i;
    (void)x; /* a use: gcc 16 */
}

/* Puts, accumulates and gets, contiguous and strided, with many pending at a time. */
static void flood(void **parts, char *data, double end) {
    enum { AT_ONCE = 16 };
    armci_hdl_t handles[AT_ONCE];
    double one = 1;
    int strides[] = {128}, counts[] = {64, bytes / 128};
    memset(handles, 0, sizeof handles);
    for (unsigned i = 0; armci_timer() < end; i++) {
        armci_hdl_t *h = &handles[i % AT_ONCE];
        ARMCI_Wait(h);
        switch (i % 5) {
        case 0:
            ARMCI_NbPut(data, parts[0], bytes, 0, h);
            break;
        case 1:
            ARMCI_NbAccS(ARMCI_ACC_DBL, &one, data, strides, parts[0], strides, counts, 1, 0, h);
            break;
        case 2:
            ARMCI_NbGet(parts[0], data + bytes, bytes, 0, h);
            break;
        case 3:
            ARMCI_NbPutS(data, strides, parts[0], strides, counts, 1, 0, h);
            break;
        default:
            ARMCI_NbGetS(parts[0], strides, data + bytes, strides, counts, 1, 0, h);
        }
    }
    for (int i = 0; i < AT_ONCE; i++)
        ARMCI_Wait(&handles[i]);
    ARMCI_AllFence();
}

CASE(memory_stays_flat) {
    enum { GROWTH_KB = 4096 };
    SKIP_IF(test_size < 2, "takes two ranks");
    void **parts = malloc((size_t)test_size * sizeof *parts);
    const char *config = getenv("HEARTH_TEST_CONFIG");
    if (config && strcmp(config, "tiny") == 0)
        bytes = 1 << 16;
    char *data = calloc(2, (size_t)bytes);
    expect_eq(ARMCI_Malloc(parts, bytes), 0);
    memset(parts[test_rank], 0, (size_t)bytes);
    ARMCI_Barrier();
    double start = armci_timer(), seconds = test_seconds > 0.5 ? test_seconds : 0.5;
    if (test_rank == 0) {
        compute_until(start + seconds / 2); /* by then every one-time allocation is made */
        long before = resident_kb();
        compute_until(start + seconds);
        long after = resident_kb();
        printf("resident: %ld KB, then %ld KB\n", before, after);
        if (test_ours)
            expect(after - before < GROWTH_KB);
    } else
        flood(parts, data, start + seconds);
    ARMCI_Barrier();
    ARMCI_Free(parts[test_rank]);
    free(parts);
    free(data);
}
