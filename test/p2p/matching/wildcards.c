/* wildcards.c: compares which receive gets which message with a model.
 *
 * With one sender the outcome does not depend on timing: a message matches the first posted receive that fits, a
 * receive matches the first sent message that fits, and both rules give the same pairs however the two sequences
 * interleave. So the same script runs with the receives first, with the messages first, and with both at once. */
#include "message.h"

#include <stdlib.h>

#include "base/random.h"

enum { SCRIPT = 400, TAGS = 5, NONE = -1 };

struct script {
    int count;
    int tag[SCRIPT];  /* of the messages */
    int want[SCRIPT]; /* tag of the receives, or MPI_ANY_TAG */
    bool any_source[SCRIPT];
    int message_of[SCRIPT]; /* per receive: the message that it gets */
    int receive_of[SCRIPT]; /* per message */
};

static void make_script(struct script *s, uint64_t seed, int count) {
    struct random r;
    random_seed(&r, seed);
    s->count = count;
    for (int i = 0; i < count; i++) {
        s->tag[i] = (int)random_below(&r, TAGS);
        s->want[i] = random_below(&r, 3) ? (int)random_below(&r, TAGS) : MPI_ANY_TAG;
        s->any_source[i] = random_below(&r, 2);
        s->message_of[i] = s->receive_of[i] = NONE;
    }
    for (int m = 0; m < count; m++)
        for (int i = 0; i < count && s->receive_of[m] == NONE; i++)
            if (s->message_of[i] == NONE && (s->want[i] == MPI_ANY_TAG || s->want[i] == s->tag[m])) {
                s->message_of[i] = m;
                s->receive_of[m] = i;
            }
}

static size_t size_of(int m) {
    return m % 17 == 3 ? 100000 : m % 5 == 2 ? 4000 : sizeof(int);
}

static unsigned char *out[SCRIPT], *in[SCRIPT];
static MPI_Request sends[SCRIPT], receives[SCRIPT];

static void send_message(const struct script *s, int m) {
    out[m] = aligned_bytes(size_of(m));
    fill_pattern(out[m], size_of(m), test_rank, 0, m);
    MPI_Isend(out[m], (int)size_of(m), MPI_BYTE, peer(), s->tag[m], MPI_COMM_WORLD, &sends[m]);
}

static void post_receive(const struct script *s, int i) {
    in[i] = aligned_bytes(100000);
    memset(in[i], 0, 4000);
    MPI_Irecv(in[i], 100000, MPI_BYTE, s->any_source[i] ? MPI_ANY_SOURCE : previous(), s->want[i],
              MPI_COMM_WORLD, &receives[i]);
}

static void check_receive(const struct script *s, int i) {
    MPI_Status status;
    int m = s->message_of[i], cancelled;
    if (m == NONE)
        MPI_Cancel(&receives[i]);
    MPI_Wait(&receives[i], &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect_eq(cancelled, m == NONE);
    if (m != NONE) {
        expect_status(&status, previous(), s->tag[m], size_of(m));
        expect_pattern(in[i], size_of(m), previous(), 0, m);
    }
    free(in[i]);
}

/* Completes the receives that get a message first. A receive without one is cancelled when all others are done. */
static void finish(const struct script *s) {
    for (int i = 0; i < s->count; i++)
        if (s->message_of[i] != NONE)
            check_receive(s, i);
    for (int i = 0; i < s->count; i++)
        if (s->message_of[i] == NONE)
            check_receive(s, i);
    for (int m = 0; m < s->count; m++)
        if (s->receive_of[m] == NONE)
            receive_pattern(size_of(m), previous(), s->tag[m], m, MPI_COMM_WORLD);
    MPI_Waitall(s->count, sends, MPI_STATUSES_IGNORE);
    for (int m = 0; m < s->count; m++)
        free(out[m]);
    barrier();
}

static uint64_t seed_of(int kind, int round) {
    return test_seed * 100 + (uint64_t)(kind * 30 + round);
}

CASE(receives_first) {
    struct script s;
    for (int round = 0; round < 3; round++) {
        make_script(&s, seed_of(0, round), SCRIPT);
        for (int i = 0; i < s.count; i++)
            post_receive(&s, i);
        barrier();
        for (int i = 0; i < s.count; i++)
            send_message(&s, i);
        finish(&s);
    }
}

CASE(messages_first) {
    struct script s;
    for (int round = 0; round < 3; round++) {
        make_script(&s, seed_of(1, round), SCRIPT);
        for (int i = 0; i < s.count; i++)
            send_message(&s, i);
        barrier();
        for (int i = 0; i < s.count; i++)
            post_receive(&s, i);
        finish(&s);
    }
}

/* Both sides run at once, each rank at its own speed. */
CASE(racing) {
    struct script s;
    struct random r;
    random_seed(&r, test_seed * 10 + (uint64_t)test_rank);
    for (int round = 0; round < 6; round++) {
        int sent = 0, posted = 0;
        make_script(&s, seed_of(2, round), SCRIPT);
        while (sent < s.count || posted < s.count) {
            int burst = 1 + (int)random_below(&r, 20);
            bool sending = random_below(&r, 2);
            for (; sending && burst > 0 && sent < s.count; burst--)
                send_message(&s, sent++);
            for (; !sending && burst > 0 && posted < s.count; burst--)
                post_receive(&s, posted++);
        }
        finish(&s);
    }
}

/* The first posted receive that fits gets the message, whether it is exact or a wildcard. */
CASE(first_posted_wins) {
    int kinds[4][2] = {{0, 7}, {1, 7}, {0, MPI_ANY_TAG}, {1, MPI_ANY_TAG}}; /* any source?, tag */
    for (int first = 0; first < 4; first++) {
        int got[4] = {-1, -1, -1, -1};
        for (int i = 0; i < 4; i++) {
            int *kind = kinds[(first + i) % 4];
            MPI_Irecv(&got[i], 1, MPI_INT, kind[0] ? MPI_ANY_SOURCE : previous(), kind[1], MPI_COMM_WORLD,
                      &receives[i]);
        }
        barrier();
        for (int i = 0; i < 4; i++) {
            int value = 10 * test_rank + i;
            MPI_Send(&value, 1, MPI_INT, peer(), 7, MPI_COMM_WORLD);
        }
        MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++)
            expect_eq(got[i], 10 * previous() + i);
        barrier();
    }
}

/* Rank 0 posts receives for each sender, and after them receives from MPI_ANY_SOURCE. Every message is received
 * exactly once, and those of one sender in order. */
CASE(several_senders) {
    enum { EACH = 300 };
    int senders = test_size - 1, total = EACH * senders;
    int *got = calloc((size_t)total, sizeof *got), *next = calloc((size_t)test_size, sizeof *next);
    MPI_Request *all = calloc((size_t)total, sizeof *all);
    for (int i = 0; test_rank == 0 && i < total; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, i < total / 2 ? 1 + i % senders : MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                  &all[i]);
    for (int i = 0; test_rank != 0 && i < EACH; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    for (int i = 0; test_rank == 0 && i < total; i++) {
        MPI_Status status;
        MPI_Wait(&all[i], &status);
        if (i < total / 2)
            expect_eq(status.MPI_SOURCE, 1 + i % senders);
        expect_eq(got[i], next[status.MPI_SOURCE]++);
    }
    free(next);
    free(all);
    free(got);
}
