/* unit_parts.c: tests reports in parts: how their members are merged, and the claim of the last report. */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

static char folder[64] = "/tmp/unit_parts.XXXXXX", path[96];
static char text[1 << 16];

static void start(const char *name) {
    strcpy(folder, "/tmp/unit_parts.XXXXXX");
    expect(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

static void end(void) {
    unlink(path);
    expect_eq(rmdir(folder), 0); /* nothing else is left */
}

static const char *content(void) {
    FILE *file = fopen(path, "r");
    if (!file)
        return "";
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static struct parts part(int rank, uint64_t job) {
    struct parts p;
    expect(parts_open(&p, path, job, rank, 3));
    return p;
}

static int write_text(struct parts *p, const char *what) {
    return parts_write(p, what, strlen(what));
}

TEST(lists_are_joined_in_the_order_of_ranks_and_the_rest_is_of_the_lowest)
{
    start("run.json");
    struct parts p2 = part(2, 7), p1 = part(1, 7);
    expect_eq(write_text(&p2, "{\n  \"a\": 2,\n  \"list\": [\n    {\n      \"x\": \"]},\\\"\"\n    }\n  ],\n "
                              " \"none\": []\n}\n"),
              0);
    expect_eq(write_text(&p1, "{\n  \"a\": {\n    \"b\": [1, 2]\n  },\n  \"list\": [\n    1,\n    2\n  ],\n  "
                              "\"none\": []\n}\n"),
              0);
    expect_eq(parts_merge(&p1, "it is a test", false), 0);
    expect(!strcmp(content(), "{\n  \"partial\": \"it is a test\",\n  \"a\": {\n    \"b\": [1, 2]\n  },\n  "
                              "\"list\": [\n    1,\n    2,\n"
                              "    {\n      \"x\": \"]},\\\"\"\n    }\n  ],\n  \"none\": [\n  ]\n}\n"));
    parts_remove_own(&p1);
    parts_remove_own(&p2);
    end();
}

TEST(texts_follow_each_other)
{
    start("run.txt");
    struct parts p0 = part(0, 7), p1 = part(1, 7);
    expect_eq(write_text(&p1, "one\n"), 0);
    expect_eq(write_text(&p0, "zero\n"), 0);
    expect_eq(parts_merge(&p0, "why", false), 0);
    expect(!strcmp(content(), "hearth: this report is partial: why\nzero\none\n"));
    parts_remove_all(&p0);
    end();
}

TEST(the_first_rank_that_ends_writes_the_last_report)
{
    start("run.json");
    struct parts p0 = part(0, 7), p1 = part(1, 7), p2 = part(2, 7);
    expect(!parts_claim(&p0)); /* there is no part */
    expect_eq(write_text(&p0, "{\n  \"a\": 0\n}\n"), 0);
    expect_eq(write_text(&p1, "{\n  \"a\": 1\n}\n"), 0);
    expect(parts_claim(&p1));
    expect(!parts_claim(&p0));
    expect_eq(parts_merge(&p1, "last", true), 0);
    expect_eq(parts_merge(&p0, "later", false), -ECANCELED);
    expect_eq(write_text(&p0, "{\n  \"a\": 3\n}\n"), -ECANCELED);
    parts_remove_all(&p1);
    expect(!parts_claim(&p0));
    expect_eq(write_text(&p0, "{\n  \"a\": 3\n}\n"), -ECANCELED);
    expect(!parts_claim(&p2));
    expect(!strcmp(content(), "{\n  \"partial\": \"last\",\n  \"a\": 0\n}\n"));
    end();
}

TEST(parts_of_earlier_jobs_are_not_merged)
{
    start("run.json");
    struct parts old = part(1, 6), p1 = part(1, 7);
    expect_eq(write_text(&old, "{\n  \"list\": [\n    1\n  ]\n}\n"), 0);
    struct parts p0 = part(0, 7); /* removes them */
    expect_eq(write_text(&p0, "{\n  \"list\": [\n    0\n  ]\n}\n"), 0);
    expect_eq(write_text(&p1, "{\n  \"list\": [\n    7\n  ]\n}\n"), 0);
    expect_eq(parts_merge(&p0, "why", false), 0);
    expect(!strcmp(content(), "{\n  \"partial\": \"why\",\n  \"list\": [\n    0,\n    7\n  ]\n}\n"));
    parts_remove_all(&p0);
    end();
}

static void make_file(const char *name) {
    FILE *file = fopen(name, "w");
    expect(file != NULL);
    fclose(file);
}

TEST(only_parts_of_earlier_jobs_are_removed)
{
    static const char *const kept[] = {"thesis.tex", "0.7", "1.7.new", "ended.7", "2.x", "0.6.old", ".6"};
    char parts[128], name[160];
    start("run.json");
    snprintf(parts, sizeof parts, "%s.parts", path);
    expect_eq(mkdir(parts, 0777), 0);
    static const char *const gone[] = {"0.6", "12.6.new", "ended.6"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(name, sizeof name, "%s/%s", parts, kept[i]);
        make_file(name);
    }
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        snprintf(name, sizeof name, "%s/%s", parts, gone[i]);
        make_file(name);
    }
    part(0, 7);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        snprintf(name, sizeof name, "%s/%s", parts, gone[i]);
        expect(access(name, F_OK) != 0);
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(name, sizeof name, "%s/%s", parts, kept[i]);
        expect_eq(unlink(name), 0);
    }
    expect_eq(rmdir(parts), 0);
    end();
}

TEST(a_link_in_place_of_the_folder_is_not_followed)
{
    char parts[128], elsewhere[128], name[160];
    struct parts p;
    start("run.json");
    snprintf(parts, sizeof parts, "%s.parts", path);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    expect_eq(mkdir(elsewhere, 0777), 0);
    snprintf(name, sizeof name, "%s/0.6", elsewhere);
    make_file(name);
    expect_eq(symlink(elsewhere, parts), 0);
    expect(!parts_open(&p, path, 7, 0, 3));
    expect_eq(unlink(name), 0); /* it is still there */
    expect_eq(rmdir(elsewhere), 0);
    expect_eq(unlink(parts), 0);
    end();
}

TEST(a_draft_is_a_new_file)
{
    char other[160], draft[160];
    struct stat st;
    start("run.json");
    struct parts p = part(0, 7);
    snprintf(draft, sizeof draft, "%s.parts", path);
    expect_eq(mkdir(draft, 0777), 0);
    snprintf(draft, sizeof draft, "%s.parts/0.7.new", path);
    snprintf(other, sizeof other, "%s/other", folder);
    FILE *file = fopen(other, "w");
    fputs("kept", file);
    fclose(file);
    expect_eq(link(other, draft), 0);
    expect_eq(write_text(&p, "{}"), 0);
    expect(!stat(other, &st) && st.st_size == 4);
    unlink(other);
    parts_remove_all(&p);
    end();
}

TEST(a_report_that_cannot_be_replaced_has_no_parts)
{
    struct parts p;
    expect(!parts_open(&p, "/dev/null", 7, 0, 3));
    expect(!parts_open(&p, "/tmp", 7, 0, 3));
}

TEST(permissions_follow_the_umask)
{
    start("run.json");
    struct stat st;
    mode_t before = umask(027);
    struct parts p0 = part(0, 7);
    expect_eq(write_text(&p0, "{\n  \"a\": 0\n}\n"), 0);
    expect_eq(parts_merge(&p0, "why", false), 0);
    umask(before);
    expect(!stat(path, &st) && (st.st_mode & 0777) == 0640);
    parts_remove_all(&p0);
    end();
}
