/* scene.c: the windows of a test, and the operations that write and read in them.
 *
 * Each rank's part of a window:
 *
 *      | slot 0 | slot 1 | ... | slot 15 | flags ... |        a slot is a line of LINE_WORDS equal words,
 *                                                             a flag is alone on its line
 *
 * A rank records for every place the value that was written last, so that a read before the next write can be checked
 * too. */
#include "litmus.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = LINE_WORDS * 8, PLACES = SLOTS + FLAGS, MOST_RANKS = 4 };
_Static_assert(PLACES *LINE_BYTES <= PART_BYTES, "all places fit into a part");

struct scene scene;
static uint64_t last[2][MOST_RANKS][PLACES];

/* ---- windows ---- */

static uint64_t *zeroed_part(void) {
    uint64_t *part = aligned_alloc(64, PART_BYTES);
    if (!part)
        abort();
    memset(part, 0, PART_BYTES);
    return part;
}

void scene_open(MPI_Comm comm) {
    memset(last, 0, sizeof last);
    scene.part[0] = zeroed_part();
    scene.turn_words = zeroed_part();
    MPI_Win_create(scene.part[0], PART_BYTES, 1, MPI_INFO_NULL, comm, &scene.win[0]);
    MPI_Win_allocate(PART_BYTES, 1, MPI_INFO_NULL, comm, &scene.part[1], &scene.win[1]);
    memset(scene.part[1], 0, PART_BYTES);
    MPI_Win_create(scene.turn_words, PART_BYTES, 8, MPI_INFO_NULL, comm, &scene.turn);
    for (int i = 0; i < 2; i++) {
        MPI_Win_lock_all(0, scene.win[i]);
        MPI_Win_sync(scene.win[i]);
    }
    MPI_Barrier(comm);
}

void scene_close(void) {
    MPI_Barrier(litmus_comm);
    for (int i = 0; i < 2; i++) {
        MPI_Win_unlock_all(scene.win[i]);
        MPI_Win_free(&scene.win[i]);
    }
    MPI_Win_free(&scene.turn);
    free(scene.part[0]);
    free(scene.turn_words);
}

/* Returns whether all ranks of the test have it. */
static bool agree(bool there) {
    int mine = there, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, litmus_comm);
    return all;
}

bool scene_share(size_t bytes, MPI_Win *win, uint64_t **own, uint64_t **writers) {
    MPI_Comm node;
    MPI_Aint size;
    int unit, ranks;
    MPI_Comm_split_type(litmus_comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    bool there =
        agree(ranks == litmus_size) &&
        agree(MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, node, own, win) == MPI_SUCCESS);
    MPI_Comm_free(&node);
    if (there)
        MPI_Win_shared_query(*win, WRITER, &size, &unit, writers);
    else
        litmus_skip("the ranks have no shared memory window");
    return there;
}

/* ---- places ---- */

struct place place_at(int window, int home, int slot) {
    return (struct place){.win = scene.win[window],
                          .home = home,
                          .disp = (MPI_Aint)slot * LINE_BYTES,
                          .own = scene.part[window] + slot * LINE_WORDS,
                          .last = &last[window][home][slot]};
}

struct place place_pick(int home) {
    int window = (int)litmus_draw(2), slot = (int)litmus_draw(SLOTS);
    return place_at(window, home, slot);
}

struct place place_flag(int window, int home, int number) {
    return place_at(window, home, SLOTS + number);
}

/* ---- writing ---- */

static void fill_line(uint64_t *line, uint64_t v) {
    for (int i = 0; i < LINE_WORDS; i++)
        line[i] = v;
}

void place_store(struct place p, uint64_t v) {
    MPI_Win_sync(p.win);
    for (int i = 0; i < LINE_WORDS; i++)
        ((volatile uint64_t *)p.own)[i] = v;
    MPI_Win_sync(p.win);
}

static void write_by_put(struct place p, uint64_t v, bool with_request) {
    uint64_t line[LINE_WORDS];
    MPI_Request request;
    fill_line(line, v);
    if (with_request) {
        MPI_Rput(line, LINE_BYTES, MPI_BYTE, p.home, p.disp, LINE_BYTES, MPI_BYTE, p.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else
        MPI_Put(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win);
    MPI_Win_flush(p.home, p.win);
}

static void write_by_accumulate(struct place p, uint64_t v) {
    uint64_t line[LINE_WORDS];
    fill_line(line, v);
    MPI_Accumulate(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, MPI_REPLACE,
                   p.win);
    MPI_Win_flush_all(p.win);
}

void place_write(struct place p, uint64_t v) {
    uint32_t means = litmus_roll(4);
    if (means == 0 && p.home == litmus_rank)
        place_store(p, v);
    else if (means == 3)
        write_by_accumulate(p, v);
    else
        write_by_put(p, v, means == 2);
}

/* ---- reading ---- */

uint64_t line_value(const uint64_t *line, int words) {
    for (int i = 1; i < words; i++)
        if (line[i] != line[0])
            return LINE_TORN;
    return line[0];
}

void place_get(struct place p, uint64_t *line) {
    MPI_Get(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win);
}

void place_flush(struct place p) {
    switch (litmus_roll(4)) {
    case 0:
        MPI_Win_flush_all(p.win);
        break;
    case 1:
        MPI_Win_flush_local(p.home, p.win);
        break;
    case 2:
        MPI_Win_flush_local_all(p.win);
        break;
    default:
        MPI_Win_flush(p.home, p.win);
    }
}

/* A get of fewer words before or after it causes partial hits. */
uint64_t place_read(struct place p) {
    static const int lengths[] = {1, 1, 4, LINE_WORDS, LINE_WORDS};
    uint64_t line[LINE_WORDS] = {0};
    int words = lengths[litmus_roll(5)];
    MPI_Request request;
    if (litmus_roll(4)) {
        MPI_Get(line, words, MPI_UINT64_T, p.home, p.disp, words, MPI_UINT64_T, p.win);
        place_flush(p);
    } else {
        MPI_Rget(line, words, MPI_UINT64_T, p.home, p.disp, words, MPI_UINT64_T, p.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return line_value(line, words);
}

void expect_value(struct place p, uint64_t want) {
    uint64_t got = place_read(p);
    *p.last = want;
    if (got == LINE_TORN)
        litmus_forbid("read a mixture of old and new words");
    else if (got != want)
        litmus_forbid("read %llu, written %llu", (unsigned long long)got, (unsigned long long)want);
}

void expect_last(struct place p) {
    expect_value(p, *p.last);
}

/* ---- messages ---- */

void send_word(int to, enum tag tag, uint64_t v) {
    MPI_Send(&v, 1, MPI_UINT64_T, to, tag, litmus_comm);
}

uint64_t receive_word(int from, enum tag tag) {
    uint64_t v;
    MPI_Recv(&v, 1, MPI_UINT64_T, from, tag, litmus_comm, MPI_STATUS_IGNORE);
    return v;
}
