/* flight.c: a get is pending when the sync event comes. It may return the old value or the new one, so its result is
 * not checked; but a later get must not be served from it.
 *
 *      reader:   get p ----------------------------------> (any)
 *                      ready    event: p = v    get p ---------> must be v */
#include "litmus.h"

static void write_when_ready(struct place p, uint64_t v) {
    send_word(READER, TAG_MORE, v);
    receive_word(READER, TAG_READY);
    litmus_delay();
    place_write(p, v);
    send_word(READER, TAG_NEWS, v);
}

/* Receives a message, which is a sync event: the cached data becomes invalid, and the next get misses. */
static void forget(void) {
    receive_word(WRITER, TAG_MORE);
}

static void tell_and_hear(uint64_t v) {
    send_word(WRITER, TAG_READY, v);
    litmus_delay();
    receive_word(WRITER, TAG_NEWS);
}

static void expect_line(const uint64_t *line, uint64_t v) {
    uint64_t got = line_value(line, LINE_WORDS);
    if (got != v)
        litmus_forbid("read %llu, written %llu", (unsigned long long)got, (unsigned long long)v);
}

static void each_run(void (*read)(struct place p, uint64_t v)) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER) {
            write_when_ready(p, v);
        } else {
            forget();
            read(p, v);
        }
    }
}

#define FLIGHT(name)                                                                                         \
    static void read_##name(struct place p, uint64_t v);                                                     \
    LITMUS(in_flight_##name, 2) {                                                                            \
        each_run(read_##name);                                                                               \
    }                                                                                                        \
    static void read_##name(struct place p, uint64_t v)

/* Completed after the event, and then repeated. */
FLIGHT(flush) {
    uint64_t line[LINE_WORDS];
    place_get(p, line);
    tell_and_hear(v);
    place_flush(p);
    expect_value(p, v);
}

/* Repeated before it is complete. */
FLIGHT(join) {
    uint64_t first[LINE_WORDS], second[LINE_WORDS];
    place_get(p, first);
    tell_and_hear(v);
    place_get(p, second);
    place_flush(p);
    expect_line(second, v);
    expect_value(p, v);
}

/* Repeated with a larger size while it is pending. */
FLIGHT(longer) {
    uint64_t first[LINE_WORDS], second[LINE_WORDS];
    MPI_Get(first, 4, MPI_UINT64_T, p.home, p.disp, 4, MPI_UINT64_T, p.win);
    tell_and_hear(v);
    place_get(p, second);
    place_flush(p);
    expect_line(second, v);
    expect_value(p, v);
}

/* Two gets before the event, of which the second may join the first. */
FLIGHT(joined) {
    uint64_t first[LINE_WORDS], second[LINE_WORDS];
    place_get(p, first);
    place_get(p, second);
    tell_and_hear(v);
    place_flush(p);
    expect_value(p, v);
}

FLIGHT(rget) {
    uint64_t line[LINE_WORDS];
    MPI_Request request;
    MPI_Rget(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win, &request);
    tell_and_hear(v);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_value(p, v);
}

FLIGHT(rget_join) {
    uint64_t first[LINE_WORDS], second[LINE_WORDS];
    MPI_Request requests[2];
    MPI_Rget(first, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win, &requests[0]);
    tell_and_hear(v);
    MPI_Rget(second, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_line(second, v);
    expect_value(p, v);
}

/* The event is in the call that also completes the get. */
FLIGHT(waitall) {
    uint64_t line[LINE_WORDS], news;
    MPI_Request requests[2];
    MPI_Rget(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win, &requests[0]);
    MPI_Irecv(&news, 1, MPI_UINT64_T, WRITER, TAG_NEWS, litmus_comm, &requests[1]);
    send_word(WRITER, TAG_READY, v);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_value(p, v);
}

/* ---- not pending: completed before the event, by its request ---- */

static uint64_t read_by_rget(struct place p) {
    uint64_t line[LINE_WORDS];
    MPI_Request request;
    MPI_Rget(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return line_value(line, LINE_WORDS);
}

static void read_rget_twice(struct place p, uint64_t v) {
    uint64_t first = read_by_rget(p), second;
    tell_and_hear(v);
    second = read_by_rget(p);
    if (first != *p.last || second != v)
        litmus_forbid("read %llu and %llu, written %llu and %llu", (unsigned long long)first,
                      (unsigned long long)second, (unsigned long long)*p.last, (unsigned long long)v);
    *p.last = v;
}

LITMUS(rget_message_rget, 2) {
    each_run(read_rget_twice);
}
