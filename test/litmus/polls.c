/* polls.c: notification by memory or by a file that the reader polls.
 *
 *   - Its own memory, into which the writer puts a flag: the reader loads it, and calls MPI only for progress, by a
 *     flush that has nothing to complete.
 *   - Memory that both share: the same with MPI_Win_sync.
 *   - A file, through MPI, in atomic mode.
 *   - The writer's memory by gets. These race with the write of the flag, so they order nothing; but they must return
 *     the new value at some time, and never the old value after the new one. */
#include "pass.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Lets MPI make progress without a sync event: messages that were sent may not have left yet. */
static void let_work(void) {
    int there;
    MPI_Iprobe(WRITER, TAG_NEVER, litmus_comm, &there, MPI_STATUS_IGNORE);
}

/* ---- own memory ---- */

static struct place flag_of_reader(void) {
    return place_flag(0, READER, 0);
}

static void tell_by_put(uint64_t news) {
    struct place f = flag_of_reader();
    MPI_Put(&news, 1, MPI_UINT64_T, f.home, f.disp, 1, MPI_UINT64_T, f.win);
    MPI_Win_flush(f.home, f.win);
}

static bool is_set(uint64_t *flag, uint64_t news) {
    return atomic_load_explicit((_Atomic uint64_t *)flag, memory_order_acquire) == news;
}

/* The load may see a value that arrived after the last flush, so a flush follows it: if there were no call between the load
 * and the get, the library could not notice the event. Two flushes: the second certainly has nothing to complete. */
static void hear_own_flush(uint64_t news) {
    uint64_t patience = 0;
    for (; !is_set(flag_of_reader().own, news); litmus_wait(&patience, "MPI_Win_flush and load"))
        MPI_Win_flush(WRITER, scene.win[0]);
    for (int i = 0; i < 2; i++)
        MPI_Win_flush(WRITER, scene.win[0]);
}

static void hear_own_flush_all(uint64_t news) {
    uint64_t patience = 0;
    for (; !is_set(flag_of_reader().own, news); litmus_wait(&patience, "MPI_Win_flush_all and load"))
        MPI_Win_flush_all(scene.win[0]);
    for (int i = 0; i < 2; i++)
        MPI_Win_flush_all(scene.win[0]);
}

PASS(own_flag_flush, .tell = tell_by_put, .hear = hear_own_flush);
PASS(own_flag_flush_all, .tell = tell_by_put, .hear = hear_own_flush_all);

static void hear_own_sync(uint64_t news) {
    uint64_t patience = 0;
    for (; !is_set(flag_of_reader().own, news); litmus_wait(&patience, "a load"))
        let_work();
    MPI_Win_sync(scene.win[0]);
}

PASS(own_flag_sync, .tell = tell_by_put, .hear = hear_own_sync);

/* ---- shared memory ---- */

static MPI_Win shared = MPI_WIN_NULL;
static uint64_t *shared_flag; /* the writer's */

static void open_shared(void) {
    uint64_t *own;
    if (!scene_share(64, &shared, &own, &shared_flag))
        return;
    MPI_Win_lock_all(0, shared);
    own[0] = 0;
    MPI_Win_sync(shared);
    MPI_Barrier(litmus_comm);
}

static void close_shared(void) {
    if (shared == MPI_WIN_NULL)
        return;
    MPI_Win_unlock_all(shared);
    MPI_Win_free(&shared);
}

static void tell_by_store(uint64_t news) {
    MPI_Win_sync(shared);
    atomic_store_explicit((_Atomic uint64_t *)shared_flag, news, memory_order_release);
    MPI_Win_sync(shared);
}

static void hear_shared_sync(uint64_t news) {
    uint64_t patience = 0;
    for (; !is_set(shared_flag, news); litmus_wait(&patience, "a load"))
        let_work();
    MPI_Win_sync(shared);
}

PASS(shared_flag_sync, .open = open_shared, .tell = tell_by_store, .hear = hear_shared_sync,
     .close = close_shared);

/* ---- a file ---- */

static MPI_File file = MPI_FILE_NULL;

static void open_file(void) {
    const char *folder = getenv("TMPDIR");
    char name[256] = "";
    uint64_t zero = 0;
    if (litmus_rank == WRITER)
        snprintf(name, sizeof name, "%s/litmus.%ld", folder ? folder : "/tmp", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, WRITER, litmus_comm);
    if (MPI_File_open(litmus_comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        litmus_skip("no file can be made in TMPDIR or /tmp");
        return;
    }
    MPI_File_set_atomicity(file, 1);
    if (litmus_rank == WRITER)
        MPI_File_write_at(file, 0, &zero, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(litmus_comm);
}

static void close_file(void) {
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
}

static void tell_by_file(uint64_t news) {
    MPI_File_write_at(file, 0, &news, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

static uint64_t read_file(void) {
    uint64_t v = 0;
    MPI_File_read_at(file, 0, &v, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    return v;
}

static uint64_t read_file_by_request(void) {
    uint64_t v = 0;
    MPI_Request request;
    MPI_File_iread_at(file, 0, &v, 8, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return v;
}

static void hear_by_file(uint64_t news) {
    uint64_t patience = 0;
    for (; read_file() != news; litmus_wait(&patience, "MPI_File_read_at"))
        let_work();
}

static void hear_by_file_request(uint64_t news) {
    uint64_t patience = 0;
    for (; read_file_by_request() != news; litmus_wait(&patience, "MPI_File_iread_at"))
        let_work();
}

PASS(file_read, .open = open_file, .tell = tell_by_file, .hear = hear_by_file, .close = close_file);
PASS(file_iread, .open = open_file, .tell = tell_by_file, .hear = hear_by_file_request, .close = close_file);

/* ---- the writer's memory, by gets ---- */

typedef uint64_t read_word(struct place p);

static void expect_word(struct place f, read_word *read) {
    uint64_t got = read(f);
    if (got != *f.last)
        litmus_forbid("read %llu, was %llu before", (unsigned long long)got, (unsigned long long)*f.last);
}

static void expect_seen(struct place f, uint64_t v, read_word *read, const char *what) {
    uint64_t patience = 0, got;
    while ((got = read(f)) != v) {
        if (got != *f.last)
            litmus_forbid("read %llu, neither %llu nor %llu", (unsigned long long)got,
                          (unsigned long long)*f.last, (unsigned long long)v);
        litmus_wait(&patience, what);
    }
    *f.last = v;
    expect_word(f, read);
}

static void set_own(struct place f, uint64_t v) {
    receive_word(READER, TAG_READY);
    litmus_delay();
    atomic_store_explicit((_Atomic uint64_t *)f.own, v, memory_order_release);
    MPI_Win_sync(f.win);
}

static void poll_remote(read_word *read, const char *what) {
    for (uint64_t v; (v = litmus_next());) {
        struct place f = place_pick(WRITER);
        if (litmus_rank == WRITER) {
            set_own(f, v);
        } else {
            expect_word(f, read);
            send_word(WRITER, TAG_READY, v);
            expect_seen(f, v, read, what);
        }
    }
}

static uint64_t read_and_flush(struct place p) {
    uint64_t v = 0;
    MPI_Get(&v, 1, MPI_UINT64_T, p.home, p.disp, 1, MPI_UINT64_T, p.win);
    place_flush(p);
    return v;
}

static uint64_t read_and_wait(struct place p) {
    uint64_t v = 0;
    MPI_Request request;
    MPI_Rget(&v, 1, MPI_UINT64_T, p.home, p.disp, 1, MPI_UINT64_T, p.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return v;
}

LITMUS_MARKED(remote_flag_flush, 2, 0) {
    poll_remote(read_and_flush, "MPI_Get and flush");
}

LITMUS_MARKED(remote_flag_rget, 2, 0) {
    poll_remote(read_and_wait, "MPI_Rget and MPI_Wait");
}
