/* requests.c: notification by a message that a non-blocking receive gets, with each call that reports its completion.
 * The receives are posted before the writer may write. Where several are waited for, the writer sends two messages,
 * and either is a notification. */
#include "pass.h"

static MPI_Request requests[2];
static uint64_t words[2];

static void post_one(void) {
    MPI_Irecv(&words[0], 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &requests[0]);
}

static void post_two(void) {
    post_one();
    MPI_Irecv(&words[1], 1, MPI_UINT64_T, WRITER, TAG_MORE, litmus_comm, &requests[1]);
}

/* In either order. */
static void tell_twice(uint64_t news) {
    enum tag first = litmus_roll(2) ? TAG_NEWS : TAG_MORE;
    send_word(READER, first, news);
    litmus_delay();
    send_word(READER, first == TAG_NEWS ? TAG_MORE : TAG_NEWS, news);
}

static void wait_for_rest(void) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* ---- one ---- */

static void hear_wait(uint64_t news) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    pass_expect(words[0], news);
}

static void hear_test(uint64_t news) {
    uint64_t patience = 0;
    int done = 0;
    for (; !done; litmus_wait(&patience, "MPI_Test"))
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    pass_expect(words[0], news);
}

/* Reports completion without freeing the request. */
static void hear_get_status(uint64_t news) {
    uint64_t patience = 0;
    int done = 0;
    for (; !done; litmus_wait(&patience, "MPI_Request_get_status"))
        MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
    pass_expect(words[0], news);
}

static void wait_for_one(void) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

PASS(irecv_wait, .prepare = post_one, .tell = tell_by_send, .hear = hear_wait);
PASS(irecv_test, .prepare = post_one, .tell = tell_by_send, .hear = hear_test);
PASS(irecv_get_status, .prepare = post_one, .tell = tell_by_send, .hear = hear_get_status,
     .finish = wait_for_one);

/* ---- all ---- */

static void hear_waitall(uint64_t news) {
    wait_for_rest();
    pass_expect(words[0], news);
}

static void hear_testall(uint64_t news) {
    uint64_t patience = 0;
    int done = 0;
    for (; !done; litmus_wait(&patience, "MPI_Testall"))
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    pass_expect(words[1], news);
}

PASS(irecv_waitall, .prepare = post_two, .tell = tell_twice, .hear = hear_waitall);
PASS(irecv_testall, .prepare = post_two, .tell = tell_twice, .hear = hear_testall);

/* ---- whichever comes first ---- */

static void hear_waitany(uint64_t news) {
    int which;
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    pass_expect(words[which], news);
}

static void hear_testany(uint64_t news) {
    uint64_t patience = 0;
    int done = 0, which = 0;
    for (; !done; litmus_wait(&patience, "MPI_Testany"))
        MPI_Testany(2, requests, &which, &done, MPI_STATUS_IGNORE);
    pass_expect(words[which], news);
}

static void hear_waitsome(uint64_t news) {
    int count, which[2];
    MPI_Waitsome(2, requests, &count, which, MPI_STATUSES_IGNORE);
    pass_expect(words[which[0]], news);
}

static void hear_testsome(uint64_t news) {
    uint64_t patience = 0;
    int count = 0, which[2];
    for (; count == 0; litmus_wait(&patience, "MPI_Testsome"))
        MPI_Testsome(2, requests, &count, which, MPI_STATUSES_IGNORE);
    pass_expect(words[which[0]], news);
}

PASS(irecv_waitany, .prepare = post_two, .tell = tell_twice, .hear = hear_waitany, .finish = wait_for_rest);
PASS(irecv_testany, .prepare = post_two, .tell = tell_twice, .hear = hear_testany, .finish = wait_for_rest);
PASS(irecv_waitsome, .prepare = post_two, .tell = tell_twice, .hear = hear_waitsome, .finish = wait_for_rest);
PASS(irecv_testsome, .prepare = post_two, .tell = tell_twice, .hear = hear_testsome, .finish = wait_for_rest);
