/* unit_net_shared.c: tests memory at the same address in all processes, or in none, with nothing left behind. */
#include "test.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/random.h"
#include "fail_memfile.h"
#include "net/boot/agree.h"
#include "net/shm/memory_limit.h"
#include "net/shm/promise.h"
#include "net/shm/segment.h"
#include "net/shm/shared.h"
#include "net/shm/address_picker.h"
#include "net_boot.h"

static size_t wish; /* the most bytes that a process requests; see wants() */

/* Some ranks request nothing, some less than a page, some more. */
static size_t wants(int rank, size_t most) {
    size_t sizes[] = {most, 0, 100, most / 2 + 1, 4096};
    return sizes[(size_t)rank % 5];
}

/* Expects the same address in all processes, and returns it. */
static uint64_t same_everywhere(const struct net_boot *boot, const void *address) {
    uint64_t mine = (uint64_t)(uintptr_t)address, all[BOOT_MOST];
    net_boot_gather(boot, &mine, all, sizeof mine);
    for (int i = 0; i < boot->size; i++)
        expect_eq(all[i], all[0]);
    return all[0];
}

static void check_parts(const struct net_shared *s, size_t most) {
    uint64_t end = 0;
    for (int i = 0; i < s->count; i++) {
        const struct net_part *p = &s->parts[i];
        expect_eq(p->bytes, wants(i, most));
        expect_eq(p->offset % 64, 0);
        expect(p->offset >= end);
        end = p->offset + p->bytes;
    }
    expect(end <= s->bytes);
}

/* Writes its own part, and reads all other parts at their owners' addresses. */
static void check_contents(const struct net_boot *boot, const struct net_shared *s, int salt) {
    const struct net_part *mine = &s->parts[boot->rank];
    struct {
        char *start;
        size_t bytes;
    } own = {s->base + mine->offset, mine->bytes}, all[BOOT_MOST];
    for (size_t i = 0; i < own.bytes; i += 511)
        expect_eq(own.start[i], 0);
    memset(own.start, boot->rank + salt, own.bytes);
    net_boot_gather(boot, &own, all, sizeof own);
    for (int r = 0; r < boot->size; r++)
        for (size_t i = 0; i < all[r].bytes; i += i + 511 < all[r].bytes ? 511 : 1)
            expect_eq(all[r].start[i], (char)(r + salt));
}

static void open_one(const struct net_boot *boot) {
    struct net_shared *s = NULL;
    net_promise_close(net_promise_open(1)); /* makes the ledger, which has a descriptor */
    unsigned files = count_files();
    expect_eq(net_shared_open(boot, wants(boot->rank, wish), NULL, &s), 0);
    if (!s)
        return;
    expect_eq(s->promise != NULL, boot->rank == 0 && s->bytes >= 1 << 20);
    expect_eq(count_files(), files + (s->promise != NULL));
    expect_eq(count_maps(), 1);
    uint64_t base = same_everywhere(boot, s->base);
    expect_eq(base % (s->bytes >= 2 << 20 ? 2 << 20 : test_page()), 0);
    check_parts(s, wish);
    check_contents(boot, s, 1);
    net_shared_close(boot, NULL, s);
    expect_eq(count_maps(), 0);
    expect_eq(count_files(), files);
    expect_eq(net_shared_check((void *)(uintptr_t)base, 1, NULL, NULL), -EFAULT);
}

TEST(sizes)
{
    size_t sizes[] = {1, 64, test_page() - 1, test_page(), 5000, 100000, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        wish = sizes[i];
        boot_run(1 + (int)i % 5, open_one);
    }
}

static void open_nothing(const struct net_boot *boot) {
    struct net_shared *s = NULL;
    expect_eq(net_shared_open(boot, 0, NULL, &s), 0);
    expect(s && !s->base && s->bytes == 0 && s->count == boot->size);
    expect_eq(count_maps(), 0);
    net_shared_close(boot, NULL, s);
}

TEST(no_one_wants_any)
{ boot_run(3, open_nothing); }

/* Collectives dominate the cost of an allocation where processes outnumber cores. */
static void count_meetings(const struct net_boot *boot) {
    struct net_shared *s = NULL;
    int before = boot_gathers;
    expect_eq(net_shared_open(boot, 1000, NULL, &s), 0);
    expect_eq(boot_gathers - before, 3);
    net_shared_close(boot, NULL, s);
    expect_eq(boot_gathers - before, 4);
    const uint64_t sizes[] = {1000, 70000};
    before = boot_gathers;
    expect_eq(net_shared_open_sizes(boot, sizes, &s), 0);
    expect_eq(boot_gathers - before, 2);
    struct net_shared *empty = NULL;
    const uint64_t none[2] = {0}, much[] = {INT64_MAX, INT64_MAX};
    expect_eq(net_shared_open_sizes(boot, none, &empty), 0);
    expect(empty && !empty->base);
    net_shared_close(boot, NULL, empty);
    expect_eq(net_shared_open_sizes(boot, much, &empty), -EFBIG);
    expect_eq(s->parts[0].bytes, 1000);
    expect_eq(s->parts[1].bytes, 70000);
    same_everywhere(boot, s->base);
    check_contents(boot, s, 3);
    net_shared_close(boot, NULL, s);
}

TEST(three_meetings)
{ boot_run(2, count_meetings); }

/* ---- many, by many groups ---- */

enum { MANY = 300 };

static void open_many(const struct net_boot *boot) {
    struct net_shared *list[MANY];
    struct random r;
    unsigned files = count_files();
    random_seed(&r, 1); /* the same on all ranks: determines what is closed when */
    for (int i = 0; i < MANY; i++) {
        expect_eq(net_shared_open(boot, wants(boot->rank + i, 3000), NULL, &list[i]), 0);
        same_everywhere(boot, list[i]->base);
        memset(list[i]->base + list[i]->parts[boot->rank].offset, 1, list[i]->parts[boot->rank].bytes);
    }
    expect_eq(count_files(), files);
    expect_eq(count_maps(), MANY);
    for (int left = MANY; left > 0; left--) {
        int i = (int)random_below(&r, (uint32_t)left);
        char *base = list[i]->base, *found = NULL;
        size_t bytes = list[i]->bytes, size = 0;
        expect_eq(net_shared_check(base + bytes - 1, 1, &found, &size), 0);
        expect(found == base && size == bytes);
        expect_eq(net_shared_check(base, bytes, NULL, NULL), 0);
        expect_eq(net_shared_check(base, bytes + 1, NULL, NULL), -EFAULT);
        expect_eq(net_shared_check(base - 1, 2, NULL, NULL), -EFAULT);
        expect_eq(net_shared_check(base + 1, SIZE_MAX, NULL, NULL), -EFAULT);
        net_shared_close(boot, NULL, list[i]);
        expect_eq(net_shared_check(base, 1, NULL, NULL), -EFAULT);
        list[i] = list[left - 1];
    }
    expect_eq(count_maps(), 0);
}

TEST(hundreds)
{ boot_run(3, open_many); }

/* Groups 01, 12, 20, each with another leader. */
static void open_in_groups(const struct net_boot *boot) {
    enum { EACH = 40 };
    struct net_shared *list[3][EACH] = {{NULL}};
    struct boot_seat seats[3];
    struct net_boot boots[3];
    for (int g = 0; g < 3; g++) {
        int place = (boot->rank - g + 3) % 3;
        boots[g] = boot_at(&seats[g], 1 + g, place, 2);
        for (int i = 0; i < EACH && place < 2; i++) {
            expect_eq(net_shared_open(&boots[g], 5000, NULL, &list[g][i]), 0);
            check_contents(&boots[g], list[g][i], g + i);
        }
    }
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < EACH; i++)
            if (list[g][i])
                net_shared_close(&boots[g], NULL, list[g][i]);
    expect_eq(count_maps(), 0);
}

TEST(groups_that_overlap)
{ boot_run(3, open_in_groups); }

static int count_tables(void) {
    char line[256];
    int kilobytes = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmPTE: %d", &kilobytes);
    if (f)
        fclose(f);
    return kilobytes;
}

/* Adjacent mappings share page tables: an isolated mapping takes 12 KiB of them. The thread sanitizer has several bytes of its own
 * memory, and their tables, for each byte. */
#ifdef __SANITIZE_THREAD__
enum { MOST_TABLES_KIB = 1000 };
#else
enum { MOST_TABLES_KIB = 200 };
#endif

static void open_in_a_zone(const struct net_boot *boot) {
    struct net_shared *list[100];
    int before = count_tables();
    for (int i = 0; i < 100; i++) {
        expect_eq(net_shared_open(boot, 8, NULL, &list[i]), 0);
        list[i]->base[0] = 1;
    }
    expect(count_tables() - before < MOST_TABLES_KIB);
    for (int i = 0; i < 100; i++)
        net_shared_close(boot, NULL, list[i]);
}

TEST(mappings_lie_together)
{ boot_run(1, open_in_a_zone); }

/* ---- occupied addresses ---- */

/* The linker replaces net_address_pick: so many picks return this address. */
uint64_t __real_net_address_pick(uint64_t bytes, unsigned try);
uint64_t __wrap_net_address_pick(uint64_t bytes, unsigned try);

static uint64_t forced_address;
static unsigned forced_picks;

static void force_address(uint64_t address, unsigned picks) {
    forced_address = address;
    forced_picks = picks;
}

uint64_t __wrap_net_address_pick(uint64_t bytes, unsigned try) {
    if (!forced_picks)
        return __real_net_address_pick(bytes, try);
    forced_picks--;
    return forced_address;
}

static int owner; /* the rank that has a mapping there */
static unsigned forced;

enum { TAKEN = 8192 };

/* Returns whether the address is free here, and maps something there. */
static bool put_at(char *at) {
    char *got = mmap(at, TAKEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got != at)
        munmap(got, TAKEN);
    return got == at;
}

/* An address at which one rank has a mapping and the others have none. */
static char *occupy(const struct net_boot *boot, int by) {
    for (;;) {
        uint64_t mine = net_address_pick(TAKEN, 1), all[BOOT_MOST];
        net_boot_gather(boot, &mine, all, sizeof mine);
        char *at = (char *)(uintptr_t)all[0];
        bool got = put_at(at), everywhere = !net_boot_agree(boot, got ? 0 : -EBUSY);
        if (got && !(everywhere && boot->rank == by))
            munmap(at, TAKEN);
        if (everywhere && boot->rank == by)
            *at = 77;
        if (everywhere)
            return at;
    }
}

/* An emulator of processes may have mapped something there since. */
static bool is_free_in_the_first(const struct net_boot *boot, char *at) {
    uint64_t mine = put_at(at), all[BOOT_MOST];
    if (mine)
        munmap(at, TAKEN);
    net_boot_gather(boot, &mine, all, sizeof mine);
    return all[0];
}

static void vacate(const struct net_boot *boot, int by, char *at) {
    if (boot->rank != by)
        return;
    expect_eq(*at, 77);
    munmap(at, TAKEN);
}

static void collide(const struct net_boot *boot) {
    struct net_shared *s = NULL;
    unsigned files = count_files();
    char *taken = occupy(boot, owner);
    if (boot->rank == 0)
        force_address((uint64_t)(uintptr_t)taken, forced);
    int before = boot_gathers, err = net_shared_open(boot, 5000, NULL, &s), met = boot_gathers - before;
    expect_eq(err, forced < ADDRESS_TRIES ? 0 : -EADDRNOTAVAIL);
    /* A collision in the first rank costs no collective. */
    int collisions = is_free_in_the_first(boot, taken) ? (int)forced : 0;
    expect(met >= 1 + 2 * collisions + (err ? 1 : 2));
    expect_eq(count_files(), files);
    expect_eq(count_maps(), err ? 0 : 1);
    if (!err) {
        expect(same_everywhere(boot, s->base) != (uint64_t)(uintptr_t)taken);
        check_contents(boot, s, 1);
        net_shared_close(boot, NULL, s);
    }
    vacate(boot, owner, taken);
    force_address(0, 0);
    expect_eq(count_maps(), 0);
}

TEST(an_address_taken_here_is_not_used_anywhere)
{
    forced = 1;
    for (owner = 0; owner < 3; owner++)
        boot_run(3, collide);
    forced = ADDRESS_TRIES / 2;
    owner = 2;
    boot_run(3, collide);
}

TEST(no_address_at_all_is_an_error)
{
    forced = ADDRESS_TRIES;
    for (owner = 0; owner < 3; owner++)
        expect_eq(boot_count_lines(3, collide), 1);
}

/* A mapping at another address is not accepted, as a kernel that takes the address as a hint may return one. */
TEST(picks_are_aligned_and_mostly_differ)
{
    uint64_t seen[64];
    unsigned same = 0;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t bytes = i % 2 ? 5000 : 5 << 20;
        seen[i] = net_address_pick(bytes, 1 + i % (ADDRESS_TRIES - 1));
        expect(seen[i] >= 1 << 20);
        expect_eq(seen[i] % (i % 2 ? test_page() : 2 << 20), 0);
        for (unsigned j = 0; j < i; j++)
            same += seen[i] == seen[j];
    }
    expect(same < 10);
    expect_eq(net_address_pick((uint64_t)1 << 62, 2), 0);
}

/* ---- failures ---- */

static int failing;      /* this rank */
static unsigned counted; /* system calls that this rank makes */

/* The thread sanitizer's own memory may be at an address that was picked, which takes another attempt. */
static bool is_counted(unsigned failed) {
#ifdef __SANITIZE_THREAD__
    return failed >= counted;
#else
    return failed == counted;
#endif
}

static void fail_each_step(const struct net_boot *boot) {
    unsigned files = count_files(), failed = 0;
    int err = -1;
    for (unsigned n = 1; err && n < 50; n++) {
        struct net_shared *s = NULL;
        fail_memfile_at(boot->rank == failing ? n : 0);
        err = net_shared_open(boot, 10000, NULL, &s);
        expect(err <= 0 && !s == (err < 0));
        expect_eq(count_files(), files);
        expect_eq(count_maps(), err ? 0 : 1);
        failed += err != 0;
        if (s)
            net_shared_close(boot, NULL, s);
    }
    fail_memfile_at(0);
    expect(is_counted(failed));
    expect_eq(count_maps(), 0);
}

TEST(what_fails_in_one_fails_in_all_and_leaves_nothing)
{
    for (failing = 0; failing < 3; failing++) {
        counted = failing == 0 ? 5 : 3; /* token, file, size, seal, map; or look, open, map */
        expect(is_counted((unsigned)boot_count_lines(3, fail_each_step)));
    }
}

static void be_without_descriptors(const struct net_boot *boot) {
    struct rlimit before, limit;
    unsigned files = count_files();
    expect_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t most = 3; most < 5; most++) {
        struct net_shared *s = NULL;
        limit = (struct rlimit){boot->rank == failing ? most : before.rlim_cur, before.rlim_max};
        expect_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int err = net_shared_open(boot, 10000, NULL, &s);
        expect_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        expect_eq(err, failing == 0 && most > 3 ? 0 : -EMFILE); /* the first rank needs one, the others two */
        expect_eq(count_files(), files);
        expect_eq(count_maps(), err ? 0 : 1);
        if (s)
            net_shared_close(boot, NULL, s);
    }
}

TEST(no_descriptors_are_an_error_everywhere)
{
    for (failing = 0; failing < 2; failing++)
        boot_run(3, be_without_descriptors);
}

static bool has_no_memory;
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
    return has_no_memory ? NULL : __real_calloc(count, bytes);
}

/* A member that cannot describe the memory still takes part in the exchanges of the others. */
static void be_without_memory(const struct net_boot *boot) {
    const uint64_t some[] = {1000, 70000, 0}, none[3] = {0}, *const sizes[] = {some, none};
    unsigned files = count_files();
    struct net_shared *s = NULL;
    for (int i = 0; i < 2; i++) {
        has_no_memory = boot->rank == failing;
        int err = net_shared_open_sizes(boot, sizes[i], &s);
        has_no_memory = false;
        expect_eq(err, -ENOMEM);
    }
    has_no_memory = boot->rank == failing;
    int err = net_shared_open(boot, 1000, NULL, &s);
    has_no_memory = false;
    expect_eq(err, -ENOMEM);
    expect(!s);
    expect_eq(count_files(), files);
    expect_eq(count_maps(), 0);
}

TEST(no_memory_for_the_description_is_an_error_everywhere)
{
    for (failing = 0; failing < 2; failing++)
        boot_run(3, be_without_memory);
}

static void want_too_much(const struct net_boot *boot) {
    size_t sizes[] = {(size_t)1 << 42, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 5, (size_t)1 << 50};
    struct net_shared *s = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_eq(net_shared_open(boot, boot->rank == 1 || i == 3 ? sizes[i] : 10, NULL, &s), -EFBIG);
    expect(!s);
    expect_eq(count_maps(), 0);
}

TEST(more_than_there_is_is_an_error_and_not_a_signal)
{ expect_eq(boot_count_lines(3, want_too_much), 5); }

struct watch {
    _Atomic bool over;
    _Atomic uint64_t most; /* promised to other jobs, as a job sees it */
};

static void keep_watch(struct watch *w) {
    while (!w->over) {
        uint64_t promised = net_memory_limit().promised;
        w->most = promised > w->most ? promised : w->most;
    }
    _exit(0);
}

/* Other jobs do not see a request that nobody can grant: theirs would fail. */
TEST(more_than_there_is_is_not_promised)
{
    struct watch *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t watcher = fork();
    if (watcher == 0)
        keep_watch(w);
    for (int i = 0; i < 10; i++)
        boot_count_lines(3, want_too_much);
    w->over = true;
    waitpid(watcher, NULL, 0);
    expect(w->most < (uint64_t)1 << 41);
    munmap(w, sizeof *w);
}

static uint64_t backed_bytes(const struct net_shared *s) {
    uint64_t bytes = UINT64_MAX;
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/self/map_files/%llx-%llx", (unsigned long long)(uintptr_t)s->base,
             (unsigned long long)(uintptr_t)(s->base + s->bytes));
    if (stat(path, &st))
        printf("skip %s: %s cannot be read\n", test_name, path);
    else
        bytes = (uint64_t)st.st_blocks * 512;
    return bytes;
}

/* Memory is backed when it is touched, and not before: a large segment opens at once. */
static void is_backed_by_touch(const struct net_boot *boot) {
    struct net_shared *s = NULL;
    expect_eq(net_shared_open(boot, (size_t)256 << 20, NULL, &s), 0);
    if (!s)
        return;
    uint64_t before = backed_bytes(s);
    expect(before == 0 || before == UINT64_MAX);
    net_boot_barrier(boot);
    memset(s->base + s->parts[boot->rank].offset, 1, 10000);
    net_boot_barrier(boot);
    uint64_t after = backed_bytes(s);
    expect(after == UINT64_MAX || (after >= 3 * 10000 && after <= 3 * (10000 + 2 * test_page())));
    net_shared_close(boot, NULL, s);
}

TEST(memory_is_backed_when_it_is_touched)
{ boot_run(3, is_backed_by_touch); }

/* ---- the helper is in another process ---- */

/* Rank 2 is the helper: rank 0 sends it requests through a board of its own, which the others do not use. */
static const struct net_boot *to_far;
static int answers_left; /* how often the helper answers that the address is occupied */
static int attached, detached;

struct errand {
    int64_t what; /* 0: done, 1: attach, 2: detach */
    struct net_shared_place place;
};

static int ask_errand(int what, const struct net_shared_place *place) {
    struct errand mine = {.what = what}, all[2];
    int64_t status = 0, both[2];
    if (place)
        mine.place = *place;
    net_boot_gather(to_far, &mine, all, sizeof mine);
    net_boot_gather(to_far, &status, both, sizeof status);
    return (int)both[1];
}

static int far_attach(void *arg, const struct net_shared_place *place) {
    attached++;
    return ask_errand(1, place);
}

static void far_detach(void *arg, const struct net_shared_place *place) {
    detached++;
    ask_errand(2, place);
}

static void run_errands(void) {
    struct errand mine = {0}, all[2];
    for (;;) {
        int64_t status = 0, both[2];
        net_boot_gather(to_far, &mine, all, sizeof mine);
        if (all[0].what == 1)
            status = answers_left > 0 && answers_left-- ? -EEXIST : net_shared_attach(&all[0].place);
        if (all[0].what == 2)
            net_shared_detach(&all[0].place);
        if (all[0].what && !status) {
            char *base = (char *)(uintptr_t)all[0].place.base;
            expect_eq(net_shared_check(base, all[0].place.bytes, NULL, NULL), all[0].what == 1 ? 0 : -EFAULT);
        }
        net_boot_gather(to_far, &status, both, sizeof status);
        if (!all[0].what)
            return;
    }
}

static void use_far(const struct net_boot *boot) {
    struct boot_seat seats[2];
    struct net_boot group = boot_at(&seats[0], 1, boot->rank, 2),
                    far_boot = boot_at(&seats[1], 2, boot->rank / 2, 2);
    struct net_shared_remote remote = {.attach = far_attach, .detach = far_detach};
    struct net_shared *s = NULL;
    to_far = &far_boot;
    attached = detached = 0;
    unsigned files = count_files();
    if (boot->rank == 2) {
        run_errands();
    } else {
        expect_eq(net_shared_open(&group, 5000, &remote, &s), forced ? -EADDRNOTAVAIL : 0);
        if (s) {
            expect_eq(s->told, boot->rank == 0);
            check_contents(&group, s, 3);
            net_shared_close(&group, &remote, s);
        }
        if (boot->rank == 0)
            ask_errand(0, NULL);
    }
    expect_eq(count_files(), files);
    expect_eq(count_maps(), 0);
    if (boot->rank == 0) {
        expect(forced ? attached > ADDRESS_TRIES / 2 && attached <= ADDRESS_TRIES
                      : attached == answers_left + 1);
        expect_eq(detached, forced ? 0 : 1);
    }
}

TEST(the_helper_maps_it_too)
{
    forced = 0;
    answers_left = 0;
    boot_run(3, use_far);
    answers_left = 5;
    boot_run(3, use_far);
    answers_left = 1000;
    forced = 1;
    boot_run(3, use_far);
}

/* One rank of the group has a mapping at the address: the helper must unmap it, and gets another request. */
static void collide_with_far(const struct net_boot *boot) {
    struct boot_seat seats[2];
    struct net_boot group = boot_at(&seats[0], 1, boot->rank, 2),
                    far_boot = boot_at(&seats[1], 2, boot->rank / 2, 2);
    struct net_shared_remote remote = {.attach = far_attach, .detach = far_detach};
    struct net_shared *s = NULL;
    to_far = &far_boot;
    attached = detached = 0;
    answers_left = 0;
    if (boot->rank == 2) {
        run_errands();
    } else {
        char *taken = occupy(&group, 1);
        if (boot->rank == 0)
            force_address((uint64_t)(uintptr_t)taken, 2);
        expect_eq(net_shared_open(&group, 5000, &remote, &s), 0);
        if (s)
            net_shared_close(&group, &remote, s);
        force_address(0, 0);
        vacate(&group, 1, taken);
        if (boot->rank == 0)
            ask_errand(0, NULL);
    }
    if (boot->rank == 0)
        expect_eq(attached, 3);
    if (boot->rank == 0)
        expect_eq(detached, 3);
    expect_eq(count_maps(), 0);
}

TEST(the_helper_lets_go_of_what_others_cannot_map)
{ boot_run(3, collide_with_far); }

/* A place that was changed in transit maps nothing. */
static void attach_wrong(const struct net_boot *boot) {
    struct net_shared_place place;
    const char *what;
    int fd;
    void *base;
    unsigned files = count_files();
    size_t bytes = 2 * test_page();
    expect_eq(net_memfile_make(bytes, &fd, &place.address, &what), 0);
    expect_eq(net_memfile_map(fd, bytes, NULL, 0, &base, &what), 0);
    munmap(base, bytes);
    place.base = (uint64_t)(uintptr_t)base;
    place.bytes = 2 * bytes; /* would end in a SIGBUS */
    expect_eq(net_shared_attach(&place), -ESTALE);
    place.bytes = bytes;
    expect_eq(net_shared_attach(&place), 0);
    expect_eq(net_shared_attach(&place), -EEXIST);
    net_shared_detach(&place);
    close(fd);
    expect(net_shared_attach(&place) < 0);
    expect_eq(count_files(), files);
    expect_eq(count_maps(), 0);
}

TEST(a_wrong_place_maps_nothing)
{ boot_run(1, attach_wrong); }

static void time_lookups(const struct net_boot *boot) {
    enum { COUNT = 200, TIMES = 1000000 };
    struct net_shared *list[COUNT];
    for (int i = 0; i < COUNT; i++)
        expect_eq(net_shared_open(boot, 8, NULL, &list[i]), 0);
    for (int step = 0; step <= 7; step += 7) {
        uint64_t start = clock_ns(), failed = 0;
        for (int i = 0; i < TIMES; i++)
            failed += net_shared_check(list[i * step % COUNT]->base, 8, NULL, NULL) != 0;
        printf("look-up among %d, %s: %.1f ns\n", COUNT, step ? "another each time" : "the same",
               (double)(clock_ns() - start) / TIMES);
        expect_eq(failed, 0);
    }
    for (int i = 0; i < COUNT; i++)
        net_shared_close(boot, NULL, list[i]);
}

TEST(what_a_look_up_costs)
{ boot_run(1, time_lookups); }
