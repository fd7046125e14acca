/* atomics.c: notification by an atomic operation that reads a flag repeatedly until the writer has set it. Atomic
 * calls do not race, and the flag is set after the write is complete. The value, and with it the sync event, is there
 * only when the call is completed. */
#include "pass.h"

static struct place flag_of_writer(void) {
    return place_flag(0, WRITER, 0);
}

static void set_by_accumulate(uint64_t news) {
    struct place f = flag_of_writer();
    MPI_Accumulate(&news, 1, MPI_UINT64_T, f.home, f.disp, 1, MPI_UINT64_T, MPI_REPLACE, f.win);
    MPI_Win_flush(f.home, f.win);
}

static void set_by_swap(uint64_t news) {
    struct place f = flag_of_writer();
    uint64_t before;
    MPI_Fetch_and_op(&news, &before, MPI_UINT64_T, f.home, f.disp, MPI_REPLACE, f.win);
    MPI_Win_flush(f.home, f.win);
}

/* Each reads the flag once. */
static uint64_t read_by_fetch_and_op(struct place f) {
    uint64_t none = 0, v = 0;
    MPI_Fetch_and_op(&none, &v, MPI_UINT64_T, f.home, f.disp, MPI_NO_OP, f.win);
    place_flush(f);
    return v;
}

static uint64_t read_by_get_accumulate(struct place f) {
    uint64_t v = 0;
    MPI_Get_accumulate(NULL, 0, MPI_UINT64_T, &v, 1, MPI_UINT64_T, f.home, f.disp, 1, MPI_UINT64_T, MPI_NO_OP,
                       f.win);
    place_flush(f);
    return v;
}

static uint64_t read_by_rget_accumulate(struct place f) {
    uint64_t v = 0;
    MPI_Request request;
    MPI_Rget_accumulate(NULL, 0, MPI_UINT64_T, &v, 1, MPI_UINT64_T, f.home, f.disp, 1, MPI_UINT64_T,
                        MPI_NO_OP, f.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return v;
}

static void poll(uint64_t news, uint64_t (*read)(struct place), const char *what) {
    struct place f = flag_of_writer();
    uint64_t patience = 0;
    while (read(f) != news)
        litmus_wait(&patience, what);
}

static void hear_fetch_and_op(uint64_t news) {
    poll(news, read_by_fetch_and_op, "MPI_Fetch_and_op");
}

static void hear_get_accumulate(uint64_t news) {
    poll(news, read_by_get_accumulate, "MPI_Get_accumulate");
}

static void hear_rget_accumulate(uint64_t news) {
    poll(news, read_by_rget_accumulate, "MPI_Rget_accumulate");
}

/* Changes the flag only if it already holds the value, to the same value. */
static void hear_compare_and_swap(uint64_t news) {
    struct place f = flag_of_writer();
    uint64_t patience = 0, v = 0;
    while (v != news) {
        MPI_Compare_and_swap(&news, &news, &v, MPI_UINT64_T, f.home, f.disp, f.win);
        place_flush(f);
        litmus_wait(&patience, "MPI_Compare_and_swap");
    }
}

PASS(fetch_and_op, .tell = set_by_accumulate, .hear = hear_fetch_and_op);
PASS(fetch_and_op_swap, .tell = set_by_swap, .hear = hear_fetch_and_op);
PASS(compare_and_swap, .tell = set_by_swap, .hear = hear_compare_and_swap);
PASS(get_accumulate, .tell = set_by_accumulate, .hear = hear_get_accumulate);
PASS(rget_accumulate, .tell = set_by_accumulate, .hear = hear_rget_accumulate);

/* The place is read while the atomic is pending. That read may return either value and is not checked; but it may be
 * cached, and the sync event comes after it. */
static void hear_in_flight(uint64_t news) {
    struct place f = flag_of_writer();
    uint64_t none = 0, v = 0, patience = 0, line[LINE_WORDS];
    while (v != news) {
        MPI_Fetch_and_op(&none, &v, MPI_UINT64_T, f.home, f.disp, MPI_NO_OP, f.win);
        for (int slot = 0; slot < SLOTS; slot++)
            place_get(place_at(1, WRITER, slot), line);
        MPI_Win_flush(WRITER, scene.win[1]);
        MPI_Win_flush(f.home, f.win);
        litmus_wait(&patience, "MPI_Fetch_and_op");
    }
}

PASS(fetch_and_op_in_flight, .tell = set_by_accumulate, .hear = hear_in_flight);
