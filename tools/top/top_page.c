/* top_page.c: reads the page of another process (observe/live.h).
 *
 * The page is mapped, not read: its file is sealed against shrinking, so no access to it can fault. Its tables may
 * change during the read, which is then repeated. All numbers in it are untrusted, and are checked before use. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/live.h"
#include "top/top.h"

enum { TRIES = 1000 };

static bool is_page_file(int opened) {
    struct stat st;
    int seals = fcntl(opened, F_GET_SEALS);
    return !fstat(opened, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           st.st_size == LIVE_FILE_BYTES && seals >= 0 && (seals & F_SEAL_SHRINK);
}

static bool top_page_is_sound(const struct live_field *f, uint32_t object) {
    uint64_t at = (uint64_t)object + f->offset;
    return (f->bytes == 1 || f->bytes == 4 || f->bytes == 8) && at % f->bytes == 0 &&
           at + f->bytes <= LIVE_FILE_BYTES;
}

static bool top_page_add_object(const struct live_page *page, const struct live_object *o,
                                uint32_t field_count, struct top_process *p) {
    if ((uint32_t)o->first + o->count > field_count)
        return false;
    for (unsigned i = o->first; i < (unsigned)o->first + o->count; i++) {
        struct live_field f = page->fields[i];
        if (!top_page_is_sound(&f, o->offset))
            return false;
        if (f.what < LIVE_WHATS) /* larger ones are of a later version */
            p->values[f.what] += live_read((const char *)page + o->offset, &f);
    }
    return true;
}

static bool read_line(int pid, int thread, const char *what, char *line, int room) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, thread, what);
    FILE *f = fopen(path, "re");
    bool is_read = f && fgets(line, room, f);
    if (f)
        fclose(f);
    return is_read;
}

/* CPU time of a thread in ns; some kernels report it only in ticks. */
static uint64_t thread_time(int pid, int thread) {
    char line[1024], *end;
    unsigned long long ns = 0, user, system;
    if (read_line(pid, thread, "schedstat", line, sizeof line) && sscanf(line, "%llu", &ns) == 1)
        return ns;
    if (!read_line(pid, thread, "stat", line, sizeof line) || !(end = strrchr(line, ')')) ||
        sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
        return 0;
    return (user + system) * (1000000000u / (unsigned long)sysconf(_SC_CLK_TCK));
}

static void add_threads(const struct live_page *page, struct top_process *p) {
    for (int i = 0; i < LIVE_MOST_THREADS; i++) {
        struct live_thread t = page->threads[i];
        if (t.id <= 0 || t.role <= LIVE_NO_THREAD || t.role >= LIVE_ROLES)
            continue;
        p->threads[t.role]++;
        p->busy_ns[t.role] += thread_time(p->pid, t.id);
    }
}

static bool add_all(const struct live_page *page, struct top_process *p) {
    uint32_t objects = page->object_count, fields = page->field_count;
    if (objects > LIVE_MOST_OBJECTS || fields > LIVE_MOST_FIELDS)
        return false;
    for (unsigned i = 0; i < LIVE_WHATS; i++)
        p->values[i] += page->kept[i];
    for (uint32_t i = 0; i < objects; i++) {
        struct live_object o = page->objects[i];
        if (!top_page_add_object(page, &o, fields, p))
            return false;
    }
    if (page->size > 0) {
        p->rank = page->rank;
        p->size = page->size;
    }
    p->is_partial |= page->unshown > 0;
    add_threads(page, p);
    return true;
}

/* One attempt; pairs with begin_change and end_change in observe/live.c. Tables that are invalid and did not change
 * meanwhile stay invalid. */
enum reading { READ_WELL, READ_CHANGED, READ_BROKEN };

static enum reading add_unchanged(const struct live_page *page, struct top_process *p) {
    struct top_process more = *p;
    uint32_t before = atomic_load_explicit(&page->sequence, memory_order_acquire);
    if (before % 2)
        return READ_CHANGED;
    bool is_sane = add_all(page, &more);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&page->sequence, memory_order_relaxed) != before)
        return READ_CHANGED;
    if (!is_sane)
        return READ_BROKEN;
    *p = more;
    return READ_WELL;
}

static bool top_page_append(const struct live_page *page, int own_pid, struct top_process *p) {
    if (memcmp(page->magic, LIVE_MAGIC, sizeof page->magic) || page->pid != own_pid || page->size <= 0)
        return false;
    for (int i = 0; i < TRIES; i++) {
        enum reading reading = add_unchanged(page, p);
        if (reading != READ_CHANGED)
            return reading == READ_WELL;
        sched_yield();
    }
    return false; /* the process was stopped in the middle of a change */
}

bool top_page_add(int opened, int own_pid, struct top_process *p) {
    if (!is_page_file(opened))
        return false;
    void *at = mmap(NULL, LIVE_FILE_BYTES, PROT_READ, MAP_SHARED, opened, 0);
    if (at == MAP_FAILED)
        return false;
    bool added = top_page_append(at, own_pid, p);
    munmap(at, LIVE_FILE_BYTES);
    return added;
}
