/* startall.c: tests many messages that one MPI_Startall starts. Between nodes those to one process leave together. */
#include "message.h"

#include <stdlib.h>

#include "base/random.h"

enum { MOST = 20000, MANY = 400, TAGS = 3 };

typedef int maker(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

struct set { /* one message to each of the ranks in turn, and one from each */
    int count;
    unsigned char **out, **in;
    int *bytes;
    MPI_Request *requests; /* the receives, followed by the sends */
};

/* The same for the sender and the receiver of a message. */
static int size_of(int i) {
    static const int sizes[] = {0, 1, 7, 8, 100, 1000, 5000, 16000, 16384, MOST};
    return sizes[random_mix((uint64_t)i) % (sizeof sizes / sizeof *sizes)];
}

static int to(int i) {
    return (test_rank + i) % test_size;
}

static int from(int i) {
    return (test_rank + test_size - i % test_size) % test_size;
}

static struct set set_make(int count, maker *make) {
    size_t n = (size_t)count;
    struct set s = {count, malloc(n * sizeof *s.out), malloc(n * sizeof *s.in), malloc(n * sizeof *s.bytes),
                    malloc(2 * n * sizeof *s.requests)};
    for (int i = 0; i < count; i++) {
        s.bytes[i] = size_of(i);
        s.out[i] = aligned_bytes((size_t)s.bytes[i] + 1);
        s.in[i] = aligned_bytes((size_t)s.bytes[i] + 1);
        MPI_Recv_init(s.in[i], s.bytes[i], MPI_BYTE, from(i), i % TAGS, MPI_COMM_WORLD, &s.requests[i]);
        make(s.out[i], s.bytes[i], MPI_BYTE, to(i), i % TAGS, MPI_COMM_WORLD, &s.requests[count + i]);
    }
    return s;
}

static void set_fill(struct set *s, int round) {
    for (int i = 0; i < s->count; i++) {
        fill_pattern(s->out[i], (size_t)s->bytes[i], test_rank, 0, round * s->count + i);
        memset(s->in[i], 0, (size_t)s->bytes[i] + 1);
    }
}

static void set_check(const struct set *s, int round) {
    for (int i = 0; i < s->count; i++)
        expect_pattern(s->in[i], (size_t)s->bytes[i], from(i), 0, round * s->count + i);
}

static void set_free(struct set *s) {
    for (int i = 0; i < s->count; i++) {
        MPI_Request_free(&s->requests[i]);
        MPI_Request_free(&s->requests[s->count + i]);
        free(s->out[i]);
        free(s->in[i]);
    }
    free(s->out);
    free(s->in);
    free(s->bytes);
    free(s->requests);
}

static void exchange(maker *make, bool receives_first) {
    struct set s = set_make(MANY, make);
    for (int round = 0; round < 3; round++) {
        set_fill(&s, round);
        if (receives_first) {
            MPI_Startall(MANY, s.requests);
            barrier(); /* a ready send requires a posted receive */
            MPI_Startall(MANY, s.requests + MANY);
        } else {
            MPI_Startall(MANY, s.requests + MANY);
            MPI_Startall(MANY, s.requests);
        }
        MPI_Waitall(2 * MANY, s.requests, MPI_STATUSES_IGNORE);
        set_check(&s, round);
    }
    set_free(&s);
}

CASE(posted) {
    exchange(MPI_Send_init, true);
}

CASE(unexpected) {
    exchange(MPI_Send_init, false);
}

CASE(synchronous) {
    exchange(MPI_Ssend_init, false);
}

CASE(ready) {
    exchange(MPI_Rsend_init, true);
}

/* Data that is not contiguous, and messages of other calls between those of two sets: the order is that of the calls. */
CASE(in_order_with_others) {
    enum { COUNT = 30 };
    MPI_Datatype every_other;
    MPI_Request requests[COUNT];
    double out[COUNT][8], in[4] = {0}, single;
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 8; k++)
            out[i][k] = 1000 * test_rank + 10 * i + k;
        MPI_Send_init(out[i], 1, every_other, peer(), 5, MPI_COMM_WORLD, &requests[i]);
    }
    for (int round = 0; round < 5; round++) {
        single = -round - 1;
        MPI_Startall(COUNT, requests);
        MPI_Send(&single, 1, MPI_DOUBLE, peer(), 5, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT; i++) {
            MPI_Recv(in, 4, MPI_DOUBLE, previous(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < 4; k++)
                expect_eq(in[k], 1000 * previous() + 10 * i + 2 * k);
        }
        MPI_Recv(in, 1, MPI_DOUBLE, previous(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_eq(in[0], -round - 1);
        MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < COUNT; i++)
        MPI_Request_free(&requests[i]);
    MPI_Type_free(&every_other);
}

/* Requests of MPI_PROC_NULL are MPI's own, between those that Hearth matches. */
CASE(between_null_processes) {
    enum { COUNT = 12 };
    int out[COUNT], in[COUNT];
    MPI_Request requests[2 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        bool null = i % 3 == 1;
        MPI_Recv_init(&in[i], 1, MPI_INT, null ? MPI_PROC_NULL : previous(), i, MPI_COMM_WORLD,
                      &requests[2 * i]);
        MPI_Send_init(&out[i], 1, MPI_INT, null ? MPI_PROC_NULL : peer(), i, MPI_COMM_WORLD,
                      &requests[2 * i + 1]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            out[i] = 1000 * test_rank + 10 * i + round;
            in[i] = -1;
        }
        MPI_Startall(2 * COUNT, requests);
        MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++)
            expect_eq(in[i], i % 3 == 1 ? -1 : 1000 * previous() + 10 * i + round);
    }
    for (int i = 0; i < 2 * COUNT; i++)
        MPI_Request_free(&requests[i]);
}

/* The messages leave before MPI_Startall returns: the sender makes no MPI call until they have been received. */
CASE(leave_at_once) {
    enum { COUNT = 20, BYTES = 64 };
    struct flag received = make_flag();
    unsigned char out[COUNT][BYTES];
    MPI_Request requests[COUNT];
    for (int i = 0; test_rank == 0 && i < COUNT; i++) {
        fill_pattern(out[i], BYTES, 0, 0, i);
        MPI_Send_init(out[i], BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    if (test_rank == 0) {
        MPI_Startall(COUNT, requests);
        expect(wait_for_flag(&received, 20));
        MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; test_rank == 0 && i < COUNT; i++)
        MPI_Request_free(&requests[i]);
    for (int i = COUNT - 1; test_rank == 1 && i >= 0; i--)
        receive_pattern(BYTES, 0, i, i, MPI_COMM_WORLD);
    if (test_rank == 1)
        raise_flag(&received);
    remove_flag(&received);
}

/* Far more than all buffers hold, to a rank that receives later and in another order. */
CASE(more_than_fits) {
    enum { COUNT = 6000, BYTES = 3000 };
    unsigned char *out = aligned_bytes((size_t)COUNT * BYTES), *in = aligned_bytes(BYTES);
    MPI_Request *requests = malloc(COUNT * sizeof *requests);
    for (int i = 0; i < COUNT; i++) {
        fill_pattern(out + (size_t)i * BYTES, BYTES, test_rank, 0, i);
        MPI_Send_init(out + (size_t)i * BYTES, BYTES, MPI_BYTE, peer(), i % 2, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Startall(COUNT, requests);
    barrier();
    for (int tag = 1; tag >= 0; tag--)
        for (int i = tag; i < COUNT; i += 2) {
            MPI_Recv(in, BYTES, MPI_BYTE, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect_pattern(in, BYTES, previous(), 0, i);
        }
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++)
        MPI_Request_free(&requests[i]);
    free(requests);
    free(in);
    free(out);
}
