/* fuzz_top.c: feeds the reader of `hearth top` a live page with any contents, and prints what it accepts. The first byte
 * chooses which fields of the header are valid, and whether the tables are short enough for the input to fill them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "observe/live.h"
#include "top/top.h"
#include "fuzz.h"

enum { OWN_PID = 1234, HEAD = 1, EVEN = 2, COUNTS = 4 };

static int file = -1;
static char *page;
static unsigned yields;

/* Replaces sched_yield (--wrap): counts repeated reads of a page. */
int __wrap_sched_yield(void);
int __wrap_sched_yield(void) {
    yields++;
    return 0;
}

/* As observe/live.c makes it. */
static void make_file(void) {
    file = memfd_create(LIVE_TITLE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    fuzz_must(file >= 0 && !ftruncate(file, LIVE_FILE_BYTES) &&
              !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
    page = mmap(NULL, LIVE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    fuzz_must(page != MAP_FAILED);
    memset(page + LIVE_FILE_BYTES - 4096, 0xff, 4096);
}

/* The input is dealt out to the tables in turn, entry by entry, as it is much shorter than they are. */
static void fill(struct fuzz_input *in) {
    unsigned flags = fuzz_take_byte(in);
    struct live_page *p = (struct live_page *)(void *)page;
    memset(p, 0, sizeof *p);
    fuzz_take(in, p, offsetof(struct live_page, kept));
    if (flags & HEAD) {
        memcpy(p->magic, LIVE_MAGIC, sizeof p->magic);
        p->pid = OWN_PID;
        p->size = p->size > 0 ? p->size : 1;
    }
    if (flags & EVEN)
        p->sequence &= ~1u;
    if (flags & COUNTS) {
        p->object_count %= 16;
        p->field_count %= 16;
    }
    for (int i = 0; in->left; i++) {
        fuzz_take(in, &p->fields[i % LIVE_MOST_FIELDS], sizeof *p->fields);
        fuzz_take(in, &p->objects[i % LIVE_MOST_OBJECTS], sizeof *p->objects);
        fuzz_take(in, &p->threads[i % LIVE_MOST_THREADS], sizeof *p->threads);
        fuzz_take(in, &p->kept[i % LIVE_MOST_WHATS], sizeof *p->kept);
    }
}

static void show(const struct top_process *now, FILE *to) {
    struct top_process one = *now, old = {.pid = now->pid};
    struct top_sample sample = {.ns = 2000000000u, .of = &one, .count = 1},
                      before = {.ns = 1, .of = &old, .count = 1};
    struct top_jobs jobs;
    struct top_table table;
    top_jobs_make(&jobs, &sample, &before);
    top_table_make(&table, &jobs, (struct top_order){.column = 0}, 80);
    top_json_print(to, &jobs, 1.5);
    top_table_free(&table);
    top_jobs_free(&jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *to;
    struct fuzz_input in = {data, size};
    struct top_process p = {.pid = getpid()};
    if (!to)
        to = fopen("/dev/null", "we");
    if (file < 0)
        make_file();
    fuzz_must(to != NULL);
    fill(&in);
    yields = 0;
    if (top_page_add(file, OWN_PID, &p)) {
        fuzz_must(p.size > 0);
        show(&p, to);
    }
    /* No other process changes it, so one read is enough unless it claims to be in the middle of an update. */
    fuzz_must(yields == 0 || ((struct live_page *)(void *)page)->sequence % 2);
    return 0;
}
