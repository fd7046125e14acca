/* store_internal.h: internals of the store.
 *
 *      a named file:   [record][record][table 0][table 1] .. [copy 1 of all pages][copy 2 of all pages][copy 3 ...]
 *      a temporary:    [copy 1 of all pages]
 *
 * A table holds two bits for each page: 0, not stored, the page is zero; 1 to 3, stored in that copy. After these it
 * holds the checksum of each block of each page (store_sums.c). Three copies suffice: at most two checkpoints exist
 * (the last one, and the one before or the one being made), plus the version written since. As every copy of a page has
 * a fixed location, nothing is ever searched or allocated, and consecutive pages are consecutive on the disk. A table
 * takes 1/512 of the segment, in the file and in memory. The price is disk space: the file is sparse, but a page that
 * changes between all checkpoints is stored three times. */
#ifndef HEARTH_PAGES_STORE_INTERNAL_H
#define HEARTH_PAGES_STORE_INTERNAL_H

#include "base/compiler.h"
#include "base/memory.h"
#include "pages/store/store_engine.h"
#include "pages/store/store_record.h"
#include "pages/store/store_throttle.h"

enum { STORE_COPIES = 3, STORE_TABLES = 2, STORE_LABEL = 512, STORE_BLOCK = 4096 /* unit of a checksum */ };

/* The copy of `page` according to a table. */
static inline unsigned pages_store_table_get(const uint8_t *table, uint64_t page) {
    return table[page / 4] >> (page % 4 * 2) & 3u;
}

static inline void pages_store_table_set(uint8_t *table, uint64_t page, unsigned copy) {
    unsigned shift = (unsigned)(page % 4) * 2;
    table[page / 4] = (uint8_t)((table[page / 4] & ~(3u << shift)) | copy << shift);
}

/* A table in the file. */
struct kept_table {
    uint64_t epoch; /* the epoch it holds; 0: none, and its copies may be overwritten */
    uint64_t at;    /* in the file */
    uint8_t *image; /* its content in the file, if `is_known`: only differences need to be written */
    bool is_known;
};

struct store {
    int file;
    bool is_named, is_direct;
    bool is_ready;   /* false until pages_store_select */
    bool is_changed; /* since the newest checkpoint */
    bool is_broken;  /* data written since the last checkpoint may be lost: a sync has failed */
    size_t page_bytes;
    uint64_t pages, bytes;
    uint64_t data; /* offset of the pages in the file */
    size_t table_bytes;
    size_t sums_at; /* in a table: offset of the checksums */
    int rank, ranks;

    uint8_t *current; /* table: the current copy of each page */
    uint8_t *lost;    /* table: 1 if the last write of the page has failed */
    struct kept_table kept[STORE_TABLES];
    struct store_record record; /* the newest in the file */
    uint64_t prepared;          /* the newest epoch; 0: none */
    uint64_t committed;         /* the newest that all ranks have prepared; 0: none */
    uint64_t tried;             /* the largest number that was ever prepared, successfully or not */
    bool is_abandoned;          /* `prepared` must be undone, and may still be in the file */
    void *block;                /* buffer for records */
    char *spare;                /* buffer of one page, to rewrite pages that may be lost */

    struct store_engine *engine;
    struct throttle throttle;
    struct store_request *requests;
    uint64_t *busy; /* by request: page * 2 + whether it is a write; or STORE_NOBODY */
    unsigned depth, on_way;
    struct store_request *unused;
    struct request_queue ready; /* completed without I/O */

    struct store_facts facts;
    bool has_said[2];   /* by enum store_way: a failure was logged */
    bool has_said_full; /* a lack of space was logged, and space was not available since */
    struct memory memory;
    char label[STORE_LABEL]; /* for messages: the file's name */
};

#define STORE_NOBODY UINT64_MAX

/* Offset of a copy of a page in the file; copies count from 1. */
static inline uint64_t pages_store_place(const struct store *s, uint64_t page, unsigned copy) {
    return s->data + ((copy - 1) * s->pages + page) * s->page_bytes;
}

/* The page could not be written; reads of it fail until it is. */
void pages_store_lose(struct store *s, uint64_t page);

/* store_sums.c: records the checksums of a page that was written; returns the offset in the page of the first block
 * that does not match the table, or -1; logs such a mismatch. */
void pages_sums_note(struct store *s, uint64_t page, const char *data);
int64_t pages_sums_find_damage(const struct store *s, uint8_t *table, uint64_t page, const char *data);
void pages_sums_say_damage(const struct store *s, uint64_t page, unsigned copy, int64_t at);

/* Computes the layout of a named or a temporary file from page_bytes and bytes. */
static inline void pages_store_set_layout(struct store *s, bool is_named) {
    s->is_named = is_named;
    s->pages = (s->bytes + s->page_bytes - 1) / s->page_bytes;
    s->sums_at = round_up((s->pages + 3) / 4, sizeof(uint64_t));
    s->table_bytes =
        round_up(s->sums_at + s->pages * (s->page_bytes / STORE_BLOCK) * sizeof(uint64_t), RECORD_BYTES);
    if (!is_named)
        return;
    s->kept[0].at = RECORDS * RECORD_BYTES;
    s->kept[1].at = s->kept[0].at + s->table_bytes;
    s->data = round_up(s->kept[1].at + s->table_bytes, s->page_bytes);
}

/* Size of the file. */
static inline uint64_t pages_store_file_bytes(const struct store *s) {
    return s->data + (s->is_named ? STORE_COPIES : 1) * s->pages * s->page_bytes;
}

/* store_file.c: opens or creates the file. Logs errors. */
int pages_store_file_open(struct store *s, const struct store_options *o);

/* store_epoch.c: writes the first record of a new file; reads the content of a file that is opened again. Logs errors. */
int pages_store_epoch_begin(struct store *s, const struct store_options *o);
int pages_store_epoch_find(struct store *s, struct store_found *found);

/* At close: marks the file clean, if it is. */
int pages_store_epoch_end(struct store *s);

#endif
