/* completion.c: tests the eight calls that complete requests, on arrays that mix all kinds of requests: small and
 * large messages, persistent requests, active and inactive, collectives, one-sided gets, generalized requests, files,
 * and null requests. */
#include "message.h"

#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 200000, SMALL = 40 };

enum {
    RECV_SMALL,
    SEND_SMALL,
    RECV_LARGE,
    SEND_LARGE,
    NOTHING,
    SSEND,
    RECV_SSEND,
    PERSISTENT_SEND,
    PERSISTENT_RECV,
    INACTIVE,
    BARRIER,
    REDUCE,
    GENERAL,
    GET,
    FROM_NOBODY,
    TO_NOBODY,
    KINDS
};

static const unsigned never = 1u << NOTHING | 1u << INACTIVE;
enum { ACTIVE = KINDS - 2 };

struct mixed {
    struct window window;
    MPI_Request requests[KINDS];
    unsigned char out_small[SMALL], in_small[SMALL], *out_large, *in_large, got[SMALL];
    int out_sync, in_sync, out_persistent, in_persistent, sum, one, nobody;
    int round;
};

static int query(void *state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_BYTE, 5);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 33;
    return MPI_SUCCESS;
}

static int nothing_to_free(void *state) {
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *state, int complete) {
    return MPI_SUCCESS;
}

static void prepare(struct mixed *m) {
    m->window = open_window(4096, NULL);
    m->out_large = aligned_bytes(LARGE);
    m->in_large = aligned_bytes(LARGE);
    for (int i = 0; i < KINDS; i++)
        m->requests[i] = MPI_REQUEST_NULL;
    MPI_Send_init(&m->out_persistent, 1, MPI_INT, peer(), 4, MPI_COMM_WORLD, &m->requests[PERSISTENT_SEND]);
    MPI_Recv_init(&m->in_persistent, 1, MPI_INT, previous(), 4, MPI_COMM_WORLD,
                  &m->requests[PERSISTENT_RECV]);
    MPI_Recv_init(&m->in_persistent, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &m->requests[INACTIVE]);
}

static void start(struct mixed *m) {
    MPI_Request *r = m->requests;
    fill_pattern(m->out_small, SMALL, test_rank, 0, m->round);
    fill_pattern(m->out_large, LARGE, test_rank, 0, m->round);
    memset(m->in_small, 0, SMALL);
    memset(m->in_large, 0, LARGE);
    memset(m->got, 0, SMALL);
    m->out_sync = m->out_persistent = 1000 * m->round + test_rank;
    m->in_sync = m->in_persistent = m->sum = m->nobody = -1;
    m->one = 1;
    MPI_Irecv(m->in_small, SMALL, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &r[RECV_SMALL]);
    MPI_Irecv(m->in_large, LARGE, MPI_BYTE, previous(), 2, MPI_COMM_WORLD, &r[RECV_LARGE]);
    MPI_Isend(m->out_large, LARGE, MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &r[SEND_LARGE]);
    MPI_Issend(&m->out_sync, 1, MPI_INT, peer(), 3, MPI_COMM_WORLD, &r[SSEND]);
    MPI_Irecv(&m->in_sync, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r[RECV_SSEND]);
    MPI_Start(&r[PERSISTENT_RECV]);
    MPI_Start(&r[PERSISTENT_SEND]);
    MPI_Ibarrier(MPI_COMM_WORLD, &r[BARRIER]);
    MPI_Iallreduce(&m->one, &m->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[REDUCE]);
    MPI_Grequest_start(query, nothing_to_free, nothing_to_cancel, NULL, &r[GENERAL]);
    MPI_Grequest_complete(r[GENERAL]);
    MPI_Rget(m->got, SMALL, MPI_BYTE, peer(), 64, SMALL, MPI_BYTE, m->window.win, &r[GET]);
    MPI_Irecv(&m->nobody, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &r[FROM_NOBODY]);
    MPI_Isend(&m->nobody, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &r[TO_NOBODY]);
    MPI_Isend(m->out_small, SMALL, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &r[SEND_SMALL]);
}

static void check_status(int kind, const MPI_Status *status) {
    switch (kind) {
    case RECV_SMALL:
        expect_status(status, previous(), 1, SMALL);
        break;
    case RECV_LARGE:
        expect_status(status, previous(), 2, LARGE);
        break;
    case RECV_SSEND:
        expect_status(status, previous(), 3, sizeof(int));
        break;
    case PERSISTENT_RECV:
        expect_status(status, previous(), 4, sizeof(int));
        break;
    case GENERAL:
        expect_status(status, 3, 33, 5);
        break;
    case FROM_NOBODY: /* MPICH 4.0 leaves source and tag unchanged */
        expect_eq(count_of(status, MPI_BYTE), 0);
        break;
    case NOTHING:
    case INACTIVE:
        expect_empty_status(status);
        break;
    }
}

static void check_done(struct mixed *m) {
    for (int i = 0; i < KINDS; i++)
        if (i != PERSISTENT_SEND && i != PERSISTENT_RECV && i != INACTIVE)
            expect(m->requests[i] == MPI_REQUEST_NULL);
        else
            expect(m->requests[i] != MPI_REQUEST_NULL);
    expect_pattern(m->in_small, SMALL, previous(), 0, m->round);
    expect_pattern(m->in_large, LARGE, previous(), 0, m->round);
    expect_pattern(m->got, SMALL, peer(), 64, 0);
    expect_eq(m->in_sync, 1000 * m->round + previous());
    expect_eq(m->in_persistent, 1000 * m->round + previous());
    expect_eq(m->sum, test_size);
    expect_eq(m->nobody, -1);
}

static void finish(struct mixed *m) {
    MPI_Request_free(&m->requests[PERSISTENT_SEND]);
    MPI_Request_free(&m->requests[PERSISTENT_RECV]);
    MPI_Request_free(&m->requests[INACTIVE]);
    free(m->out_large);
    free(m->in_large);
    close_window(&m->window);
}

typedef void completion(MPI_Request *requests);

static void run(completion *complete) {
    struct mixed m;
    prepare(&m);
    for (m.round = 0; m.round < 5; m.round++) {
        start(&m);
        if (m.round % 2)
            sleep_ms(2); /* so that some are complete at the first check */
        complete(m.requests);
        check_done(&m);
    }
    finish(&m);
}

/* Waits for one request after the other. All ranks have started all operations, so that none waits for one that is
 * not started. */
static void by_wait(MPI_Request *requests) {
    for (int i = KINDS - 1; i >= 0; i--) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        check_status(i, &status);
    }
}

static void by_test(MPI_Request *requests) {
    for (int i = 0; i < KINDS; i++) {
        MPI_Status status;
        for (int done = 0; !done;)
            MPI_Test(&requests[i], &done, &status);
        check_status(i, &status);
    }
}

static void by_waitall(MPI_Request *requests) {
    MPI_Status statuses[KINDS];
    MPI_Waitall(KINDS, requests, statuses);
    for (int i = 0; i < KINDS; i++)
        check_status(i, &statuses[i]);
}

static void by_testall(MPI_Request *requests) {
    MPI_Status statuses[KINDS];
    for (int done = 0; !done;)
        MPI_Testall(KINDS, requests, &done, statuses);
    for (int i = 0; i < KINDS; i++)
        check_status(i, &statuses[i]);
}

static void note(unsigned *seen, int index, const MPI_Status *status) {
    if (!expect(index >= 0 && index < KINDS))
        return;
    expect(!((*seen | never) & 1u << index));
    *seen |= 1u << index;
    check_status(index, status);
}

static void by_waitany(MPI_Request *requests) {
    unsigned seen = 0;
    MPI_Status status;
    int index;
    for (int i = 0; i < ACTIVE; i++) {
        MPI_Waitany(KINDS, requests, &index, &status);
        note(&seen, index, &status);
    }
    MPI_Waitany(KINDS, requests, &index, &status);
    expect_eq(index, MPI_UNDEFINED);
    expect_empty_status(&status);
}

static void by_testany(MPI_Request *requests) {
    unsigned seen = 0;
    MPI_Status status;
    int index, done;
    for (int i = 0; i < ACTIVE; i++) {
        for (done = 0; !done;) {
            MPI_Testany(KINDS, requests, &index, &done, &status);
            if (!done)
                expect_eq(index, MPI_UNDEFINED);
        }
        note(&seen, index, &status);
    }
    MPI_Testany(KINDS, requests, &index, &done, &status);
    expect(done);
    expect_eq(index, MPI_UNDEFINED); /* MPICH 4.0 leaves the status unchanged */
}

typedef int some(int, MPI_Request[], int *, int[], MPI_Status[]);

static void by_some(some *call, MPI_Request *requests, int least) {
    unsigned seen = 0;
    MPI_Status statuses[KINDS];
    int count, indices[KINDS];
    for (int i = 0; i < ACTIVE; i += count) {
        call(KINDS, requests, &count, indices, statuses);
        expect(count >= least && count <= ACTIVE - i);
        for (int j = 0; j < count; j++)
            note(&seen, indices[j], &statuses[j]);
    }
    call(KINDS, requests, &count, indices, statuses);
    expect_eq(count, MPI_UNDEFINED);
}

static void by_waitsome(MPI_Request *requests) {
    by_some(MPI_Waitsome, requests, 1);
}

static void by_testsome(MPI_Request *requests) {
    by_some(MPI_Testsome, requests, 0);
}

CASE(wait) {
    run(by_wait);
}

CASE(test) {
    run(by_test);
}

CASE(waitall) {
    run(by_waitall);
}

CASE(testall) {
    run(by_testall);
}

CASE(waitany) {
    run(by_waitany);
}

CASE(testany) {
    run(by_testany);
}

CASE(waitsome) {
    run(by_waitsome);
}

CASE(testsome) {
    run(by_testsome);
}

static void ignored_waitall(MPI_Request *requests) {
    MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
}

static void ignored_waitsome(MPI_Request *requests) {
    int count = 0, indices[KINDS];
    for (int i = 0; i < ACTIVE; i += count)
        MPI_Waitsome(KINDS, requests, &count, indices, MPI_STATUSES_IGNORE);
}

CASE(statuses_ignored) {
    run(ignored_waitall);
    run(ignored_waitsome);
}

/* An empty array, and an array of null requests. */
CASE(nothing_to_wait_for) {
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[3];
    int index, count, done, indices[3];
    for (int n = 0; n <= 3; n += 3) {
        MPI_Waitall(n, requests, statuses);
        for (int i = 0; i < n; i++)
            expect_empty_status(&statuses[i]);
        done = 0;
        MPI_Testall(n, requests, &done, statuses);
        expect(done);
        MPI_Waitany(n, requests, &index, &status);
        expect_eq(index, MPI_UNDEFINED);
        done = 0;
        MPI_Testany(n, requests, &index, &done, &status);
        expect(done);
        expect_eq(index, MPI_UNDEFINED);
        MPI_Waitsome(n, requests, &count, indices, statuses);
        expect_eq(count, MPI_UNDEFINED);
        MPI_Testsome(n, requests, &count, indices, statuses);
        expect_eq(count, MPI_UNDEFINED);
    }
    MPI_Wait(&requests[0], &status);
    expect_empty_status(&status);
    done = 0;
    MPI_Test(&requests[0], &done, &status);
    expect(done);
    expect_empty_status(&status);
}

/* MPI_Testall changes nothing while one request is pending. */
CASE(testall_is_all_or_nothing) {
    int in[2] = {-1, -1}, out = test_rank, done = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&in[0], 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, previous(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&out, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD);
    barrier();
    for (double end = now() + 0.01; now() < end;) {
        MPI_Testall(2, requests, &done, statuses);
        expect(!done);
        expect(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    barrier();
    MPI_Send(&out, 1, MPI_INT, peer(), 2, MPI_COMM_WORLD);
    while (!done)
        MPI_Testall(2, requests, &done, statuses);
    expect_status(&statuses[0], previous(), 1, sizeof(int));
    expect_status(&statuses[1], previous(), 2, sizeof(int));
    expect(in[0] == previous() && in[1] == previous());
}

/* Requests of files, which some MPIs implement as yet another kind. */
CASE(beside_files) {
    struct flag name = make_flag();
    MPI_File file;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int out = 70 + test_rank, in = -1, back = -1, data = test_rank;
    expect_eq(MPI_File_open(MPI_COMM_WORLD, name.path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_SUCCESS);
    MPI_Irecv(&in, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_File_iwrite_at(file, (MPI_Offset)sizeof(int) * test_rank, &data, 1, MPI_INT, &requests[1]);
    MPI_Isend(&out, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, statuses);
    expect_eq(in, 70 + previous());
    expect_eq(count_of(&statuses[1], MPI_INT), 1);
    MPI_File_iread_at(file, (MPI_Offset)sizeof(int) * test_rank, &back, 1, MPI_INT, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect_eq(back, test_rank);
    MPI_File_close(&file);
    remove_flag(&name);
}

/* ---- generalized requests ---- */

struct generalized {
    int queried, freed;
};

static int on_query(void *state, MPI_Status *status) {
    ((struct generalized *)state)->queried++;
    MPI_Status_set_elements(status, MPI_BYTE, 7);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int on_free(void *state) {
    ((struct generalized *)state)->freed++;
    return MPI_SUCCESS;
}

static int on_cancel(void *state, int complete) {
    return MPI_SUCCESS;
}

static void start_both(struct generalized *g, int *in, MPI_Request requests[2]) {
    *g = (struct generalized){0};
    MPI_Grequest_start(on_query, on_free, on_cancel, g, &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[1]);
}

static void expect_both(const struct generalized *g, int in, const MPI_Status statuses[2],
                        const MPI_Request requests[2]) {
    expect(g->queried > 0);
    expect_eq(g->freed, 1);
    expect_eq(count_of(&statuses[0], MPI_BYTE), 7);
    expect_eq(in, previous());
    expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

/* A request of the program's own is complete long before the message arrives, and is polled meanwhile. */
CASE(beside_generalized) {
    struct generalized g;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int in = -1, out = test_rank, done = 0;
    start_both(&g, &in, requests);
    MPI_Grequest_complete(requests[0]);
    for (double end = now() + 0.01; now() < end && !done;) {
        MPI_Testall(2, requests, &done, statuses);
        expect(!done && requests[0] != MPI_REQUEST_NULL);
        expect_eq(g.freed, 0);
    }
    barrier();
    MPI_Send(&out, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, statuses);
    expect_both(&g, in, statuses, requests);
}

/* The message is there, the request of the program's own is not complete. */
CASE(before_generalized) {
    struct generalized g;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int in = -1, out = test_rank, done = 0;
    start_both(&g, &in, requests);
    MPI_Send(&out, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD);
    barrier();
    for (double end = now() + 0.01; now() < end && !done;) {
        MPI_Testall(2, requests, &done, statuses);
        expect(!done && requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    MPI_Grequest_complete(requests[0]);
    while (!done)
        MPI_Testall(2, requests, &done, statuses);
    expect_both(&g, in, statuses, requests);
}
