/* requests.c: tests the calls that complete requests, on arrays that hold cached gets beside messages, and on
 * requests that do not belong to a window. The calls behave as without the library. */
#include "test.h"

#include <stdlib.h>

enum { WINDOW = 16384 };

static unsigned char got[WINDOW];

static MPI_Request rget(struct window *w, void *to, size_t offset, size_t bytes) {
    MPI_Request request;
    memset(to, 0, bytes);
    MPI_Rget(to, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, w->win, &request);
    return request;
}

static void get_and_check(struct window *w, size_t offset, size_t bytes) {
    unsigned char to[WINDOW];
    MPI_Get(to, (int)bytes, MPI_BYTE, peer(), (MPI_Aint)offset, (int)bytes, MPI_BYTE, w->win);
    MPI_Win_flush(peer(), w->win);
    expect_pattern(to, bytes, peer(), offset, 0);
}

typedef void completion(MPI_Request *requests);

/* Hits, misses, messages and empty slots in one array:
 *      0 hit   1 receive   2 miss   3 nothing   4 send   5 hit */
enum { MIXED = 6 };
static int sent, received;

static void start_mixed(struct window *w, int round, MPI_Request *requests) {
    int previous = (test_rank + test_size - 1) % test_size;
    sent = 100 * test_rank + round;
    received = -1;
    requests[0] = rget(w, got, 0, 100);
    MPI_Irecv(&received, 1, MPI_INT, peer(), round, MPI_COMM_WORLD, &requests[1]);
    requests[2] = rget(w, got + 200, 1024 + 256 * (size_t)round, 100);
    requests[3] = MPI_REQUEST_NULL;
    MPI_Isend(&sent, 1, MPI_INT, previous, round, MPI_COMM_WORLD, &requests[4]);
    requests[5] = rget(w, got + 400, 512, 100);
}

static void check_mixed(int round, MPI_Request *requests) {
    for (int i = 0; i < MIXED; i++)
        expect(requests[i] == MPI_REQUEST_NULL);
    expect_pattern(got, 100, peer(), 0, 0);
    expect_pattern(got + 200, 100, peer(), 1024 + 256 * (size_t)round, 0);
    expect_pattern(got + 400, 100, peer(), 512, 0);
    expect_eq(received, 100 * peer() + round);
}

static void mixed_waitall(MPI_Request *requests) {
    MPI_Status statuses[MIXED];
    int count;
    MPI_Waitall(MIXED, requests, statuses);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    expect_eq(count, 1);
    expect_eq(statuses[1].MPI_SOURCE, peer());
}

static void mixed_waitany(MPI_Request *requests) {
    int index, seen = 0;
    for (int i = 0; i < 5; i++) {
        MPI_Status status;
        MPI_Waitany(MIXED, requests, &index, &status);
        expect(index >= 0 && index < MIXED && index != 3);
        if (index == 1)
            expect_eq(status.MPI_SOURCE, peer());
        seen |= 1 << index;
    }
    expect_eq(seen, 0x37);
    MPI_Waitany(MIXED, requests, &index, MPI_STATUS_IGNORE);
    expect_eq(index, MPI_UNDEFINED);
}

static void mixed_some(MPI_Request *requests, bool test) {
    int indices[MIXED], count = 0, seen = 0;
    MPI_Status statuses[MIXED];
    while (count != MPI_UNDEFINED) {
        if (test)
            MPI_Testsome(MIXED, requests, &count, indices, statuses);
        else
            MPI_Waitsome(MIXED, requests, &count, indices, statuses);
        for (int i = 0; count != MPI_UNDEFINED && i < count; i++) {
            expect(!(seen & 1 << indices[i]));
            seen |= 1 << indices[i];
            if (indices[i] == 1)
                expect_eq(statuses[i].MPI_SOURCE, peer());
        }
    }
    expect_eq(seen, 0x37);
}

static void mixed_waitsome(MPI_Request *requests) {
    mixed_some(requests, false);
}

static void mixed_testsome(MPI_Request *requests) {
    mixed_some(requests, true);
}

static void mixed_testall(MPI_Request *requests) {
    MPI_Status statuses[MIXED];
    int done = 0;
    while (!done)
        MPI_Testall(MIXED, requests, &done, statuses);
    expect_eq(statuses[1].MPI_SOURCE, peer());
}

static void mixed_testany(MPI_Request *requests) {
    int index = 0, done, seen = 0;
    while (index != MPI_UNDEFINED) {
        MPI_Testany(MIXED, requests, &index, &done, MPI_STATUS_IGNORE);
        if (done && index != MPI_UNDEFINED)
            seen |= 1 << index;
        else if (!done)
            index = 0;
    }
    expect_eq(seen, 0x37);
}

CASE(mixed_with_messages) {
    completion *completions[] = {mixed_waitall,  mixed_waitany, mixed_waitsome,
                                 mixed_testsome, mixed_testall, mixed_testany};
    struct window w = open_window(WINDOW, "always");
    MPI_Request requests[MIXED];
    get_and_check(&w, 0, 100);
    get_and_check(&w, 512, 100);
    for (int round = 0; round < 6; round++) {
        start_mixed(&w, round, requests);
        completions[round](requests);
        check_mixed(round, requests);
        memset(got, 0xcc, sizeof got);
    }
    expect_stat(w.win, full_hits, 12);
    for (size_t round = 0; round < 6; round++)
        get_and_check(&w, 1024 + 256 * round, 100);
    expect_stat(w.win, full_hits, 18);
    close_window(&w);
}

CASE(many_at_once) {
    enum { MANY = 200 };
    struct window w = open_window(WINDOW, "always");
    MPI_Request requests[MANY];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < MANY; i++)
            requests[i] = rget(&w, got + 64 * i, 64 * i, 40);
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
        for (size_t i = 0; i < MANY; i++)
            expect_pattern(got + 64 * i, 40, peer(), 64 * i, 0);
        memset(got, 0xcc, sizeof got);
    }
    expect_stat(w.win, full_hits, 2 * MANY);
    close_window(&w);
}

static int nothing(void *state) {
    return MPI_SUCCESS;
}

static int query(void *state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_BYTE, 5);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    return MPI_SUCCESS;
}

/* Requests that do not belong to a window. */
CASE(other_requests) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int flag, count, value = test_rank, from = -1;
    int previous = (test_rank + test_size - 1) % test_size;
    MPI_Send_init(&value, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&from, 1, MPI_INT, peer(), 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, statuses);
        expect_eq(from, peer());
        expect(requests[0] != MPI_REQUEST_NULL);
        expect(requests[2] == MPI_REQUEST_NULL);
        from = -1;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Irecv(&from, 1, MPI_INT, peer(), 999, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &flag);
    expect(flag);
    MPI_Grequest_start(query, nothing, cancel, NULL, &requests[0]);
    MPI_Grequest_complete(requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Get_count(&statuses[0], MPI_BYTE, &count);
    expect_eq(count, 5);
    requests[0] = MPI_REQUEST_NULL;
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    expect(flag);
    MPI_Waitall(0, requests, MPI_STATUSES_IGNORE);
}
