/* messages.c: notification by a message, with every kind of blocking send and receive, and by probes, which notify
 * before anything is received. A synchronous send notifies its sender: it completes only when the peer has begun to
 * receive, which the writer does after the write. */
#include "pass.h"

#include <stdlib.h>

enum { LONG_WORDS = 1 << 15 }; /* too long to be sent eagerly */

static MPI_Request persistent = MPI_REQUEST_NULL;
static MPI_Message matched;
static uint64_t word, *words;

/* ---- receives ---- */

static void hear_recv(uint64_t news) {
    pass_expect(receive_word(WRITER, TAG_NEWS), news);
}

static void hear_recv_any(uint64_t news) {
    uint64_t v;
    MPI_Recv(&v, 1, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, litmus_comm, MPI_STATUS_IGNORE);
    pass_expect(v, news);
}

PASS(recv, .tell = tell_by_send, .hear = hear_recv);
PASS(recv_any, .tell = tell_by_send, .hear = hear_recv_any);

static void exchange(uint64_t news) {
    uint64_t in;
    MPI_Sendrecv(&news, 1, MPI_UINT64_T, 1 - litmus_rank, TAG_NEWS, &in, 1, MPI_UINT64_T, 1 - litmus_rank,
                 TAG_NEWS, litmus_comm, MPI_STATUS_IGNORE);
    pass_expect(in, news);
}

static void exchange_in_place(uint64_t news) {
    uint64_t v = news;
    MPI_Sendrecv_replace(&v, 1, MPI_UINT64_T, 1 - litmus_rank, TAG_NEWS, 1 - litmus_rank, TAG_NEWS,
                         litmus_comm, MPI_STATUS_IGNORE);
    pass_expect(v, news);
}

PASS(sendrecv, .tell = exchange, .hear = exchange);
PASS(sendrecv_replace, .tell = exchange_in_place, .hear = exchange_in_place);

static void open_words(void) {
    words = calloc(LONG_WORDS, sizeof *words);
    if (!words)
        abort();
}

static void close_words(void) {
    free(words);
}

static void tell_long(uint64_t news) {
    words[LONG_WORDS - 1] = news;
    MPI_Send(words, LONG_WORDS, MPI_UINT64_T, READER, TAG_NEWS, litmus_comm);
}

static void hear_long(uint64_t news) {
    MPI_Recv(words, LONG_WORDS, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, MPI_STATUS_IGNORE);
    pass_expect(words[LONG_WORDS - 1], news);
}

PASS(recv_long, .open = open_words, .tell = tell_long, .hear = hear_long, .close = close_words);

/* ---- sends ---- */

static void open_buffer(void) {
    int bytes = 1 << 16;
    open_words();
    MPI_Buffer_attach(words, bytes);
}

static void close_buffer(void) {
    int bytes;
    MPI_Buffer_detach(&words, &bytes);
    close_words();
}

static void tell_by_bsend(uint64_t news) {
    MPI_Bsend(&news, 1, MPI_UINT64_T, READER, TAG_NEWS, litmus_comm);
}

static void tell_by_ssend(uint64_t news) {
    MPI_Ssend(&news, 1, MPI_UINT64_T, READER, TAG_NEWS, litmus_comm);
}

static void tell_by_isend(uint64_t news) {
    MPI_Request request;
    MPI_Isend(&news, 1, MPI_UINT64_T, READER, TAG_NEWS, litmus_comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

PASS(bsend, .open = open_buffer, .tell = tell_by_bsend, .hear = hear_recv, .close = close_buffer);
PASS(ssend_recv, .tell = tell_by_ssend, .hear = hear_recv);
PASS(isend_recv, .tell = tell_by_isend, .hear = hear_recv);

/* Ready sends: the receive is posted before the writer may send. */
static void start_receive(void) {
    MPI_Irecv(&word, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &persistent);
}

static void tell_by_rsend(uint64_t news) {
    MPI_Rsend(&news, 1, MPI_UINT64_T, READER, TAG_NEWS, litmus_comm);
}

static void hear_started(uint64_t news) {
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    pass_expect(word, news);
}

PASS(rsend, .prepare = start_receive, .tell = tell_by_rsend, .hear = hear_started);

/* ---- the completion of a synchronous send ---- */

static void take_question(uint64_t news) {
    pass_expect(receive_word(READER, TAG_NEWS), news);
}

static void ask_by_ssend(uint64_t news) {
    MPI_Ssend(&news, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm);
}

static void ask_by_issend_wait(uint64_t news) {
    MPI_Request request;
    MPI_Issend(&news, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ask_by_issend_test(uint64_t news) {
    MPI_Request request;
    uint64_t patience = 0;
    int done = 0;
    MPI_Issend(&news, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &request);
    for (; !done; litmus_wait(&patience, "MPI_Test of a synchronous send"))
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void open_ssend(void) {
    if (litmus_rank == READER)
        MPI_Ssend_init(&word, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &persistent);
}

static void close_request(void) {
    if (persistent != MPI_REQUEST_NULL)
        MPI_Request_free(&persistent);
}

static void ask_by_persistent(uint64_t news) {
    word = news;
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}

PASS(ssend, .tell = take_question, .hear = ask_by_ssend);
PASS(issend_wait, .tell = take_question, .hear = ask_by_issend_wait);
PASS(issend_test, .tell = take_question, .hear = ask_by_issend_test);
PASS(ssend_persistent, .open = open_ssend, .tell = take_question, .hear = ask_by_persistent,
     .close = close_request);

/* ---- persistent receives ---- */

static void open_recv(void) {
    if (litmus_rank == READER)
        MPI_Recv_init(&word, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &persistent);
}

static void start_persistent(void) {
    MPI_Start(&persistent);
}

static void start_all_persistent(void) {
    MPI_Startall(1, &persistent);
}

PASS(recv_persistent, .open = open_recv, .prepare = start_persistent, .tell = tell_by_send,
     .hear = hear_started, .close = close_request);
PASS(recv_startall, .open = open_recv, .prepare = start_all_persistent, .tell = tell_by_send,
     .hear = hear_started, .close = close_request);

/* ---- probes: the message itself is received later ---- */

static void hear_probe(uint64_t news) {
    MPI_Probe(WRITER, TAG_NEWS, litmus_comm, MPI_STATUS_IGNORE);
}

static void hear_iprobe(uint64_t news) {
    uint64_t patience = 0;
    int there = 0;
    for (; !there; litmus_wait(&patience, "MPI_Iprobe"))
        MPI_Iprobe(WRITER, TAG_NEWS, litmus_comm, &there, MPI_STATUS_IGNORE);
}

static void hear_mprobe(uint64_t news) {
    MPI_Mprobe(WRITER, TAG_NEWS, litmus_comm, &matched, MPI_STATUS_IGNORE);
}

static void hear_improbe(uint64_t news) {
    uint64_t patience = 0;
    int there = 0;
    for (; !there; litmus_wait(&patience, "MPI_Improbe"))
        MPI_Improbe(WRITER, TAG_NEWS, litmus_comm, &there, &matched, MPI_STATUS_IGNORE);
}

static void take_matched(void) {
    MPI_Mrecv(&word, 1, MPI_UINT64_T, &matched, MPI_STATUS_IGNORE);
}

static void take_matched_later(void) {
    MPI_Request request;
    MPI_Imrecv(&word, 1, MPI_UINT64_T, &matched, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

PASS(probe, .tell = tell_by_send, .hear = hear_probe, .finish = take_message);
PASS(iprobe, .tell = tell_by_send, .hear = hear_iprobe, .finish = take_message);
PASS(mprobe, .tell = tell_by_send, .hear = hear_mprobe, .finish = take_matched);
PASS(improbe, .tell = tell_by_send, .hear = hear_improbe, .finish = take_matched_later);
