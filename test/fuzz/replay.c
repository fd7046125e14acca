/* replay.c: runs a fuzz target without a fuzzer: on its seeds, then for a moment on mutations of them.
 *
 *      unit_fuzz_NAME [--seed S] [--seconds X | --inputs N]      unit_fuzz_NAME FILE...
 *
 * Mutation N depends only on the seed and N, so that a run can be repeated. An input that ends the process, or takes
 * longer than LIMIT seconds, is written to FUZZ_FINDING, and a line says how to run it again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "fuzz.h"

enum { LIMIT = 20, MOST_SEEDS = 256, MOST_BYTES = 1 << 20, MOST_GROWTH = 256 };

struct input {
    uint8_t *data;
    size_t size;
};

static struct input seeds[MOST_SEEDS];
static size_t seed_count;

/* ---- the current input, for the handlers that end the process ---- */

static const uint8_t *running;
static size_t running_size;
static const char *program;

static void say(const char *text) {
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* Called in a signal handler, or in the sanitizer's callback. */
static void keep_input(void) {
    int file = running ? open(FUZZ_FINDING, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    ssize_t n = write(file, running, running_size);
    (void)n;
    close(file);
    running = NULL;
    say("FAIL; to repeat: ");
    say(program);
    say(" " FUZZ_FINDING "\n");
}

static void on_signal(int signal_number) {
    say(signal_number == SIGALRM ? "FAIL: the input takes too long\n" : "");
    keep_input();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Defined by the sanitizers, if there is one. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void catch_deaths(void) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i] == SIGALRM || !__sanitizer_set_death_callback)
            signal(signals[i], on_signal);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);
        signal(SIGABRT, on_signal);
    }
}

/* Each input gets its own copy, so that a sanitizer detects accesses beyond its end. */
static void run_input(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        exit(1);
    memcpy(copy, data, size);
    running = copy;
    running_size = size;
    alarm(LIMIT);
    LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    running = NULL;
    free(copy);
}

/* ---- seeds ---- */

static bool load(const char *path, struct input *input) {
    FILE *f = fopen(path, "re");
    input->data = f ? malloc(MOST_BYTES) : NULL;
    input->size = input->data ? fread(input->data, 1, MOST_BYTES, f) : 0;
    if (f)
        fclose(f);
    if (!input->data)
        fprintf(stderr, "FAIL: cannot read %s: %s\n", path, strerror(errno));
    return input->data;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static bool load_seeds(void) {
    struct dirent **list;
    int count = scandir(FUZZ_SEEDS, &list, is_visible, alphasort);
    bool good = count > 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", FUZZ_SEEDS, list[i]->d_name);
        if (good && seed_count < MOST_SEEDS)
            good = load(path, &seeds[seed_count++]);
        free(list[i]);
    }
    if (count <= 0)
        fprintf(stderr, "FAIL: no seeds in %s\n", FUZZ_SEEDS);
    else
        free(list);
    return good;
}

/* ---- mutations ---- */

static uint64_t odd_number(struct random *r) {
    static const uint64_t odd[] = {0,          1,          0x7f,      0x80,
                                   0xff,       0x7fff,     0xffff,    0x7fffffff,
                                   0x80000000, 0xffffffff, INT64_MAX, (uint64_t)INT64_MIN,
                                   UINT64_MAX};
    return odd[random_below(r, sizeof odd / sizeof *odd)];
}

static void overwrite(struct random *r, uint8_t *data, size_t size) {
    uint64_t value = odd_number(r);
    size_t bytes = (size_t)1 << random_below(r, 4), at = random_below(r, (uint32_t)size);
    memcpy(data + at, &value, bytes < size - at ? bytes : size - at);
}

/* Inserts a piece of some seed, or overwrites with it. */
static size_t splice_seed(struct random *r, uint8_t *data, size_t size) {
    const struct input *from = &seeds[random_below(r, (uint32_t)seed_count)];
    if (!from->size)
        return size;
    size_t first = random_below(r, (uint32_t)from->size), bytes = 1 + random_below(r, MOST_GROWTH / 4);
    size_t at = random_below(r, (uint32_t)size + 1);
    bytes = bytes < from->size - first ? bytes : from->size - first;
    if (random_below(r, 2)) {
        memmove(data + at + bytes, data + at, size - at);
        size += bytes;
    }
    memcpy(data + at, from->data + first, bytes);
    return at + bytes > size ? at + bytes : size;
}

static size_t mutate_once(struct random *r, uint8_t *data, size_t size) {
    size_t at = size ? random_below(r, (uint32_t)size) : 0, n;
    switch (size ? random_below(r, 6) : 5) {
    case 0:
        data[at] ^= (uint8_t)(1u << random_below(r, 8));
        return size;
    case 1:
        data[at] = (uint8_t)random_next(r);
        return size;
    case 2:
        overwrite(r, data, size);
        return size;
    case 3: /* cut off */
        return random_below(r, 8) ? size : at;
    case 4: /* cut out */
        n = 1 + random_below(r, (uint32_t)(size - at));
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    default:
        return splice_seed(r, data, size);
    }
}

static void run_mutation(uint64_t seed, uint64_t number) {
    static uint8_t data[MOST_BYTES + 8 * MOST_GROWTH];
    struct random r;
    random_seed(&r, random_mix(seed) + number);
    const struct input *from = &seeds[random_below(&r, (uint32_t)seed_count)];
    size_t size = from->size;
    memcpy(data, from->data, size);
    for (uint32_t i = 1 + random_below(&r, 6); i--;)
        size = mutate_once(&r, data, size);
    run_input(data, size);
}

/* ---- all ---- */

static int run_files(int count, char **paths) {
    for (int i = 0; i < count; i++) {
        struct input input;
        if (!load(paths[i], &input))
            return 1;
        run_input(input.data, input.size);
        free(input.data);
    }
    printf("%d inputs ran\n", count);
    return 0;
}

static int run_all(uint64_t seed, double seconds, uint64_t inputs) {
    uint64_t ran = 0;
    if (!load_seeds())
        return 1;
    for (size_t i = 0; i < seed_count; i++)
        run_input(seeds[i].data, seeds[i].size);
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    uint64_t end = clock_ns() + (uint64_t)(seconds * 1e9);
    for (; inputs ? ran < inputs : clock_ns() < end; ran++)
        run_mutation(seed, ran);
    printf("%zu seeds and %llu mutations ran\n", seed_count, (unsigned long long)ran);
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].data);
    return 0;
}

int main(int argc, char **argv) {
    uint64_t seed = 1, inputs = 0;
    double seconds = 0.15;
    int i = 1;
    program = argv[0];
    catch_deaths();
    for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2)
        if (!strcmp(argv[i], "--seed"))
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--seconds"))
            seconds = strtod(argv[i + 1], NULL);
        else if (!strcmp(argv[i], "--inputs"))
            inputs = strtoull(argv[i + 1], NULL, 10);
        else
            break;
    if (i < argc && !strncmp(argv[i], "--", 2)) {
        fprintf(stderr, "usage: %s [--seed S] [--seconds X | --inputs N] | FILE...\n", argv[0]);
        return 2;
    }
    return i < argc ? run_files(argc - i, argv + i) : run_all(seed, seconds, inputs);
}
