/* store_epochs.h: named stores in memory, their pages and checkpoints. */
#ifndef HEARTH_TEST_STORE_EPOCHS_H
#define HEARTH_TEST_STORE_EPOCHS_H

#include "test.h"

#include "store_help.h"

static char text[8192];

static const struct help_way *fast = &help_ways[5]; /* memory, threads */

static inline struct store *open_new(const struct help_way *way) {
    struct store_options o = help_options(way, STORE_NEW);
    struct store *s = NULL;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    return s;
}

static inline struct store *open_again(const struct help_way *way, uint64_t prepared, uint64_t committed,
                                       bool clean) {
    struct store_options o = help_options(way, STORE_AGAIN);
    struct store *s = NULL;
    struct store_found found = {0};
    expect_eq(pages_store_open(&o, &s, &found), 0);
    expect_eq(found.prepared, prepared);
    expect_eq(found.committed, committed);
    expect_eq(found.identity, 77);
    expect_eq(found.clean, clean);
    return s;
}

static inline void put_all(struct store *s, uint64_t first, uint64_t last, uint64_t version) {
    for (uint64_t page = first; page <= last; page++)
        expect_eq(help_put(s, 4096, page, version), 0);
}

static inline void see_all(struct store *s, uint64_t first, uint64_t last, uint64_t version) {
    for (uint64_t page = first; page <= last; page++)
        expect_eq(help_see(s, 4096, page, version), 0);
}

static inline void make_checkpoint(struct store *s, uint64_t epoch) {
    expect_eq(pages_store_prepare(s, epoch), 0);
    expect_eq(pages_store_commit(s, epoch), 0);
}

/* Valid until the call after the next. */
static inline const char *path_of(const char *name) {
    static char paths[2][512];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", help_folder(1), name);
    return paths[turn];
}

#endif
