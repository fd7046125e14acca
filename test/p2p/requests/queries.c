/* queries.c: tests MPI_Request_get_status_all, _any and _some of MPI 4.1: on requests of messages, of MPI itself, and on both. They
 * complete no request. */
#include "message.h"

#include "mpi/host/standard.h"

#if HEARTH_MPI_4_1
enum { MESSAGES = 3, ALL = MESSAGES + 1, BYTES = 3000 };

/* The receives of messages with tags 0 to MESSAGES - 1, and the request of a barrier. */
struct set {
    MPI_Request requests[ALL];
    unsigned char in[MESSAGES][BYTES];
};

static struct set set;

static void open_set(MPI_Request last) {
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(set.in[i], BYTES, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &set.requests[i]);
    set.requests[MESSAGES] = last;
}

static void send_tag(int tag) {
    send_pattern(BYTES, peer(), tag, tag, MPI_COMM_WORLD);
}

static void close_set(void) {
    MPI_Status statuses[ALL];
    for (int i = 0; i < ALL; i++)
        expect(i == MESSAGES || set.requests[i] != MPI_REQUEST_NULL);
    MPI_Waitall(ALL, set.requests, statuses);
    for (int i = 0; i < MESSAGES; i++) {
        expect_status(&statuses[i], previous(), i, BYTES);
        expect_pattern(set.in[i], BYTES, previous(), 0, i);
    }
}

CASE(all) {
    MPI_Status statuses[ALL];
    MPI_Request last;
    int flag = 1;
    MPI_Ibarrier(MPI_COMM_WORLD, &last);
    open_set(last);
    MPI_Request_get_status_all(ALL, set.requests, &flag, statuses);
    expect(!flag);
    barrier();
    for (int i = 0; i < MESSAGES; i++)
        send_tag(i);
    for (flag = 0; !flag;)
        MPI_Request_get_status_all(ALL, set.requests, &flag, statuses);
    MPI_Request_get_status_all(ALL, set.requests, &flag, statuses);
    expect(flag);
    for (int i = 0; i < MESSAGES; i++) {
        expect_status(&statuses[i], previous(), i, BYTES);
        expect_pattern(set.in[i], BYTES, previous(), 0, i);
    }
    MPI_Request_get_status_all(ALL, set.requests, &flag, MPI_STATUSES_IGNORE);
    expect(flag);
    close_set();
}

CASE(any) {
    MPI_Status status;
    int flag = 1, index = 7;
    open_set(MPI_REQUEST_NULL);
    MPI_Request_get_status_any(ALL, set.requests, &index, &flag, &status);
    expect(!flag);
    barrier();
    send_tag(1);
    for (flag = 0; !flag;)
        MPI_Request_get_status_any(ALL, set.requests, &index, &flag, &status);
    expect_eq(index, 1);
    expect_status(&status, previous(), 1, BYTES);
    expect_pattern(set.in[1], BYTES, previous(), 0, 1);
    barrier(); /* both ranks have looked */
    send_tag(0);
    send_tag(2);
    close_set();
    MPI_Request_get_status_any(ALL, set.requests, &index, &flag, &status);
    expect(flag);
    expect_eq(index, MPI_UNDEFINED);
    expect_empty_status(&status);
}

CASE(some) {
    MPI_Status statuses[ALL];
    int done = 7, indices[ALL], seen[ALL] = {0};
    open_set(MPI_REQUEST_NULL);
    MPI_Request_get_status_some(ALL, set.requests, &done, indices, statuses);
    expect_eq(done, 0);
    barrier();
    send_tag(2);
    send_tag(0);
    for (done = 0; done < 2;)
        MPI_Request_get_status_some(ALL, set.requests, &done, indices, statuses);
    expect_eq(done, 2);
    for (int i = 0; i < done; i++) {
        expect(indices[i] == 0 || indices[i] == 2);
        seen[indices[i]]++;
        expect_status(&statuses[i], previous(), indices[i], BYTES);
        expect_pattern(set.in[indices[i]], BYTES, previous(), 0, indices[i]);
    }
    expect(seen[0] == 1 && seen[2] == 1);
    barrier(); /* both ranks have looked */
    send_tag(1);
    close_set();
    MPI_Request_get_status_some(ALL, set.requests, &done, indices, statuses);
    expect_eq(done, MPI_UNDEFINED);
}

/* A request of MPI itself among those of messages is found under its own index. */
CASE(mixed) {
    int done = 0, indices[ALL], index, flag;
    MPI_Request last;
    MPI_Ibarrier(MPI_COMM_WORLD, &last);
    open_set(last);
    for (flag = 0; !flag;)
        MPI_Request_get_status_any(ALL, set.requests, &index, &flag, MPI_STATUS_IGNORE);
    expect_eq(index, MESSAGES);
    while (done < 1)
        MPI_Request_get_status_some(ALL, set.requests, &done, indices, MPI_STATUSES_IGNORE);
    expect_eq(done, 1);
    expect_eq(indices[0], MESSAGES);
    barrier();
    for (int i = 0; i < MESSAGES; i++)
        send_tag(i);
    close_set();
}

/* Persistent requests that are not started count as complete, and are not active. */
CASE(inactive) {
    unsigned char in[8];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int flag = 0, index = 7, done = 7, indices[2];
    MPI_Recv_init(in, 8, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
    MPI_Request_get_status_all(2, requests, &flag, statuses);
    expect(flag);
    expect_empty_status(&statuses[0]);
    MPI_Request_get_status_any(2, requests, &index, &flag, statuses);
    expect(flag);
    expect_eq(index, MPI_UNDEFINED);
    MPI_Request_get_status_some(2, requests, &done, indices, statuses);
    expect_eq(done, MPI_UNDEFINED);
    MPI_Request_free(&requests[0]);
}
#else
CASE(queries) {
    SKIP_IF(true, "this MPI is older than MPI 4.1");
}
#endif
