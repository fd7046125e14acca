/* store_epoch.c: checkpoints that survive a power failure, a failed write or a killed rank at any time:
 *
 *      prepare e   a record without e-2, then sync: from now on e-2 is given up
 *                  the table of e is written where that of e-2 was
 *                  sync: pages and table are on the disk
 *                  a record that names e and e-1, then sync: from now on e is prepared
 *      (all ranks agree: all have prepared e)
 *      commit e    in memory only: e can no longer be abandoned, and the next prepare may give up e-1
 *      (or: some rank has failed)
 *      abandon e   a record without e, written twice so that no block names e
 *
 * Pages that belong to a kept epoch are never overwritten: changes go to another copy (store.c). So whatever part of
 * the writes since the last sync has reached the disk, the newest valid record names valid tables and valid pages. e-1
 * is kept in addition to e, as a fallback if e turns out to be damaged.
 *
 * Several ranks: a rank that fails between prepare and commit holds e-1 and e, others may hold e-2 and e-1. The newest
 * epoch that all hold is restored. A rank gives up e-1 only after all have prepared e, so a job that restores the
 * newest common epoch never needs e-1 then. Restoring e-1 is itself a record, written twice so that no block names e,
 * before any page is written.
 *
 * Failures. A record whose write failed may be in the file or not: the next record overwrites its block, with the same
 * sequence number. If it names a new epoch, that epoch counts as kept, so that its pages stay unchanged, until both
 * blocks hold a record without it; nothing else is prepared before. An epoch number is used once: `tried` is part of
 * the record, and the next number is larger than that of any rank.
 *
 * A failed sync may have dropped dirty pages, and the kernel reports this only once. Therefore, before anything else is
 * prepared, the pages that are not in the last checkpoint are read, compared with their checksums and written again, and
 * so is the whole table. */
#include "pages/store/store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "pages/store/store_disk.h"

enum { BLOCK = 4096, MOST_AT_ONCE = 1 << 20 }; /* of a table: unit of comparison, and maximum write */

static int epoch_fail(const struct store *s, const char *what, uint64_t epoch, int error) {
    log_error("cannot %s checkpoint %" PRIu64 " of %s: %s", what, epoch, s->label, strerror(-error));
    return error;
}

static int epoch_refuse(const struct store *s, int error, const char *why) {
    log_error("cannot use %s: %s", s->label, why);
    return error;
}

/* ---- records ---- */

static int sync_all(struct store *s) {
    int err = pages_disk_sync(s->file);
    s->is_broken |= err != 0;
    return err;
}

/* Writes `r` as the newest record. After a failure the previous record is intact, and this one may be there. */
static int epoch_write_record(struct store *s, struct store_record r) {
    r.sequence = s->record.sequence + 1;
    r.committed = s->committed;
    r.tried = s->tried;
    pages_store_record_pack(&r, s->block);
    int err = pages_disk_write(s->file, s->block, RECORD_BYTES, r.sequence % RECORDS * RECORD_BYTES);
    if (!err)
        err = sync_all(s);
    if (!err)
        s->record = r;
    return err;
}

/* Writes `r` to both blocks. */
static int write_record_twice(struct store *s, struct store_record r) {
    int err = epoch_write_record(s, r);
    return err ? err : epoch_write_record(s, r);
}

int pages_store_epoch_begin(struct store *s, const struct store_options *o) {
    struct store_record first = {.identity = o->identity,
                                 .bytes = s->bytes,
                                 .page_bytes = s->page_bytes,
                                 .rank = (uint32_t)s->rank,
                                 .ranks = (uint32_t)s->ranks,
                                 .in_use = 1};
    int err = write_record_twice(s, first);
    if (err)
        log_error("cannot write to %s: %s", s->label, strerror(-err));
    for (int i = 0; i < STORE_TABLES; i++)
        s->kept[i].is_known = true; /* holes, as the images are zero */
    return err;
}

/* ---- opening again ---- */

static int epoch_check_shape(const struct store *s, const struct store_record *r) {
    char why[200];
    if (r->bytes == s->bytes && r->page_bytes == s->page_bytes && r->rank == (uint32_t)s->rank &&
        r->ranks == (uint32_t)s->ranks)
        return 0;
    snprintf(why, sizeof why,
             "it belongs to rank %" PRIu32 " of %" PRIu32 ", with %" PRIu64 " bytes in pages of %" PRIu64
             ", where this job has rank %d of %d, %" PRIu64 " bytes, pages of %zu",
             r->rank, r->ranks, r->bytes, r->page_bytes, s->rank, s->ranks, s->bytes, s->page_bytes);
    return epoch_refuse(s, -EINVAL, why);
}

static int epoch_check_size(const struct store *s) {
    struct stat st;
    if (fstat(s->file, &st))
        return epoch_refuse(s, -EIO, "its size cannot be determined");
    if ((uint64_t)st.st_size < pages_store_file_bytes(s))
        return epoch_refuse(s, -EBADMSG, "it is truncated. Remove it, or restore it from a copy");
    return 0;
}

static int epoch_read_record(struct store *s) {
    int code, err = pages_disk_read(s->file, s->block, RECORDS * RECORD_BYTES, 0);
    if (err)
        return epoch_refuse(s, err, strerror(-err));
    const char *why = pages_store_record_unpack(s->block, &s->record, &code);
    if (why)
        return epoch_refuse(s, code, why);
    err = epoch_check_shape(s, &s->record);
    return err ? err : epoch_check_size(s);
}

/* An epoch with a damaged table is ignored. */
static int read_table(struct store *s, int i) {
    struct kept_table *k = &s->kept[i];
    int err = pages_disk_read(s->file, k->image, s->table_bytes, k->at);
    if (err)
        return epoch_refuse(s, err, strerror(-err));
    k->is_known = true;
    k->epoch = s->record.tables[i].epoch;
    if (!k->epoch || pages_store_record_hash(k->image, s->table_bytes) == s->record.tables[i].checksum)
        return 0;
    log_warn("checkpoint %" PRIu64 " in %s is damaged: only the other one in the file can be used", k->epoch,
             s->label);
    k->epoch = 0;
    return 0;
}

int pages_store_epoch_find(struct store *s, struct store_found *found) {
    int err = epoch_read_record(s);
    for (int i = 0; i < STORE_TABLES && !err; i++)
        err = read_table(s, i);
    if (err)
        return err;
    const struct store_record *r = &s->record;
    if (!r->tables[0].epoch && !r->tables[1].epoch)
        return epoch_refuse(s, -ENODATA, "the job that made it ended without a checkpoint. Remove it");
    int newer = s->kept[1].epoch > s->kept[0].epoch;
    s->prepared = s->kept[newer].epoch;
    s->committed = r->committed;
    s->tried = r->tried;
    if (!s->prepared)
        return epoch_refuse(s, -EBADMSG,
                            "none of its checkpoints is intact. Remove it, or restore it from a copy");
    log_debug(LOG_PAGES,
              "%s holds checkpoint %" PRIu64 " and %" PRIu64 ", of which %" PRIu64
              " was committed; it was closed %s",
              s->label, s->prepared, s->kept[!newer].epoch, r->committed,
              r->in_use ? "without an end" : "in order");
    *found = (struct store_found){.prepared = s->prepared,
                                  .older = s->kept[!newer].epoch,
                                  .committed = r->committed,
                                  .tried = r->tried,
                                  .identity = r->identity,
                                  .clean = !r->in_use};
    return 0;
}

static int find_table(const struct store *s, uint64_t epoch) {
    for (int i = 0; i < STORE_TABLES; i++)
        if (epoch && s->kept[i].epoch == epoch)
            return i;
    return -1;
}

static const char *why_not_select(const struct store *s, uint64_t epoch, int *error) {
    *error = s->is_ready ? -EINVAL : -ESTALE;
    if (s->is_ready)
        return "it is already in use";
    return find_table(s, epoch) < 0 ? "the file does not hold it. Do the files of all ranks belong together?"
                                    : NULL;
}

int pages_store_select(struct store *s, uint64_t epoch) {
    int err, i = find_table(s, epoch);
    const char *why = why_not_select(s, epoch, &err);
    if (why) {
        log_error("cannot go back to checkpoint %" PRIu64 " of %s: %s", epoch, s->label, why);
        return err;
    }
    bool has_newer = s->kept[!i].epoch > epoch;
    log_debug(LOG_PAGES, "%s goes back to checkpoint %" PRIu64 "%s", s->label, epoch,
              has_newer ? "; a newer one, which not all ranks have, is dropped" : "");
    struct store_record r = s->record;
    if (has_newer || !s->kept[!i].epoch)
        r.tables[!i].epoch = 0;
    s->committed = epoch;
    r.in_use = 1;
    err = write_record_twice(s, r);
    if (err)
        return epoch_fail(s, "go back to", epoch, err);
    if (has_newer)
        s->kept[!i].epoch = 0;
    s->prepared = epoch;
    memcpy(s->current, s->kept[i].image, s->table_bytes);
    s->is_ready = true;
    return 0;
}

/* ---- checkpoints ---- */

/* The number of bytes to write from `at` on: a run of blocks that differ from the file. */
static size_t changed_run(const struct store *s, const struct kept_table *k, bool is_known, size_t at) {
    size_t end = at;
    while (end < s->table_bytes && end - at < MOST_AT_ONCE &&
           (!is_known || memcmp(k->image + end, s->current + end, BLOCK)))
        end += BLOCK;
    return end - at;
}

/* Writes the table, and syncs it with the pages. Until that has succeeded, its content in the file is unknown. */
static int write_table(struct store *s, struct kept_table *k) {
    bool was_known = k->is_known;
    k->is_known = false;
    for (size_t at = 0, run; at < s->table_bytes; at += run ? run : BLOCK) {
        run = changed_run(s, k, was_known, at);
        int err = run ? pages_disk_write(s->file, s->current + at, run, k->at + at) : 0;
        if (err)
            return err;
        memcpy(k->image + at, s->current + at, run);
    }
    int err = sync_all(s);
    k->is_known = !err;
    return err;
}

/* Frees the table that does not hold the last committed epoch. */
static int give_up_older(struct store *s, int i) {
    struct store_record r = s->record;
    if (!s->kept[i].epoch)
        return 0;
    r.tables[i].epoch = 0;
    int err = epoch_write_record(s, r);
    if (!err)
        s->kept[i].epoch = 0;
    return err;
}

/* If the write of the record fails, it is unknown whether the epoch is in the file: its pages are kept until it is
 * abandoned. */
static int write_epoch(struct store *s, int i, uint64_t epoch) {
    int err = give_up_older(s, i);
    if (!err)
        err = write_table(s, &s->kept[i]);
    if (err)
        return err;
    struct store_record r = s->record;
    r.tables[i].epoch = epoch;
    r.tables[i].checksum = pages_store_record_hash(s->current, s->table_bytes);
    s->kept[i].epoch = epoch;
    s->prepared = epoch;
    err = epoch_write_record(s, r);
    s->is_abandoned = err != 0;
    return err;
}

static int write_page_again(struct store *s, uint64_t page, unsigned copy) {
    uint64_t place = pages_store_place(s, page, copy);
    int err = pages_disk_read(s->file, s->spare, s->page_bytes, place);
    if (err)
        return err;
    int64_t at = pages_sums_find_damage(s, s->current, page, s->spare);
    if (at < 0)
        return pages_disk_write(s->file, s->spare, s->page_bytes, place);
    pages_sums_say_damage(s, page, copy, at);
    pages_store_lose(s, page);
    return -EIO;
}

/* Rewrites the pages that no sync has certainly covered. */
static int write_again(struct store *s) {
    int last = find_table(s, s->committed), err = 0;
    for (uint64_t page = 0; page < s->pages && !err; page++) {
        unsigned copy = pages_store_table_get(s->current, page);
        if (copy && (last < 0 || pages_store_table_get(s->kept[last].image, page) != copy))
            err = write_page_again(s, page, copy);
    }
    s->is_broken = err != 0;
    return err;
}

static int write_without(struct store *s, int i) {
    struct store_record r = s->record;
    r.tables[i].epoch = 0;
    int err = write_record_twice(s, r);
    if (err)
        return err;
    s->kept[i].epoch = 0;
    s->prepared = s->committed;
    s->is_abandoned = false;
    s->is_changed = true;
    return 0;
}

static const char *why_not_prepare(const struct store *s, uint64_t epoch, int *error) {
    *error = -EINVAL;
    if (!s->is_named || !s->is_ready)
        return "it is not a named segment in use";
    if (epoch <= s->tried)
        return "this number or a later one was already used";
    if (s->prepared != s->committed && !s->is_abandoned)
        return "the one before is not committed";
    *error = -EBUSY;
    if (s->on_way)
        return "page requests are under way";
    *error = -EIO;
    return s->facts.lost ? "a page could not be written" : NULL;
}

int pages_store_prepare(struct store *s, uint64_t epoch) {
    int err;
    const char *why = why_not_prepare(s, epoch, &err);
    if (why) {
        log_error("cannot prepare checkpoint %" PRIu64 " of %s: %s", epoch, s->label, why);
        return err;
    }
    log_debug(LOG_PAGES, "%s prepares checkpoint %" PRIu64, s->label, epoch);
    s->tried = epoch;
    err = s->is_abandoned ? write_without(s, find_table(s, s->prepared)) : 0;
    if (!err && s->is_broken)
        err = write_again(s);
    if (!err)
        err = write_epoch(s, find_table(s, s->committed) == 0 ? 1 : 0, epoch);
    if (err)
        return epoch_fail(s, "prepare", epoch, err);
    s->is_changed = false;
    return 0;
}

int pages_store_commit(struct store *s, uint64_t epoch) {
    if (find_table(s, epoch) < 0 || epoch != s->prepared || !s->is_ready || s->is_abandoned) {
        log_error("cannot commit checkpoint %" PRIu64 " of %s: it is not the one that was prepared", epoch,
                  s->label);
        return -EINVAL;
    }
    s->committed = epoch;
    return 0;
}

int pages_store_abandon(struct store *s, uint64_t epoch) {
    int i = find_table(s, epoch);
    if (i < 0 || epoch == s->committed)
        return 0;
    s->is_abandoned = true;
    int err = write_without(s, i);
    return err ? epoch_fail(s, "undo", epoch, err) : 0;
}

int pages_store_epoch_end(struct store *s) {
    bool is_clean = s->is_named && s->is_ready && !s->is_broken && !s->is_changed && !s->facts.lost &&
                    s->prepared && s->prepared == s->committed;
    if (!is_clean)
        return 0;
    struct store_record r = s->record;
    r.in_use = 0;
    int err = epoch_write_record(s, r);
    if (err)
        log_error("cannot mark %s as clean: %s", s->label, strerror(-err));
    return err;
}
