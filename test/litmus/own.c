/* own.c: a rank reads back what it has itself written to another rank, by each kind of write. No other rank writes
 * there. The other rank waits in a receive, so that MPI makes progress. */
#include "litmus.h"

typedef void write_line(struct place p, const uint64_t *line);

static void own_write(write_line *write) {
    uint64_t line[LINE_WORDS];
    if (litmus_rank == WRITER) {
        receive_word(READER, TAG_READY);
        return;
    }
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        for (int i = 0; i < LINE_WORDS; i++)
            line[i] = v;
        expect_last(p);
        write(p, line);
        MPI_Win_flush(p.home, p.win);
        expect_value(p, v);
    }
    send_word(WRITER, TAG_READY, 0);
}

/* Not marked as detecting a cache that is never invalidated: such a cache still sees the rank's own writes. */
#define OWN(name)                                                                                            \
    static void write_##name(struct place p, const uint64_t *line);                                          \
    LITMUS_MARKED(own_##name, 2, 0) {                                                                        \
        own_write(write_##name);                                                                             \
    }                                                                                                        \
    static void write_##name(struct place p, const uint64_t *line)

OWN(put) {
    MPI_Put(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win);
}

OWN(put_in_parts) {
    for (int i = 0; i < LINE_WORDS; i += 4)
        MPI_Put(line, 4, MPI_UINT64_T, p.home, p.disp + i * 8, 4, MPI_UINT64_T, p.win);
}

OWN(put_strided) {
    MPI_Datatype odd;
    MPI_Type_vector(LINE_WORDS / 2, 1, 2, MPI_UINT64_T, &odd);
    MPI_Type_commit(&odd);
    for (int i = 0; i < 2; i++)
        MPI_Put(line, LINE_WORDS / 2, MPI_UINT64_T, p.home, p.disp + i * 8, 1, odd, p.win);
    MPI_Type_free(&odd);
}

OWN(rput) {
    MPI_Request request;
    MPI_Rput(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, p.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

OWN(accumulate) {
    MPI_Accumulate(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, MPI_REPLACE,
                   p.win);
}

OWN(raccumulate) {
    MPI_Request request;
    MPI_Raccumulate(line, LINE_WORDS, MPI_UINT64_T, p.home, p.disp, LINE_WORDS, MPI_UINT64_T, MPI_REPLACE,
                    p.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

OWN(get_accumulate) {
    uint64_t before[LINE_WORDS];
    MPI_Get_accumulate(line, LINE_WORDS, MPI_UINT64_T, before, LINE_WORDS, MPI_UINT64_T, p.home, p.disp,
                       LINE_WORDS, MPI_UINT64_T, MPI_REPLACE, p.win);
    MPI_Win_flush(p.home, p.win); /* before goes out of scope */
}

OWN(fetch_and_op) {
    uint64_t before[LINE_WORDS];
    for (int i = 0; i < LINE_WORDS; i++)
        MPI_Fetch_and_op(&line[i], &before[i], MPI_UINT64_T, p.home, p.disp + i * 8, MPI_REPLACE, p.win);
    MPI_Win_flush(p.home, p.win);
}

/* Open MPI 4.1 crashes in it on windows of MPI_Win_allocate. */
OWN(compare_and_swap) {
    uint64_t before[LINE_WORDS];
    if (p.win != scene.win[0]) {
        write_put(p, line);
        return;
    }
    for (int i = 0; i < LINE_WORDS; i++)
        MPI_Compare_and_swap(&line[i], p.last, &before[i], MPI_UINT64_T, p.home, p.disp + i * 8, p.win);
    MPI_Win_flush(p.home, p.win);
}

/* ---- in epochs of their own ---- */

static uint64_t read_locked(void) {
    uint64_t line[LINE_WORDS];
    MPI_Win_lock(MPI_LOCK_SHARED, WRITER, 0, scene.turn);
    MPI_Get(line, LINE_WORDS, MPI_UINT64_T, WRITER, 0, LINE_WORDS, MPI_UINT64_T, scene.turn);
    MPI_Win_unlock(WRITER, scene.turn);
    return line_value(line, LINE_WORDS);
}

static void write_locked(uint64_t v) {
    uint64_t line[LINE_WORDS];
    for (int i = 0; i < LINE_WORDS; i++)
        line[i] = v;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, WRITER, 0, scene.turn);
    MPI_Put(line, LINE_WORDS, MPI_UINT64_T, WRITER, 0, LINE_WORDS, MPI_UINT64_T, scene.turn);
    MPI_Win_unlock(WRITER, scene.turn);
}

LITMUS_MARKED(own_locked, 2, 0) {
    uint64_t before = 0, first, second;
    if (litmus_rank == WRITER) {
        receive_word(READER, TAG_READY);
        return;
    }
    for (uint64_t v; (v = litmus_next()); before = v) {
        first = read_locked();
        write_locked(v);
        second = read_locked();
        if (first != before || second != v)
            litmus_forbid("read %llu and %llu, written %llu and %llu", (unsigned long long)first,
                          (unsigned long long)second, (unsigned long long)before, (unsigned long long)v);
    }
    send_word(WRITER, TAG_READY, 0);
}
