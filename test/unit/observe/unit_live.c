/* unit_live.c: tests the page that hearth top reads: its contents, its updates, a fork, and a lack of memory. A
 * process has one page, so each test continues from the state that the tests before it have left. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "observe/live.h"

struct thing {
    uint64_t big;
    uint32_t small;
    bool is_there;
};

static const struct live_field fields[] = {LIVE_FIELD(gets, struct thing, big),
                                           LIVE_FIELD(entries, struct thing, small),
                                           LIVE_FIELD(windows, struct thing, is_there)};
enum { FIELDS = sizeof fields / sizeof *fields };

static int descriptor = -1;

/* Finds the page as a reader does; returns the descriptor's number, or -1. */
static int find(void) {
    char link[128], name[64];
    int found = -1;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(name, sizeof name, "/proc/self/fd/%.20s", entry->d_name);
        ssize_t n = readlink(name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = 0;
        if (!strcmp(link, "/memfd:" LIVE_TITLE " (deleted)"))
            found = atoi(entry->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

static const struct live_page *page(void) {
    static const struct live_page *mapped;
    if (!mapped)
        mapped = mmap(NULL, LIVE_FILE_BYTES, PROT_READ, MAP_SHARED, descriptor, 0);
    return mapped;
}

/* The sum that a reader would show. */
static uint64_t total(enum live_what what) {
    const struct live_page *p = page();
    uint64_t sum = p->kept[what];
    for (uint32_t i = 0; i < p->object_count; i++)
        for (unsigned k = p->objects[i].first; k < p->objects[i].first + (unsigned)p->objects[i].count; k++)
            if (p->fields[k].what == what)
                sum += live_read((const char *)p + p->objects[i].offset, &p->fields[k]);
    return sum;
}

TEST(without_a_page_nothing_is_shown_and_memory_is_there_all_the_same)
{
    struct memory m;
    expect(!live_take(100));
    struct thing *t = live_alloc(sizeof *t);
    expect(t && !t->big && (uintptr_t)t % 128 == 0);
    live_show(t, fields, FIELDS);
    live_hide(t);
    expect(!live_give(t));
    live_free(t);
    live_thread_begins(LIVE_HELPER);
    live_thread_ends();
    live_close(LIVE_BY_MPI);
    expect_eq(live_memory_open(&m, 100, NULL), 0);
    live_memory_close(&m);
    expect(find() < 0);
}

/* Runs in a child, as the settings are read once and the page is made once. */
static int in_child(int (*run)(void)) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int open_while_off(void) {
    setenv("HEARTH_LIVE", "off", 1);
    live_open(LIVE_BY_MPI, 0, 1);
    return find() >= 0 || live_take(8);
}

static int open_with_small_files_only(void) {
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    live_open(LIVE_BY_MPI, 0, 1);
    return find() >= 0 || live_take(8);
}

static int open_without_descriptors(void) {
    struct rlimit limit = {.rlim_cur = 3, .rlim_max = 3};
    setrlimit(RLIMIT_NOFILE, &limit);
    live_open(LIVE_BY_MPI, 0, 1);
    return live_take(8) != NULL;
}

static int open_with_few_descriptors(void) {
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    live_open(LIVE_BY_MPI, 0, 1);
    return find() < 0 || !live_take(8);
}

TEST(there_is_none_if_it_is_not_wanted_or_cannot_be)
{
    expect_eq(in_child(open_while_off), 0);
    expect_eq(in_child(open_with_small_files_only), 0);
    expect_eq(in_child(open_without_descriptors), 0);
    expect_eq(in_child(open_with_few_descriptors), 0);
}

TEST(the_page_is_the_owners_and_sealed)
{
    struct stat st;
    live_open(LIVE_BY_MPI, 3, 8);
    descriptor = find();
    expect(descriptor >= 0);
    expect(!fstat(descriptor, &st) && (st.st_mode & 0777) == 0600 && st.st_size == LIVE_FILE_BYTES);
    expect_eq(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    int seals = fcntl(descriptor, F_GET_SEALS);
    expect_eq(seals & (F_SEAL_SHRINK | F_SEAL_GROW), F_SEAL_SHRINK | F_SEAL_GROW);
    expect_eq(ftruncate(descriptor, 0), -1);
    if (seals & 0x10) { /* F_SEAL_FUTURE_WRITE, since Linux 5.1 */
        expect(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) == MAP_FAILED);
        expect_eq(write(descriptor, "x", 1), -1);
    }
    expect(!memcmp(page()->magic, LIVE_MAGIC, 8));
    expect_eq(page()->pid, getpid());
    expect_eq(page()->rank, 3);
    expect_eq(page()->size, 8);
    live_open(LIVE_BY_MPI, 5, 9);
    expect_eq(page()->rank, 3);
}

TEST(what_is_counted_is_seen_and_kept_when_it_goes)
{
    struct thing *a = live_alloc(sizeof *a), *b = live_alloc(sizeof *b);
    live_show(a, fields, FIELDS);
    live_show(a, fields, FIELDS); /* a second call has no effect */
    live_show(b, fields, FIELDS);
    expect_eq(page()->object_count, 2);
    expect_eq(page()->field_count, FIELDS);
    *a = (struct thing){.big = 7, .small = 3, .is_there = true};
    *b = (struct thing){.big = UINT64_C(1) << 40, .small = 4, .is_there = true};
    expect_eq(total(LIVE_gets), 7 + (UINT64_C(1) << 40));
    expect_eq(total(LIVE_entries), 7);
    expect_eq(total(LIVE_windows), 2);
    live_hide(a);
    a->big = 1000;
    expect_eq(total(LIVE_gets), 7 + (UINT64_C(1) << 40));
    expect_eq(total(LIVE_entries), 4);
    expect_eq(total(LIVE_windows), 1);
    live_hide(b);
    live_hide(b);
    expect_eq(total(LIVE_gets), 7 + (UINT64_C(1) << 40));
    expect_eq(page()->object_count, 0);
    expect_eq(page()->sequence % 2, 0);
    live_free(a);
    live_free(b);
}

TEST(signs_are_respected)
{
    static const struct live_field difference[] = {LIVE_FIELD(posted, struct thing, big),
                                                   LIVE_FIELD_MINUS(posted, struct thing, small)};
    struct thing *t = live_alloc(sizeof *t);
    *t = (struct thing){.big = 10, .small = 4};
    live_show(t, difference, 2);
    expect_eq(total(LIVE_posted), 6);
    live_hide(t);
    live_free(t);
}

TEST(memory_is_zeroed_and_used_again)
{
    char *first = live_take(5000);
    expect(first != NULL);
    memset(first, 1, 5000);
    expect(live_give(first));
    char *again = live_take(5000);
    expect(again == first);
    for (int i = 0; i < 5000; i++)
        expect_eq(again[i], 0);
    expect(live_give(again));
    for (int round = 0; round < 100000; round++) { /* many times the capacity */
        char *one = live_take(1 << 14), *other = live_take(1 << 15);
        expect(one && other && one != other);
        live_free(one);
        live_free(other);
    }
}

TEST(memory_with_a_budget_goes_back_to_it)
{
    struct memory_budget budget = {.limit = 1 << 20};
    struct memory m, n;
    expect_eq(live_memory_open(&m, 10000, &budget), 0);
    expect(budget.used == m.bytes && m.bytes >= 10000);
    expect_eq(live_memory_open(&n, 1 << 20, &budget), -EDQUOT);
    expect_eq(budget.used, m.bytes);
    live_memory_close(&m);
    expect_eq(budget.used, 0);
}

static _Alignas(LIVE_ALONE) union {
    struct thing of;
    char alone[LIVE_ALONE];
} global;

TEST(a_variable_is_adopted_with_what_it_holds)
{
    global.of.big = 5;
    uint64_t before = total(LIVE_gets);
    live_adopt(&global, sizeof global);
    live_adopt(&global, sizeof global);
    expect_eq(global.of.big, 5);
    live_show(&global, fields, FIELDS);
    expect_eq(total(LIVE_gets), before + 5);
    global.of.big++;
    expect_eq(total(LIVE_gets), before + 6);
}

static int count_and_end(void) {
    struct thing *later = live_take(sizeof *later);
    global.of.big += 1000;
    live_hide(&global);
    live_open(LIVE_BY_MPI, 0, 1);
    live_thread_begins(LIVE_HELPER);
    return later != NULL || global.of.big < 1000;
}

TEST(a_child_does_not_touch_what_its_parent_shows)
{
    uint64_t before = total(LIVE_gets);
    uint32_t objects = page()->object_count;
    struct thing *t = live_alloc(sizeof *t);
    expect_eq(in_child(count_and_end), 0);
    expect_eq(total(LIVE_gets), before);
    expect_eq(page()->object_count, objects);
    expect_eq(page()->threads[0].id, 0);
    live_free(t);
}

TEST(threads_are_told)
{
    live_thread_begins(LIVE_SERVICE);
    expect_eq(page()->threads[0].id, getpid()); /* the id of the first thread is that of the process */
    expect_eq(page()->threads[0].role, LIVE_SERVICE);
    live_thread_ends();
    live_thread_ends();
    expect_eq(page()->threads[0].id, 0);
}

TEST(what_does_not_fit_is_not_shown_and_told)
{
    enum { MANY = LIVE_MOST_OBJECTS + 10 };
    static struct thing *things[MANY];
    struct thing outside = {.big = 1};
    uint32_t objects = page()->object_count, unshown = page()->unshown;
    live_show(&outside, fields, FIELDS);
    expect_eq(page()->unshown, unshown + 1);
    for (int i = 0; i < MANY; i++)
        live_show(things[i] = live_alloc(sizeof *things[i]), fields, FIELDS);
    expect_eq(page()->object_count, LIVE_MOST_OBJECTS);
    expect_eq(page()->unshown, unshown + 1 + objects + 10);
    for (int i = 0; i < MANY; i++) {
        live_hide(things[i]);
        live_free(things[i]);
    }
    expect_eq(page()->object_count, objects);
}

TEST(a_full_page_gives_memory_of_the_heap)
{
    enum { MANY = 40, BYTES = 1 << 20 };
    char *pieces[MANY];
    unsigned inside = 0;
    expect(!live_take(LIVE_FILE_BYTES));
    expect(!live_take(SIZE_MAX));
    for (int i = 0; i < MANY; i++) {
        pieces[i] = live_alloc(BYTES);
        expect(pieces[i] != NULL);
        memset(pieces[i], 1, BYTES);
    }
    for (int i = 0; i < MANY; i++)
        if (live_give(pieces[i]))
            inside++;
        else
            free(pieces[i]);
    expect(inside > 5 && inside < 16);
}

TEST(a_job_that_is_over_is_passed_by_until_the_next_one)
{
    live_close(LIVE_BY_MPI);
    expect_eq(page()->size, 0);
    live_open(LIVE_BY_MPI, 1, 2);
    expect_eq(page()->rank, 1);
    expect_eq(page()->size, 2);
}
