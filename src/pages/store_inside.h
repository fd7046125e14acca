/* store_inside.h: the store as its own files see it.
 *
 *      a named file:   [record][record][table 0][table 1] .. [copy 1 of all pages][copy 2 of all pages][copy 3 ...]
 *      a temporary:    [copy 1 of all pages]
 *
 * A table says of each page in two bits where it is: 0, nowhere, it is zero; 1 to 3, in that copy. Three are enough: of a
 * page there can be the version of the checkpoint that is committed, that of the one that is prepared, and what
 * was written since. As every copy of a page has its place, nothing is ever searched or allocated, pages that
 * follow each other do so on the disk, and a table takes 1/16384 of pages of 4 KiB. The price is room: the file is
 * sparse, but of a page that changes between checkpoints it holds two versions, and three if it is written
 * while a checkpoint waits to be committed. */
#ifndef HEARTH_PAGES_STORE_INSIDE_H
#define HEARTH_PAGES_STORE_INSIDE_H

#include "base/base.h"
#include "pages/store_engine.h"
#include "pages/store_record.h"
#include "pages/store_throttle.h"

enum { STORE_COPIES = 3, STORE_TABLES = 2, STORE_LABEL = 512 };

/* Of `page` in a table. */
static inline unsigned table_get(const uint8_t *table, uint64_t page) {
    return table[page / 4] >> (page % 4 * 2) & 3u;
}

static inline void table_set(uint8_t *table, uint64_t page, unsigned copy) {
    unsigned shift = (unsigned)(page % 4) * 2;
    table[page / 4] = (uint8_t)((table[page / 4] & ~(3u << shift)) | copy << shift);
}

/* A table in the file. */
struct kept_table {
    uint64_t epoch; /* that it holds; 0: none, and its copies may be written */
    uint64_t at;    /* in the file */
    uint8_t *image; /* what is there now, if `is_known`: only what differs has to be written */
    bool is_known;
};

struct store {
    int file;
    bool is_named, is_direct;
    bool is_ready;   /* not before store_select */
    bool is_changed; /* since the newest checkpoint */
    bool is_broken;  /* what was written may be lost: nothing goes on */
    size_t page_bytes;
    uint64_t pages, bytes;
    uint64_t data; /* where the pages begin in the file */
    size_t table_bytes;
    int rank, ranks;

    uint8_t *current; /* table: where each page is now */
    uint8_t *lost;    /* table: 1 if its last write has failed */
    struct kept_table kept[STORE_TABLES];
    struct record record; /* the newest in the file */
    uint64_t prepared;    /* the newest epoch; 0: none */
    void *block;          /* for records */

    struct store_engine *engine;
    struct throttle throttle;
    struct store_request *requests;
    uint64_t *busy; /* by request: the page * 2 + whether it is written; NOBODY */
    unsigned depth, on_way;
    struct store_request *unused;
    struct request_queue ready; /* done without I/O */

    struct store_facts facts;
    bool has_said[2];   /* by enum store_way: that it failed */
    bool has_said_full; /* of pages that no room was found for, since some was */
    struct memory memory;
    char label[STORE_LABEL]; /* for people: which file */
};

#define STORE_NOBODY UINT64_MAX

/* Where a copy of a page is in the file; copies count from 1. */
static inline uint64_t store_place(const struct store *s, uint64_t page, unsigned copy) {
    return s->data + ((copy - 1) * s->pages + page) * s->page_bytes;
}

/* store_file.c: opens or makes the file. Lines are written. */
int file_open(struct store *s, const struct store_options *o);

/* How large the file is. */
uint64_t file_bytes(const struct store *s);

/* store_epoch.c: the first record of a new file; what a file opened again holds. Lines are written. */
int epoch_begin(struct store *s, const struct store_options *o);
int epoch_find(struct store *s, struct store_found *found);

/* At the end: whether it is marked clean, where it can be. */
int epoch_end(struct store *s);

#endif
