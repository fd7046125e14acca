/* handles.c: tests non-blocking operations, completed one by one, in any order, all together, or through one handle. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 300, BYTES = 1000 };

static void **parts;
static uint8_t (*data)[BYTES], (*back)[BYTES];

static void begin(void) {
    parts = malloc((size_t)test_size * sizeof *parts);
    data = malloc(MANY * sizeof *data);
    back = calloc(MANY, sizeof *back);
    if (ARMCI_Malloc(parts, MANY * BYTES) != 0)
        ARMCI_Error("no memory for the test", 1);
    for (int i = 0; i < MANY; i++)
        test_fill(data[i], BYTES, test_rank, i);
    memset(parts[test_rank], 0, MANY * BYTES);
    ARMCI_Barrier();
}

static void end(void) {
    ARMCI_Barrier();
    ARMCI_Free(parts[test_rank]);
    free(parts);
    free(data);
    free(back);
}

static char *place(int rank, int i) {
    return (char *)parts[rank] + (size_t)i * BYTES;
}

static void check_mine(void) {
    uint8_t want[BYTES];
    int left = (test_rank + test_size - 1) % test_size;
    for (int i = 0; i < MANY; i++) {
        test_fill(want, BYTES, left, i);
        expect_bytes(place(test_rank, i), want, BYTES);
    }
}

static int right(void) {
    return (test_rank + 1) % test_size;
}

CASE(puts_then_gets_waited_for_backwards) {
    armci_hdl_t *handles = malloc(MANY * sizeof *handles);
    begin();
    for (int i = 0; i < MANY; i++) {
        ARMCI_INIT_HANDLE(&handles[i]);
        ARMCI_NbPut(data[i], place(right(), i), BYTES, right(), &handles[i]);
    }
    for (int i = MANY; i-- > 0;)
        expect_eq(ARMCI_Wait(&handles[i]), 0);
    for (int i = 0; i < MANY; i++)
        ARMCI_NbGet(place(right(), i), back[i], BYTES, right(), &handles[i]);
    for (int i = MANY; i-- > 0;) {
        ARMCI_Wait(&handles[i]);
        expect_bytes(back[i], data[i], BYTES);
        expect_eq(ARMCI_Wait(&handles[i]), 0); /* again: nothing to wait for */
    }
    ARMCI_Barrier();
    check_mine();
    end();
    free(handles);
}

CASE(tested_until_complete) {
    begin();
    for (int i = 0; i < MANY; i++) {
        armci_hdl_t put, get;
        ARMCI_INIT_HANDLE(&put);
        ARMCI_INIT_HANDLE(&get);
        ARMCI_NbPut(data[i], place(right(), i), BYTES, right(), &put);
        ARMCI_NbGet(place(right(), i), back[i], BYTES, right(), &get);
        while (ARMCI_Test(&get) != 0)
            ;
        expect_bytes(back[i], data[i], BYTES);
        while (ARMCI_Test(&put) != 0)
            ;
    }
    ARMCI_Barrier();
    check_mine();
    end();
}

CASE(one_handle_for_many) {
    armci_hdl_t handle;
    begin();
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    for (int i = 0; i < MANY; i++)
        ARMCI_NbPut(data[i], place(right(), i), BYTES, right(), &handle);
    ARMCI_Wait(&handle);
    for (int i = 0; i < MANY; i++)
        ARMCI_NbGet(place(right(), i), back[i], BYTES, right(), &handle);
    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    ARMCI_Wait(&handle);
    expect_bytes(back, data, sizeof *back * MANY);
    ARMCI_Barrier();
    check_mine();
    end();
}

CASE(without_a_handle) {
    begin();
    for (int i = 0; i < MANY; i++)
        ARMCI_NbPut(data[i], place(right(), i), BYTES, right(), NULL);
    ARMCI_WaitAll();
    for (int i = 0; i < MANY; i++)
        ARMCI_NbGet(place(right(), i), back[i], BYTES, right(), NULL);
    ARMCI_WaitProc(right());
    expect_bytes(back, data, sizeof *back * MANY);
    ARMCI_Barrier();
    check_mine();
    end();
}

/* ARMCI_WaitAll also waits for operations with a handle. */
CASE(all_handles_at_once) {
    armci_hdl_t handles[MANY];
    begin();
    for (int i = 0; i < MANY; i++) {
        ARMCI_INIT_HANDLE(&handles[i]);
        ARMCI_NbPut(data[i], place(right(), i), BYTES, right(), &handles[i]);
    }
    ARMCI_WaitAll();
    for (int i = 0; i < MANY; i++) {
        ARMCI_INIT_HANDLE(&handles[i]);
        ARMCI_NbGet(place(right(), i), back[i], BYTES, right(), &handles[i]);
    }
    ARMCI_WaitAll();
    expect_bytes(back, data, sizeof *back * MANY);
    ARMCI_Barrier();
    check_mine();
    end();
}

static long resident_kb(void) {
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

/* A program that only fences never waits for operations without a handle. */
CASE(without_a_handle_and_never_waited_for) {
    const int TIMES = test_times(30000);
    begin();
    long before = 0;
    for (int i = 0; i < TIMES; i++) {
        ARMCI_NbPut(data[i % MANY], place(right(), i % MANY), 64, right(), NULL);
        if (i % 1000 == 999)
            ARMCI_AllFence();
        if (i == TIMES / 10)
            before = resident_kb();
    }
    if (test_ours)
        expect(resident_kb() - before < 4096);
    ARMCI_WaitAll();
    end();
}

/* The source of a value operation is an argument, which is gone when the call returns. */
CASE(values_are_copied) {
    armci_hdl_t handle;
    begin();
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    for (int i = 0; i < MANY; i++) {
        ARMCI_NbPutValueInt(i, place(right(), i), right(), &handle);
        ARMCI_NbPutValueLong(-i, place(right(), i) + 8, right(), &handle);
        ARMCI_NbPutValueFloat((float)i, place(right(), i) + 16, right(), &handle);
        ARMCI_NbPutValueDouble(0.5 * i, place(right(), i) + 24, right(), &handle);
    }
    ARMCI_Wait(&handle);
    ARMCI_Barrier();
    for (int i = 0; i < MANY; i++) {
        const char *at = place(test_rank, i);
        expect_eq(*(int *)at, i);
        expect_eq(*(long *)(at + 8), -i);
        expect_real(*(float *)(at + 16), (float)i);
        expect_real(*(double *)(at + 24), 0.5 * i);
    }
    end();
}

/* Much more than all buffers hold, in all directions, before any wait. */
CASE(more_than_fits) {
    enum { LARGE = 3 << 20 };
    void **large = malloc((size_t)test_size * sizeof *large);
    if (ARMCI_Malloc(large, LARGE) != 0)
        ARMCI_Error("no memory for the test", 1);
    uint8_t *out = malloc(LARGE), *in = calloc(1, LARGE);
    armci_hdl_t *handles = calloc((size_t)test_size * 2, sizeof *handles);
    test_fill(out, LARGE, test_rank, 5);
    for (int r = 0; r < test_size; r++)
        if (r == right())
            ARMCI_NbPut(out, large[r], LARGE, r, &handles[r]);
    for (int r = 0; r < test_size; r++)
        if (r == right())
            ARMCI_NbGet(large[r], in, LARGE, r, &handles[test_size + r]);
    for (int r = 0; r < 2 * test_size; r++)
        ARMCI_Wait(&handles[r]);
    expect_bytes(in, out, LARGE);
    ARMCI_Barrier();
    ARMCI_Free(large[test_rank]);
    free(large);
    free(out);
    free(in);
    free(handles);
}
