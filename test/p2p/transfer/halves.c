/* halves.c: tests messages that are large enough for one copy from the sender's memory to the receiver's, of which each
 * side may make a half. */
#include "message.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* Around the sizes from which a message is copied once, and copied by both; and of pages that do not divide into halves. */
static const size_t sizes[] = {16383, 16384, 32767,  32768,  32769,  40960,         65535,
                               65536, 69632, 131072, 131073, 300001, (1 << 20) - 1, (2 << 20) + 4095};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 3 << 20, LARGE = 1 << 20 };

/* Buffers at various distances from the beginning of a page; the bytes around a received message do not change. */
CASE(every_size_and_place) {
    unsigned char *out = aligned_bytes(LARGEST), *in = aligned_bytes(LARGEST);
    for (int i = 0; i < SIZES; i++)
        for (size_t at = 1; at < 5000; at += 1300) {
            MPI_Request request;
            fill_pattern(out + at / 2, sizes[i], test_rank, 0, i);
            memset(in, 0xee, sizes[i] + 2 * at);
            MPI_Irecv(in + at, (int)sizes[i], MPI_BYTE, previous(), i, MPI_COMM_WORLD, &request);
            MPI_Send(out + at / 2, (int)sizes[i], MPI_BYTE, peer(), i, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect_pattern(in + at, sizes[i], previous(), 0, i);
            expect(in[at - 1] == 0xee && in[at + sizes[i]] == 0xee);
        }
    free(in);
    free(out);
}

/* One side only waits, so that it can make its half of each message. */
CASE(one_way_after_another) {
    enum { TIMES = 50 };
    unsigned char *memory = aligned_bytes(LARGE);
    for (int i = 0; i < TIMES && test_rank < 2; i++) {
        size_t bytes = sizes[i % SIZES] < LARGE ? sizes[i % SIZES] : LARGE;
        if (test_rank == i % 2) {
            fill_pattern(memory, bytes, test_rank, 0, i);
            MPI_Send(memory, (int)bytes, MPI_BYTE, 1 - test_rank, 1, MPI_COMM_WORLD);
        } else {
            memset(memory, 0, bytes);
            MPI_Recv(memory, (int)bytes, MPI_BYTE, 1 - test_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect_pattern(memory, bytes, 1 - test_rank, 0, i);
        }
    }
    free(memory);
}

/* Many at once: while the sender makes its half of one, the receiver begins the next. */
CASE(many_at_once) {
    enum { MANY = 24 };
    unsigned char *out = aligned_bytes(LARGE), *in = aligned_bytes((size_t)MANY * 70000);
    MPI_Request requests[2 * MANY];
    fill_pattern(out, LARGE, test_rank, 0, 3);
    for (int i = 0; i < MANY; i++) {
        size_t bytes = 70000 - (size_t)(i * 1500);
        MPI_Irecv(in + (size_t)i * 70000, (int)bytes, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(out, (int)bytes, MPI_BYTE, peer(), i, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        expect_pattern(in + (size_t)i * 70000, 70000 - (size_t)(i * 1500), previous(), 0, 3);
    free(in);
    free(out);
}

/* A receive that is too small gets the beginning, and nothing is written behind it. */
CASE(cut_short) {
    unsigned char *out = aligned_bytes(LARGE), *in = aligned_bytes(LARGE);
    size_t room = 5 * LARGE / 8 + 3;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    fill_pattern(out, LARGE, test_rank, 0, 7);
    memset(in, 0xee, LARGE);
    MPI_Isend(out, LARGE, MPI_BYTE, peer(), 2, comm, &request);
    expect_error(MPI_Recv(in, (int)room, MPI_BYTE, previous(), 2, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (own_messages())
        expect_pattern(in, room, previous(), 0, 7);
    expect(in[room] == 0xee && in[LARGE - 1] == 0xee);
    MPI_Comm_free(&comm);
    free(in);
    free(out);
}

/* Whether the kernel lets this process read a word of the other one. */
static bool can_read(int process, void *word) {
    uint64_t value;
    struct iovec here = {&value, sizeof value}, there = {word, sizeof value};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == sizeof value;
}

/* A sender that makes no MPI call: the receiver makes both halves. */
CASE(the_receiver_does_not_wait) {
    struct place {
        uint64_t address;
        int process;
    } mine, theirs = {0};
    struct flag received = make_flag();
    unsigned char *memory = aligned_bytes(LARGE);
    bool alone = false;
    mine = (struct place){(uint64_t)(uintptr_t)memory, (int)getpid()};
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, peer(), 0, &theirs, sizeof theirs, MPI_BYTE, previous(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (test_rank == 1) {
        alone = own_messages() && can_read(theirs.process, (void *)(uintptr_t)theirs.address);
        MPI_Send(&alone, sizeof alone, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        memset(memory, 0, LARGE);
        MPI_Recv(memory, LARGE, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise_flag(&received);
        expect_pattern(memory, LARGE, 0, 0, 9);
    } else if (test_rank == 0) {
        MPI_Request request;
        fill_pattern(memory, LARGE, 0, 0, 9);
        MPI_Recv(&alone, sizeof alone, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend(memory, LARGE, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
        expect(!alone || wait_for_flag(&received, 20));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    remove_flag(&received);
    free(memory);
}
