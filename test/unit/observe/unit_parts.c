/* unit_parts.c: tests the parts that ranks write of a report (observe/parts.h): names, what is removed, and what another user puts there. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/parts.h"

static char folder[64], report[96], parts[112], text[1 << 12];

static void start(void) {
    strcpy(folder, "/tmp/unit_parts.XXXXXX");
    expect(mkdtemp(folder) != NULL);
    snprintf(report, sizeof report, "%s/run.json", folder);
    snprintf(parts, sizeof parts, "%s.parts", report);
}

static void end(void) {
    expect_eq(rmdir(folder), 0); /* nothing else is left */
}

static struct parts part(int rank, uint64_t job) {
    struct parts p;
    expect(parts_open(&p, report, job, rank));
    return p;
}

static int write_text(struct parts *p, const char *what) {
    return parts_write(p, what, strlen(what));
}

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", parts, name);
    return path;
}

static const char *content(const char *name) {
    FILE *file = fopen(in_folder(name), "r");
    if (!file)
        return "";
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void make_file(const char *name) {
    FILE *file = fopen(name, "w");
    expect(file != NULL);
    fclose(file);
}

TEST(each_rank_replaces_its_own_part)
{
    start();
    struct parts p0 = part(0, 7), p1 = part(1, 7);
    expect(access(parts, F_OK)); /* made by the first part */
    expect_eq(write_text(&p0, "zero"), 0);
    expect_eq(write_text(&p1, "one"), 0);
    expect_eq(write_text(&p0, "again"), 0);
    expect(!strcmp(content("0.7"), "again"));
    expect(!strcmp(content("1.7"), "one"));
    parts_remove(&p0);
    expect(!strcmp(content("1.7"), "one"));
    parts_remove(&p1);
    end();
}

TEST(the_first_reason_counts)
{
    start();
    struct parts p0 = part(0, 7), p1 = part(1, 7), p2 = part(2, 7);
    parts_end(&p0, "nobody has written a part");
    expect(access(parts, F_OK));
    expect_eq(write_text(&p0, "zero"), 0);
    parts_end(&p2, "first"); /* of a rank without a part */
    parts_end(&p0, "second");
    expect(!strcmp(content("ended.7"), "first"));
    parts_remove(&p1);
    parts_remove(&p2);
    parts_remove(&p0);
    end();
}

TEST(nothing_returns_after_the_end)
{
    start();
    struct parts p0 = part(0, 7), p1 = part(1, 7);
    expect_eq(write_text(&p0, "zero"), 0);
    expect_eq(write_text(&p1, "one"), 0);
    expect_eq(unlink(in_folder("0.7")), 0); /* as a user, or a job that follows */
    expect_eq(unlink(in_folder("1.7")), 0);
    expect_eq(rmdir(parts), 0);
    expect(write_text(&p0, "late") < 0);
    parts_end(&p1, "late");
    expect(access(parts, F_OK));
    expect_eq(mkdir(parts, 0755), 0); /* of another job */
    close(p0.folder);
    expect_eq(write_text(&p0, "late"), -ESTALE);
    expect_eq(rmdir(parts), 0);
    parts_remove(&p1);
    end();
}

TEST(a_descriptor_that_the_program_closed_is_opened_again)
{
    start();
    struct parts p = part(0, 7);
    expect_eq(write_text(&p, "one"), 0);
    close(p.folder);
    expect_eq(write_text(&p, "two"), 0);
    close(p.folder);
    expect_eq(open(folder, O_RDONLY | O_DIRECTORY), p.folder); /* the program's own */
    int own = p.folder;
    expect_eq(write_text(&p, "three"), 0);
    expect(p.folder != own);
    expect(!strcmp(content("0.7"), "three"));
    parts_remove(&p);
    expect_eq(close(own), 0);
    end();
}

TEST(only_parts_of_earlier_jobs_are_removed)
{
    static const char *const kept[] = {"thesis.tex", "0.7",     "1.7.new", "ended.7",
                                       "2.x",        "0.6.old", ".6",      "ended"};
    static const char *const gone[] = {"0.6", "12.6.new", "ended.6"};
    start();
    expect_eq(mkdir(parts, 0777), 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        make_file(in_folder(kept[i]));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        make_file(in_folder(gone[i]));
    struct parts other = part(1, 7);
    expect(!access(in_folder("0.6"), F_OK)); /* rank 0 removes them */
    struct parts p = part(0, 7);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        expect(access(in_folder(gone[i]), F_OK) != 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i], "0.7") && strcmp(kept[i], "ended.7")) /* this job's own */
            expect_eq(unlink(in_folder(kept[i])), 0);
    parts_remove(&other);
    parts_remove(&p);
    end();
}

TEST(a_link_in_place_of_the_folder_is_not_followed)
{
    char elsewhere[128], name[160];
    struct parts p;
    start();
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    expect_eq(mkdir(elsewhere, 0777), 0);
    snprintf(name, sizeof name, "%s/0.6", elsewhere);
    make_file(name);
    expect_eq(symlink(elsewhere, parts), 0);
    expect(!parts_open(&p, report, 7, 0));
    expect_eq(unlink(name), 0); /* it is still there */
    expect_eq(rmdir(elsewhere), 0);
    expect_eq(unlink(parts), 0);
    end();
}

/* A folder that somebody else makes between the start of the job and its first part: it needs a second user. */
TEST(a_folder_of_somebody_else_is_not_used)
{
    enum { NOBODY = 65534 };
    start();
    struct parts p = part(1, 7);
    struct stat st;
    expect_eq(mkdir(parts, 0777), 0);
    if (!chown(parts, NOBODY, NOBODY) && !stat(parts, &st) && st.st_uid == NOBODY) {
        expect_eq(write_text(&p, "one"), -EPERM);
        expect(access(in_folder("1.7"), F_OK));
        expect(!parts_open(&p, report, 7, 1));
    }
    parts_remove(&p);
    expect_eq(rmdir(parts), 0);
    end();
}

TEST(a_draft_is_a_new_file)
{
    char other[160];
    struct stat st;
    start();
    struct parts p = part(0, 7);
    expect_eq(mkdir(parts, 0777), 0);
    snprintf(other, sizeof other, "%s/other", folder);
    FILE *file = fopen(other, "w");
    fputs("kept", file);
    fclose(file);
    expect_eq(link(other, in_folder("0.7.new")), 0);
    expect_eq(write_text(&p, "{}"), 0);
    expect(!stat(other, &st) && st.st_size == 4);
    unlink(other);
    parts_remove(&p);
    end();
}

TEST(a_report_that_cannot_be_replaced_has_no_parts)
{
    struct parts p;
    expect(!parts_open(&p, "/dev/null", 7, 0));
    expect(!parts_open(&p, "/tmp", 7, 0));
}

TEST(permissions_follow_the_umask_and_others_may_not_write)
{
    start();
    struct stat st;
    mode_t before = umask(0);
    struct parts p = part(0, 7);
    expect_eq(write_text(&p, "{}"), 0);
    expect(!stat(parts, &st) && (st.st_mode & 0777) == 0755);
    umask(027);
    expect_eq(write_text(&p, "{}"), 0);
    umask(before);
    expect(!stat(in_folder("0.7"), &st) && (st.st_mode & 0777) == 0640);
    parts_remove(&p);
    end();
}
