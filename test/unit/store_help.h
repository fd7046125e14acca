/* store_help.h: folders, pages with known contents, and blocking requests. */
#ifndef HEARTH_TEST_STORE_HELP_H
#define HEARTH_TEST_STORE_HELP_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "pages/store/store.h"

/* ---- folders: one on a disk, one in memory, empty at the beginning and removed at the end ---- */

static char help_folders[2][256];
static pid_t help_owner;

static inline void remove_files(const char *folder) {
    DIR *dir = opendir(folder);
    char path[600];
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        (void)unlink(path);
    }
    if (dir)
        closedir(dir);
}

static inline unsigned count_entries(const char *folder) {
    DIR *dir = opendir(folder);
    unsigned n = 0;
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    if (dir)
        closedir(dir);
    return n;
}

static inline void remove_folders(void) {
    for (int i = 0; i < 2 && getpid() == help_owner; i++)
        if (help_folders[i][0]) {
            remove_files(help_folders[i]);
            (void)rmdir(help_folders[i]);
        }
}

/* 0: a disk (TMPDIR); 1: memory, where there is such a filesystem, else the disk again. */
static inline const char *help_folder(int i) {
    const char *parent = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    if (i == 1 && !access("/dev/shm", W_OK))
        parent = "/dev/shm";
    if (!help_owner) {
        help_owner = getpid();
        atexit(remove_folders);
    }
    if (!help_folders[i][0]) {
        snprintf(help_folders[i], sizeof help_folders[i], "%s/hearth-store-XXXXXX", parent);
        if (!mkdtemp(help_folders[i])) {
            perror(parent);
            exit(1);
        }
    }
    return help_folders[i];
}

/* ---- engines that move pages ---- */

struct help_way {
    const char *name;
    int folder;
    enum store_engine_name engine;
    bool buffered;
};

static const struct help_way help_ways[] = {
    {"disk, io_uring, direct", 0, STORE_URING, false},  {"disk, io_uring, buffered", 0, STORE_URING, true},
    {"disk, threads, direct", 0, STORE_THREADS, false}, {"disk, threads, buffered", 0, STORE_THREADS, true},
    {"memory, io_uring", 1, STORE_URING, false},        {"memory, threads", 1, STORE_THREADS, false},
};

enum { HELP_WAYS = sizeof help_ways / sizeof *help_ways };

static inline struct store_options help_options(const struct help_way *way, enum store_kind kind) {
    return (struct store_options){.kind = kind,
                                  .folder = help_folder(way->folder),
                                  .name = "segment",
                                  .identity = 77,
                                  .rank = 0,
                                  .ranks = 1,
                                  .page_bytes = 4096,
                                  .bytes = 64 * 4096,
                                  .engine = way->engine,
                                  .depth = 32,
                                  .threads = 3,
                                  .buffered = way->buffered};
}

/* Where io_uring is forbidden or not built in, its tests are skipped. */
static inline bool help_has_uring(void) {
    static int known;
    struct store *s;
    struct store_options o = help_options(&help_ways[4], STORE_TEMPORARY);
    if (!known) {
        log_set_level(LOG_ERROR - 1);
        known = pages_store_open(&o, &s, NULL) ? -1 : 1;
        log_set_level(LOG_WARN);
        if (known > 0)
            pages_store_close(s);
        else
            printf("skip: no io_uring here\n");
    }
    return known > 0;
}

static inline bool help_can(const struct help_way *way) {
    return way->engine != STORE_URING || help_has_uring();
}

/* ---- pages ---- */

static inline void *help_buffer(size_t bytes) {
    void *buffer = aligned_alloc(STORE_ALIGNMENT, bytes);
    if (!buffer)
        exit(1);
    return buffer;
}

/* Version 0 is a page that was never written. */
static inline uint64_t help_word(uint64_t page, uint64_t version, size_t i) {
    return version ? random_mix(page * 1000003u + version) + i : 0;
}

static inline void help_fill(void *buffer, size_t bytes, uint64_t page, uint64_t version) {
    uint64_t *words = buffer;
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = help_word(page, version, i);
}

static inline bool help_holds(const void *buffer, size_t bytes, uint64_t page, uint64_t version) {
    const uint64_t *words = buffer;
    for (size_t i = 0; i < bytes / 8; i++)
        if (words[i] != help_word(page, version, i))
            return false;
    return true;
}

/* ---- requests ---- */

/* Sleeps until a request completes, for up to 20 seconds. */
static inline unsigned help_wait(struct store *s, struct store_done *done, unsigned most) {
    uint64_t end = clock_ns() + 20000000000u;
    unsigned n;
    while (!(n = pages_store_poll(s, done, most)) && clock_ns() < end) {
        struct pollfd sleep = {.fd = pages_store_descriptor(s), .events = POLLIN};
        if (!pages_store_arm(s))
            (void)poll(&sleep, 1, 1000);
    }
    return n;
}

/* Executes one request; returns its error. */
static inline int help_move(struct store *s, enum store_way way, uint64_t page, void *buffer) {
    struct store_done done = {.error = -ETIME};
    int err = pages_store_submit(s, way, page, buffer, page + 5);
    if (err)
        return err;
    if (help_wait(s, &done, 1) != 1 || done.token != page + 5)
        return -ETIME;
    return done.error;
}

static inline int help_put(struct store *s, size_t page_bytes, uint64_t page, uint64_t version) {
    void *buffer = help_buffer(page_bytes);
    help_fill(buffer, page_bytes, page, version);
    int err = help_move(s, STORE_WRITE, page, buffer);
    free(buffer);
    return err;
}

/* 0, -EILSEQ if the page holds other data, or the error of the read. */
static inline int help_see(struct store *s, size_t page_bytes, uint64_t page, uint64_t version) {
    void *buffer = help_buffer(page_bytes);
    memset(buffer, 0xa5, page_bytes);
    int err = help_move(s, STORE_READ, page, buffer);
    if (!err && !help_holds(buffer, page_bytes, page, version))
        err = -EILSEQ;
    free(buffer);
    return err;
}

/* ---- lines ---- */

static int help_stderr = -1, help_lines = -1;

/* Captures stderr; lines_end returns the number of lines, and all of them in `text`. */
static inline void lines_begin(void) {
    fflush(stderr);
    help_stderr = dup(2);
    help_lines = open(help_folder(0), O_TMPFILE | O_RDWR, 0600);
    dup2(help_lines, 2);
}

static inline unsigned lines_end(char *text, size_t room) {
    unsigned n = 0;
    fflush(stderr);
    ssize_t got = pread(help_lines, text, room - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    for (char *c = text; *c; c++)
        n += *c == '\n';
    dup2(help_stderr, 2);
    close(help_stderr);
    close(help_lines);
    return n;
}

#endif
