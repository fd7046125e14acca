/* threads.c: several threads send and receive at once, with their own tags or communicators, and with shared ones.
 * timeout: 90 */
#include "message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { THREADS = 3, ROUNDS = 60, LARGE = 80000 };

struct worker {
    pthread_t thread;
    int number;
    MPI_Comm comm;
};

typedef void *work(void *worker);

static void run_threads(work *run, bool own_comms) {
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i, .comm = MPI_COMM_WORLD};
        if (own_comms)
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (own_comms)
            MPI_Comm_free(&workers[i].comm);
    }
}

static int rounds(void) {
    return test_size > 2 ? ROUNDS / 3 : ROUNDS;
}

static size_t size_of(int i) {
    return i % 16 == 5 ? LARGE : i % 4 == 1 ? 5000 : 12;
}

/* Each thread exchanges with the thread of the same number on the next rank. */
static void *ring(void *arg) {
    struct worker *w = arg;
    int tag = w->comm == MPI_COMM_WORLD ? w->number : 0;
    unsigned char *out = aligned_bytes(LARGE), *in = aligned_bytes(LARGE);
    for (int i = 0; i < rounds(); i++) {
        int serial = w->number * 1000 + i, bytes = (int)size_of(i);
        MPI_Request request;
        MPI_Status status;
        fill_pattern(out, (size_t)bytes, test_rank, 0, serial);
        MPI_Isend(out, bytes, MPI_BYTE, peer(), tag, w->comm, &request);
        MPI_Recv(in, bytes, MPI_BYTE, i % 3 ? previous() : MPI_ANY_SOURCE, tag, w->comm, &status);
        expect_status(&status, previous(), tag, bytes);
        expect_pattern(in, (size_t)bytes, previous(), 0, serial);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(in);
    free(out);
    return NULL;
}

CASE(own_tags) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    run_threads(ring, false);
}

CASE(own_communicators) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    run_threads(ring, true);
}

/* Several requests per thread, completed by MPI_Waitany; the threads wait at the same time. */
static void *waitany(void *arg) {
    enum { WIDTH = 8 };
    struct worker *w = arg;
    int out[WIDTH], in[WIDTH];
    MPI_Request requests[2 * WIDTH];
    for (int i = 0; i < rounds() / 3; i++) {
        int seen = 0, index;
        for (int k = 0; k < WIDTH; k++) {
            out[k] = 100000 * w->number + 100 * i + k;
            in[k] = -1;
            MPI_Irecv(&in[k], 1, MPI_INT, previous(), w->number * WIDTH + k, w->comm, &requests[k]);
        }
        for (int k = WIDTH - 1; k >= 0; k--)
            MPI_Isend(&out[k], 1, MPI_INT, peer(), w->number * WIDTH + k, w->comm, &requests[WIDTH + k]);
        for (int k = 0; k < 2 * WIDTH; k++) {
            MPI_Waitany(2 * WIDTH, requests, &index, MPI_STATUS_IGNORE);
            expect(index >= 0 && index < 2 * WIDTH && !(seen & 1 << index));
            seen |= 1 << index;
        }
        for (int k = 0; k < WIDTH; k++)
            expect_eq(in[k], 100000 * w->number + 100 * i + k);
    }
    return NULL;
}

CASE(waitany_in_threads) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    run_threads(waitany, false);
}

/* All threads receive from one stream: each message is received once, and each thread receives its messages in order. */
static _Atomic int taken;
static _Atomic unsigned char seen_once[THREADS * ROUNDS];

static void *share(void *arg) {
    struct worker *w = arg;
    int total = THREADS * rounds();
    if (test_rank == 0) {
        /* Messages of different threads may be received in any order, those of one thread may not. */
        for (int i = 0; i < rounds(); i++) {
            int word = w->number * ROUNDS + i;
            MPI_Send(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        }
    } else if (test_rank == 1) {
        int lasts[THREADS] = {-1, -1, -1};
        while (atomic_fetch_add(&taken, 1) < total) {
            int word = -1;
            MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (!expect(word >= 0 && word < THREADS * ROUNDS))
                break;
            expect_eq(seen_once[word]++, 0);
            expect(word % ROUNDS > lasts[word / ROUNDS]);
            lasts[word / ROUNDS] = word % ROUNDS;
        }
    }
    return NULL;
}

CASE(one_stream_for_all) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    atomic_store(&taken, 0);
    memset((void *)seen_once, 0, sizeof seen_once);
    run_threads(share, false);
}

/* Received by MPI_Mprobe, as threads should: no other thread receives a message that one has found. */
static void *matched(void *arg) {
    struct worker *w = arg;
    for (int i = 0; i < rounds() / 2; i++) {
        int serial = w->number * 1000 + i;
        size_t bytes = size_of(serial);
        unsigned char *out = aligned_bytes(bytes), *in;
        MPI_Request request;
        MPI_Status status;
        MPI_Message message;
        fill_pattern(out, bytes, test_rank, 0, (int)bytes);
        MPI_Isend(out, (int)bytes, MPI_BYTE, peer(), 6, MPI_COMM_WORLD, &request);
        MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, &status);
        in = aligned_bytes((size_t)count_of(&status, MPI_BYTE));
        MPI_Mrecv(in, count_of(&status, MPI_BYTE), MPI_BYTE, &message, &status);
        expect_pattern(in, (size_t)count_of(&status, MPI_BYTE), previous(), 0, count_of(&status, MPI_BYTE));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(in);
        free(out);
    }
    return NULL;
}

CASE(matched_probes) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    run_threads(matched, false);
}

/* One thread blocks in a receive for long; the others proceed, and so does a collective. */
static void *one_blocks(void *arg) {
    struct worker *w = arg;
    int word = -1;
    if (w->number == 0) {
        MPI_Recv(&word, 1, MPI_INT, previous(), 50, w->comm, MPI_STATUS_IGNORE);
        expect_eq(word, previous());
    } else if (w->number == 1) {
        for (int i = 0; i < 20; i++)
            MPI_Barrier(w->comm);
        word = test_rank;
        MPI_Send(&word, 1, MPI_INT, peer(), 50, MPI_COMM_WORLD);
    } else {
        ring(arg);
    }
    return NULL;
}

CASE(one_thread_blocks) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    run_threads(one_blocks, false);
}

/* One thread starts requests, another completes them. */
static MPI_Request handed[2 * THREADS];
static int handed_out[THREADS], handed_in[THREADS];

static void *complete_other(void *arg) {
    struct worker *w = arg;
    int other = (w->number + 1) % THREADS;
    MPI_Wait(&handed[2 * other], MPI_STATUS_IGNORE);
    MPI_Wait(&handed[2 * other + 1], MPI_STATUS_IGNORE);
    expect_eq(handed_in[other], 10 * previous() + other);
    return NULL;
}

static void *start_own(void *arg) {
    struct worker *w = arg;
    int n = w->number;
    handed_out[n] = 10 * test_rank + n;
    MPI_Irecv(&handed_in[n], 1, MPI_INT, previous(), 60 + n, MPI_COMM_WORLD, &handed[2 * n]);
    MPI_Isend(&handed_out[n], 1, MPI_INT, peer(), 60 + n, MPI_COMM_WORLD, &handed[2 * n + 1]);
    return NULL;
}

CASE(completed_by_another) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    for (int i = 0; i < 10; i++) {
        run_threads(start_own, false);
        run_threads(complete_other, false);
    }
}

/* All threads of a rank wait, and each in turn gets its message. The thread that holds the progress lock drives progress;
 * when it leaves, another must acquire the lock. */
enum { TURNS = 40, TURN_TAG = 80 };

static void *wait_for_turn(void *arg) {
    struct worker *w = arg;
    for (int i = 0; i < TURNS; i++) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, previous(), TURN_TAG + w->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_eq(value, i);
        MPI_Send(&value, 1, MPI_INT, previous(), TURN_TAG + THREADS, MPI_COMM_WORLD);
    }
    return NULL;
}

static void give_turns(void) {
    for (int i = 0; i < TURNS; i++)
        for (int k = 0; k < THREADS; k++) {
            int value, to = i % 2 ? k : THREADS - 1 - k;
            MPI_Send(&i, 1, MPI_INT, peer(), TURN_TAG + to, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, peer(), TURN_TAG + THREADS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
}

CASE(waiting_threads_take_turns) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    if (test_rank % 2 == 0 && test_rank + 1 < test_size)
        give_turns();
    else if (test_rank % 2)
        run_threads(wait_for_turn, false);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Only MPI can pack a datatype with an empty member. Threads that pack at the same time must not mix their bytes. */
enum { PACKED = 4000 };
static MPI_Datatype packed_type;

static void make_packed_type(void) {
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_INT};
    int counts[2] = {1, PACKED / (int)sizeof(int)};
    MPI_Aint places[2] = {0, 16};
    MPI_Type_contiguous(0, MPI_INT, &parts[0]);
    MPI_Type_create_struct(2, counts, places, parts, &packed_type);
    MPI_Type_commit(&packed_type);
    MPI_Type_free(&parts[0]);
}

static void *send_packed(void *arg) {
    struct worker *w = arg;
    char out[PACKED + 64], in[PACKED];
    int wrong = 0;
    memset(out, 'A' + w->number, sizeof out);
    for (int i = 0; i < test_times(100000); i++) {
        MPI_Request request;
        memset(in, 0, sizeof in);
        MPI_Isend(out, 1, packed_type, 0, w->number, MPI_COMM_SELF, &request);
        MPI_Recv(in, PACKED, MPI_BYTE, 0, w->number, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += memcmp(in, out, sizeof in) != 0;
    }
    expect_eq(wrong, 0);
    return NULL;
}

CASE(types_that_mpi_packs) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    make_packed_type();
    run_threads(send_packed, false);
    MPI_Type_free(&packed_type);
}

/* One thread waits on a communicator, another frees it; then the message comes, which is too long. Rank 0 frees it when
 * rank 1 has received the other message of the waiting call. */
enum { FREED_ROOM = 100, FREED_TAG = 90 };
static _Atomic int seen_class;

static void note_class(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    atomic_store(&seen_class, class_of(*code));
}

static void *wait_on_freed(void *arg) {
    struct worker *w = arg;
    char in[FREED_ROOM];
    atomic_store(&seen_class, MPI_SUCCESS);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, 1, FREED_TAG, in, FREED_ROOM, MPI_BYTE, 1, FREED_TAG, w->comm,
                 MPI_STATUS_IGNORE);
    expect_eq(atomic_load(&seen_class), MPI_ERR_TRUNCATE);
    return NULL;
}

static void free_while_waiting(MPI_Comm comm) {
    struct worker w = {.comm = comm};
    pthread_create(&w.thread, NULL, wait_on_freed, &w);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, FREED_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Send(NULL, 0, MPI_BYTE, 1, FREED_TAG, MPI_COMM_WORLD);
    pthread_join(w.thread, NULL);
}

static void send_to_freed(MPI_Comm comm) {
    char out[FREED_ROOM + 1] = {0};
    MPI_Recv(NULL, 0, MPI_BYTE, 0, FREED_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, FREED_TAG, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, FREED_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, sizeof out, MPI_BYTE, 0, FREED_TAG, comm);
    MPI_Comm_free(&comm);
}

CASE(communicator_freed_by_another) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "this MPI was built without threads");
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note_class, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    for (int i = 0; i < 10; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (test_rank == 0)
            free_while_waiting(comm);
        else if (test_rank == 1)
            send_to_freed(comm);
        else
            MPI_Comm_free(&comm);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
