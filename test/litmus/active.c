/* active.c: tests fences and post-start-complete-wait: as notification for a place in another window, and for the
 * window itself, whose epochs are then the only synchronisation. */
#include "pass.h"

#include "base/clock.h"

static MPI_Group other; /* the rank on the other side */

static void open_group(void) {
    MPI_Group all;
    int rank = 1 - litmus_rank;
    MPI_Comm_group(litmus_comm, &all);
    MPI_Group_incl(all, 1, &rank, &other);
    MPI_Group_free(&all);
}

static void close_group(void) {
    MPI_Group_free(&other);
}

/* ---- as notification ---- */

static void open_fence(void) {
    MPI_Win_fence(0, scene.turn);
}

static void meet_at_fence(uint64_t news) {
    MPI_Win_fence(0, scene.turn);
}

static void close_fence(void) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, scene.turn);
}

PASS(fence_other, .open = open_fence, .tell = meet_at_fence, .hear = meet_at_fence, .close = close_fence);

/* The writer posts: the reader's get there cannot complete before the post. */
static void tell_by_post(uint64_t news) {
    scene.turn_words[0] = news;
    MPI_Win_post(other, 0, scene.turn);
    MPI_Win_wait(scene.turn);
}

static void hear_by_start(uint64_t news) {
    uint64_t v = 0;
    MPI_Win_start(other, 0, scene.turn);
    MPI_Get(&v, 1, MPI_UINT64_T, WRITER, 0, 1, MPI_UINT64_T, scene.turn);
    MPI_Win_complete(scene.turn);
    pass_expect(v, news);
}

/* The writer completes its epoch. */
static void tell_by_complete(uint64_t news) {
    MPI_Win_start(other, 0, scene.turn);
    MPI_Put(&news, 1, MPI_UINT64_T, READER, 0, 1, MPI_UINT64_T, scene.turn);
    MPI_Win_complete(scene.turn);
}

static void hear_by_wait(uint64_t news) {
    MPI_Win_post(other, 0, scene.turn);
    MPI_Win_wait(scene.turn);
    pass_expect(scene.turn_words[0], news);
}

static void hear_by_win_test(uint64_t news) {
    uint64_t patience = 0;
    int done = 0;
    MPI_Win_post(other, 0, scene.turn);
    for (; !done; litmus_wait(&patience, "MPI_Win_test"))
        MPI_Win_test(scene.turn, &done);
    pass_expect(scene.turn_words[0], news);
}

PASS(pscw_start, .open = open_group, .tell = tell_by_post, .hear = hear_by_start, .close = close_group);
PASS(pscw_wait, .open = open_group, .tell = tell_by_complete, .hear = hear_by_wait, .close = close_group);
PASS(pscw_win_test, .open = open_group, .tell = tell_by_complete, .hear = hear_by_win_test,
     .close = close_group);

/* ---- MPI_Win_start returns early ---- */

/* As with locks: the writer writes only if the reader reports in time that it has read after MPI_Win_start. */
static void write_then_post(struct place p, uint64_t v) {
    uint64_t start = clock_ns();
    int there = 0;
    receive_word(READER, TAG_MORE);
    while (!there && clock_ns() - start < 200000)
        MPI_Iprobe(READER, TAG_READY, litmus_comm, &there, MPI_STATUS_IGNORE);
    if (there) {
        place_write(p, v);
        *p.last = v;
    }
    tell_by_post(*p.last);
    receive_word(READER, TAG_READY);
}

static void start_then_read(struct place p) {
    uint64_t v = 0;
    send_word(WRITER, TAG_MORE, 0);
    MPI_Win_start(other, 0, scene.turn);
    MPI_Get(&v, 1, MPI_UINT64_T, WRITER, 0, 1, MPI_UINT64_T, scene.turn);
    expect_last(p);
    send_word(WRITER, TAG_READY, 0);
    MPI_Win_complete(scene.turn);
    expect_value(p, v);
}

LITMUS_MARKED(start_returns_early, 2, 0) {
    open_group();
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER)
            write_then_post(p, v);
        else
            start_then_read(p);
    }
    close_group();
}

/* ---- the window's own epochs ---- */

static void get_line(uint64_t *line) {
    MPI_Get(line, LINE_WORDS, MPI_UINT64_T, WRITER, 0, LINE_WORDS, MPI_UINT64_T, scene.turn);
}

static void expect_line(const uint64_t *line, uint64_t want) {
    uint64_t got = line_value(line, LINE_WORDS);
    if (got != want)
        litmus_forbid("read %llu, written %llu", (unsigned long long)got, (unsigned long long)want);
}

static void store_line(uint64_t v) {
    for (int i = 0; i < LINE_WORDS; i++)
        scene.turn_words[i] = v;
}

/* The reader reads in one epoch, the writer stores in the next, the reader reads in the third. */
LITMUS(fence, 2) {
    uint64_t line[LINE_WORDS], before = 0;
    MPI_Win_fence(0, scene.turn);
    for (uint64_t v; (v = litmus_next()); before = v)
        for (int epoch = 0; epoch < 3; epoch++) {
            litmus_delay();
            if (litmus_rank == WRITER && epoch == 1)
                store_line(v);
            if (litmus_rank == READER && epoch != 1)
                get_line(line);
            MPI_Win_fence(0, scene.turn);
            if (litmus_rank == READER && epoch != 1)
                expect_line(line, epoch == 0 ? before : v);
        }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, scene.turn);
}

/* The same with a put of the writer to itself. */
LITMUS(fence_put, 2) {
    uint64_t line[LINE_WORDS], before = 0;
    MPI_Win_fence(0, scene.turn);
    for (uint64_t v; (v = litmus_next()); before = v)
        for (int epoch = 0; epoch < 3; epoch++) {
            if (litmus_rank == WRITER && epoch == 1) {
                for (int i = 0; i < LINE_WORDS; i++)
                    line[i] = v;
                MPI_Put(line, LINE_WORDS, MPI_UINT64_T, WRITER, 0, LINE_WORDS, MPI_UINT64_T, scene.turn);
            }
            if (litmus_rank == READER && epoch != 1)
                get_line(line);
            MPI_Win_fence(0, scene.turn);
            if (litmus_rank == READER && epoch != 1)
                expect_line(line, epoch == 0 ? before : v);
        }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, scene.turn);
}

static void read_in_epoch(uint64_t want) {
    uint64_t line[LINE_WORDS];
    MPI_Win_start(other, 0, scene.turn);
    get_line(line);
    MPI_Win_complete(scene.turn);
    expect_line(line, want);
}

static void let_read(void) {
    MPI_Win_post(other, 0, scene.turn);
    MPI_Win_wait(scene.turn);
}

LITMUS(pscw_same, 2) {
    uint64_t before = 0;
    open_group();
    for (uint64_t v; (v = litmus_next()); before = v) {
        if (litmus_rank == READER) {
            read_in_epoch(before);
            litmus_delay();
            read_in_epoch(v);
        } else {
            let_read();
            litmus_delay();
            store_line(v);
            let_read();
        }
    }
    close_group();
}
