/* unit_net_segment.c: tests that segments are made, found and mapped, or refused with a code and nothing left behind. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fail_memfile.h"
#include "net/shm/segment.h"
#include "net_help.h"

enum { BYTES = 64 << 10 };

/* The beginning of an address, as segment.c writes it. */
struct place {
    uint64_t token[2], bytes;
    int32_t process, file;
};

static struct net_address changed(const struct net_address *a, void change(struct place *)) {
    struct net_address result = *a;
    struct place place;
    memcpy(&place, a, sizeof place);
    change(&place);
    memcpy(&result, &place, sizeof place);
    return result;
}

TEST(two_mappings_show_the_same)
{
    struct segment mine, other;
    struct net_address address;
    expect_eq(net_segment_create(&mine, BYTES, &address), 0);
    expect_eq(net_segment_attach(&other, &address, 1), 0);
    expect(mine.base != other.base);
    expect_eq(mine.bytes, BYTES);
    expect_eq(other.bytes, BYTES);
    ((char *)mine.base)[BYTES - 1] = 5;
    expect_eq(((char *)other.base)[BYTES - 1], 5);
    net_segment_close(&mine);
    expect_eq(((char *)other.base)[BYTES - 1], 5); /* it lives as long as a process has it open */
    net_segment_close(&other);
    net_segment_close(&other);
    expect_eq(count_maps(), 0);
}

TEST(all_memory_is_there_and_the_size_is_fixed)
{
    struct segment s;
    struct net_address address;
    struct stat st;
    expect_eq(net_segment_create(&s, BYTES, &address), 0);
    expect(!fstat(s.file, &st) && st.st_blocks * 512 >= BYTES);
    expect(ftruncate(s.file, 4096) && errno == EPERM);
    expect(ftruncate(s.file, 2 * BYTES) && errno == EPERM);
    expect(fcntl(s.file, F_GETFD) & FD_CLOEXEC);
    net_segment_close(&s);
}

static void change_token(struct place *p) {
    p->token[1] ^= 1;
}

static void change_size(struct place *p) {
    p->bytes += 4096;
}

static void change_file(struct place *p) {
    p->file = 9999;
}

static void change_process(struct place *p) {
    p->process = 1 << 30;
}

TEST(what_was_not_announced_is_refused)
{
    struct segment mine, other = {.file = -1};
    struct net_address address, wrong;
    unsigned files = count_files();
    expect_eq(net_segment_create(&mine, BYTES, &address), 0);
    wrong = changed(&address, change_token);
    expect_eq(net_segment_attach(&other, &wrong, 1), -ESTALE);
    wrong = changed(&address, change_size);
    expect_eq(net_segment_attach(&other, &wrong, 1), -ESTALE);
    wrong = changed(&address, change_file);
    expect_eq(net_segment_attach(&other, &wrong, 1), -ENOENT);
    wrong = changed(&address, change_process);
    expect_eq(net_segment_attach(&other, &wrong, 1), -ENOENT);
    memset(&wrong, 0, sizeof wrong);
    expect(net_segment_attach(&other, &wrong, 1) < 0);
    expect(!other.base);
    expect_eq(count_maps(), 1);
    net_segment_close(&mine);
    expect_eq(count_files(), files);
}

static int strange; /* a descriptor that is not a segment */

static void change_to_strange(struct place *p) {
    p->file = strange;
}

static void expect_refused(const struct net_address *address, int file) {
    struct segment other = {.file = -1};
    strange = file;
    struct net_address wrong = changed(address, change_to_strange);
    expect_eq(net_segment_attach(&other, &wrong, 1), -ESTALE);
    expect(!other.base);
    close(file);
}

/* The name that the kernel shows, as "/memfd:TITLE (deleted)". */
static const char *title_of(int file) {
    static char link[128];
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, link, sizeof link - 1);
    link[length > 0 ? length : 0] = '\0';
    link[strcspn(link, " ")] = '\0';
    return link + strlen("/memfd:");
}

/* A pid of another namespace may lead to any file, and opening it may have effects. */
TEST(other_things_are_refused_and_not_touched)
{
    struct segment mine;
    struct net_address address;
    int ends[2];
    expect_eq(net_segment_create(&mine, BYTES, &address), 0);
    expect_eq(pipe(ends), 0);
    expect_refused(&address, ends[0]);
    close(ends[1]);
    expect_refused(&address, open("/dev/null", O_RDWR));
    expect_refused(&address, open("/", O_RDONLY));
    int unsealed = memfd_create(title_of(mine.file), 0);
    expect_eq(write(unsealed, mine.base, BYTES), BYTES); /* all correct, but it could shrink */
    expect_refused(&address, unsealed);
    int untitled = memfd_create("other", MFD_ALLOW_SEALING);
    expect_eq(write(untitled, mine.base, BYTES), BYTES);
    expect_eq(fcntl(untitled, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    expect_refused(&address, untitled);
    FILE *file = tmpfile();
    expect(file && fwrite(mine.base, 1, BYTES, file) == BYTES && !fflush(file));
    expect_refused(&address, dup(fileno(file)));
    fclose(file);
    net_segment_close(&mine);
}

TEST(a_dead_process_has_none)
{
    struct net_address address;
    struct segment other = {.file = -1};
    team_open(1);
    pid_t child = team_fork();
    if (!child) {
        struct segment s;
        net_segment_create(&s, BYTES, &team->addresses[0]);
        raise(SIGKILL);
    }
    expect(!team_join(child));
    address = team->addresses[0];
    team_close();
    expect_eq(net_segment_attach(&other, &address, 1), -ENOENT);
    expect(!other.base);
}

static bool can_make_namespace(void) {
    pid_t child = team_fork();
    if (!child)
        _exit(unshare(CLONE_NEWPID) != 0);
    return team_join(child);
}

/* Its pid there, 1, is another process here. */
static void be_in_namespace(void) {
    struct segment s;
    bool made = !unshare(CLONE_NEWPID);
    pid_t child = team_fork();
    if (child)
        _exit(!team_join(child));
    made = made && getpid() == 1 && !net_segment_create(&s, BYTES, &team->addresses[1]);
    meet();
    meet();
    _exit(!made);
}

TEST(a_process_of_another_namespace_is_refused)
{
    struct segment other = {.file = -1};
    if (!can_make_namespace()) {
        printf("skip %s: needs the right to make a namespace\n", test_name);
        return;
    }
    team_open(2);
    pid_t child = team_fork();
    if (!child)
        be_in_namespace();
    meet();
    expect(net_segment_attach(&other, &team->addresses[1], 1) < 0);
    expect(!other.base);
    meet();
    expect(team_join(child));
    team_close();
}

TEST(another_user_is_refused)
{
    struct segment mine;
    struct net_address address;
    if (geteuid() != 0) {
        printf("skip %s: needs root, to be another user\n", test_name);
        return;
    }
    expect_eq(net_segment_create(&mine, BYTES, &address), 0);
    pid_t child = team_fork();
    if (!child) {
        struct segment other = {.file = -1};
        _exit(setgid(65534) || setuid(65534) || net_segment_attach(&other, &address, 1) != -EACCES ||
              other.base);
    }
    expect(team_join(child));
    net_segment_close(&mine);
}

TEST(a_limit_on_file_sizes_is_an_error_and_not_a_signal)
{
    pid_t child = team_fork();
    if (!child) {
        struct segment s = {.file = -1};
        struct net_address address;
        struct rlimit limit = {BYTES - 1, BYTES - 1};
        unsigned files = count_files();
        expect_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        expect_eq(net_segment_create(&s, BYTES, &address), -EFBIG);
        expect(!s.base && count_files() == files);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    expect(team_join(child));
}

/* A node without memory cannot be made here, but the error that the system then returns can. */
TEST(no_memory_is_an_error_and_not_a_signal)
{
    pid_t child = team_fork();
    if (!child) {
        struct segment s = {.file = -1};
        struct net_address address;
        unsigned files = count_files();
        if (forbid_call(SYS_fallocate, ENOSPC))
            printf("skip %s: no seccomp here\n", test_name);
        else
            expect_eq(net_segment_create(&s, BYTES, &address), -ENOSPC);
        expect(!s.base && count_files() == files);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    expect(team_join(child));
}

TEST(no_descriptors_are_an_error)
{
    struct segment s = {.file = -1};
    struct net_address address;
    struct rlimit before, limit;
    expect_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){3, before.rlim_max};
    expect_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect_eq(net_segment_create(&s, BYTES, &address), -EMFILE);
    expect_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect(!s.base);
}

/* Every system call fails once. */
TEST(whatever_fails_leaves_nothing_behind)
{
    struct segment s = {.file = -1}, other = {.file = -1};
    struct net_address address;
    unsigned files = count_files(), n = 0, failed = 0;
    for (int err = -1; err && n < 100; failed += err != 0) {
        fail_memfile_at(++n);
        err = net_segment_create(&s, BYTES, &address);
        expect(err <= 0 && !s.base == (err < 0));
        if (err)
            expect_eq(count_files(), files);
    }
    expect_eq(failed, 6);
    n = failed = 0;
    for (int err = -1; err && n < 100; failed += err != 0) {
        fail_memfile_at(++n);
        err = net_segment_attach(&other, &address, 1);
        expect(err <= 0 && !other.base == (err < 0));
        expect_eq(count_files(), files + 1);
        expect_eq(count_maps(), err ? 1 : 2);
    }
    expect_eq(failed, 3);
    fail_memfile_at(0);
    net_segment_close(&other);
    net_segment_close(&s);
    expect_eq(count_files(), files);
    expect_eq(count_maps(), 0);
}
