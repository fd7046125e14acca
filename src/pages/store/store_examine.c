/* store_examine.c: read-only verification of the file of a named segment, outside of its job. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pages/pages.h"
#include "pages/store/store_disk.h"
#include "pages/store/store_internal.h"

static int examine_refuse(struct pages_file *f, int error, const char *why) {
    f->why = why;
    return error;
}

static int examine_open_file(struct store *s, const char *path, struct pages_file *f) {
    struct stat st;
    s->file = open(path, O_RDONLY | O_CLOEXEC);
    if (s->file < 0 || fstat(s->file, &st))
        return examine_refuse(f, -errno, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return examine_refuse(f, -EINVAL, "it is not a file");
    if (flock(s->file, LOCK_SH | LOCK_NB))
        return examine_refuse(f, -EBUSY, "a job has it open");
    f->file_bytes = (uint64_t)st.st_size;
    return 0;
}

static int examine_read_record(struct store *s, struct pages_file *f) {
    int error = pages_disk_read(s->file, s->block, RECORDS * RECORD_BYTES, 0);
    if (error)
        return examine_refuse(f, -EBADMSG, "it is truncated");
    const char *why = pages_store_record_unpack(s->block, &s->record, &error);
    if (why)
        return examine_refuse(f, error, why);
    const struct store_record *r = &s->record;
    s->bytes = f->bytes = r->bytes;
    s->page_bytes = f->page_bytes = (size_t)r->page_bytes;
    pages_store_set_layout(s, true);
    f->rank = r->rank;
    f->ranks = r->ranks;
    f->clean = !r->in_use;
    return f->file_bytes < pages_store_file_bytes(s) ? examine_refuse(f, -EBADMSG, "it is truncated") : 0;
}

static void examine_page(struct store *s, uint8_t *table, uint64_t page, struct pages_file_epoch *e) {
    unsigned copy = pages_store_table_get(table, page);
    if (!copy)
        return;
    uint64_t place = pages_store_place(s, page, copy);
    int64_t at = pages_disk_read(s->file, s->spare, s->page_bytes, place)
                     ? 0
                     : pages_sums_find_damage(s, table, page, s->spare);
    e->pages++;
    if (at < 0)
        return;
    if (e->damaged++ == 0) {
        e->damaged_page = page;
        e->damaged_offset = place + (uint64_t)at;
    }
}

static void examine_epoch(struct store *s, int i, uint8_t *table, struct pages_file_epoch *e) {
    e->epoch = s->record.tables[i].epoch;
    if (!e->epoch)
        return;
    e->lacks_table = pages_disk_read(s->file, table, s->table_bytes, s->kept[i].at) != 0 ||
                     pages_store_record_hash(table, s->table_bytes) != s->record.tables[i].checksum;
    for (uint64_t page = 0; page < s->pages && !e->lacks_table; page++)
        examine_page(s, table, page, e);
}

/* Newest first. */
static int examine_epochs(struct store *s, struct pages_file *f) {
    uint8_t *table = aligned_alloc(RECORD_BYTES, s->table_bytes);
    s->spare = aligned_alloc(RECORD_BYTES, s->page_bytes);
    int newer = s->record.tables[1].epoch > s->record.tables[0].epoch;
    for (int i = 0; i < STORE_TABLES && table && s->spare; i++)
        examine_epoch(s, i ? !newer : newer, table, &f->epochs[i]);
    bool has_memory = table && s->spare;
    free(table);
    free(s->spare);
    return has_memory ? 0 : examine_refuse(f, -ENOMEM, "no memory");
}

int pages_examine(const char *path, struct pages_file *f) {
    static _Alignas(RECORD_BYTES) char block[RECORDS * RECORD_BYTES];
    struct store s = {.file = -1, .block = block};
    *f = (struct pages_file){0};
    int status = examine_open_file(&s, path, f);
    if (status == 0)
        status = examine_read_record(&s, f);
    if (status == 0)
        status = examine_epochs(&s, f);
    if (s.file >= 0)
        close(s.file);
    return status;
}
