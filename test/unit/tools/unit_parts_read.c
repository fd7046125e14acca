/* unit_parts_read.c: tests how `hearth report` merges the parts of ranks, and which of several jobs and users it reads. */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/parts.h"
#include "report/read/parts_merge.h"
#include "report/read/parts_read.h"

static char folder[64], report[96];

static void start(void) {
    strcpy(folder, "/tmp/unit_parts.XXXXXX");
    expect(mkdtemp(folder) != NULL);
    snprintf(report, sizeof report, "%s/run.json", folder);
}

static void end(void) {
    expect_eq(rmdir(folder), 0);
}

static struct parts part(int rank, uint64_t job, const char *text) {
    struct parts p;
    expect(parts_open(&p, report, job, rank));
    expect_eq(parts_write(&p, text, strlen(text)), 0);
    return p;
}

/* Sets the time of a file to this many seconds ago. */
static void age(const char *name, time_t seconds) {
    char path[160];
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    times[0] = times[1] = (struct timespec){.tv_sec = now.tv_sec - seconds};
    snprintf(path, sizeof path, "%s%s", report, name);
    expect_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool reads(const char *expected) {
    size_t length = 0;
    char *text = parts_read(report, &length);
    bool is_same = expected ? text && length == strlen(expected) && !strcmp(text, expected) : !text;
    if (!is_same)
        fprintf(stderr, "read: %s\n", text ? text : "nothing");
    free(text);
    return is_same;
}

TEST(lists_are_joined_in_the_order_of_ranks_and_the_rest_is_of_the_lowest)
{
    start();
    struct parts p10 = part(
        10, 7,
        "{\n  \"a\": 2,\n  \"list\": [\n    {\n      \"x\": \"]},\\\"\"\n    }\n  ],\n  \"none\": []\n}\n");
    struct parts p9 = part(9, 7,
                           "{\n  \"partial\": \"so far\",\n  \"a\": {\n    \"b\": [1, 2]\n  },\n  \"list\": "
                           "[\n    1,\n    2\n  ],\n  \"none\": []\n}\n");
    expect(reads(
        "{\n  \"partial\": \"so far\",\n  \"a\": {\n    \"b\": [1, 2]\n  },\n  \"list\": [\n    1,\n    2,\n"
        "    {\n      \"x\": \"]},\\\"\"\n    }\n  ],\n  \"none\": [\n  ]\n}\n"));
    parts_end(&p10, "rank \"10\" ended\\");
    expect(reads("{\n  \"partial\": \"rank 10 ended\",\n  \"a\": {\n    \"b\": [1, 2]\n  },\n  \"list\": [\n "
                 "   1,\n    2,\n"
                 "    {\n      \"x\": \"]},\\\"\"\n    }\n  ],\n  \"none\": [\n  ]\n}\n"));
    parts_remove(&p9);
    parts_remove(&p10);
    expect(reads(NULL));
    end();
}

TEST(the_newest_job_counts)
{
    start();
    struct parts old = part(1, 9, "{\n  \"list\": [\n    1\n  ]\n}\n");
    age(".parts/1.9", 100);
    struct parts p2 = part(2, 7, "{\n  \"list\": [\n    2\n  ]\n}\n"),
                 p3 = part(3, 7, "{\n  \"list\": [\n    3\n  ]\n}\n");
    age(".parts/2.7", 50);
    expect(reads("{\n  \"list\": [\n    2,\n    3\n  ]\n}\n"));
    parts_remove(&old);
    parts_remove(&p2);
    parts_remove(&p3);
    end();
}

TEST(a_report_that_is_newer_counts)
{
    start();
    struct parts p = part(0, 7, "{\n  \"a\": 1\n}\n");
    FILE *file = fopen(report, "w");
    expect(file != NULL);
    fclose(file);
    age(".parts/0.7", 10);
    expect(reads(NULL));
    age("", 20); /* of an earlier job */
    expect(reads("{\n  \"a\": 1\n}\n"));
    if (!chown(report, 65534, 65534)) /* of another user: the parts are not of that job */
        expect(reads(NULL));
    parts_remove(&p);
    expect_eq(unlink(report), 0);
    end();
}

TEST(drafts_empty_files_and_links_are_left_out)
{
    char name[160], target[160];
    start();
    struct parts p = part(0, 7, "{\n  \"list\": [\n    0\n  ]\n}\n");
    snprintf(target, sizeof target, "%s.parts/0.7", report);
    for (int i = 1; i <= 3; i++) {
        snprintf(name, sizeof name, "%s.parts/%d.7%s", report, i, i == 1 ? ".new" : "");
        if (i == 3)
            expect_eq(symlink(target, name), 0);
        else
            expect_eq(close(open(name, O_WRONLY | O_CREAT, 0600)), 0);
    }
    expect(reads("{\n  \"list\": [\n    0\n  ]\n}\n"));
    for (int i = 1; i <= 3; i++) {
        snprintf(name, sizeof name, "%s.parts/%d.7%s", report, i, i == 1 ? ".new" : "");
        expect_eq(unlink(name), 0);
    }
    parts_remove(&p);
    end();
}

/* Files of another user beside ours, in a folder that all may write. */
TEST(parts_of_another_user_are_left_out)
{
    char name[160];
    start();
    struct parts p = part(0, 7, "{\n  \"list\": [\n    0\n  ]\n}\n"),
                 q = part(1, 7, "{\n  \"list\": [\n    1\n  ]\n}\n");
    snprintf(name, sizeof name, "%s.parts/1.7", report);
    if (!chown(name, 65534, 65534))
        expect(reads("{\n  \"list\": [\n    0\n  ]\n}\n"));
    parts_remove(&q);
    parts_remove(&p);
    end();
}
