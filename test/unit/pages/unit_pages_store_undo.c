/* unit_pages_store_undo.c: tests that checkpoints which cannot be prepared are undone, whatever fails; that changed
 * data in the file is detected; and that an older checkpoint can be restored. */
#include "test.h"

#include "fail_store.h"
#include "store_epochs.h"

/* ---- a checkpoint that some rank could not prepare ---- */

TEST(an_abandoned_one_is_gone_and_its_number_with_it)
{
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 4, 2);
    expect_eq(pages_store_prepare(s, 2), 0);
    expect_eq(pages_store_abandon(s, 2), 0);
    expect_eq(pages_store_abandon(s, 2), 0); /* nothing is left to undo */
    expect_eq(pages_store_abandon(s, 1), 0); /* a committed one stays */
    lines_begin();
    expect_eq(pages_store_commit(s, 2), -EINVAL);
    expect_eq(pages_store_prepare(s, 2), -EINVAL);
    expect_eq(lines_end(text, sizeof text), 2);
    see_all(s, 0, 4, 2);
    put_all(s, 2, 6, 3);
    expect_eq(pages_store_close(s), 0);
    s = open_again(fast, 1, 1, false);
    expect_eq(pages_store_select(s, 1), 0);
    see_all(s, 0, 9, 1);
    make_checkpoint(s, 3);
    expect_eq(pages_store_close(s), 0);
    remove_files(help_folder(1));
}

/* Makes the n-th system call of prepare and its undo fail: the committed data remains available, and the checkpoint finally
 * succeeds. */
static unsigned fail_to_prepare(unsigned n, unsigned times, bool again) {
    struct store *s = open_new(fast);
    uint64_t epoch = 3;
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 4, 2);
    make_checkpoint(s, 2);
    put_all(s, 0, 9, 3);
    lines_begin();
    fail_store_at(n, times, ENOSPC);
    if (pages_store_prepare(s, epoch) == 0)
        expect_eq(pages_store_commit(s, epoch), 0);
    else
        (void)pages_store_abandon(s, epoch);
    unsigned failed = fail_store_at(0, 0, 0);
    lines_end(text, sizeof text);
    put_all(s, 3, 12, 4); /* overwrites nothing that may be restored */
    if (again)
        make_checkpoint(s, 5);
    see_all(s, 0, 2, 3);
    see_all(s, 3, 12, 4);
    expect_eq(pages_store_close(s), 0);
    return failed;
}

static unsigned fail_and_look(unsigned n, unsigned times, bool again) {
    unsigned failed = fail_to_prepare(n, times, again);
    struct store *s = NULL;
    struct store_options o = help_options(fast, STORE_AGAIN);
    struct store_found found = {0};
    expect_eq(pages_store_open(&o, &s, &found), 0);
    expect(again ? found.prepared == 5 : found.prepared == 2 || found.prepared == 3);
    expect_eq(pages_store_select(s, found.prepared), 0);
    see_all(s, 0, 2, again ? 3 : found.prepared);
    see_all(s, 3, 4, again ? 4 : found.prepared);
    see_all(s, 5, 9, again ? 4 : found.prepared == 3 ? 3 : 1);
    make_checkpoint(s, found.tried + 1);
    pages_store_close(s);
    remove_files(help_folder(1));
    return failed;
}

TEST(whatever_fails_in_preparing_leaves_the_last_one)
{
    for (unsigned times = 1; times < 4; times++)
        for (unsigned n = 1; fail_and_look(n, times, false) && !test_failures; n++)
            fail_and_look(n, times, true);
}

/* The write of the record fails, and so does the write that removes it: the next try begins with that. */
TEST(undoing_is_tried_again)
{
    struct store *s = open_new(fast);
    put_all(s, 0, 9, 1);
    make_checkpoint(s, 1);
    put_all(s, 0, 9, 2);
    lines_begin();
    fail_store_at(3, 0, ENOSPC); /* table, sync, record */
    expect_eq(pages_store_prepare(s, 2), -ENOSPC);
    expect_eq(pages_store_abandon(s, 2), -ENOSPC);
    expect_eq(pages_store_prepare(s, 3), -ENOSPC);
    fail_store_at(0, 0, 0);
    expect_eq(lines_end(text, sizeof text), 3);
    put_all(s, 0, 9, 3);
    make_checkpoint(s, 4);
    put_all(s, 0, 9, 5);
    expect_eq(pages_store_close(s), 0);
    s = open_again(fast, 4, 1, false);
    expect_eq(pages_store_select(s, 4), 0);
    see_all(s, 0, 9, 3);
    pages_store_close(s);
    remove_files(help_folder(1));
}

/* ---- changed data in the file ---- */

/* Flips a bit of each copy of the page that holds this version; returns the number of copies. */
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
    expect_eq(pages_store_close(s), 0);
    expect_eq(flip_bit(4, 2, 1000), 1);

    expect_eq(pages_store_open(&o, &s, &found), 0);
    expect_eq(found.older, 1);
    expect_eq(pages_store_select(s, 2), 0);
    see_all(s, 0, 2, 1);
    see_all(s, 3, 3, 2);
    lines_begin();
    expect_eq(help_see(s, 4096, 4, 2), -EBADMSG);
    expect_eq(help_see(s, 4096, 4, 2), -EBADMSG);
    expect_eq(lines_end(text, sizeof text), 1);
    expect(strstr(text, "segment.0") && strstr(text, "page 4") && strstr(text, "offset"));
    expect(strstr(text, "checkpoint 2") && strstr(text, "HEARTH_NVM_EPOCH=1"));
    pages_store_close(s);

    expect_eq(pages_store_open(&o, &s, &found), 0);
    expect_eq(pages_store_select(s, 1), 0);
    see_all(s, 0, 9, 1);
    pages_store_close(s);
}

/* A copy that both checkpoints share: none can be restored. A page that is damaged while it is in use is not part of
 * a checkpoint either. */
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
    pages_store_close(s);
}
