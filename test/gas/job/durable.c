/* durable.c: named segments, and jobs that end abnormally: one mode for each test of the scripts in test/fault. The
 * program is linked with the objects of the library, so that it can make system calls fail.
 *
 *      durable_gas MODE [--pages N] [--page BYTES] [--folder F] [--version N] [--epochs N] [--open EPOCH] [--fail N,ERROR] [--later N,ERROR]
 *                  [--move F]
 *
 * Every page holds its owner, its number and its version, and a pattern that depends on all three; version 0 is a
 * page that was never written. --fail makes the n-th system call of rank 0 before attaching fail, --later after
 * attaching. */
#define GASNET_PAR 1
#include <vgasnet.h>

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail_store.h"
#include "pages/store/store.h"

enum { WORDS = 4, REFUSED = 3, NO_CHECKPOINT = 4, ALONE = 5, BAD_END = 6, SECONDS = 100 };
#define LIVES UINT64_C(100000) /* at most this many runs */
#define NEVER UINT64_MAX

static struct {
    const char *mode, *folder;
    size_t page; /* bytes */
    uint64_t pages, version, epochs;
    uint64_t open; /* epoch */
    unsigned fail, later;
    int fail_error, later_error;
} o = {.folder = ".", .page = 4096, .pages = 48, .version = 1, .epochs = NEVER};

static int rank, size;
static gasnet_seginfo_t *segments;
static uint64_t *buffer, *wanted; /* a page each */

/* ---- failures ---- */

static int file_in_folder(const char *name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o.folder, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

/* Writes to a file as well: launchers drop lines of jobs that are killed. */
__attribute__((format(printf, 1, 2), noreturn)) static void wrong(const char *format, ...) {
    char line[400];
    va_list args;
    va_start(args, format);
    int length = snprintf(line, sizeof line, "WRONG: node %d: ", rank);
    vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
    va_end(args);
    strcat(line, "\n");
    fputs(line, stderr);
    int file = file_in_folder("wrong", O_WRONLY | O_CREAT | O_APPEND);
    if (file < 0 || write(file, line, strlen(line)) < 0)
        perror("wrong");
    gasnet_exit(1);
}

static void barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK)
        wrong("the barrier fails");
}

/* ---- pages ---- */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void fill(uint64_t *words, int of, uint64_t page, uint64_t version) {
    uint64_t key = mix(mix((uint64_t)of * LIVES + page) + version);
    if (version == 0) {
        memset(words, 0, o.page);
        return;
    }
    for (size_t i = WORDS; i < o.page / 8; i++)
        words[i] = key + i;
    words[0] = (uint64_t)of;
    words[1] = page;
    words[2] = version;
    words[3] = key;
}

static void *address(int of, uint64_t page) {
    return (char *)segments[of].addr + page * o.page;
}

static void expect_page(const uint64_t *got, int of, uint64_t page, uint64_t version, const char *how) {
    fill(wanted, of, page, version);
    if (memcmp(got, wanted, o.page) != 0)
        wrong("page %llu of node %d, %s: it says node %llu, page %llu, version %llu; expected version %llu",
              (unsigned long long)page, of, how, (unsigned long long)got[0], (unsigned long long)got[1],
              (unsigned long long)got[2], (unsigned long long)version);
}

/* By a store to this rank's own segment, else by a put; some pages in small pieces. */
static void write_page(int of, uint64_t page, uint64_t version, uint64_t how) {
    fill(buffer, of, page, version);
    if (of == rank && how % 2)
        memcpy(address(of, page), buffer, o.page);
    else if (how % 4 < 3)
        gasnet_put_bulk((gasnet_node_t)of, address(of, page), buffer, o.page);
    else
        for (size_t at = 0; at < o.page; at += 512)
            gasnet_put((gasnet_node_t)of, (char *)address(of, page) + at, (char *)buffer + at, 512);
}

static void check_page(int of, uint64_t page, uint64_t version) {
    gasnet_get_bulk(buffer, (gasnet_node_t)of, address(of, page), o.page);
    expect_page(buffer, of, page, version, "by get");
    if (of == rank)
        expect_page(address(of, page), of, page, version, "by load");
}

/* ---- the same version in all pages ---- */

/* One rank writes each page, a different one in each version. */
static void write_version(uint64_t version) {
    for (int of = 0; of < size; of++)
        for (uint64_t page = 0; page < o.pages; page++)
            if ((uint64_t)rank == (page + (uint64_t)of + version) % (uint64_t)size)
                write_page(of, page, version, mix(page + version));
    barrier();
}

static void check_version(uint64_t version) {
    for (int i = 0; i < size; i++)
        for (uint64_t page = 0; page < o.pages; page++)
            check_page((rank + i) % size, page, version);
    barrier();
}

/* ---- checkpoints until the job ends ---- */

static uint64_t starts[LIVES]; /* the epoch at which each run began */
static uint64_t lives;

static void read_lives(void) {
    int file = file_in_folder("lives", O_RDONLY);
    ssize_t got = file < 0 ? 0 : read(file, starts, sizeof starts);
    lives = got > 0 ? (uint64_t)got / sizeof *starts : 0;
    if (file >= 0)
        close(file);
}

static void begin_life(uint64_t start) {
    int file = rank == 0 ? file_in_folder("lives", O_WRONLY | O_CREAT | O_APPEND) : -1;
    if (rank == 0 && (file < 0 || write(file, &start, sizeof start) != sizeof start))
        wrong("the list of lives: %s", strerror(errno));
    if (file >= 0)
        close(file);
    starts[lives++] = start;
}

static int is_written(int of, uint64_t page, uint64_t epoch) {
    return mix(((uint64_t)of << 40) ^ page << 20 ^ epoch) % 3 == 0;
}

/* The version of a page at an epoch. The test counts epochs itself, as the numbers of checkpoints are not known in advance.
 * An epoch that was abandoned when a run was killed is repeated by a later run, so its data is that of the last run that
 * began before it. */
static uint64_t version_at(int of, uint64_t page, uint64_t epoch) {
    while (epoch && !is_written(of, page, epoch))
        epoch--;
    if (epoch == 0)
        return 0;
    uint64_t life = lives - 1;
    while (starts[life] >= epoch)
        life--;
    return epoch * LIVES + life + 1;
}

static void write_epoch(uint64_t epoch) {
    for (int of = 0; of < size; of++)
        for (uint64_t page = 0; page < o.pages; page++) {
            uint64_t how = mix(page * 7 + epoch + (uint64_t)of);
            if (is_written(of, page, epoch) && (uint64_t)rank == how % (uint64_t)size)
                write_page(of, page, version_at(of, page, epoch), how >> 8);
        }
    barrier();
}

/* Reads pages of other ranks, so that copies are shared, or owned with sharers, when the checkpoint comes. */
static void look_around(uint64_t epoch) {
    for (uint64_t i = 0; i < 6; i++) {
        uint64_t dice = mix(epoch * 64 + i * 8 + (uint64_t)rank);
        int of = (int)(dice % (uint64_t)size);
        uint64_t page = (dice >> 20) % o.pages;
        gasnet_get_bulk(buffer, (gasnet_node_t)of, address(of, page), o.page);
        expect_page(buffer, of, page, version_at(of, page, epoch), "before the checkpoint");
    }
}

enum { TRIED, DONE, NUMBER /* number of the checkpoint DONE */ };
static int progress = -1;

static void note(int what, uint64_t epoch) {
    if (rank == 0 && pwrite(progress, &epoch, sizeof epoch, what * 8) != sizeof epoch)
        wrong("the note of progress: %s", strerror(errno));
}

/* Written at once, as the job may be killed at any time. */
static void note_made(uint64_t epoch, uint64_t number) {
    uint64_t both[2] = {epoch, number};
    if (rank == 0 && pwrite(progress, both, sizeof both, DONE * 8) != sizeof both)
        wrong("the note of progress: %s", strerror(errno));
}

/* The data found must be that of one checkpoint, and not older than the last one that completed. */
static uint64_t expect_found(void) {
    uint64_t found = vgasnet_epoch(), past[3] = {0, 0, 0}, *all = malloc((size_t)size * sizeof *all);
    if (pread(progress, past, sizeof past, 0) < 0)
        wrong("the note of progress: %s", strerror(errno));
    MPI_Allgather(&found, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (all[i] != found)
            wrong("found checkpoint %llu, and node %d has found %llu", (unsigned long long)found, i,
                  (unsigned long long)all[i]);
    free(all);
    if (found < past[NUMBER] || (found > past[NUMBER] && past[DONE] == past[TRIED]))
        wrong("found checkpoint %llu; the last that was made is %llu, and %s was tried",
              (unsigned long long)found, (unsigned long long)past[NUMBER],
              past[DONE] == past[TRIED] ? "none" : "another");
    barrier();
    if (found > past[NUMBER]) /* the checkpoint completed, but the job was killed before it was recorded */
        note_made(past[TRIED], found);
    barrier();
    return found > past[NUMBER] ? past[TRIED] : past[DONE];
}

static void check_epoch(uint64_t epoch) {
    for (int i = 0; i < size; i++)
        for (uint64_t page = 0; page < o.pages; page++) {
            int of = (rank + i) % size;
            check_page(of, page, epoch ? version_at(of, page, epoch) : 0);
        }
    barrier();
}

static void tell_ready(void) {
    int file = rank == 0 ? file_in_folder("ready", O_WRONLY | O_CREAT) : -1;
    if (file >= 0)
        close(file);
}

static void loop(void) {
    uint64_t got;
    progress = file_in_folder("progress", O_RDWR | O_CREAT);
    read_lives();
    uint64_t start = expect_found();
    check_epoch(start);
    begin_life(start);
    barrier();
    tell_ready();
    uint64_t last = vgasnet_epoch();
    for (uint64_t epoch = start + 1; epoch - start <= o.epochs; epoch++) {
        note(TRIED, epoch);
        barrier();
        write_epoch(epoch);
        look_around(epoch);
        if (vgasnet_checkpoint(&got) != GASNET_OK || got <= last)
            wrong("checkpoint %llu cannot be made", (unsigned long long)epoch);
        last = got;
        note_made(epoch, got);
    }
}

/* Waits for the script. */
static void wait_for_go(void) {
    int file;
    tell_ready();
    while ((file = file_in_folder("go", O_RDONLY)) < 0)
        gasnet_AMPoll(), usleep(1000);
    close(file);
    barrier();
}

/* ---- one failure ---- */

/* Writes two versions, with a checkpoint after each. If a checkpoint fails, a line is printed and the job ends with
 * NO_CHECKPOINT. */
static void two_versions(void) {
    for (uint64_t i = 0; i < 2; i++) {
        write_version(o.version + i);
        check_version(o.version + i);
        int status = vgasnet_checkpoint(NULL);
        if (status != GASNET_OK) {
            if (rank == 0)
                printf("vgasnet_checkpoint: %s\n", gasnet_ErrorName(status));
            gasnet_exit(NO_CHECKPOINT);
        }
        if (rank == 0)
            printf("checkpoint of version %llu\n", (unsigned long long)(o.version + i));
        fflush(stdout);
    }
}

/* The disk is full at the second checkpoint: the program continues with its data, and repeats the checkpoint when
 * there is space. */
static void full(void) {
    write_version(o.version);
    if (vgasnet_checkpoint(NULL) != GASNET_OK)
        wrong("the first checkpoint fails");
    write_version(o.version + 1);
    for (int i = 0; i < 2; i++) {
        int status = vgasnet_checkpoint(NULL);
        if (status != GASNET_ERR_RESOURCE)
            wrong("a checkpoint on a full disk returns %s", gasnet_ErrorName(status));
        check_version(o.version + 1);
    }
    wait_for_go();
    if (vgasnet_checkpoint(NULL) != GASNET_OK || vgasnet_last_epoch() != 2 || vgasnet_epoch() != 0)
        wrong("the checkpoint fails though there is room");
    check_version(o.version + 1);
}

/* Writes and reads more data than memory may hold, twice, so that pages are evicted long before they are read. */
static void both_versions(void) {
    for (uint64_t i = 0; i < 2; i++) {
        write_version(o.version + i);
        check_version(o.version + i);
    }
}

/* Checks that all pages hold the same version, any that was written. */
static void check_any(void) {
    gasnet_get_bulk(buffer, 0, address(0, 0), o.page);
    uint64_t version = buffer[2];
    barrier();
    check_version(version);
    if (rank == 0)
        printf("found version %llu\n", (unsigned long long)version);
}

/* ---- threads that read during checkpoints ---- */

static volatile int stop;

static void *read_on(void *arg) {
    uint64_t sum = 0, word;
    (void)arg;
    for (uint64_t i = 0; !stop; i++) {
        uint64_t dice = mix(i * 100 + (uint64_t)rank);
        sum += *(volatile uint64_t *)address(rank, dice % o.pages);
        gasnet_get(&word, (gasnet_node_t)((dice >> 20) % (uint64_t)size),
                   address((int)((dice >> 20) % (uint64_t)size), (dice >> 30) % o.pages), sizeof word);
    }
    return (void *)(uintptr_t)(sum | 1);
}

/* Each checkpoint completes although pages move all the time, and its number is one more than the last. */
static void make_while_reading(void) {
    enum { THREADS = 2, CHECKPOINTS = 6 };
    pthread_t readers[THREADS];
    uint64_t got, last = vgasnet_epoch();
    write_version(o.version);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&readers[i], NULL, read_on, NULL);
    for (uint64_t i = 1; i <= CHECKPOINTS; i++) {
        write_version(o.version + i);
        if (vgasnet_checkpoint(&got) != GASNET_OK || got != last + i)
            wrong("checkpoint %llu while threads read cannot be made", (unsigned long long)(last + i));
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(readers[i], NULL);
    barrier();
}

/* ---- ends ---- */

static void poll_for(unsigned ms) {
    for (unsigned i = 0; i < ms; i++)
        gasnet_AMPoll(), usleep(1000);
}

/* Makes a checkpoint, unless the version is the first; then all pages are overwritten with the next version, and the last
 * rank ends the job with an error. */
static void end_badly(void) {
    if (o.version > 1) {
        write_version(o.version);
        if (vgasnet_checkpoint(NULL) != GASNET_OK)
            wrong("the checkpoint fails");
    }
    for (uint64_t page = 0; page < o.pages; page++)
        write_page(rank, page, o.version + 1, page);
    barrier();
    if (rank == size - 1)
        gasnet_exit(BAD_END);
    for (;;)
        gasnet_AMPoll();
}

/* Rank 0 ends long before the others, which poll and write on. */
static void end_apart(void) {
    enum { APART_MS = 600 };
    write_version(o.version);
    if (rank == 0)
        gasnet_exit(0);
    poll_for(APART_MS);
    for (int of = 0; of < size; of++)
        for (uint64_t page = (uint64_t)rank - 1; page < o.pages; page += (uint64_t)size - 1)
            write_page(of, page, o.version + 1, page);
    gasnet_exit(0);
}

/* The other ranks never end. */
static void end_alone(void) {
    write_version(o.version);
    if (vgasnet_checkpoint(NULL) != GASNET_OK)
        wrong("the checkpoint fails");
    write_version(o.version + 1);
    if (rank == 0)
        gasnet_exit(0);
    sleep(SECONDS);
}

/* ---- until killed ---- */

static void hold(void) {
    write_version(o.version);
    tell_ready();
    for (;;)
        gasnet_AMPoll(), usleep(1000);
}

static void storm(void) {
    tell_ready();
    for (uint64_t i = 1;; i++) {
        uint64_t dice = mix(i * 1000 + (uint64_t)rank);
        int of = (int)(dice % (uint64_t)size);
        size_t bytes = (dice >> 8) % 3 ? 8 : o.page;
        gasnet_put((gasnet_node_t)of, address(of, (dice >> 16) % o.pages), buffer, bytes);
        if ((dice >> 40) % 4 == 0)
            gasnet_get(buffer, (gasnet_node_t)of, address(of, (dice >> 20) % o.pages), o.page);
    }
}

/* ---- the job ---- */

static void plan(unsigned n, int error) {
    if (n > 0 && rank == 0)
        fail_store_at(n, 0, error);
}

static void read_plan(const char *text, unsigned *n, int *error) {
    char *end;
    *n = (unsigned)strtoul(text, &end, 10);
    *error = *end ? atoi(end + 1) : EIO;
}

static void read_options(int argc, char **argv) {
    o.mode = argc > 1 ? argv[1] : "";
    for (int i = 2; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--pages") == 0)
            o.pages = strtoull(value, NULL, 10);
        else if (strcmp(name, "--page") == 0)
            o.page = strtoull(value, NULL, 10);
        else if (strcmp(name, "--folder") == 0)
            o.folder = value;
        else if (strcmp(name, "--version") == 0)
            o.version = strtoull(value, NULL, 10);
        else if (strcmp(name, "--epochs") == 0)
            o.epochs = strtoull(value, NULL, 10);
        else if (strcmp(name, "--open") == 0)
            o.open = strtoull(value, NULL, 10);
        else if (strcmp(name, "--move") == 0 && chdir(value) != 0)
            wrong("chdir fails");
        else if (strcmp(name, "--fail") == 0)
            read_plan(value, &o.fail, &o.fail_error);
        else if (strcmp(name, "--later") == 0)
            read_plan(value, &o.later, &o.later_error);
    }
}

static void attach(void) {
    plan(o.fail, o.fail_error);
    if (vgasnet_open(o.open) != GASNET_OK)
        wrong("vgasnet_open fails before gasnet_attach");
    int status = gasnet_attach(NULL, 0, o.pages * o.page, 0);
    if (status != GASNET_OK) {
        if (rank == 0)
            printf("gasnet_attach: %s\n", gasnet_ErrorName(status));
        gasnet_exit(REFUSED);
    }
    segments = calloc((size_t)size, sizeof *segments);
    buffer = aligned_alloc(4096, o.page);
    wanted = aligned_alloc(4096, o.page);
    gasnet_getSegmentInfo(segments, size);
    memset(buffer, 0, o.page);
    plan(o.later, o.later_error);
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    alarm(SECONDS); /* ends a job that hangs */
    GASNET_SAFE(gasnet_init(&argc, &argv));
    rank = (int)gasnet_mynode();
    size = (int)gasnet_nodes();
    attach();
    if (strcmp(o.mode, "write") == 0)
        write_version(o.version);
    else if (strcmp(o.mode, "check") == 0)
        check_version(o.version);
    else if (strcmp(o.mode, "both") == 0)
        both_versions();
    else if (strcmp(o.mode, "any") == 0)
        check_any();
    else if (strcmp(o.mode, "two") == 0)
        two_versions();
    else if (strcmp(o.mode, "full") == 0)
        full();
    else if (strcmp(o.mode, "loop") == 0)
        loop();
    else if (strcmp(o.mode, "late") == 0)
        wait_for_go(), both_versions();
    else if (strcmp(o.mode, "busy") == 0)
        make_while_reading();
    else if (strcmp(o.mode, "bad_end") == 0)
        end_badly();
    else if (strcmp(o.mode, "apart") == 0)
        end_apart();
    else if (strcmp(o.mode, "end_alone") == 0)
        end_alone();
    else if (strcmp(o.mode, "hold") == 0)
        hold();
    else if (strcmp(o.mode, "storm") == 0)
        storm();
    else if (strcmp(o.mode, "alone") == 0 && rank == size - 1)
        gasnet_exit(ALONE);
    else if (strcmp(o.mode, "alone") == 0)
        barrier();
    barrier();
    if (rank == 0)
        printf("well: checkpoint %llu was found\n", (unsigned long long)vgasnet_epoch());
    fflush(stdout);
    return 0;
}
