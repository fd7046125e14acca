/* tools_more.c: tests the rest of gasnet_tools.h: locks, strong atomics, number parsing, byte operations, processes
 * and their ends. configs: off off1 */
#include "test.h"

#include <errno.h>
#include <gasnet_tools.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- threads ---- */

static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;

static void *try_to_lock(void *arg) {
    int *got = arg;
    got[0] = gasnett_rwlock_tryrdlock(&rwlock);
    if (got[0] == 0)
        gasnett_rwlock_unlock(&rwlock);
    got[1] = gasnett_rwlock_trywrlock(&rwlock);
    if (got[1] == 0)
        gasnett_rwlock_unlock(&rwlock);
    return NULL;
}

static void expect_from_another(int reading, int writing) {
    pthread_t other;
    int got[2];
    expect_eq(pthread_create(&other, NULL, try_to_lock, got), 0);
    pthread_join(other, NULL);
    expect_eq(got[0], reading);
    expect_eq(got[1], writing);
}

CASE(rwlocks) {
    expect_from_another(0, 0);
    gasnett_rwlock_rdlock(&rwlock);
    gasnett_rwlock_assertrdlocked(&rwlock);
    expect_from_another(0, EBUSY);
    gasnett_rwlock_unlock(&rwlock);
    gasnett_rwlock_wrlock(&rwlock);
    expect_from_another(EBUSY, EBUSY);
    gasnett_rwlock_unlock(&rwlock);
    gasnett_rwlock_destroy(&rwlock);
    gasnett_rwlock_init(&rwlock);
    expect_from_another(0, 0);
}

static int shared[2];

static void *read_and_write(void *arg) {
    for (int i = 0; i < 2000; i++)
        if (i % 4 == 0) {
            gasnett_rwlock_wrlock(&rwlock);
            shared[0]++;
            shared[1]++;
            gasnett_rwlock_unlock(&rwlock);
        } else {
            gasnett_rwlock_rdlock(&rwlock);
            if (shared[0] != shared[1])
                *(int *)arg = 1;
            gasnett_rwlock_unlock(&rwlock);
        }
    return NULL;
}

CASE(rwlocks_of_several_threads) {
    pthread_t threads[3];
    int torn = 0;
    for (int i = 0; i < 3; i++)
        expect_eq(pthread_create(&threads[i], NULL, read_and_write, &torn), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    expect_eq(shared[0], 1500);
    expect_eq(shared[1], 1500);
    expect(!torn);
}

CASE(strong_atomics) {
    gasnett_strongatomic_t a = gasnett_strongatomic_init(5);
    gasnett_strongatomic32_t b = gasnett_strongatomic32_init(1);
    gasnett_strongatomic64_t c = gasnett_strongatomic64_init((uint64_t)1 << 40);
    gasnett_strongatomic_increment(&a, GASNETT_ATOMIC_REL);
    gasnett_strongatomic_decrement(&a, 0);
    expect_eq(gasnett_strongatomic_read(&a, GASNETT_ATOMIC_ACQ), 5);
    gasnett_strongatomic_set(&a, 9, 0);
    expect(!gasnett_strongatomic_compare_and_swap(&a, 5, 6, 0));
    expect(gasnett_strongatomic_compare_and_swap(&a, 9, 6, 0));
    expect_eq(gasnett_strongatomic_add(&a, 3, 0), 9);
    expect_eq(gasnett_strongatomic_subtract(&a, 4, 0), 5);
    expect_eq(gasnett_strongatomic_swap(&a, 1, 0), 5);
    expect(gasnett_strongatomic32_decrement_and_test(&b, 0));
    expect_eq(gasnett_strongatomic64_add(&c, 1, 0), ((long long)1 << 40) + 1);
}

/* ---- numbers ---- */

CASE(numbers_from_text) {
    expect_eq(gasnett_parse_int("42", 0), 42);
    expect_eq(gasnett_parse_int("-7", 0), -7);
    expect_eq(gasnett_parse_int("0x10", 0), 16);
    expect_eq(gasnett_parse_int("3", 1024), 3072);
    expect_eq(gasnett_parse_int("3K", 1), 3072);
    expect_eq(gasnett_parse_int("1.5 MB", 1), 3 << 19);
    expect_eq(gasnett_parse_int("2g", 1), (long long)2 << 30);
    expect_eq(gasnett_parse_int("9B", 1024), 9);
}

CASE(numbers_as_text) {
    static const int64_t numbers[] = {0,         1,         1023,      1024,    3 << 20,      -(5 << 10),
                                      INT64_MAX, INT64_MIN, 123456789, 1 << 30, (1 << 30) + 1};
    char text[40], small[4];
    expect(strcmp(gasnett_format_number(3 << 20, text, sizeof text, 1), "3 MB") == 0);
    expect(strcmp(gasnett_format_number(3 << 20, text, sizeof text, 0), "3145728") == 0);
    expect(strcmp(gasnett_format_number(1000, text, sizeof text, 1), "1000 B") == 0);
    expect(strlen(gasnett_format_number(1234567, small, sizeof small, 0)) == 3);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool huge = numbers[i] == INT64_MAX || numbers[i] == INT64_MIN;
        if (!huge)
            expect_eq(gasnett_parse_int(gasnett_format_number(numbers[i], text, sizeof text, 1), 1),
                      numbers[i]);
    }
}

CASE(environment_of_the_process) {
    gasnett_setenv("T_MORE", "2.5");
    expect(strcmp(gasnett_getenv("T_MORE"), "2.5") == 0);
    expect_real(gasnett_getenv_dbl_withdefault("T_MORE", 1), 2.5);
    gasnett_setenv("T_MORE", "3/4");
    expect_real(gasnett_getenv_dbl_withdefault("T_MORE", 1), 0.75);
    gasnett_setenv("T_MORE", "some");
    expect_real(gasnett_getenv_dbl_withdefault("T_MORE", 1.5), 1.5);
    gasnett_unsetenv("T_MORE");
    expect(gasnett_getenv("T_MORE") == NULL);
    expect_real(gasnett_getenv_dbl_withdefault("T_MORE", -1), -1);
    expect_eq(gasnett_verboseenv(), 0);
}

/* ---- bytes ---- */

CASE(zeros) {
    unsigned char data[101], copy[101];
    for (size_t n = 0; n <= sizeof data; n++) {
        size_t zeros = 0;
        for (size_t i = 0; i < n; i++) {
            data[i] = (unsigned char)(test_number(0, i, (int)n) % 3 == 0 ? 0 : test_number(1, i, (int)n));
            zeros += data[i] == 0;
        }
        memset(copy, 1, sizeof copy);
        expect_eq(gasnett_count0s(data, n), zeros);
        expect_eq(gasnett_count0s_copy(copy, data, n), zeros);
        expect_bytes(copy, data, n);
    }
    expect_eq(gasnett_count0s_uint32_t(0), 4);
    expect_eq(gasnett_count0s_uint32_t(0x80000100u), 2);
    expect_eq(gasnett_count0s_uint64_t(0xff00ff0000010080u), 4);
    expect_eq(gasnett_count0s_uintptr_t((uintptr_t)0), (int)sizeof(uintptr_t));
}

static uintptr_t value_of(const void *at, size_t bytes) {
    GASNETT_VALUE_RETURN(at, bytes);
}

CASE(checksums_and_values) {
    char a[64], b[64];
    test_fill(a, sizeof a, 0, 0);
    memcpy(b, a, sizeof b);
    expect(gasnett_checksum(a, sizeof a) == gasnett_checksum(b, sizeof b));
    for (size_t i = 0; i < sizeof b * 8; i++) {
        b[i / 8] ^= (char)(1 << i % 8);
        expect(gasnett_checksum(a, sizeof a) != gasnett_checksum(b, sizeof b));
        b[i / 8] ^= (char)(1 << i % 8);
    }
    GASNETT_VALUE_ASSIGN(a, 0x123456789abcdefu, 3);
    expect_eq(value_of(a, 3), 0xabcdef);
    uint16_t one = 1;
    expect_eq(gasnett_isLittleEndian(), *(char *)&one);
}

/* ---- the machine ---- */

CASE(machine) {
    char name[HOST_NAME_MAX + 1] = "";
    gethostname(name, HOST_NAME_MAX);
    expect(strcmp(gasnett_gethostname(), name) == 0);
    expect(gasnett_getPhysMemSz(0) > (uint64_t)1 << 20);
    int64_t before = gasnett_gettimeofday_us();
    expect(before > (int64_t)1600000000 * 1000000 && gasnett_gettimeofday_us() >= before);
    expect(gasnett_tick_granularityus() > 0 && gasnett_tick_overheadus() > 0);
    expect(GASNETT_RELEASE_VERSION_MAJOR == GASNET_RELEASE_VERSION_MAJOR && GASNETT_SPEC_VERSION_MAJOR == 1);
    expect(strstr(GASNETT_SYSTEM_TUPLE, "linux") != NULL);
    expect(GASNETT_MAX_THREADS >= 1);
    expect(strcmp(gasnett_performance_warning_str(), "") == 0);
    GASNETT_TRACE_PRINTF("%d", 1);
    struct rlimit limit;
    expect(gasnett_maximize_rlimit(RLIMIT_CORE, "RLIMIT_CORE") != 0);
    expect(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == limit.rlim_max);
    char *memory = gasnett_malloc_aligned(4096, 10), *mapped = gasnett_mmap(8192);
    expect_eq((uintptr_t)memory % 4096, 0);
    memset(memory, 1, 10);
    mapped[8191] = 1;
    expect_eq(mapped[0], 0);
    gasnett_free_aligned(memory);
}

/* ---- signals, and ends ---- */

static volatile sig_atomic_t caught;

static void catch_signal(int number) {
    caught = number;
}

CASE(signals) {
    gasnett_sighandlerfn_t before = gasnett_reghandler(SIGUSR2, catch_signal);
    raise(SIGUSR2);
    expect_eq(caught, SIGUSR2);
    expect(gasnett_reghandler(SIGUSR2, before) == catch_signal);
    expect(strcmp(gasnett_signame_fromval(SIGTERM), "SIGTERM") == 0);
}

static int print_mine(int fd) {
    return write(fd, "mine\n", 5) == 5 ? 0 : 1;
}

/* Runs the function in a child; returns its status, and what it wrote to stderr. */
static int in_child(void (*run)(void), char *said, size_t room) {
    int ends[2], status = 0;
    expect_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        gasnett_reghandler(SIGABRT, SIG_DFL);
        gasnett_maximize_rlimit(RLIMIT_CORE, NULL);
        run();
        _exit(99);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; length < room - 1 && (n = read(ends[0], said + length, room - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = '\0';
    close(ends[0]);
    expect_eq(waitpid(child, &status, 0), child);
    return status;
}

static void die(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    gasnett_setenv("GASNET_BACKTRACE", "1");
    gasnett_fatalerror("number %d", 42);
}

static void leave(void) {
    gasnett_killmyprocess(7);
}

static void parse_nothing(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    gasnett_parse_int("none", 0);
}

static void show_variable(void) {
    gasnett_setenv("GASNET_VERBOSEENV", "1");
    gasnett_setenv("T_SHOWN", "2M");
    gasnett_getenv_int_withdefault("T_SHOWN", 1, 1);
    gasnett_getenv_withdefault("T_NOT_SET", "fallback");
    _exit(0);
}

CASE(ends_of_a_process) {
    char said[20000];
    int status = in_child(die, said, sizeof said);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    expect(strncmp(said, "*** FATAL ERROR: number 42\n", 27) == 0);
    expect(strstr(said, "libvgasnet") != NULL); /* the backtrace */
    status = in_child(leave, said, sizeof said);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    status = in_child(parse_nothing, said, sizeof said);
    expect(WIFSIGNALED(status) && strstr(said, "\"none\" is not a number") != NULL);
    status = in_child(show_variable, said, sizeof said);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect(strstr(said, "T_SHOWN = 2 MB\n") && strstr(said, "T_NOT_SET = fallback (default)\n"));
}

CASE(backtraces) {
    int ends[2];
    char said[100] = "";
    expect_eq(pipe(ends), 0);
    gasnett_backtrace_init("program");
    gasnett_backtrace_user = (gasnett_backtrace_type_t){"MINE", print_mine, 1};
    expect_eq(gasnett_print_backtrace(ends[1]), 0);
    expect(read(ends[0], said, sizeof said - 1) == 5 && strcmp(said, "mine\n") == 0);
    gasnett_backtrace_user.fnp = NULL;
    expect(gasnett_print_backtrace_ifenabled(ends[1]) != 0);
    close(ends[0]);
    close(ends[1]);
    char *here = gasnett_current_loc;
    expect(strstr(here, "backtraces at ") && strstr(here, "tools_more.c:"));
    free(here);
}
