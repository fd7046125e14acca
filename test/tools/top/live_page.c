/* live_page.c: a process without MPI that publishes a page of the given kind, until FOLDER/end exists.
 *
 *   live_page KIND FOLDER        good: with 42 gets; the others are invalid, though they look like pages from outside:
 *      unsealed, short           could shrink under a reader
 *      magic                     has another layout
 *      pid                       names another process
 *      over                      the job has ended
 *      counts, fields, offsets   tables that point outside the page
 *      stuck                     forever in the middle of an update */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "observe/live.h"
#include "steps.h"

static const struct live_field fields[] = {{LIVE_gets, 8, 1, 0}};

static void show_good(void) {
    live_open(LIVE_BY_MPI, 0, 1);
    uint64_t *gets = live_alloc(sizeof *gets);
    *gets = 42;
    live_show(gets, fields, 1);
}

static void spoil(struct live_page *p, const char *kind) {
    if (!strcmp(kind, "magic"))
        p->magic[7]++;
    else if (!strcmp(kind, "pid"))
        p->pid++;
    else if (!strcmp(kind, "over"))
        p->size = 0;
    else if (!strcmp(kind, "counts"))
        p->object_count = p->field_count = UINT32_MAX;
    else if (!strcmp(kind, "fields"))
        p->objects[0].first = UINT16_MAX;
    else if (!strcmp(kind, "offsets"))
        p->objects[0].offset = UINT32_MAX - 7;
    else if (!strcmp(kind, "stuck"))
        p->sequence = 1;
}

static void show_bad(const char *kind) {
    bool is_short = !strcmp(kind, "short"), is_unsealed = !strcmp(kind, "unsealed");
    int file = memfd_create(LIVE_TITLE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, is_short ? 4096 : LIVE_FILE_BYTES))
        exit(1);
    struct live_page *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED)
        exit(1);
    if (!is_short) {
        memcpy(p->magic, LIVE_MAGIC, 8);
        p->pid = (int32_t)getpid();
        p->size = 1;
        p->object_count = p->field_count = 1;
        p->fields[0] = fields[0];
        p->objects[0] = (struct live_object){.offset = sizeof *p, .first = 0, .count = 1};
        spoil(p, kind);
    }
    if (!is_unsealed && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    steps_folder = argv[2];
    if (!strcmp(argv[1], "good"))
        show_good();
    else
        show_bad(argv[1]);
    steps_write(argv[1], 0, (int)getpid());
    alarm(800);
    steps_wait_for("end");
    return 0;
}
