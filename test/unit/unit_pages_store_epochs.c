/* unit_pages_store_epochs.c: checkpoints are found again, and what is not as it should be is refused with one line. */
#include "test.h"

#include <sys/resource.h>

#include "pages/store_record.h"
#include "store_help.h"

static char text[8192];

static const struct help_way *fast = &help_ways[5]; /* memory, threads */

/* ---- checkpoints ---- */

static struct store *open_new(const struct help_way *way) {
    struct store_options o = help_options(way, STORE_NEW);
    struct store *s = NULL;
    expect_eq(store_open(&o, &s, NULL), 0);
    return s;
}

static struct store *open_again(const struct help_way *way, uint64_t prepared, uint64_t committed,
                                bool clean) {
    struct store_options o = help_options(way, STORE_AGAIN);
    struct store *s = NULL;
    struct store_found found = {0};
    expect_eq(store_open(&o, &s, &found), 0);
    expect_eq(found.prepared, prepared);
    expect_eq(found.committed, committed);
    expect_eq(found.identity, 77);
    expect_eq(found.clean, clean);
    return s;
}

static void put_all(struct store *s, uint64_t first, uint64_t last, uint64_t version) {
    for (uint64_t page = first; page <= last; page++)
        expect_eq(help_put(s, 4096, page, version), 0);
}

static void see_all(struct store *s, uint64_t first, uint64_t last, uint64_t version) {
    for (uint64_t page = first; page <= last; page++)
        expect_eq(help_see(s, 4096, page, version), 0);
}

static void make_checkpoint(struct store *s, uint64_t epoch) {
    expect_eq(store_prepare(s, epoch), 0);
    expect_eq(store_commit(s, epoch), 0);
}

static void checkpoint_by(const struct help_way *way) {
    struct store *s = open_new(way);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 5, 14, 2);
    see_all(s, 0, 4, 1);
    see_all(s, 5, 14, 2);
    make_checkpoint(s, 2);
    expect_eq(store_close(s), 0);

    s = open_again(way, 2, 2, true);
    expect_eq(store_select(s, 2), 0);
    see_all(s, 0, 4, 1);
    see_all(s, 5, 14, 2);
    see_all(s, 15, 63, 0);
    put_all(s, 0, 63, 3);
    expect_eq(store_close(s), 0);

    s = open_again(way, 2, 2, false); /* what came after it is gone */
    expect_eq(store_select(s, 2), 0);
    see_all(s, 0, 4, 1);
    see_all(s, 5, 14, 2);
    see_all(s, 15, 63, 0);
    expect_eq(store_close(s), 0);
    remove_files(help_folder(way->folder));
}

TEST(checkpoints_are_found_again_by_all_ways)
{
    for (int i = 0; i < HELP_WAYS; i++)
        if (help_can(&help_ways[i]))
            checkpoint_by(&help_ways[i]);
}

/* One that is prepared but not committed: both can be had, and what is written meanwhile touches neither. */
static void leave_half_done(void) {
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 9, 2);
    expect_eq(store_prepare(s, 2), 0);
    put_all(s, 0, 9, 3);
    see_all(s, 0, 9, 3);
    put_all(s, 0, 9, 4);
    see_all(s, 0, 9, 4);
    expect_eq(store_close(s), 0);
}

TEST(the_one_before_is_kept_until_the_commit)
{
    for (uint64_t epoch = 1; epoch <= 2; epoch++) {
        leave_half_done();
        struct store *s = open_again(fast, 2, 1, false);
        expect_eq(store_select(s, epoch), 0);
        see_all(s, 0, 9, epoch);
        store_close(s);
        s = open_again(fast, epoch, epoch, true);
        lines_begin();
        if (epoch == 1) /* a newer one is given up for good, an older one is not */
            expect_eq(store_select(s, 2), -ESTALE);
        else
            expect_eq(store_select(s, 1), 0);
        expect_eq(lines_end(text, sizeof text), epoch == 1);
        if (epoch == 2)
            see_all(s, 0, 9, 1);
        store_close(s);
        remove_files(help_folder(1));
    }
}

TEST(what_is_written_while_it_waits_belongs_to_the_next)
{
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 9, 2);
    expect_eq(store_prepare(s, 2), 0);
    put_all(s, 3, 6, 3);
    expect_eq(store_commit(s, 2), 0);
    see_all(s, 3, 6, 3);
    make_checkpoint(s, 10); /* numbers may jump */
    expect_eq(store_close(s), 0);
    s = open_again(fast, 10, 10, true);
    expect_eq(store_select(s, 10), 0);
    see_all(s, 0, 2, 2);
    see_all(s, 3, 6, 3);
    see_all(s, 7, 9, 2);
    store_close(s);
    remove_files(help_folder(1));
}

TEST(a_store_gone_back_does_not_use_a_number_again)
{
    leave_half_done();
    struct store *s = open_again(fast, 2, 1, false);
    expect_eq(store_select(s, 1), 0);
    put_all(s, 0, 4, 7);
    lines_begin();
    expect_eq(store_prepare(s, 2), -EINVAL);
    expect_eq(lines_end(text, sizeof text), 1);
    make_checkpoint(s, 3);
    store_close(s);
    s = open_again(fast, 3, 3, true);
    expect_eq(store_select(s, 3), 0);
    see_all(s, 0, 4, 7);
    see_all(s, 5, 9, 1);
    store_close(s);
    remove_files(help_folder(1));
}

/* ---- one that some rank could not prepare ---- */

TEST(an_abandoned_one_is_gone_and_its_number_with_it)
{
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 4, 2);
    expect_eq(store_prepare(s, 2), 0);
    expect_eq(store_abandon(s, 2), 0);
    expect_eq(store_abandon(s, 2), 0); /* nothing is left to be undone */
    expect_eq(store_abandon(s, 1), 0); /* one that is committed stays */
    lines_begin();
    expect_eq(store_commit(s, 2), -EINVAL);
    expect_eq(store_prepare(s, 2), -EINVAL);
    expect_eq(lines_end(text, sizeof text), 2);
    see_all(s, 0, 4, 2);
    put_all(s, 2, 6, 3);
    expect_eq(store_close(s), 0);
    s = open_again(fast, 1, 1, false);
    expect_eq(store_select(s, 1), 0);
    see_all(s, 0, 9, 1);
    make_checkpoint(s, 3);
    expect_eq(store_close(s), 0);
    remove_files(help_folder(1));
}

/* Each request of preparing, and of undoing it, fails: what was committed can be had, and it is made in the end. */
static unsigned fail_to_prepare(unsigned n, unsigned times, bool again) {
    struct store *s = open_new(fast);
    uint64_t epoch = 3;
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 4, 2);
    make_checkpoint(s, 2);
    put_all(s, 0, 9, 3);
    lines_begin();
    store_fail_at(n, times, ENOSPC);
    if (store_prepare(s, epoch) == 0)
        expect_eq(store_commit(s, epoch), 0);
    else
        (void)store_abandon(s, epoch);
    unsigned failed = store_fail_at(0, 0, 0);
    lines_end(text, sizeof text);
    put_all(s, 3, 12, 4); /* over nothing that may be gone back to */
    if (again)
        make_checkpoint(s, 5);
    see_all(s, 0, 2, 3);
    see_all(s, 3, 12, 4);
    expect_eq(store_close(s), 0);
    return failed;
}

static unsigned fail_and_look(unsigned n, unsigned times, bool again) {
    unsigned failed = fail_to_prepare(n, times, again);
    struct store *s = NULL;
    struct store_options o = help_options(fast, STORE_AGAIN);
    struct store_found found = {0};
    expect_eq(store_open(&o, &s, &found), 0);
    expect(again ? found.prepared == 5 : found.prepared == 2 || found.prepared == 3);
    expect_eq(store_select(s, found.prepared), 0);
    see_all(s, 0, 2, again ? 3 : found.prepared);
    see_all(s, 3, 4, again ? 4 : found.prepared);
    see_all(s, 5, 9, again ? 4 : found.prepared == 3 ? 3 : 1);
    make_checkpoint(s, found.tried + 1);
    store_close(s);
    remove_files(help_folder(1));
    return failed;
}

TEST(whatever_fails_in_preparing_leaves_the_last_one)
{
    for (unsigned times = 1; times < 4; times++)
        for (unsigned n = 1; fail_and_look(n, times, false) && !test_failures; n++)
            fail_and_look(n, times, true);
}

/* The write of the record fails, and that of the one without it: the next try begins with that. */
TEST(undoing_is_tried_again)
{
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 9, 2);
    lines_begin();
    store_fail_at(3, 0, ENOSPC); /* table, sync, record */
    expect_eq(store_prepare(s, 2), -ENOSPC);
    expect_eq(store_abandon(s, 2), -ENOSPC);
    expect_eq(store_prepare(s, 3), -ENOSPC);
    store_fail_at(0, 0, 0);
    expect_eq(lines_end(text, sizeof text), 3);
    put_all(s, 0, 9, 3);
    make_checkpoint(s, 4);
    put_all(s, 0, 9, 5);
    expect_eq(store_close(s), 0);
    s = open_again(fast, 4, 1, false);
    expect_eq(store_select(s, 4), 0);
    see_all(s, 0, 9, 3);
    store_close(s);
    remove_files(help_folder(1));
}

TEST(calls_out_of_order_are_refused)
{
    struct store *s = open_new(fast);
    char *buffer = help_buffer(4096);
    memset(buffer, 0, 4096);
    lines_begin();
    expect_eq(store_commit(s, 1), -EINVAL);
    expect_eq(store_prepare(s, 0), -EINVAL);
    expect_eq(store_select(s, 1), -EINVAL);
    expect_eq(store_prepare(s, 1), 0);
    expect_eq(store_prepare(s, 2), -EINVAL);
    expect_eq(store_commit(s, 2), -EINVAL);
    expect_eq(store_commit(s, 1), 0);
    expect_eq(store_prepare(s, 1), -EINVAL);
    expect_eq(store_submit(s, STORE_WRITE, 0, buffer, 0), 0);
    expect_eq(store_prepare(s, 2), -EBUSY);
    store_close(s);
    struct store_options o = help_options(fast, STORE_AGAIN);
    expect_eq(store_open(&o, &s, NULL), 0);
    expect_eq(help_see(s, 4096, 0, 0), -EINVAL); /* not before select */
    expect_eq(store_prepare(s, 5), -EINVAL);
    store_close(s);
    o.kind = STORE_TEMPORARY;
    expect_eq(store_open(&o, &s, NULL), 0);
    expect_eq(store_prepare(s, 1), -EINVAL);
    store_close(s);
    expect_eq(lines_end(text, sizeof text), 9);
    remove_files(o.folder);
    free(buffer);
}

/* ---- refused ---- */

static void expect_refused(const struct store_options *o, int error, const char *words) {
    struct store *s = NULL;
    struct store_found found;
    lines_begin();
    int err = store_open(o, &s, &found);
    unsigned lines = lines_end(text, sizeof text);
    expect_eq(err, error);
    expect_eq(lines, words ? 1 : 0);
    expect(!words || strstr(text, words));
    if (words && !strstr(text, words))
        printf("said: %s", text);
    if (!err)
        store_close(s);
}

/* Good until the next but one. */
static const char *path_of(const char *name) {
    static char paths[2][512];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", help_folder(1), name);
    return paths[turn];
}

static void make_good(void) {
    remove_files(help_folder(1));
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    make_checkpoint(s, 2);
    store_close(s);
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
    store_close(s);
    s = open_again(fast, 2, 2, true);
    store_close(s);
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
    store_close(s);
    struct store_options o = help_options(fast, STORE_AGAIN);
    expect_refused(&o, -ENODATA, "without a checkpoint");
}

/* Of both records if `both`, else of the newer one. */
static void change_record(bool both, size_t at, unsigned char with) {
    struct record r[2];
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
    change_record(true, offsetof(struct record, version), 4);
    expect_refused(&o, -EPROTO, "another version");
    make_good();
    change_record(false, offsetof(struct record, version), 4); /* has gone on with it: the other one is old */
    expect_refused(&o, -EPROTO, "another version");
    make_good();
    change_record(true, offsetof(struct record, order), 1);
    expect_refused(&o, -EPROTO, "byte order");
    make_good();
    change_record(true, offsetof(struct record, magic), 1);
    expect_refused(&o, -EBADMSG, "not a segment");
    make_good();
    change_record(true, offsetof(struct record, committed), 1);
    expect_refused(&o, -EBADMSG, "damaged");
    make_good();
    change_record(false, offsetof(struct record, committed), 1); /* then the one before counts */
    s = open_again(fast, 2, 1, false);
    expect_eq(store_select(s, 2), 0);
    see_all(s, 0, 9, 1);
    store_close(s);
}

static void overwrite(uint64_t offset) {
    int file = open(path_of("segment.0"), O_RDWR);
    expect_eq(pwrite(file, "x", 1, (off_t)offset), 1);
    close(file);
}

/* Tables lie behind the records, each a block for 64 pages. */
TEST(a_damaged_table_is_not_used)
{
    struct store_options o = help_options(fast, STORE_AGAIN);
    make_good();
    overwrite(2 * RECORD_BYTES);
    overwrite(3 * RECORD_BYTES);
    struct store *s = NULL;
    struct store_found found;
    lines_begin();
    expect_eq(store_open(&o, &s, &found), -EBADMSG);
    expect_eq(lines_end(text, sizeof text), 3); /* warnings say which */

    remove_files(o.folder);
    leave_half_done(); /* 1 in the first, 2 in the second */
    overwrite(3 * RECORD_BYTES);
    lines_begin();
    s = open_again(fast, 1, 1, false);
    expect_eq(store_select(s, 1), 0);
    expect_eq(lines_end(text, sizeof text), 1);
    see_all(s, 0, 9, 1);
    put_all(s, 0, 9, 5);
    make_checkpoint(s, 3);
    store_close(s);
    s = open_again(fast, 3, 3, true);
    expect_eq(store_select(s, 3), 0);
    see_all(s, 0, 9, 5);
    store_close(s);
}

/* ---- data that has changed in the file ---- */

/* Flips a bit of each copy of the page that holds this version; how many there were. */
static unsigned flip_bit(uint64_t page, uint64_t version, size_t at) {
    static _Alignas(8) char wanted[4096], found[4096];
    struct stat st;
    unsigned flipped = 0;
    int file = open(path_of("segment.0"), O_RDWR);
    help_fill(wanted, sizeof wanted, page, version);
    expect(!fstat(file, &st));
    for (off_t place = 0; place < st.st_size; place += 4096) {
        expect_eq(pread(file, found, sizeof found, place), sizeof found);
        if (memcmp(found, wanted, sizeof found))
            continue;
        found[at] ^= 4;
        expect_eq(pwrite(file, found, sizeof found, place), sizeof found);
        flipped++;
    }
    close(file);
    return flipped;
}

TEST(a_flipped_bit_is_found_and_the_older_one_is_offered)
{
    struct store_options o = help_options(fast, STORE_AGAIN);
    struct store *s;
    struct store_found found;
    remove_files(o.folder);
    s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 3, 5, 2);
    make_checkpoint(s, 2);
    expect_eq(store_close(s), 0);
    expect_eq(flip_bit(4, 2, 1000), 1);

    expect_eq(store_open(&o, &s, &found), 0);
    expect_eq(found.older, 1);
    expect_eq(store_select(s, 2), 0);
    see_all(s, 0, 2, 1);
    see_all(s, 3, 3, 2);
    lines_begin();
    expect_eq(help_see(s, 4096, 4, 2), -EBADMSG);
    expect_eq(help_see(s, 4096, 4, 2), -EBADMSG);
    expect_eq(lines_end(text, sizeof text), 1);
    expect(strstr(text, "segment.0") && strstr(text, "page 4") && strstr(text, "offset"));
    expect(strstr(text, "checkpoint 2") && strstr(text, "HEARTH_NVM_EPOCH=1"));
    store_close(s);

    expect_eq(store_open(&o, &s, &found), 0);
    expect_eq(store_select(s, 1), 0);
    see_all(s, 0, 9, 1);
    store_close(s);
}

/* A copy that both have: nothing is offered. One that is damaged while it is in use is no part of a checkpoint either. */
TEST(a_flipped_bit_in_all_there_is)
{
    struct store *s;
    remove_files(help_folder(1));
    s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 3, 5, 2);
    expect_eq(flip_bit(1, 1, 0), 1);
    expect_eq(flip_bit(4, 2, 4095), 1);
    lines_begin();
    expect_eq(help_see(s, 4096, 1, 1), -EBADMSG);
    expect_eq(lines_end(text, sizeof text), 1);
    expect(strstr(text, "checkpoint 1") && strstr(text, "from a copy"));
    expect_eq(help_see(s, 4096, 4, 2), -EBADMSG);
    expect_eq(help_put(s, 4096, 4, 3), 0);
    see_all(s, 4, 4, 3);
    store_close(s);
}

TEST(a_truncated_file_is_refused)
{
    static const off_t sizes[] = {0, 100, 4096, 8192, 20000, 40 * 4096};
    struct store_options o = help_options(fast, STORE_AGAIN);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_good();
        expect(!truncate(path_of("segment.0"), sizes[i]));
        expect_refused(&o, -EBADMSG, "cut short");
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
    memory_fail_at(1);
    expect_refused(&good, -ENOMEM, "no memory");
    memory_fail_at(0);
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
