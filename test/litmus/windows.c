/* windows.c: two aliasing windows over the same memory, and windows of other kinds. A write through one window must
 * be visible through the other after the reader was notified. */
#include "litmus.h"

#include <stdlib.h>
#include <string.h>

/* The same memory twice on every rank, both open by lock_all. */
static MPI_Win twins[2];
static uint64_t *twin_part;
static uint64_t before; /* the value that was written last */

static void open_epochs(void) {
    for (int i = 0; i < 2; i++)
        MPI_Win_lock_all(0, twins[i]);
    memset(twin_part, 0, PART_BYTES);
    MPI_Win_sync(twins[0]);
    before = 0;
    MPI_Barrier(litmus_comm);
}

static void close_epochs(void) {
    MPI_Barrier(litmus_comm);
    for (int i = 1; i >= 0; i--) {
        MPI_Win_unlock_all(twins[i]);
        MPI_Win_free(&twins[i]);
    }
}

static void fill(uint64_t *line, uint64_t v) {
    for (int i = 0; i < LINE_WORDS; i++)
        line[i] = v;
}

static void put_line(MPI_Win win, int home, MPI_Aint disp, uint64_t v) {
    uint64_t line[LINE_WORDS];
    fill(line, v);
    MPI_Put(line, LINE_WORDS, MPI_UINT64_T, home, disp, LINE_WORDS, MPI_UINT64_T, win);
    MPI_Win_flush(home, win);
}

static void expect_line(MPI_Win win, int home, MPI_Aint disp, uint64_t want) {
    uint64_t line[LINE_WORDS], got;
    MPI_Get(line, LINE_WORDS, MPI_UINT64_T, home, disp, LINE_WORDS, MPI_UINT64_T, win);
    MPI_Win_flush(home, win);
    got = line_value(line, LINE_WORDS);
    if (got != want)
        litmus_forbid("read %llu, written %llu", (unsigned long long)got, (unsigned long long)want);
}

/* ---- the writer writes through one, the reader reads through the other ---- */

static void open_created(void) {
    twin_part = aligned_alloc(64, PART_BYTES);
    if (!twin_part)
        abort();
    for (int i = 0; i < 2; i++)
        MPI_Win_create(twin_part, PART_BYTES, 1, MPI_INFO_NULL, litmus_comm, &twins[i]);
    open_epochs();
}

static void close_created(void) {
    close_epochs();
    free(twin_part);
}

LITMUS(two_windows, 2) {
    open_created();
    for (uint64_t v; (v = litmus_next()); before = v) {
        int written = (int)litmus_draw(2);
        if (litmus_rank == WRITER) {
            receive_word(READER, TAG_READY);
            litmus_delay();
            put_line(twins[written], WRITER, 0, v);
            send_word(READER, TAG_NEWS, v);
        } else {
            expect_line(twins[!written], WRITER, 0, before);
            send_word(WRITER, TAG_READY, v);
            receive_word(WRITER, TAG_NEWS);
            expect_line(twins[!written], WRITER, 0, v);
        }
    }
    close_created();
}

/* The reader itself writes through one window and reads through the other. */
LITMUS_MARKED(two_windows_own, 2, 0) {
    open_created();
    for (uint64_t v; litmus_rank == READER && (v = litmus_next()); before = v) {
        int written = (int)litmus_draw(2);
        expect_line(twins[!written], WRITER, 0, before);
        put_line(twins[written], WRITER, 0, v);
        expect_line(twins[!written], WRITER, 0, v);
    }
    close_created();
}

/* ---- memory that is also shared: twins[0] is the shared window, twins[1] is made over it ---- */

static uint64_t *writers_part;

static bool open_shared(void) {
    if (!scene_share(PART_BYTES, &twins[0], &twin_part, &writers_part))
        return false;
    MPI_Win_create(twin_part, PART_BYTES, 1, MPI_INFO_NULL, litmus_comm, &twins[1]);
    open_epochs();
    return true;
}

static void store_shared(uint64_t v) {
    for (int i = 0; i < 2; i++)
        MPI_Win_sync(twins[i]);
    fill(writers_part, v);
    for (int i = 0; i < 2; i++)
        MPI_Win_sync(twins[i]);
}

static void pass_shared(int read) {
    if (!open_shared())
        return;
    for (uint64_t v; (v = litmus_next()); before = v) {
        if (litmus_rank == WRITER) {
            receive_word(READER, TAG_READY);
            litmus_delay();
            store_shared(v);
            send_word(READER, TAG_NEWS, v);
        } else {
            expect_line(twins[read], WRITER, 0, before);
            send_word(WRITER, TAG_READY, v);
            receive_word(WRITER, TAG_NEWS);
            expect_line(twins[read], WRITER, 0, v);
        }
    }
    close_epochs();
}

/* Shared windows are never cached. */
LITMUS_MARKED(shared_window, 2, 0) {
    pass_shared(0);
}

LITMUS(shared_created, 2) {
    pass_shared(1);
}

/* The reader itself stores into the writer's memory: MPI sees only the sync. */
LITMUS(shared_own_store, 2) {
    if (!open_shared())
        return;
    for (uint64_t v; litmus_rank == READER && (v = litmus_next()); before = v) {
        expect_line(twins[1], WRITER, 0, before);
        store_shared(v);
        expect_line(twins[1], WRITER, 0, v);
    }
    close_epochs();
}

/* ---- dynamic ---- */

LITMUS(dynamic_window, 2) {
    MPI_Aint places[2], own;
    MPI_Win win;
    uint64_t *part = aligned_alloc(64, PART_BYTES);
    if (!part)
        abort();
    memset(part, 0, PART_BYTES);
    MPI_Win_create_dynamic(MPI_INFO_NULL, litmus_comm, &win);
    MPI_Win_attach(win, part, PART_BYTES);
    MPI_Get_address(part, &own);
    MPI_Allgather(&own, 1, MPI_AINT, places, 1, MPI_AINT, litmus_comm);
    MPI_Win_lock_all(0, win);
    before = 0;
    for (uint64_t v; (v = litmus_next()); before = v) {
        if (litmus_rank == WRITER) {
            receive_word(READER, TAG_READY);
            litmus_delay();
            put_line(win, WRITER, places[WRITER], v);
            send_word(READER, TAG_NEWS, v);
        } else {
            expect_line(win, WRITER, places[WRITER], before);
            send_word(WRITER, TAG_READY, v);
            receive_word(WRITER, TAG_NEWS);
            expect_line(win, WRITER, places[WRITER], v);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(litmus_comm);
    MPI_Win_detach(win, part);
    MPI_Win_free(&win);
    free(part);
}
