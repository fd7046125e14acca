/* store_sums.c: checksums of pages, one for each block of 4 KiB, stored in each table after the copies of the pages.
 *
 * They are computed when a write has completed and compared when a read has, so that corruption by a disk, a cable or a
 * stray write is reported as an error and never returned as data. As each checkpoint has a table of its own, its copies of
 * pages are verified against the checksums that they had when it was made. */
#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/log.h"
#include "pages/store/store_internal.h"

static uint64_t *sums_of(const struct store *s, uint8_t *table, uint64_t page) {
    return (uint64_t *)(void *)(table + s->sums_at) + page * (s->page_bytes / STORE_BLOCK);
}

void pages_sums_note(struct store *s, uint64_t page, const char *data) {
    uint64_t *sums = sums_of(s, s->current, page);
    for (size_t at = 0; at < s->page_bytes; at += STORE_BLOCK)
        sums[at / STORE_BLOCK] = pages_store_record_hash(data + at, STORE_BLOCK);
}

int64_t pages_sums_find_damage(const struct store *s, uint8_t *table, uint64_t page, const char *data) {
    const uint64_t *sums = sums_of(s, table, page);
    for (size_t at = 0; at < s->page_bytes; at += STORE_BLOCK)
        if (UNLIKELY(sums[at / STORE_BLOCK] != pages_store_record_hash(data + at, STORE_BLOCK)))
            return (int64_t)at;
    return -1;
}

/* The oldest checkpoint that has this copy of the page; 0: none, it was written later. */
static uint64_t sums_epoch_of(const struct store *s, uint64_t page, unsigned copy) {
    uint64_t epoch = 0;
    for (int i = 0; i < STORE_TABLES && s->is_named; i++) {
        const struct kept_table *k = &s->kept[i];
        if (k->epoch && pages_store_table_get(k->image, page) == copy && (!epoch || k->epoch < epoch))
            epoch = k->epoch;
    }
    return epoch;
}

/* An older checkpoint that does not need this copy; 0: none. */
static uint64_t epoch_without(const struct store *s, uint64_t page, unsigned copy) {
    for (int i = 0; i < STORE_TABLES && s->is_named; i++)
        if (s->kept[i].epoch && s->kept[i].epoch < s->committed &&
            pages_store_table_get(s->kept[i].image, page) != copy)
            return s->kept[i].epoch;
    return 0;
}

void pages_sums_say_damage(const struct store *s, uint64_t page, unsigned copy, int64_t at) {
    char advice[160] = "", when[64] = "the last write";
    uint64_t epoch = sums_epoch_of(s, page, copy), other = epoch_without(s, page, copy);
    if (epoch)
        snprintf(when, sizeof when, "checkpoint %" PRIu64, epoch);
    if (other)
        snprintf(advice, sizeof advice,
                 ". Checkpoint %" PRIu64 " has another copy: start from it (HEARTH_NVM_EPOCH=%" PRIu64 ")",
                 other, other);
    else if (s->is_named)
        snprintf(advice, sizeof advice, ". Restore the file from a copy");
    log_error("page %" PRIu64 " of %s is damaged: the %d bytes at offset %" PRIu64
              " of the file do not match %s%s",
              page, s->label, STORE_BLOCK, pages_store_place(s, page, copy) + (uint64_t)at, when, advice);
}
