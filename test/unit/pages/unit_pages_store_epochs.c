/* unit_pages_store_epochs.c: tests that checkpoints are found again, and that invalid files are refused with one
 * line. */
#include "test.h"

#include <sys/resource.h>

#include "base/memory.h"
#include "fail_memory.h"
#include "pages/store/store_record.h"
#include "store_epochs.h"

/* ---- checkpoints ---- */

static void checkpoint_by(const struct help_way *way) {
    struct store *s = open_new(way);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 5, 14, 2);
    see_all(s, 0, 4, 1);
    see_all(s, 5, 14, 2);
    make_checkpoint(s, 2);
    expect_eq(pages_store_close(s), 0);

    s = open_again(way, 2, 2, true);
    expect_eq(pages_store_select(s, 2), 0);
    see_all(s, 0, 4, 1);
    see_all(s, 5, 14, 2);
    see_all(s, 15, 63, 0);
    put_all(s, 0, 63, 3);
    expect_eq(pages_store_close(s), 0);

    s = open_again(way, 2, 2, false); /* data written after the checkpoint is gone */
    expect_eq(pages_store_select(s, 2), 0);
    see_all(s, 0, 4, 1);
    see_all(s, 5, 14, 2);
    see_all(s, 15, 63, 0);
    expect_eq(pages_store_close(s), 0);
    remove_files(help_folder(way->folder));
}

TEST(checkpoints_are_found_again_by_all_ways)
{
    for (int i = 0; i < HELP_WAYS; i++)
        if (help_can(&help_ways[i]))
            checkpoint_by(&help_ways[i]);
}

/* Leaves a committed checkpoint and a newer one that is prepared but not committed. Both can be selected, and data written
 * meanwhile changes neither. */
static void leave_half_done(void) {
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 9, 2);
    expect_eq(pages_store_prepare(s, 2), 0);
    put_all(s, 0, 9, 3);
    see_all(s, 0, 9, 3);
    put_all(s, 0, 9, 4);
    see_all(s, 0, 9, 4);
    expect_eq(pages_store_close(s), 0);
}

TEST(the_one_before_is_kept_until_the_commit)
{
    for (uint64_t epoch = 1; epoch <= 2; epoch++) {
        leave_half_done();
        struct store *s = open_again(fast, 2, 1, false);
        expect_eq(pages_store_select(s, epoch), 0);
        see_all(s, 0, 9, epoch);
        pages_store_close(s);
        s = open_again(fast, epoch, epoch, true);
        lines_begin();
        if (epoch == 1) /* a newer one is discarded for good, an older one is not */
            expect_eq(pages_store_select(s, 2), -ESTALE);
        else
            expect_eq(pages_store_select(s, 1), 0);
        expect_eq(lines_end(text, sizeof text), epoch == 1);
        if (epoch == 2)
            see_all(s, 0, 9, 1);
        pages_store_close(s);
        remove_files(help_folder(1));
    }
}

TEST(what_is_written_while_it_waits_belongs_to_the_next)
{
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 9, 2);
    expect_eq(pages_store_prepare(s, 2), 0);
    put_all(s, 3, 6, 3);
    expect_eq(pages_store_commit(s, 2), 0);
    see_all(s, 3, 6, 3);
    make_checkpoint(s, 10); /* numbers may have gaps */
    expect_eq(pages_store_close(s), 0);
    s = open_again(fast, 10, 10, true);
    expect_eq(pages_store_select(s, 10), 0);
    see_all(s, 0, 2, 2);
    see_all(s, 3, 6, 3);
    see_all(s, 7, 9, 2);
    pages_store_close(s);
    remove_files(help_folder(1));
}

TEST(a_store_gone_back_does_not_use_a_number_again)
{
    leave_half_done();
    struct store *s = open_again(fast, 2, 1, false);
    expect_eq(pages_store_select(s, 1), 0);
    put_all(s, 0, 4, 7);
    lines_begin();
    expect_eq(pages_store_prepare(s, 2), -EINVAL);
    expect_eq(lines_end(text, sizeof text), 1);
    make_checkpoint(s, 3);
    pages_store_close(s);
    s = open_again(fast, 3, 3, true);
    expect_eq(pages_store_select(s, 3), 0);
    see_all(s, 0, 4, 7);
    see_all(s, 5, 9, 1);
    pages_store_close(s);
    remove_files(help_folder(1));
}

TEST(calls_out_of_order_are_refused)
{
    struct store *s = open_new(fast);
    char *buffer = help_buffer(4096);
    memset(buffer, 0, 4096);
    lines_begin();
    expect_eq(pages_store_commit(s, 1), -EINVAL);
    expect_eq(pages_store_prepare(s, 0), -EINVAL);
    expect_eq(pages_store_select(s, 1), -EINVAL);
    expect_eq(pages_store_prepare(s, 1), 0);
    expect_eq(pages_store_prepare(s, 2), -EINVAL);
    expect_eq(pages_store_commit(s, 2), -EINVAL);
    expect_eq(pages_store_commit(s, 1), 0);
    expect_eq(pages_store_prepare(s, 1), -EINVAL);
    expect_eq(pages_store_submit(s, STORE_WRITE, 0, buffer, 0), 0);
    expect_eq(pages_store_prepare(s, 2), -EBUSY);
    pages_store_close(s);
    struct store_options o = help_options(fast, STORE_AGAIN);
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect_eq(help_see(s, 4096, 0, 0), -EINVAL); /* not before select */
    expect_eq(pages_store_prepare(s, 5), -EINVAL);
    pages_store_close(s);
    o.kind = STORE_TEMPORARY;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect_eq(pages_store_prepare(s, 1), -EINVAL);
    pages_store_close(s);
    expect_eq(lines_end(text, sizeof text), 9);
    remove_files(o.folder);
    free(buffer);
}

/* ---- refusals ---- */

static void expect_refused(const struct store_options *o, int error, const char *words) {
    struct store *s = NULL;
    struct store_found found;
    lines_begin();
    int err = pages_store_open(o, &s, &found);
    unsigned lines = lines_end(text, sizeof text);
    expect_eq(err, error);
    expect_eq(lines, words ? 1 : 0);
    expect(!words || strstr(text, words));
    if (words && !strstr(text, words))
        printf("said: %s", text);
    if (!err)
        pages_store_close(s);
}

static void make_good(void) {
    remove_files(help_folder(1));
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    make_checkpoint(s, 2);
    pages_store_close(s);
}

TEST(a_file_for_its_owner_alone)
{
    struct stat st;
    make_good();
    expect(!stat(path_of("segment.0"), &st));
    expect_eq(st.st_mode & 07777, 0600);
    struct store_options o = help_options(fast, STORE_NEW);
    expect_refused(&o, -EEXIST, "Remove it");
    o.kind = STORE_AGAIN;
    o.name = "other";
    expect_refused(&o, -ENOENT, NULL);
}

TEST(links_and_what_is_no_file_are_refused)
{
    struct store_options o = help_options(fast, STORE_AGAIN);
    make_good();
    expect(!symlink(path_of("segment.0"), path_of("link.0")));
    o.name = "link";
    expect_refused(&o, -ELOOP, "Links");
    o.kind = STORE_NEW;
    expect_refused(&o, -EEXIST, "link.0");
    o.kind = STORE_AGAIN;
    o.name = "pipe";
    expect(!mkfifo(path_of("pipe.0"), 0600));
    expect_refused(&o, -EPERM, "not a file");
    o.name = "folder";
    expect(!mkdir(path_of("folder.0"), 0700));
    expect_refused(&o, -EISDIR, "folder.0");
    expect(!rmdir(path_of("folder.0")));
}

TEST(one_job_at_a_time)
{
    make_good();
    struct store *s = open_again(fast, 2, 2, true);
    struct store_options o = help_options(fast, STORE_AGAIN);
    expect_refused(&o, -EBUSY, "another job");
    pages_store_close(s);
    s = open_again(fast, 2, 2, true);
    pages_store_close(s);
}

TEST(another_shape_is_refused)
{
    struct store_options good = help_options(fast, STORE_AGAIN), o = good;
    make_good();
    o.bytes += 4096;
    expect_refused(&o, -EINVAL, "266240 bytes");
    o = good;
    o.page_bytes *= 2;
    expect_refused(&o, -EINVAL, "pages of 8192");
    o = good;
    o.ranks = 2;
    expect_refused(&o, -EINVAL, "rank 0 of 2");
    expect(!rename(path_of("segment.0"), path_of("segment.1")));
    o.rank = 1;
    expect_refused(&o, -EINVAL, "rank 1 of 2");
}

TEST(one_without_a_checkpoint_is_refused)
{
    remove_files(help_folder(1));
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    pages_store_close(s);
    struct store_options o = help_options(fast, STORE_AGAIN);
    expect_refused(&o, -ENODATA, "without a checkpoint");
}

/* Changes a byte of both records if `both`, else of the newer one. */
static void change_record(bool both, size_t at, unsigned char with) {
    struct store_record r[2];
    int file = open(path_of("segment.0"), O_RDWR);
    for (int i = 0; i < 2; i++)
        expect_eq(pread(file, &r[i], sizeof r[i], i * RECORD_BYTES), sizeof r[i]);
    for (int i = 0; i < 2; i++)
        if (both || r[i].sequence > r[!i].sequence) {
            ((unsigned char *)&r[i])[at] ^= with;
            expect_eq(pwrite(file, &r[i], sizeof r[i], i * RECORD_BYTES), sizeof r[i]);
        }
    close(file);
}

TEST(damage_is_noticed)
{
    struct store_options o = help_options(fast, STORE_AGAIN);
    struct store *s;
    make_good();
    change_record(true, offsetof(struct store_record, version), 4);
    expect_refused(&o, -EPROTO, "another version");
    make_good();
    /* As if a program of another version had continued with the files: the older record must not be used. */
    change_record(false, offsetof(struct store_record, version), 4);
    expect_refused(&o, -EPROTO, "another version");
    make_good();
    change_record(true, offsetof(struct store_record, order), 1);
    expect_refused(&o, -EPROTO, "byte order");
    make_good();
    change_record(true, offsetof(struct store_record, magic), 1);
    expect_refused(&o, -EBADMSG, "not a segment");
    make_good();
    change_record(true, offsetof(struct store_record, committed), 1);
    expect_refused(&o, -EBADMSG, "damaged");
    make_good();
    change_record(false, offsetof(struct store_record, committed), 1); /* the previous record is used */
    s = open_again(fast, 2, 1, false);
    expect_eq(pages_store_select(s, 2), 0);
    see_all(s, 0, 9, 1);
    pages_store_close(s);
}

static void overwrite(uint64_t offset) {
    int file = open(path_of("segment.0"), O_RDWR);
    expect_eq(pwrite(file, "x", 1, (off_t)offset), 1);
    close(file);
}

/* Tables are behind the records, each a block for 64 pages. */
TEST(a_damaged_table_is_not_used)
{
    struct store_options o = help_options(fast, STORE_AGAIN);
    make_good();
    overwrite(2 * RECORD_BYTES);
    overwrite(3 * RECORD_BYTES);
    struct store *s = NULL;
    struct store_found found;
    lines_begin();
    expect_eq(pages_store_open(&o, &s, &found), -EBADMSG);
    expect_eq(lines_end(text, sizeof text), 3); /* a warning for each checkpoint, and the error */

    remove_files(o.folder);
    leave_half_done(); /* epoch 1 is in the first table, 2 in the second */
    overwrite(3 * RECORD_BYTES);
    lines_begin();
    s = open_again(fast, 1, 1, false);
    expect_eq(pages_store_select(s, 1), 0);
    expect_eq(lines_end(text, sizeof text), 1);
    see_all(s, 0, 9, 1);
    put_all(s, 0, 9, 5);
    make_checkpoint(s, 3);
    pages_store_close(s);
    s = open_again(fast, 3, 3, true);
    expect_eq(pages_store_select(s, 3), 0);
    see_all(s, 0, 9, 5);
    pages_store_close(s);
}

TEST(a_truncated_file_is_refused)
{
    static const off_t sizes[] = {0, 100, 4096, 8192, 20000, 40 * 4096};
    struct store_options o = help_options(fast, STORE_AGAIN);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_good();
        expect(!truncate(path_of("segment.0"), sizes[i]));
        expect_refused(&o, -EBADMSG, "truncated");
    }
    remove_files(o.folder);
}

TEST(wrong_options_are_refused)
{
    struct store_options good = help_options(fast, STORE_NEW), o = good;
    o.page_bytes = 2048;
    expect_refused(&o, -EINVAL, "power of two");
    o.page_bytes = 12288;
    expect_refused(&o, -EINVAL, "power of two");
    o.page_bytes = 8 << 20;
    expect_refused(&o, -EINVAL, "power of two");
    o = good;
    o.bytes = 0;
    expect_refused(&o, -EINVAL, "size");
    o.bytes = UINT64_MAX;
    expect_refused(&o, -EINVAL, "size");
    o = good;
    o.depth = 0;
    expect_refused(&o, -EINVAL, "requests");
    o = good;
    o.rank = 1;
    expect_refused(&o, -EINVAL, "rank");
    o = good;
    o.name = "../x";
    expect_refused(&o, -EINVAL, "slash");
    o.name = "";
    expect_refused(&o, -EINVAL, "empty");
    o = good;
    o.folder = "/nowhere";
    expect_refused(&o, -ENOTDIR, "/nowhere");
    fail_memory_at(1);
    expect_refused(&good, -ENOMEM, "no memory");
    fail_memory_at(0);
    expect_eq(count_entries(good.folder), 0);
}

/* Beyond that limit the first write would end the program by a signal. */
TEST(the_limit_on_file_sizes_is_seen_at_once)
{
    struct store_options o = help_options(fast, STORE_TEMPORARY);
    struct rlimit before, small = {1 << 16, 1 << 16};
    expect(!getrlimit(RLIMIT_FSIZE, &before));
    small.rlim_max = before.rlim_max;
    expect(!setrlimit(RLIMIT_FSIZE, &small));
    expect_refused(&o, -EFBIG, "ulimit -f");
    expect(!setrlimit(RLIMIT_FSIZE, &before));
}
