/* rig.c: implements rig.h.
 *
 * Caches are emptied by address. Reading much other memory instead would not reliably evict: victim caches and
 * hashed sets keep lines for long. All memory that the process can write and that is present is flushed: heap,
 * anonymous memory, shared memory. The same call therefore empties the caches of any library's queues, without
 * knowing them. */
#include "rig.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"

/* ---- time ---- */

double rig_ns(uint64_t from, uint64_t to) {
    static double own = -1;
    if (own < 0) {
        own = 1e9;
        for (int i = 0; i < 1000; i++) {
            uint64_t a = rig_ticks(), b = rig_ticks();
            double took = (double)clock_ticks_between(a, b);
            own = took < own ? took : own;
        }
    }
    double ticks = (double)clock_ticks_between(from, to) - own;
    return (ticks < 0 ? 0 : ticks) * clock_ns_per_tick();
}

void rig_spin_us(double us) {
    uint64_t ticks = (uint64_t)(us * 1000 / clock_ns_per_tick()), start = clock_ticks();
    while (clock_ticks_since(start) < ticks)
        ;
}

void rig_take_core(int n) {
    cpu_set_t cores, mine;
    if (sched_getaffinity(0, sizeof cores, &cores) || CPU_COUNT(&cores) <= n)
        return;
    CPU_ZERO(&mine);
    for (int core = 0; core < CPU_SETSIZE && !CPU_COUNT(&mine); core++)
        if (CPU_ISSET(core, &cores) && !n--)
            CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
}

/* ---- empty caches ---- */

struct range {
    char *base;
    size_t bytes;
};

static struct range *ranges;
static size_t range_count, range_room;
static double flush_us;

static void flush_lines(const char *from, const char *end) {
#if defined(__aarch64__)
    for (; from < end; from += CACHE_LINE)
        __asm__ volatile("dc civac, %0" ::"r"(from) : "memory");
#elif defined(__x86_64__)
    for (; from < end; from += CACHE_LINE)
        __asm__ volatile("clflush (%0)" ::"r"(from) : "memory");
#endif
}

static void wait_for_flush(void) {
#if defined(__aarch64__)
    __asm__ volatile("dsb sy\n\tisb" ::: "memory");
#elif defined(__x86_64__)
    __asm__ volatile("mfence" ::: "memory");
#else
    static char *other;
    enum { OTHER = 64 << 20 };
    other = other ? other : need(calloc(1, OTHER));
    for (size_t i = 0; i < OTHER; i += CACHE_LINE)
        ((volatile char *)other)[i]++;
#endif
}

static void add_range(char *base, size_t bytes) {
    if (range_count && ranges[range_count - 1].base + ranges[range_count - 1].bytes == base) {
        ranges[range_count - 1].bytes += bytes;
        return;
    }
    if (range_count == range_room) {
        range_room = range_room ? 2 * range_room : 1024;
        ranges = need(realloc(ranges, range_room * sizeof *ranges));
    }
    ranges[range_count++] = (struct range){base, bytes};
}

/* Records the present pages of a mapping. */
static void add_mapping(char *base, char *end, size_t page) {
    enum { STEP = 4096 };
    unsigned char there[STEP];
    for (; base < end; base += STEP * page) {
        size_t pages = (size_t)(end - base) / page < STEP ? (size_t)(end - base) / page : STEP;
        if (mincore(base, pages * page, there))
            continue;
        for (size_t i = 0; i < pages; i++)
            if (there[i] & 1)
                add_range(base + i * page, page);
    }
}

void rig_note_memory(void) {
    FILE *maps = fopen("/proc/self/maps", "re");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char line[512];
    range_count = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long base, end;
        char may[8];
        if (sscanf(line, "%lx-%lx %7s", &base, &end, may) == 3 && !strncmp(may, "rw", 2))
            add_mapping((char *)base, (char *)end, page); /* NOLINT: addresses as text */
    }
    if (maps)
        fclose(maps);
}

/* Another thread, or the library under test, may have unmapped it since. This only queries. */
static bool is_mapped(const struct range *r) {
    return !msync(r->base, r->bytes, MS_ASYNC);
}

void rig_flush(void) {
    uint64_t start = clock_ns();
    for (size_t i = 0; i < range_count; i++)
        if (is_mapped(&ranges[i]))
            flush_lines(ranges[i].base, ranges[i].base + ranges[i].bytes);
    wait_for_flush();
    flush_us = (double)(clock_ns() - start) / 1000;
}

void rig_flush_bytes(const void *base, size_t bytes) {
    flush_lines(base, (const char *)base + bytes);
    wait_for_flush();
}

double rig_flush_us(void) {
    return flush_us;
}

enum { READER_WAITS, READER_READS, READER_IS_DONE };

static void *read_ranges(void *arg) {
    _Atomic int *state = arg;
    rig_take_core(1);
    while (atomic_load(state) == READER_WAITS)
        ;
    for (size_t i = 0; i < range_count; i++)
        for (size_t at = 0; is_mapped(&ranges[i]) && at < ranges[i].bytes; at += CACHE_LINE)
            (void)((volatile char *)ranges[i].base)[at];
    atomic_store(state, READER_IS_DONE);
    return NULL;
}

/* The reader exists before the caches are emptied: to create or join it would warm the caller's own core. */
pthread_t rig_read_elsewhere(void) {
    static _Atomic int state;
    pthread_t reader;
    atomic_store(&state, READER_WAITS);
    if (pthread_create(&reader, NULL, read_ranges, &state) != 0) {
        fprintf(stderr, "bench: no thread can be created\n");
        exit(1);
    }
    rig_flush();
    atomic_store(&state, READER_READS);
    while (atomic_load(&state) != READER_IS_DONE)
        ;
    return reader;
}

/* ---- options ---- */

const char *rig_word(int argc, char **argv, const char *name, const char *fallback) {
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name))
            return argv[i + 1];
    return fallback;
}

bool rig_flag(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return false;
}

unsigned rig_list(const char *text, long *numbers) {
    unsigned count = 0;
    for (char *end; *text; text = *end ? end + 1 : end) {
        long n = strtol(text, &end, 10);
        if (*end == 'k' || *end == 'm')
            n *= *end++ == 'k' ? 1024 : 1048576;
        if (end == text || (*end && *end != ',') || n < 0 || count == RIG_LIST) {
            fprintf(stderr, "bench: \"%s\" is not a list of at most %d numbers\n", text, RIG_LIST);
            exit(2);
        }
        numbers[count++] = n;
    }
    return count;
}

bool rig_named(const char *list, const char *word) {
    size_t length = strlen(word);
    if (!strcmp(list, "all"))
        return true;
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

void rig_help(int argc, char **argv, const char *text) {
    if (!rig_flag(argc, argv, "--help"))
        return;
    fputs(text, stdout);
    exit(0);
}

void rig_print(struct samples *s) {
    struct median m = samples_median(s);
    printf("%zu,%.6g,%.6g,%.6g", s->count, m.value, m.low, m.high);
    samples_free(s);
}
