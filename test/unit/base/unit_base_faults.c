/* unit_base_faults.c: makes each system call and allocation fail in turn: of the page that hearth top reads, of the page by
 * which a report is asked for, and of reports. The process goes on; a report is whole or is not there, and no other file is
 * left. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "fail_calls.h"
#include "heater/heater.h"
#include "observe/ask.h"
#include "observe/json.h"
#include "observe/live.h"
#include "observe/output.h"
#include "observe/output_part.h"
#include "observe/parts.h"

enum { FINE, WRONG, NOT_REACHED = 77, MOST_CALLS = 200 };

static char folder[64], path[96];

static unsigned count_entries(void) {
    unsigned count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    if (open)
        closedir(open);
    return count;
}

static void start(const char *name) {
    strcpy(folder, "/tmp/unit_base_faults.XXXXXX");
    expect(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

static void end(void) {
    unlink(path);
    expect_eq(rmdir(folder), 0);
}

/* In a child, as settings are read once and a process has one page. The k-th call of `run` fails; then `verify`, unless NULL,
 * checks the result in the same process. */
static int in_child(int (*run)(void), int (*verify)(void), unsigned k) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        log_set_level(LOG_ERROR);
        fail_calls_at(k);
        int result = run();
        bool is_reached = fail_calls_end();
        if (result == FINE && verify)
            result = verify();
        _exit(is_reached || result != FINE ? result : NOT_REACHED);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static void let_each_fail(int (*run)(void), int (*verify)(void), void (*check)(void)) {
    int result = FINE;
    unsigned k = 1;
    for (; k < MOST_CALLS && result == FINE; k++) {
        result = in_child(run, verify, k);
        if (check)
            check();
    }
    expect_eq(result, NOT_REACHED);
    expect(k > 2);
}

/* ---- the page of hearth top ---- */

struct thing {
    uint64_t gets;
};

static const struct live_field fields[] = {LIVE_FIELD(gets, struct thing, gets)};
static _Alignas(65536) char variable[65536];

static int show(void) {
    variable[0] = 5;
    live_open(LIVE_BY_MPI, 0, 1);
    struct thing *t = live_alloc(sizeof *t);
    if (!t || t->gets)
        return WRONG;
    live_show(t, fields, 1);
    live_adopt(variable, sizeof variable);
    live_thread_begins(LIVE_HELPER);
    void *much = live_alloc(200000);
    if (variable[0] != 5 || !much)
        return WRONG;
    variable[0] = 6;
    live_thread_ends();
    live_hide(t);
    live_free(t);
    live_free(much);
    live_close(LIVE_BY_MPI);
    return variable[0] == 6 ? FINE : WRONG;
}

TEST(the_page_of_hearth_top)
{ let_each_fail(show, NULL, NULL); }

/* The copy in the child of a fork. */
static int show_and_fork(void) {
    int status = 0;
    live_open(LIVE_BY_MPI, 0, 1);
    live_adopt(variable, sizeof variable);
    variable[1] = 7;
    pid_t child = fork();
    if (child == 0)
        _exit(variable[1] == 7 ? FINE : WRONG);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

TEST(a_fork_of_a_process_with_a_page)
{ let_each_fail(show_and_fork, NULL, NULL); }

static int ask(void) {
    struct ask_page *page = ask_open();
    if (!page || page->pid != (int32_t)getpid())
        return WRONG;
    atomic_store(&page->due, 0);
    for (int file = 0; file < 1024; file++) /* one of them, or none */
        ask_process((int)getpid(), file);
    return FINE;
}

TEST(the_page_by_which_a_report_is_asked_for)
{
    for (unsigned k = 1; k < 8; k++)
        expect_eq(in_child(ask, NULL, k), FINE);
}

/* ---- parts of a report ---- */

static const char text[] = "{\n  \"a\": 1\n}\n";

static bool is_whole(void) {
    static char content[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    return n > 3 && content[0] == '{' && !strcmp(content + n - 3, "\n}\n");
}

static struct parts parts[2];

static int write_parts(void) {
    int failed = 0;
    for (int rank = 0; rank < 2; rank++)
        failed +=
            !parts_open(&parts[rank], path, 1, rank) || parts_write(&parts[rank], text, sizeof text - 1);
    parts_end(&parts[1], "the end");
    return failed <= 1 ? FINE : WRONG; /* one call failed, so at least one part is written */
}

/* A part is whole or not there, and nothing else is. */
static int verify_parts(void) {
    char name[160];
    for (int rank = 0; rank < 2; rank++) {
        snprintf(name, sizeof name, "%s.parts/%d.1", path, rank);
        FILE *file = fopen(name, "r");
        char content[sizeof text] = "";
        if (file && (fread(content, 1, sizeof content, file) != sizeof text - 1 || strcmp(content, text)))
            return WRONG;
        if (file)
            fclose(file);
        parts_remove(&parts[rank]);
    }
    return FINE;
}

static void check_parts(void) {
    char name[160];
    snprintf(name, sizeof name, "%s.parts/ended.1", path);
    unlink(name); /* of ranks that could not open the folder */
    snprintf(name, sizeof name, "%s.parts", path);
    rmdir(name);
    expect_eq(count_entries(), 0);
}

TEST(parts_of_a_report)
{
    start("run.json");
    let_each_fail(write_parts, verify_parts, check_parts);
    end();
}

/* ---- a report ---- */

static void fill(struct json *j, const void *arg) {
    (void)arg;
    json_count(j, "a", 1);
}

static int write_output(void) {
    setenv("HEARTH_REPORT", path, 1);
    output_part("part", 0, 1, "an MPI", fill, NULL);
    return FINE;
}

static int verify_output(void) {
    return access(path, F_OK) || is_whole() ? FINE : WRONG;
}

static void check_output(void) {
    unsigned is_there = !access(path, F_OK);
    expect_eq(count_entries(), is_there); /* nothing but the report */
    unlink(path);
}

TEST(a_report)
{
    start("run.json");
    let_each_fail(write_output, verify_output, check_output);
    end();
}

static int write_to_full_disk(void) {
    struct output o;
    setenv("HEARTH_REPORT", "/dev/full", 1);
    if (!output_open(&o, 0, NULL))
        return WRONG;
    fputs("words", o.file);
    output_close(&o);
    return o.file ? WRONG : FINE;
}

TEST(a_report_on_a_full_disk)
{ expect_eq(in_child(write_to_full_disk, NULL, 1000), NOT_REACHED); }

/* A write that fails leaves the stream's buffer empty, so after some lengths there is nothing left to flush. The reason is known after
 * every length. */
TEST(the_reason_that_output_is_not_whole)
{
    char buffer[64];
    for (size_t length = 1; length < 4 * sizeof buffer; length++) {
        FILE *file = fopen("/dev/full", "w");
        expect(file && !setvbuf(file, buffer, _IOFBF, sizeof buffer));
        for (size_t i = 0; i < length; i++)
            putc('x', file);
        expect_eq(output_fault(file), ENOSPC);
        fclose(file);
    }
}

/* ---- the heater ---- */

/* Without its thread or its list, memory is only not kept in the CPU's caches. */
static int heat(void) {
    static char memory[8192];
    setenv("HEARTH_HEATER", "on", 1);
    heater_add(memory, 4096);
    heater_add(memory + 4096, 4096);
    heater_retire(memory);
    heater_stop();
    heater_start();
    heater_retire(memory + 4096);
    heater_stop();
    return FINE;
}

TEST(the_heater)
{
    for (unsigned k = 1; k < 8; k++) {
        int result = in_child(heat, NULL, k);
        expect(result == FINE || result == NOT_REACHED);
    }
}
