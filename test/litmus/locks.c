/* locks.c: notification by acquiring a lock. The writer holds the lock of a window while it writes elsewhere, and the
 * reader requests it.
 *
 *      writer                              reader
 *      lock(turn), complete something
 *         ------------- held --------------->
 *                                          read p: the old value
 *         <------ ready, standard send ------
 *      write p = v                         lock(turn), get from turn
 *      unlock(turn)  - - - - - - - - - - > complete the get: now the lock is held
 *                                          read p: must be v
 *                                          unlock(turn)
 *         <------------- done ---------------
 *
 * MPI_Win_lock may return before the lock is held; the first call that completes an operation in the epoch may not. */
#include "litmus.h"

#include "base/clock.h"

struct way {
    void (*lock)(void);
    void (*complete)(void); /* a get from turn */
    void (*unlock)(void);   /* the rest of the epoch */
};

static uint64_t word, own_word;

static void get_turn(void) {
    MPI_Get(&word, 1, MPI_UINT64_T, WRITER, 0, 1, MPI_UINT64_T, scene.turn);
}

static void hold_turn(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, WRITER, 0, scene.turn);
    get_turn();
    MPI_Win_flush(WRITER, scene.turn);
    send_word(READER, TAG_NEWS, 0);
}

static void write_and_unlock(struct place p, uint64_t v) {
    hold_turn();
    receive_word(READER, TAG_READY);
    litmus_delay();
    place_write(p, v);
    litmus_delay();
    MPI_Win_unlock(WRITER, scene.turn);
    receive_word(READER, TAG_MORE);
}

static void read_and_lock(const struct way *way, struct place p, uint64_t v) {
    receive_word(WRITER, TAG_NEWS);
    expect_last(p);
    send_word(WRITER, TAG_READY, v);
    litmus_delay();
    way->lock();
    get_turn();
    way->complete();
    expect_value(p, v);
    if (way->unlock)
        way->unlock();
    send_word(WRITER, TAG_MORE, v);
}

static void hand_over(const struct way *way) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER)
            write_and_unlock(p, v);
        else
            read_and_lock(way, p, v);
    }
}

/* ---- ways of locking and completing ---- */

static void lock_exclusive(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, WRITER, 0, scene.turn);
}

static void lock_shared(void) {
    MPI_Win_lock(MPI_LOCK_SHARED, WRITER, 0, scene.turn);
}

static void lock_all(void) {
    MPI_Win_lock_all(0, scene.turn);
}

static void flush(void) {
    MPI_Win_flush(WRITER, scene.turn);
}

static void flush_local(void) {
    MPI_Win_flush_local(WRITER, scene.turn);
}

static void flush_all(void) {
    MPI_Win_flush_all(scene.turn);
}

static void unlock(void) {
    MPI_Win_unlock(WRITER, scene.turn);
}

static void unlock_all(void) {
    MPI_Win_unlock_all(scene.turn);
}

LITMUS(lock_exclusive_flush, 2) {
    hand_over(&(struct way){lock_exclusive, flush, unlock});
}

LITMUS(lock_shared_flush_local, 2) {
    hand_over(&(struct way){lock_shared, flush_local, unlock});
}

LITMUS(lock_unlock, 2) {
    hand_over(&(struct way){lock_exclusive, unlock, NULL});
}

LITMUS(lock_all_flush, 2) {
    hand_over(&(struct way){lock_all, flush_all, unlock_all});
}

LITMUS(lock_all_unlock_all, 2) {
    hand_over(&(struct way){lock_all, unlock_all, NULL});
}

/* ---- the lock call returns early ---- */

/* The same, but the reader reads the old value after MPI_Win_lock has returned, and the writer writes only if it
 * learns of that in time: where the call waits for the lock, the reader is not ready before the writer unlocks, and
 * nothing is written in this run. The writer then sends the value that should have been read. */
static bool is_reader_ready(void) {
    uint64_t start = clock_ns();
    int there = 0;
    while (!there && clock_ns() - start < 200000)
        MPI_Iprobe(READER, TAG_READY, litmus_comm, &there, MPI_STATUS_IGNORE);
    return there;
}

static void write_if_ready(struct place p, uint64_t v) {
    hold_turn();
    if (is_reader_ready()) {
        place_write(p, v);
        *p.last = v;
    }
    litmus_delay();
    MPI_Win_unlock(WRITER, scene.turn);
    receive_word(READER, TAG_READY);
    send_word(READER, TAG_MORE, *p.last);
}

static void lock_own(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, READER, 0, scene.turn);
    MPI_Get(&own_word, 1, MPI_UINT64_T, READER, 0, 1, MPI_UINT64_T, scene.turn);
}

static void flush_own(void) {
    MPI_Win_flush(READER, scene.turn);
}

/* own: this rank already holds the lock of its own part of the same window. */
static void lock_and_read(struct place p, bool own) {
    uint64_t got;
    receive_word(WRITER, TAG_NEWS);
    if (own)
        lock_own();
    lock_exclusive();
    get_turn();
    if (own)
        flush_own();
    expect_last(p);
    send_word(WRITER, TAG_READY, 0);
    flush();
    got = place_read(p);
    unlock();
    if (own)
        MPI_Win_unlock(READER, scene.turn);
    *p.last = receive_word(WRITER, TAG_MORE);
    if (got != *p.last)
        litmus_forbid("read %llu, written %llu", (unsigned long long)got, (unsigned long long)*p.last);
}

static void lock_early(bool own) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER)
            write_if_ready(p, v);
        else
            lock_and_read(p, own);
    }
}

LITMUS_MARKED(lock_returns_early, 2, 0) {
    lock_early(false);
}

LITMUS_MARKED(lock_two_return_early, 2, 0) {
    lock_early(true);
}
