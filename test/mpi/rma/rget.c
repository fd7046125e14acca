/* rget.c: tests MPI_Rget. Its request completes when the data is there, from the cache or from MPI, by any of the
 * completion calls. From then on the program may overwrite its buffer, and the cache must not take the new contents
 * for data of the get. */
#include "test.h"

#include <stdlib.h>

enum { WINDOW = 16384, BYTES = 600, OFFSET = 320 };

static unsigned char got[WINDOW], other[WINDOW];

static MPI_Request rget(struct window *w, void *to, size_t offset, size_t bytes) {
    MPI_Request request;
    memset(to, 0, bytes);
    MPI_Rget(to, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, w->win, &request);
    return request;
}

static void get(struct window *w, void *to, size_t offset, size_t bytes) {
    memset(to, 0, bytes);
    MPI_Get(to, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, w->win);
}

static void get_and_check(struct window *w, size_t offset, size_t bytes, int version) {
    get(w, other, offset, bytes);
    MPI_Win_flush(peer(), w->win);
    expect_pattern(other, bytes, peer(), offset, version);
}

typedef void completion(MPI_Request *request);

static void by_wait(MPI_Request *request) {
    MPI_Status status;
    MPI_Wait(request, &status);
}

static void by_test(MPI_Request *request) {
    int done = 0;
    while (!done)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void by_waitall(MPI_Request *request) {
    MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
}

static void by_waitany(MPI_Request *request) {
    int index = -1;
    MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    expect_eq(index, 0);
}

static void by_waitsome(MPI_Request *request) {
    int count = 0, index = -1;
    MPI_Waitsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
    expect_eq(count, 1);
    expect_eq(index, 0);
}

static void by_testall(MPI_Request *request) {
    int done = 0;
    while (!done)
        MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
}

static void by_testany(MPI_Request *request) {
    int done = 0, index = -1;
    while (!done)
        MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE);
    expect_eq(index, 0);
}

static void by_testsome(MPI_Request *request) {
    int count = 0, index = -1;
    while (!count)
        MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
    expect_eq(count, 1);
    expect_eq(index, 0);
}

static void by_get_status(MPI_Request *request) {
    int done = 0;
    while (!done)
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    expect_pattern(got, BYTES, peer(), OFFSET, 0);
    expect(*request != MPI_REQUEST_NULL);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* A miss, then two hits, each completed without any flush. */
static void expect_completion(completion *complete) {
    struct window w = open_window(WINDOW, "always");
    for (int i = 0; i < 3; i++) {
        MPI_Request request = rget(&w, got, OFFSET, BYTES);
        expect(request != MPI_REQUEST_NULL);
        complete(&request);
        expect(request == MPI_REQUEST_NULL);
        expect_pattern(got, BYTES, peer(), OFFSET, 0);
        memset(got, 0xcc, sizeof got);
    }
    expect_stat(w.win, full_hits, 2);
    expect_stat(w.win, bytes_fetched, BYTES);
    close_window(&w);
}

CASE(wait) {
    expect_completion(by_wait);
}

CASE(test) {
    expect_completion(by_test);
}

CASE(waitall) {
    expect_completion(by_waitall);
}

CASE(waitany) {
    expect_completion(by_waitany);
}

CASE(waitsome) {
    expect_completion(by_waitsome);
}

CASE(testall) {
    expect_completion(by_testall);
}

CASE(testany) {
    expect_completion(by_testany);
}

CASE(testsome) {
    expect_completion(by_testsome);
}

CASE(request_get_status) {
    expect_completion(by_get_status);
}

/* MPICH and Open MPI's osc pt2pt refuse MPI_Request_free here; where it is accepted, the flush completes the get. */
CASE(request_free) {
    struct window w = open_window(WINDOW, "always");
    test_return_errors(true);
    for (int i = 0; i < 3; i++) {
        MPI_Request request = rget(&w, got, OFFSET, BYTES);
        if (MPI_Request_free(&request) != MPI_SUCCESS)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(request == MPI_REQUEST_NULL);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got, BYTES, peer(), OFFSET, 0);
        memset(got, 0xcc, sizeof got);
        get_and_check(&w, OFFSET, BYTES, 0);
    }
    test_return_errors(false);
    close_window(&w);
}

/* The cache copies the data in the completing call: at the flush the buffer is overwritten already. */
CASE(overwritten_between_wait_and_flush) {
    struct window w = open_window(WINDOW, "always");
    MPI_Request request = rget(&w, got, OFFSET, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(got, 0xcc, BYTES);
    MPI_Win_flush(peer(), w.win);
    get_and_check(&w, OFFSET, BYTES, 0);
    get_and_check(&w, OFFSET, BYTES, 0);
    expect_stat(w.win, full_hits, 2);
    close_window(&w);
}

/* After a flush the data is there and the buffer is free, although the program has not yet waited for the request. */
static void overwrite_before_wait(bool local) {
    struct window w = open_window(WINDOW, "always");
    MPI_Request request = rget(&w, got, OFFSET, BYTES);
    if (local)
        MPI_Win_flush_local(peer(), w.win);
    else
        MPI_Win_flush(peer(), w.win);
    expect_pattern(got, BYTES, peer(), OFFSET, 0);
    memset(got, 0xcc, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < BYTES; i++)
        expect(got[i] == 0xcc);
    get_and_check(&w, OFFSET, BYTES, 0);
    get_and_check(&w, OFFSET, BYTES, 0);
    close_window(&w);
}

CASE(overwritten_between_flush_and_wait) {
    overwrite_before_wait(false);
    overwrite_before_wait(true);
}

CASE(waited_for_after_the_epoch) {
    struct window w = make_window(WINDOW, "always");
    for (int i = 0; i < 3; i++) {
        MPI_Request request;
        MPI_Win_lock(MPI_LOCK_SHARED, peer(), 0, w.win);
        request = rget(&w, got, OFFSET, BYTES);
        MPI_Win_unlock(peer(), w.win);
        expect_pattern(got, BYTES, peer(), OFFSET, 0);
        memset(got, 0xcc, BYTES);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_lock_all(0, w.win);
    get_and_check(&w, OFFSET, BYTES, 0);
    barrier();
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

/* The data of an Rget must be there after its Wait, although a plain get of the same data completes only at the
 * flush. */
CASE(never_joins_a_pending_get) {
    struct window w = open_window(WINDOW, "always");
    MPI_Request request;
    get(&w, other, OFFSET, BYTES);
    request = rget(&w, got, OFFSET, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_pattern(got, BYTES, peer(), OFFSET, 0);
    memset(got, 0xcc, BYTES);
    MPI_Win_flush(peer(), w.win);
    expect_pattern(other, BYTES, peer(), OFFSET, 0);
    expect_stat(w.win, pending_hits, 0);
    get_and_check(&w, OFFSET, BYTES, 0);
    close_window(&w);
}

/* The reverse: a get that may have joined the Rget, whose buffer is overwritten before the flush. */
CASE(get_beside_a_pending_rget) {
    struct window w = open_window(WINDOW, "always");
    for (size_t i = 0; i < 4; i++) {
        MPI_Request request = rget(&w, got, OFFSET + 1024 * i, BYTES);
        get(&w, other, OFFSET + 1024 * i, BYTES);
        if (i % 2)
            MPI_Win_flush(peer(), w.win);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_pattern(got, BYTES, peer(), OFFSET + 1024 * i, 0);
        memset(got, 0xcc, BYTES);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(other, BYTES, peer(), OFFSET + 1024 * i, 0);
    }
    close_window(&w);
}

CASE(longer_than_what_is_cached) {
    struct window w = open_window(WINDOW, "always");
    MPI_Request request = rget(&w, got, OFFSET, 100);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = rget(&w, got, OFFSET, BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_pattern(got, BYTES, peer(), OFFSET, 0);
    memset(got, 0xcc, BYTES);
    get_and_check(&w, OFFSET, BYTES, 0);
    request = rget(&w, got, OFFSET, 50);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_pattern(got, 50, peer(), OFFSET, 0);
    expect_hits(w.win, 2);
    close_window(&w);
}

/* There is no flush between the reads, only barriers. The new data is read because the cache does not keep the result of
 * an Rget in this mode. */
CASE(transparent_mode_keeps_nothing) {
    struct window w = open_window(WINDOW, "transparent");
    for (int version = 0; version < 5; version++) {
        MPI_Request request;
        if (version)
            rewrite(&w, version);
        request = rget(&w, got, OFFSET, BYTES);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_pattern(got, BYTES, peer(), OFFSET, version);
    }
    expect_stat(w.win, full_hits, 0);
    close_window(&w);
}

CASE(nobody_and_nothing) {
    struct window w = open_window(WINDOW, "always");
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) {
        got[0] = 77;
        MPI_Rget(got, 1, MPI_BYTE, MPI_PROC_NULL, 0, 1, MPI_BYTE, w.win, &requests[0]);
        MPI_Rget(got, 0, MPI_BYTE, peer(), 0, 0, MPI_BYTE, w.win, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect_eq(got[0], 77);
    }
    close_window(&w);
}

/* On MPICH 4.0 the Wait of such an Rget returns before the data is there; only a flush completes it. The program
 * flushes, and the cache must not keep the contents of the buffer after the Wait. */
CASE(types_freed_before_the_wait) {
    struct window w = open_window(WINDOW, "always");
    for (int round = 0; round < 3; round++) {
        MPI_Datatype from, into;
        MPI_Request request;
        memset(got, 0, sizeof got);
        MPI_Type_vector(10, 8, 20, MPI_BYTE, &from);
        MPI_Type_vector(20, 4, 6, MPI_BYTE, &into);
        MPI_Type_commit(&from);
        MPI_Type_commit(&into);
        MPI_Rget(got, 1, into, peer(), OFFSET, 1, from, w.win, &request);
        MPI_Type_free(&from);
        MPI_Type_free(&into);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (!test_open_mpi()) /* MPICH 4.0 completes the request too early */
            MPI_Win_flush(peer(), w.win);
        for (size_t i = 0; i < 20; i++)
            expect_pattern(got + 6 * i, 4, peer(), OFFSET + i / 2 * 20 + i % 2 * 4, 0);
    }
    close_window(&w);
}

/* This rank writes the second half while Rgets of the first half are pending. */
CASE(put_beside_rget) {
    struct window w = open_window(WINDOW, "always");
    unsigned char mine[64];
    for (int version = 1; version < 5; version++) {
        MPI_Request requests[2];
        fill_pattern(mine, 64, test_rank, 4096, version);
        requests[0] = rget(&w, got, 0, 100);
        MPI_Rput(mine, 64, MPI_BYTE, peer(), 4096, 64, MPI_BYTE, w.win, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Win_flush(peer(), w.win);
        expect_pattern(got, 100, peer(), 0, 0);
        requests[0] = rget(&w, got, 4096, 64);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect_pattern(got, 64, test_rank, 4096, version);
    }
    close_window(&w);
}
