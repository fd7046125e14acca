/* requests.c: tests operations on requests other than completion: MPI_Request_get_status, MPI_Request_free,
 * MPI_Cancel. */
#include "message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 300000 };

static const size_t sizes[] = {4, 5000, LARGE};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* MPI_Request_get_status leaves the request unchanged, and repeated calls return the same. */
CASE(get_status) {
    for (int s = 0; s < SIZES; s++) {
        unsigned char *in = aligned_bytes(sizes[s]);
        MPI_Request request;
        MPI_Status status;
        int done = 1;
        MPI_Irecv(in, (int)sizes[s], MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &request);
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        expect(!done);
        barrier();
        if (s < 2)
            send_pattern(sizes[s], peer(), 1, s, MPI_COMM_WORLD);
        else { /* a large send may wait for the receiver */
            unsigned char *out = aligned_bytes(LARGE);
            MPI_Request sending;
            fill_pattern(out, LARGE, test_rank, 0, s);
            MPI_Isend(out, LARGE, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &sending);
            for (done = 0; !done;)
                MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
            MPI_Wait(&sending, MPI_STATUS_IGNORE);
            free(out);
        }
        for (done = 0; !done;)
            MPI_Request_get_status(request, &done, &status);
        for (int again = 0; again < 3; again++) {
            MPI_Request_get_status(request, &done, &status);
            expect(done);
            expect(request != MPI_REQUEST_NULL);
            expect_status(&status, previous(), 1, sizes[s]);
        }
        expect_pattern(in, sizes[s], previous(), 0, s);
        memset(&status, 0, sizeof status);
        MPI_Wait(&request, &status);
        expect(request == MPI_REQUEST_NULL);
        expect_status(&status, previous(), 1, sizes[s]);
        free(in);
    }
    MPI_Status status;
    int done = 0;
    MPI_Request_get_status(MPI_REQUEST_NULL, &done, &status);
    expect(done);
    expect_empty_status(&status);
}

/* A send that is never waited for still arrives. */
CASE(free_active_sends) {
    static unsigned char *out[SIZES]; /* kept until the end, as the program cannot know when they are sent */
    for (int s = 0; s < SIZES; s++) {
        MPI_Request request;
        out[s] = aligned_bytes(sizes[s]);
        fill_pattern(out[s], sizes[s], test_rank, 0, s);
        MPI_Isend(out[s], (int)sizes[s], MPI_BYTE, peer(), s, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        expect(request == MPI_REQUEST_NULL);
    }
    for (int s = SIZES - 1; s >= 0; s--)
        receive_pattern(sizes[s], previous(), s, s, MPI_COMM_WORLD);
}

static bool arrived(const volatile unsigned char *in, size_t bytes, int serial) {
    for (size_t i = 0; i < bytes; i++)
        if (in[i] != pattern(previous(), i, serial))
            return false;
    return true;
}

/* A receive that is never waited for still takes its message, and not the next one. */
CASE(free_active_receives) {
    for (int s = 0; s < SIZES; s++) {
        unsigned char *in = aligned_bytes(sizes[s]), *out = aligned_bytes(sizes[s]);
        MPI_Request request;
        int flag;
        double end;
        memset(in, 0, sizes[s]);
        fill_pattern(out, sizes[s], test_rank, 0, s);
        MPI_Irecv(in, (int)sizes[s], MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Isend(out, (int)sizes[s], MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &request);
        send_pattern(8, peer(), 1, 99, MPI_COMM_WORLD);
        receive_pattern(8, previous(), 1, 99, MPI_COMM_WORLD);
        for (end = now() + 10; now() < end && !arrived(in, sizes[s], s);)
            MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        expect_pattern(in, sizes[s], previous(), 0, s);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(out);
        free(in);
    }
}

static bool cancel_and_wait(MPI_Request *request) {
    MPI_Status status;
    int cancelled;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    return cancelled;
}

/* No message was sent: the cancellation must succeed, whatever the receive matches. */
CASE(cancel_receives) {
    int in = -1;
    MPI_Request request;
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(&in, 1, MPI_INT, i % 2 ? previous() : MPI_ANY_SOURCE, i / 2 ? 5 : MPI_ANY_TAG,
                  MPI_COMM_WORLD, &request);
        expect(cancel_and_wait(&request));
        expect(request == MPI_REQUEST_NULL);
    }
    expect_eq(in, -1);
    barrier();
    MPI_Irecv(&in, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    barrier();
    send_pattern(4, peer(), 5, 1, MPI_COMM_WORLD); /* must not match the cancelled receive */
    receive_pattern(4, previous(), 5, 1, MPI_COMM_WORLD);
    expect_eq(in, -1);
}

/* The message has arrived: the receive is complete, and cancelling it has no effect. */
CASE(cancel_too_late) {
    int in = -1, done = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &request);
    barrier();
    send_pattern(4, peer(), 5, 1, MPI_COMM_WORLD);
    while (!done)
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    expect(!cancel_and_wait(&request));
    expect_pattern(&in, 4, previous(), 0, 1);
}

/* While messages arrive: each is either received by its receive, or left for the next. Posting and cancelling alone
 * need not poll the network, so every third round makes another call that does. */
CASE(cancel_racing) {
    enum { ROUNDS = 300 };
    int next = 0, in, flag;
    MPI_Request sends[ROUNDS], request;
    int out[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        out[i] = i;
        MPI_Isend(&out[i], 1, MPI_INT, peer(), 5, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; next < ROUNDS; i++) {
        in = -1;
        MPI_Irecv(&in, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &request);
        if (i % 3 == 0)
            MPI_Iprobe(previous(), 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (cancel_and_wait(&request))
            expect_eq(in, -1);
        else
            expect_eq(in, next++);
    }
    MPI_Waitall(ROUNDS, sends, MPI_STATUSES_IGNORE);
}

/* Rank 1 receives what it finds. It never finds a send that was cancelled, and always one that was not. */
CASE(cancel_sends) {
    enum { DATA = 1, VERDICT = 2, GO = 3 };
    for (int s = 0; s < SIZES && test_rank < 2; s++) {
        if (test_rank == 0) {
            unsigned char *out = aligned_bytes(sizes[s]);
            MPI_Request request;
            int cancelled;
            fill_pattern(out, sizes[s], 0, 0, s);
            MPI_Issend(out, (int)sizes[s], MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
            cancelled = cancel_and_wait(&request);
            MPI_Send(&cancelled, 1, MPI_INT, 1, VERDICT, MPI_COMM_WORLD);
            free(out);
        } else {
            unsigned char *in = aligned_bytes(sizes[s]);
            int cancelled = -1, seen = 0, told = 0;
            MPI_Message message;
            sleep_ms(5);
            while (!seen && !told) {
                MPI_Improbe(0, DATA, MPI_COMM_WORLD, &seen, &message, MPI_STATUS_IGNORE);
                MPI_Iprobe(0, VERDICT, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
            }
            if (seen) {
                MPI_Mrecv(in, (int)sizes[s], MPI_BYTE, &message, MPI_STATUS_IGNORE);
                expect_pattern(in, sizes[s], 0, 0, s);
            }
            MPI_Recv(&cancelled, 1, MPI_INT, 0, VERDICT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect_eq(cancelled, !seen);
            free(in);
        }
    }
}

/* Far more requests at once than a table of moderate size would hold, and then again. */
CASE(many_at_once) {
    enum { MANY = 6000 };
    MPI_Request *requests = malloc(2 * MANY * sizeof *requests);
    int *out = malloc(MANY * sizeof *out), *in = malloc(MANY * sizeof *in);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &requests[i]);
            out[i] = test_rank + i + round;
        }
        for (int i = 0; i < MANY; i++)
            MPI_Isend(&out[i], 1, MPI_INT, peer(), 5, MPI_COMM_WORLD, &requests[MANY + i]);
        MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MANY; i++)
            expect_eq(in[i], previous() + i + round);
    }
    free(in);
    free(out);
    free(requests);
}

/* Checks that Hearth is under test where the configuration says so: its handles are of a kind that the MPI never
 * makes. */
#if TEST_MPI_ABI
/* An address in a range that nobody may access. */
static bool is_of_hearth(MPI_Request request) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], rights[5] = "";
    uintptr_t begin, end, at = (uintptr_t)request;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights) == 3 && at >= begin &&
            at < end)
            break;
        else
            *rights = 0;
    if (maps)
        fclose(maps);
    return !strcmp(rights, "---p");
}
#elif defined OPEN_MPI
static bool is_of_hearth(MPI_Request request) {
    return (uintptr_t)request & 1;
}
#else
static bool is_of_hearth(MPI_Request request) {
    return (unsigned)request >> 28 == 1;
}
#endif

CASE(whose_they_are) {
    const char *match = getenv("HEARTH_MATCH");
    bool wanted = test_loaded() && match && strcmp(match, "on") == 0;
    MPI_Request request;
    int in;
    MPI_Irecv(&in, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &request);
    expect_eq(is_of_hearth(request), wanted);
    expect(cancel_and_wait(&request));
}

/* Handles are converted to Fortran integers and back. */
CASE(fortran_handles) {
    int in = -1, out = test_rank, done = 0;
    MPI_Request request, persistent, back;
    MPI_Fint number, same;
    MPI_Irecv(&in, 1, MPI_INT, previous(), 5, MPI_COMM_WORLD, &request);
    number = MPI_Request_c2f(request);
    back = MPI_Request_f2c(number);
    expect(back == request);
    same = MPI_Request_c2f(back);
    expect_eq(same, number);
    MPI_Send_init(&out, 1, MPI_INT, peer(), 5, MPI_COMM_WORLD, &persistent);
    number = MPI_Request_c2f(persistent);
    expect(number != same);
    back = MPI_Request_f2c(number);
    MPI_Start(&back);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(in, previous());
    while (!done)
        MPI_Test(&back, &done, MPI_STATUS_IGNORE);
    MPI_Request_free(&back);
    expect(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
}
