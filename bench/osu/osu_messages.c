/* osu_messages.c: messages between two ranks, two pairs, and two threads of two ranks. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "osu.h"
#include "sample.h"

enum { TAG = 1, ACK = 2, THREAD_TAG = 10, NEVER_SENT = 1000, QUEUED = 1024 };
enum { MOST_REQUESTS = 64 };

static int partner(void) {
    return (osu_rank + osu_size / 2) % osu_size;
}

static bool is_sender(void) {
    return osu_rank < osu_size / 2;
}

/* ---- latency ---- */

static void trip(MPI_Datatype type, int count, int tag) { /* there and back */
    if (is_sender())
        MPI_Send(osu_out, count, type, partner(), tag, MPI_COMM_WORLD);
    MPI_Recv(osu_in, count, type, partner(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!is_sender())
        MPI_Send(osu_out, count, type, partner(), tag, MPI_COMM_WORLD);
}

static double latency(size_t bytes, int times) {
    osu_in[bytes - 1] = 0;
    double start = osu_now();
    for (int i = 0; i < times; i++)
        trip(MPI_BYTE, (int)bytes, TAG);
    double seconds = osu_now() - start;
    osu_check(osu_in[bytes - 1] == 1, "MPI_Recv");
    return seconds;
}

static double strided(size_t bytes, int times) { /* every second double */
    MPI_Datatype type;
    MPI_Type_vector((int)(bytes / 8), 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    double start = osu_now();
    for (int i = 0; i < times; i++)
        trip(type, 1, TAG);
    double seconds = osu_now() - start;
    MPI_Type_free(&type);
    return seconds;
}

static double persistent(size_t bytes, int times) {
    MPI_Request send, receive;
    MPI_Send_init(osu_out, (int)bytes, MPI_BYTE, partner(), TAG, MPI_COMM_WORLD, &send);
    MPI_Recv_init(osu_in, (int)bytes, MPI_BYTE, partner(), TAG, MPI_COMM_WORLD, &receive);
    double start = osu_now();
    for (int i = 0; i < times; i++) {
        MPI_Request *first = is_sender() ? &send : &receive, *second = is_sender() ? &receive : &send;
        MPI_Start(first);
        MPI_Wait(first, MPI_STATUS_IGNORE);
        MPI_Start(second);
        MPI_Wait(second, MPI_STATUS_IGNORE);
    }
    double seconds = osu_now() - start;
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    return seconds;
}

/* Behind receives that nothing matches, on both sides. */
static void latency_queued(void) {
    MPI_Request waiting[QUEUED];
    for (int i = 0; i < QUEUED; i++)
        MPI_Irecv(osu_in, 1, MPI_BYTE, partner(), NEVER_SENT + i, MPI_COMM_WORLD, &waiting[i]);
    osu_measure("latency_queued", 8, 2, latency);
    for (int i = 0; i < QUEUED; i++)
        MPI_Cancel(&waiting[i]);
    MPI_Waitall(QUEUED, waiting, MPI_STATUSES_IGNORE);
}

/* ---- bandwidth: a window of messages, answered by one ---- */

static int begin_sends(size_t bytes, MPI_Request *requests) {
    int window = osu_window(bytes);
    for (int k = 0; k < window; k++)
        MPI_Isend(osu_out, (int)bytes, MPI_BYTE, partner(), TAG, MPI_COMM_WORLD, &requests[k]);
    return window;
}

static int begin_receives(size_t bytes, MPI_Request *requests) {
    int window = osu_window(bytes);
    for (int k = 0; k < window; k++)
        MPI_Irecv(osu_in + (size_t)k % 2 * MOST_BYTES, (int)bytes, MPI_BYTE, partner(), TAG, MPI_COMM_WORLD,
                  &requests[k]);
    return window;
}

static void answer(void) {
    char byte = 0;
    if (is_sender())
        MPI_Recv(&byte, 1, MPI_BYTE, partner(), ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&byte, 1, MPI_BYTE, partner(), ACK, MPI_COMM_WORLD);
}

static double bandwidth(size_t bytes, int times) {
    MPI_Request requests[MOST_REQUESTS];
    double start = osu_now();
    for (int i = 0; i < times; i++) {
        int begun = is_sender() ? begin_sends(bytes, requests) : begin_receives(bytes, requests);
        MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
        answer();
    }
    return osu_now() - start;
}

static double both_ways(size_t bytes, int times) {
    MPI_Request requests[2 * MOST_REQUESTS];
    double start = osu_now();
    for (int i = 0; i < times; i++) {
        int begun = begin_receives(bytes, requests);
        begun += begin_sends(bytes, requests + begun);
        MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
        answer();
    }
    return osu_now() - start;
}

void osu_messages(void) {
    latency_queued();
    for (size_t bytes = osu_first(1, MOST_BYTES); bytes; bytes = osu_next(bytes, MOST_BYTES)) {
        osu_measure("latency", bytes, 2, latency);
        osu_measure("persistent", bytes, 2, persistent);
        if (bytes >= 8 && bytes <= BLOCK / 4)
            osu_measure("strided", bytes, 2, strided);
        osu_measure("bandwidth", bytes, osu_window(bytes), bandwidth);
        osu_measure("both_ways", bytes, 2 * osu_window(bytes), both_ways);
    }
}

void osu_pairs(void) {
    for (size_t bytes = osu_first(1, MOST_BYTES); bytes; bytes = osu_next(bytes, MOST_BYTES))
        osu_measure("pairs", bytes, 2 * osu_window(bytes), bandwidth);
}

/* ---- threads ---- */

static struct {
    size_t bytes;
    int times;
} threaded;

static void *trips(void *arg) { /* as trip(), with buffers of its own */
    int tag = THREAD_TAG + (int)(intptr_t)arg;
    char *out = need(malloc(threaded.bytes)), *in = need(malloc(threaded.bytes));
    for (int i = 0; i < threaded.times; i++) {
        if (is_sender())
            MPI_Send(out, (int)threaded.bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD);
        MPI_Recv(in, (int)threaded.bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_sender())
            MPI_Send(out, (int)threaded.bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD);
    }
    free(in);
    free(out);
    return NULL;
}

enum { THREADS = 2 };

static double latency_of_threads(size_t bytes, int times) {
    pthread_t thread[THREADS];
    threaded.bytes = bytes;
    threaded.times = times;
    double start = osu_now();
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, trips, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return osu_now() - start;
}

void osu_threads(void) {
    for (size_t bytes = osu_first(1, MOST_BYTES); bytes; bytes = osu_next(bytes, MOST_BYTES))
        osu_measure("threads", bytes, 2 * THREADS, latency_of_threads);
}
