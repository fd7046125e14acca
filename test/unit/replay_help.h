/* replay_help.h: simulates power failures. Every write and sync of some files is recorded, in order, also those of
 * several processes. Then a file is made as it may be found if the power fails at a place of the record: everything
 * written before its last sync is there, and any part of what was written after it; whole writes may be missing, or
 * some of their sectors. A failed write may have left any part of it, whatever is synced later, and so may a write before a
 * failed sync. */
#ifndef HEARTH_TEST_REPLAY_HELP_H
#define HEARTH_TEST_REPLAY_HELP_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "fail_store.h"
#include "pages/store/store.h"

enum { REPLAY_SECTOR = 512, REPLAY_ENTRIES = 1 << 16, REPLAY_BYTES = 1 << 28 };

struct replay_entry {
    int rank; /* the owner of the file */
    bool is_sync, has_failed;
    uint64_t offset;
    size_t bytes;
    size_t data; /* its offset in `replay->data` */
};

/* In memory that the processes share. */
static struct replay {
    pthread_mutex_t lock;
    size_t count, used;
    struct replay_entry entries[REPLAY_ENTRIES];
    char data[REPLAY_BYTES];
} * replay;

static inline void replay_open(void) {
    pthread_mutexattr_t shared;
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    replay = mmap(NULL, sizeof *replay, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (replay == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&replay->lock, &shared);
}

static inline void replay_forget(void) {
    replay->count = replay->used = 0;
}

static inline void replay_add(int rank, const struct store_event *event) {
    pthread_mutex_lock(&replay->lock);
    if (replay->count == REPLAY_ENTRIES || event->bytes > REPLAY_BYTES - replay->used)
        abort(); /* the test is too large */
    replay->entries[replay->count++] = (struct replay_entry){.rank = rank,
                                                             .is_sync = event->what == STORE_SYNCED,
                                                             .offset = event->offset,
                                                             .bytes = event->bytes,
                                                             .data = replay->used};
    if (event->what == STORE_WROTE)
        memcpy(replay->data + replay->used, event->data, event->bytes);
    replay->used += event->bytes;
    pthread_mutex_unlock(&replay->lock);
}

/* Marks the last write to this place as failed. */
static inline void replay_mark_failed(int rank, const struct store_event *event) {
    pthread_mutex_lock(&replay->lock);
    size_t i = replay->count;
    while (i > 0 && (replay->entries[i - 1].rank != rank || replay->entries[i - 1].is_sync ||
                     replay->entries[i - 1].offset != event->offset))
        i--;
    if (i == 0)
        abort(); /* the write was not recorded */
    replay->entries[i - 1].has_failed = true;
    pthread_mutex_unlock(&replay->lock);
}

/* Marks all writes since the last sync as failed. */
static inline void replay_mark_lost(int rank) {
    pthread_mutex_lock(&replay->lock);
    for (size_t i = replay->count; i > 0; i--) {
        struct replay_entry *w = &replay->entries[i - 1];
        if (w->rank == rank && w->is_sync)
            break;
        w->has_failed |= w->rank == rank;
    }
    pthread_mutex_unlock(&replay->lock);
}

/* Records what the store of this rank reports. */
static inline void replay_note(int rank, const struct store_event *event) {
    if (event->what == STORE_FAILED)
        replay_mark_failed(rank, event);
    else if (event->what == STORE_NOT_SYNCED)
        replay_mark_lost(rank);
    else
        replay_add(rank, event);
}

/* The length of the record. */
static inline size_t replay_now(void) {
    pthread_mutex_lock(&replay->lock);
    size_t count = replay->count;
    pthread_mutex_unlock(&replay->lock);
    return count;
}

/* The number of entries of this file. */
static inline size_t replay_count(int rank, size_t end) {
    size_t n = 0;
    for (size_t i = 0; i < end; i++)
        n += replay->entries[i].rank == rank;
    return n;
}

static inline size_t replay_last_sync(int rank, size_t end) {
    while (end && !(replay->entries[end - 1].is_sync && replay->entries[end - 1].rank == rank))
        end--;
    return end;
}

enum replay_loss { REPLAY_ALL, REPLAY_NONE, REPLAY_SOME, REPLAY_TORN, REPLAY_LOSSES };

static inline bool replay_is_whole(enum replay_loss loss, struct random *dice) {
    static const unsigned percent[] = {[REPLAY_NONE] = 100, [REPLAY_SOME] = 50, [REPLAY_TORN] = 30};
    return random_below(dice, 100) < percent[loss];
}

static inline void replay_tear(char *file, const struct replay_entry *w, struct random *dice) {
    for (size_t at = 0; at < w->bytes; at += REPLAY_SECTOR)
        if (random_below(dice, 2))
            memcpy(file + w->offset + at, replay->data + w->data + at, REPLAY_SECTOR);
}

/* Changes `file`, which holds the state at the beginning of the record, to the state after a power failure at `end`.
 * Returns false if a write was outside its `bytes`, or not of whole sectors. */
static inline bool replay_into(char *file, size_t bytes, int rank, size_t end, struct random *dice) {
    size_t synced = replay_last_sync(rank, end);
    enum replay_loss loss = (enum replay_loss)random_below(dice, REPLAY_LOSSES);
    for (size_t i = 0; i < end; i++) {
        const struct replay_entry *w = &replay->entries[i];
        if (w->rank != rank || w->is_sync)
            continue;
        if (w->bytes > bytes || w->offset > bytes - w->bytes || w->bytes % REPLAY_SECTOR != 0)
            return false;
        if (w->has_failed)
            replay_tear(file, w, dice);
        else if (i < synced || replay_is_whole(loss, dice))
            memcpy(file + w->offset, replay->data + w->data, w->bytes);
        else if (loss == REPLAY_TORN)
            replay_tear(file, w, dice);
    }
    return true;
}

/* Writes that state to the file of this name. */
static inline bool replay_write(const char *path, const char *file, size_t bytes) {
    FILE *f = fopen(path, "w");
    bool good = f && fwrite(file, 1, bytes, f) == bytes;
    return f && !fclose(f) && good;
}

#endif
