/* modes.c: tests the four send modes, blocking and non-blocking. A synchronous send does not complete before its
 * message is matched; the other modes do not wait for a receive that may never be posted. */
#include "message.h"

#include <stdlib.h>

enum { LARGEST = 400000, GO = 100, DATA = 1, AFTER = 2 };

static const size_t sizes[] = {0, 1, 8, 100, 4096, 20000, 70000, LARGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef int blocking(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int started(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static blocking *const blockings[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
static started *const starteds[] = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
enum { MODES = 4, BUFFERED = 3 };

static void *attach(void) {
    int bytes = 4 * LARGEST;
    void *buffer = malloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    return buffer;
}

static void detach(void *buffer) {
    void *was;
    int bytes;
    MPI_Buffer_detach(&was, &bytes);
    expect(was == buffer);
    expect_eq(bytes, 4 * LARGEST);
    free(buffer);
}

/* A receive is posted before each message, so that a ready send is allowed. */
CASE(every_mode_blocking) {
    unsigned char *out = aligned_bytes(LARGEST), *in = aligned_bytes(LARGEST);
    void *buffer = attach();
    for (int mode = 0; mode < MODES; mode++)
        for (int s = 0; s < SIZES; s++) {
            int serial = mode * SIZES + s, bytes = (int)sizes[s];
            MPI_Request request;
            MPI_Status status;
            fill_pattern(out, sizes[s], test_rank, 0, serial);
            memset(in, 0, LARGEST);
            MPI_Irecv(in, LARGEST, MPI_BYTE, previous(), serial, MPI_COMM_WORLD, &request);
            barrier();
            blockings[mode](out, bytes, MPI_BYTE, peer(), serial, MPI_COMM_WORLD);
            memset(out, 0x55, LARGEST); /* the buffer is free again */
            MPI_Wait(&request, &status);
            expect_status(&status, previous(), serial, bytes);
            expect_pattern(in, sizes[s], previous(), 0, serial);
        }
    detach(buffer);
    free(in);
    free(out);
}

CASE(every_mode_started) {
    unsigned char *out[SIZES], *in[SIZES];
    void *buffer = attach();
    for (int s = 0; s < SIZES; s++) {
        out[s] = aligned_bytes(LARGEST);
        in[s] = aligned_bytes(LARGEST);
    }
    for (int mode = 0; mode < MODES; mode++) {
        MPI_Request receives[SIZES], sends[SIZES];
        MPI_Status statuses[SIZES];
        for (int s = 0; s < SIZES; s++)
            MPI_Irecv(in[s], LARGEST, MPI_BYTE, previous(), s, MPI_COMM_WORLD, &receives[s]);
        barrier();
        for (int s = 0; s < SIZES; s++) {
            fill_pattern(out[s], sizes[s], test_rank, 0, mode * SIZES + s);
            starteds[mode](out[s], (int)sizes[s], MPI_BYTE, peer(), s, MPI_COMM_WORLD, &sends[s]);
        }
        MPI_Waitall(SIZES, sends, MPI_STATUSES_IGNORE);
        for (int s = 0; s < SIZES; s++)
            memset(out[s], 0x55, LARGEST);
        MPI_Waitall(SIZES, receives, statuses);
        for (int s = 0; s < SIZES; s++) {
            expect_status(&statuses[s], previous(), s, sizes[s]);
            expect_pattern(in[s], sizes[s], previous(), 0, mode * SIZES + s);
        }
        barrier();
    }
    detach(buffer);
    for (int s = 0; s < SIZES; s++) {
        free(out[s]);
        free(in[s]);
    }
}

/* Neither MPI_Test nor time completes it: only the receive does, which is posted after the sender has tested. */
CASE(issend_waits_for_the_match) {
    for (int s = 0; s < SIZES; s++) {
        unsigned char *out = aligned_bytes(LARGEST);
        MPI_Request request;
        int done = 0, word;
        double end;
        fill_pattern(out, sizes[s], test_rank, 0, s);
        MPI_Issend(out, (int)sizes[s], MPI_BYTE, peer(), DATA, MPI_COMM_WORLD, &request);
        for (end = now() + 0.01; now() < end && !done;)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        expect(!done);
        MPI_Sendrecv(&s, 1, MPI_INT, peer(), GO, &word, 1, MPI_INT, previous(), GO, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        receive_pattern(sizes[s], previous(), DATA, s, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(out);
    }
}

/* A message that the sender sends after its MPI_Ssend cannot arrive before the MPI_Ssend is received. */
CASE(ssend_waits_for_the_match) {
    for (int s = 0; s < SIZES && test_rank < 2; s++) {
        if (test_rank == 0) {
            unsigned char *out = aligned_bytes(LARGEST);
            fill_pattern(out, sizes[s], 0, 0, s);
            MPI_Ssend(out, (int)sizes[s], MPI_BYTE, 1, DATA, MPI_COMM_WORLD);
            MPI_Send(&s, 1, MPI_INT, 1, AFTER, MPI_COMM_WORLD);
            free(out);
        } else {
            int flag = 0, word;
            MPI_Probe(0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (double end = now() + 0.01; now() < end && !flag;)
                MPI_Iprobe(0, AFTER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            expect(!flag);
            receive_pattern(sizes[s], 0, DATA, s, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_INT, 0, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* MPI_Mprobe matches a message and so completes its synchronous send; MPI_Probe does not. */
CASE(probe_does_not_complete_issend) {
    int out = test_rank, in = -1, done = 0, word;
    MPI_Request request;
    MPI_Message message;
    MPI_Issend(&out, 1, MPI_INT, peer(), DATA, MPI_COMM_WORLD, &request);
    MPI_Probe(previous(), DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    barrier();
    for (double end = now() + 0.01; now() < end && !done;)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    expect(!done);
    MPI_Sendrecv(&out, 1, MPI_INT, peer(), GO, &word, 1, MPI_INT, previous(), GO, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Mprobe(previous(), DATA, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect_eq(in, previous());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Buffered sends return although nothing is received; the message holds the data at the time of the call. */
CASE(bsend_does_not_wait) {
    unsigned char *out = aligned_bytes(LARGEST);
    void *buffer = attach();
    for (int s = 0; s < SIZES; s++) {
        fill_pattern(out, sizes[s], test_rank, 0, s);
        MPI_Bsend(out, (int)sizes[s], MPI_BYTE, peer(), DATA, MPI_COMM_WORLD);
        memset(out, 0x55, LARGEST);
    }
    barrier();
    for (int s = 0; s < SIZES; s++)
        receive_pattern(sizes[s], previous(), DATA, s, MPI_COMM_WORLD);
    detach(buffer);
    free(out);
}

/* All ranks start a synchronous send before they receive: correct for messages of any size. */
CASE(synchronous_ring) {
    unsigned char *out = aligned_bytes(LARGEST);
    MPI_Request request;
    for (int round = 0; round < 10; round++) {
        size_t bytes = sizes[round % SIZES];
        fill_pattern(out, bytes, test_rank, 0, round);
        MPI_Issend(out, (int)bytes, MPI_BYTE, peer(), round, MPI_COMM_WORLD, &request);
        receive_pattern(bytes, previous(), round, round, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(out);
}
