/* flood.c: tests more active messages than fit into the buffers, in all directions at once; and that messages leave
 * although their sender no longer polls. For --seconds N. timeout: 60 */
#include "test.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 130, ECHO, ECHOED, CHECK, CHECKED, NEXT, NEXT_DATA, NEXT_BACK };

static long counted, echoed, checked;

static void on_count(gasnet_token_t token, gasnet_handlerarg_t n) {
    (void)token;
    counted += n;
}

static void on_echo(gasnet_token_t token, gasnet_handlerarg_t n) {
    expect_eq(gasnet_AMReplyShort1(token, ECHOED, n), GASNET_OK);
}

static void on_echoed(gasnet_token_t token, gasnet_handlerarg_t n) {
    (void)token;
    echoed += n;
}

/* The expected payload follows from the sender, the length and the version, which is an argument. */
static void on_check(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t version) {
    static char want[1 << 17];
    gasnet_node_t from = 0;
    expect_eq(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
    test_fill(want, bytes, (int)from, version);
    expect_bytes(data, want, bytes);
    test_fill(want, bytes, test_rank, version + 1);
    if (version % 2 == 0)
        expect_eq(gasnet_AMReplyMedium1(token, CHECKED, want, bytes, version + 1), GASNET_OK);
    else
        expect_eq(gasnet_AMReplyShort1(token, ECHOED, 1), GASNET_OK);
}

static void on_checked(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t version) {
    static char want[1 << 17];
    gasnet_node_t from = 0;
    expect_eq(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
    test_fill(want, bytes, (int)from, version);
    expect_bytes(data, want, bytes);
    checked++;
}

/* Numbered messages. For each node: requests received, replies received, and those received out of order. */
enum { MOST = 64 };
static struct { int came, back, overtaken; } of[MOST];

static void comes(gasnet_token_t token, gasnet_handlerarg_t number, bool back) {
    gasnet_node_t from = 0;
    expect_eq(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
    int *expected = back ? &of[from % MOST].back : &of[from % MOST].came;
    of[from % MOST].overtaken += number != *expected;
    ++*expected;
}

static void on_next(gasnet_token_t token, gasnet_handlerarg_t number) {
    comes(token, number, false);
    expect_eq(gasnet_AMReplyShort1(token, NEXT_BACK, number), GASNET_OK);
}

static void on_next_data(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t number) {
    (void)data, (void)bytes;
    on_next(token, number);
}

static void on_next_back(gasnet_token_t token, gasnet_handlerarg_t number) {
    comes(token, number, true);
}

static gasnet_handlerentry_t table[] = {HANDLER(COUNT, on_count),         HANDLER(ECHO, on_echo),
                                        HANDLER(ECHOED, on_echoed),       HANDLER(CHECK, on_check),
                                        HANDLER(CHECKED, on_checked),     HANDLER(NEXT, on_next),
                                        HANDLER(NEXT_DATA, on_next_data), HANDLER(NEXT_BACK, on_next_back)};
TEST_SETUP(table, 0)

static void begin(void) {
    counted = echoed = checked = 0;
    test_barrier();
}

/* Handlers that do not reply: the sender still gets its credits back. */
CASE(everybody_to_everybody_without_replies) {
    const int EACH = test_times(2000);
    begin();
    for (int i = 0; i < EACH; i++)
        for (gasnet_node_t to = 0; to < (gasnet_node_t)test_size; to++)
            expect_eq(gasnet_AMRequestShort1(to, COUNT, i), GASNET_OK);
    GASNET_BLOCKUNTIL(counted == (long)test_size * EACH * (EACH - 1) / 2);
    test_barrier();
    expect_eq(counted, (long)test_size * EACH * (EACH - 1) / 2);
}

CASE(everybody_to_one_with_replies) {
    const int EACH = test_times(2000);
    begin();
    for (int i = 0; i < EACH; i++)
        expect_eq(gasnet_AMRequestShort1(0, ECHO, i), GASNET_OK);
    GASNET_BLOCKUNTIL(echoed == (long)EACH * (EACH - 1) / 2);
}

/* The target does not poll for a while: all its buffers are full. */
CASE(one_that_does_not_poll) {
    enum { EACH = 300 };
    begin();
    if (test_rank == 0)
        usleep((useconds_t)test_times(300000));
    for (int i = 0; i < EACH; i++)
        expect_eq(gasnet_AMRequestShort1(0, ECHO, 1), GASNET_OK);
    GASNET_BLOCKUNTIL(echoed == EACH);
}

CASE(medium_ones_of_all_sizes) {
    size_t most = gasnet_AMMaxMedium(), small = 0;
    char *data = malloc(most);
    long sent = 0, with_short = 0;
    begin();
    for (int version = 0; test_elapsed() < test_seconds / 2 || version < 200; version++) {
        size_t bytes = test_number(test_rank, (size_t)version, 7) % (version % 4 == 0 ? most + 1 : 600);
        gasnet_node_t to = (gasnet_node_t)(test_number(test_rank, (size_t)version, 8) % (uint64_t)test_size);
        test_fill(data, bytes, test_rank, version);
        expect_eq(gasnet_AMRequestMedium1(to, CHECK, data, bytes, version), GASNET_OK);
        memset(data, 0, bytes); /* the buffer is free again */
        if (version % 2 == 0)
            sent++;
        else
            with_short++;
        small += bytes < 600;
    }
    expect(small > 0);
    GASNET_BLOCKUNTIL(checked == sent && echoed == with_short);
    test_barrier();
    free(data);
}

/* Between two nodes, messages are handled in the order in which a thread sent them, also if the target does not poll
 * for a while and more arrive than it has buffers. */
CASE(in_order) {
    enum { EACH = 400 };
    static char data[5000];
    begin();
    memset(of, 0, sizeof of);
    test_barrier();
    for (int i = 0; i < EACH; i++)
        for (gasnet_node_t to = 0; to < (gasnet_node_t)test_size; to++) {
            if (i % 7 == 3)
                expect_eq(gasnet_AMRequestMedium1(to, NEXT_DATA, data, (size_t)i * 12, i), GASNET_OK);
            else
                expect_eq(gasnet_AMRequestShort1(to, NEXT, i), GASNET_OK);
            if (i % 100 == 50 && to % 2 == (gasnet_node_t)test_rank % 2)
                usleep(2000);
        }
    for (int i = 0; i < test_size && i < MOST; i++) {
        GASNET_BLOCKUNTIL(of[i].came == EACH && of[i].back == EACH);
        expect_eq(of[i].overtaken, 0);
    }
    test_barrier();
}

/* Handlers of a message to the node itself and of one from another node run in a program that only puts and gets. */
CASE(handlers_run_in_puts_and_gets) {
    gasnet_node_t self = (gasnet_node_t)test_rank, next = (self + 1) % (gasnet_node_t)test_size;
    uint64_t value = 0;
    begin();
    expect_eq(gasnet_AMRequestShort1(self, COUNT, 1), GASNET_OK);
    expect_eq(gasnet_AMRequestShort1(next, COUNT, 1), GASNET_OK);
    for (double begun = test_elapsed(); counted < 2 && test_elapsed() - begun < 10;) {
        gasnet_put(self, test_segments[self].addr, &value, sizeof value);
        gasnet_get(&value, next, test_segments[next].addr, sizeof value);
    }
    expect_eq(counted, 2);
    test_barrier();
}

/* A message that a call has accepted arrives although its sender no longer polls, and although the receiver had no
 * buffer for it at first: with 3 or more nodes more arrive than the 32 that it has buffers for. */
CASE(what_was_sent_arrives) {
    enum { EACH = 24 };
    static char data[3000];
    begin();
    MPI_Barrier(MPI_COMM_WORLD); /* from here on no node polls */
    if (test_rank > 0)
        for (int i = 0; i < EACH; i++) {
            size_t bytes = i % 5 == 0 ? sizeof data : (size_t)i;
            test_fill(data, bytes, test_rank, i);
            expect_eq(gasnet_AMRequestMedium1(0, CHECKED, data, bytes, i), GASNET_OK);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        GASNET_BLOCKUNTIL(checked == (long)EACH * (test_size - 1));
    MPI_Barrier(MPI_COMM_WORLD);
}
