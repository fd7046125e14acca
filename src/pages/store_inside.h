/* store_inside.h: the store as its own files see it.
 *
 *      a named file:   [record][record][table 0][table 1] .. [copy 1 of all pages][copy 2 of all pages][copy 3 ...]
 *      a temporary:    [copy 1 of all pages]
 *
 * A table says of each page in two bits where it is: 0, nowhere, it is zero; 1 to 3, in that copy; and behind that, the
 * checksum of each of its blocks (store_sums.c). Three are enough: of a
 * page there can be the versions of two checkpoints, the last one and the one before or the one that is being made, and
 * what was written since. As every copy of a page has its place, nothing is ever searched or allocated, pages that
 * follow each other do so on the disk, and a table takes 1/512 of the segment, here and in memory. The price is room: the file is
 * sparse, but of a page that changes between all checkpoints it holds three versions. */
#ifndef HEARTH_PAGES_STORE_INSIDE_H
#define HEARTH_PAGES_STORE_INSIDE_H

#include "base/base.h"
#include "pages/store_engine.h"
#include "pages/store_record.h"
#include "pages/store_throttle.h"

enum { STORE_COPIES = 3, STORE_TABLES = 2, STORE_LABEL = 512, STORE_BLOCK = 4096 /* that has a checksum */ };

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
    bool is_broken;  /* what was written since the last checkpoint may be lost: a sync has failed */
    size_t page_bytes;
    uint64_t pages, bytes;
    uint64_t data; /* where the pages begin in the file */
    size_t table_bytes;
    size_t sums_at; /* in a table: checksums begin here */
    int rank, ranks;

    uint8_t *current; /* table: where each page is now */
    uint8_t *lost;    /* table: 1 if its last write has failed */
    struct kept_table kept[STORE_TABLES];
    struct record record; /* the newest in the file */
    uint64_t prepared;    /* the newest epoch; 0: none */
    uint64_t committed;   /* the newest that all ranks have prepared; 0: none */
    uint64_t tried;       /* the largest number that was ever prepared, or tried to */
    bool is_abandoned;    /* `prepared` is to be undone, and may still be in the file */
    void *block;          /* for records */
    char *spare;          /* a page: what may be lost is written again from here */

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

/* The page could not be written; a read of it fails until it is. */
void store_lose(struct store *s, uint64_t page);

/* store_sums.c: of a page that was written; the first block of it that is not as the table says, as an offset in the page, or
 * -1; a line about that. */
void sums_note(struct store *s, uint64_t page, const char *data);
int64_t sums_find_damage(const struct store *s, uint8_t *table, uint64_t page, const char *data);
void sums_say_damage(const struct store *s, uint64_t page, unsigned copy, int64_t at);

/* Where everything lies in a file, or in a temporary one; page_bytes and bytes are set. */
static inline void store_set_layout(struct store *s, bool is_named) {
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

/* How large the file is. */
static inline uint64_t store_file_bytes(const struct store *s) {
    return s->data + (s->is_named ? STORE_COPIES : 1) * s->pages * s->page_bytes;
}

/* store_file.c: opens or makes the file. Lines are written. */
int file_open(struct store *s, const struct store_options *o);

/* store_epoch.c: the first record of a new file; what a file opened again holds. Lines are written. */
int epoch_begin(struct store *s, const struct store_options *o);
int epoch_find(struct store *s, struct store_found *found);

/* At the end: whether it is marked clean, where it can be. */
int epoch_end(struct store *s);

#endif
