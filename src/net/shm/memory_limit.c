/* memory_limit.c: finds out how much memory is left, before it is requested.
 *
 * A memfd has no limit of its own. When memory runs out, the kernel does not refuse it but kills processes, in the
 * whole node or, where a batch system set a limit, in the memory cgroup of the job. So the limits are read first:
 * the available memory of the node, and for each cgroup from ours up to the root its limit minus its usage. The
 * usage includes the page cache, which the kernel reclaims under pressure. So the page cache is not counted as used,
 * except for shared memory, which is part of it and cannot be reclaimed.
 *
 *      /proc/meminfo       MemAvailable, SwapFree
 *      /proc/self/cgroup   "0::/path": version 2; "N:memory:/path": version 1
 *      /sys/fs/cgroup/...  memory.max, memory.current, memory.stat; names of version 1 differ
 *
 * Memory promised to jobs and not yet touched is in none of these files: see promise.c. Against the limit of a cgroup count only the promises of
 * processes in it.
 *
 * In a container the path may be visible only to the host. Then the root of the mounted hierarchy is ours. */
#include "net/shm/memory_limit.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/shm/promise.h"

enum { TEXT = 16384 };
#define UNLIMITED (1ull << 60) /* version 1 writes the largest multiple of a page instead of "max" */

/* The content of a small file; "" if it cannot be read. */
static const char *limit_read_text(const char *path, char text[TEXT]) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, TEXT - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (file >= 0)
        close(file);
    return text;
}

/* The number after a word at the start of a line; 0 if there is none. */
static uint64_t number_after(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, word, length))
            return strtoull(line + length, NULL, 10);
    }
    return 0;
}

/* A question: where the files are, and whose promises count. */
struct question {
    const char *root;
    const uint64_t *promise_id; /* the account whose own promises do not count; NULL: no promises count */
};

static void limit_lower(struct memory_limit *r, uint64_t bytes, uint64_t promised, const char *who,
                        const char *advice) {
    uint64_t left = bytes - (promised < bytes ? promised : bytes);
    if (left < r->bytes)
        *r = (struct memory_limit){.bytes = left, .who = who, .advice = advice, .promised = promised};
}

static void ask_node(const struct question *q, struct memory_limit *r) {
    char path[PATH_MAX], text[TEXT];
    snprintf(path, sizeof path, "%s/proc/meminfo", q->root);
    limit_read_text(path, text);
    uint64_t available = number_after(text, "MemAvailable:");
    if (available)
        limit_lower(r, (available + number_after(text, "SwapFree:")) * 1024,
                    q->promise_id ? net_promise_others(*q->promise_id, NULL, NULL) : 0, "the node",
                    "ask for less, use more nodes, or end what else uses its memory");
}

/* ---- cgroups ---- */

/* File names and keys in the two versions. */
struct version {
    const char *mark;    /* precedes the path in /proc/self/cgroup */
    const char *mounted; /* mount point */
    const char *limit, *usage;
    const char *files, *shared; /* keys in memory.stat */
};
static const struct version versions[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "file ", "shmem "},
    {"memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache ",
     "total_shmem "},
};

/* False if there is no such file, or it says "max". */
static bool limit_read_number(const char *folder, const char *name, char text[TEXT], uint64_t *number) {
    char path[PATH_MAX], *end;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    limit_read_text(path, text);
    *number = strtoull(text, &end, 10);
    return end != text;
}

/* The path in the line "N:names:/path" that contains the mark; NULL if there is none. */
static char *own_path(const struct version *v, char *text) {
    for (char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char *end = strchr(line, '\n'), *mark = strstr(line, v->mark);
        if (!mark || (end && mark > end))
            continue;
        if (end)
            *end = '\0';
        return mark + strlen(v->mark);
    }
    return NULL;
}

struct cgroup {
    const struct version *version;
    const char *path; /* from the root of the hierarchy; "" for the root */
};

static bool is_in_cgroup(const char *process, const void *arg) {
    const struct cgroup *g = arg;
    char file_name[PATH_MAX], text[TEXT];
    snprintf(file_name, sizeof file_name, "/proc/%s/cgroup", process);
    limit_read_text(file_name, text);
    const char *path = own_path(g->version, text);
    size_t length = strlen(g->path);
    return path && !strncmp(path, g->path, length) && (!length || !path[length] || path[length] == '/');
}

static uint64_t promised_in(const struct question *q, const struct cgroup *g) {
    return q->promise_id ? net_promise_others(*q->promise_id, is_in_cgroup, g) : 0;
}

static void ask_cgroup(const struct question *q, const struct cgroup *g, const char *folder,
                       struct memory_limit *r) {
    const struct version *v = g->version;
    char text[TEXT], path[PATH_MAX];
    uint64_t limit, usage;
    if (!limit_read_number(folder, v->limit, text, &limit) || limit >= UNLIMITED ||
        !limit_read_number(folder, v->usage, text, &usage))
        return;
    if (snprintf(path, sizeof path, "%s/memory.stat", folder) >= (int)sizeof path)
        return;
    limit_read_text(path, text);
    uint64_t files = number_after(text, v->files), shared = number_after(text, v->shared);
    uint64_t returnable = files > shared ? files - shared : 0;
    usage -= returnable < usage ? returnable : usage;
    limit_lower(r, limit > usage ? limit - usage : 0, promised_in(q, g), "the memory cgroup of the job",
                "ask for less, or ask the batch system for more memory (such as --mem)");
}

/* From our cgroup up to the root of the mounted hierarchy. */
static void ask_cgroups(const struct question *q, const struct version *v, struct memory_limit *r) {
    char folder[PATH_MAX], text[TEXT];
    snprintf(folder, sizeof folder, "%s/proc/self/cgroup", q->root);
    limit_read_text(folder, text);
    const char *path = own_path(v, text);
    size_t top = (size_t)snprintf(folder, sizeof folder, "%s%s", q->root, v->mounted);
    if (!path || top + strlen(path) >= sizeof folder)
        return;
    strcpy(folder + top, path);
    for (char *slash = folder; slash; slash = strrchr(folder + top, '/')) {
        if (slash != folder)
            *slash = '\0';
        ask_cgroup(q, &(struct cgroup){v, folder + top}, folder, r);
    }
}

static struct memory_limit limit_ask(const struct question *q) {
    struct memory_limit r = {.bytes = UINT64_MAX, .who = "", .advice = ""};
    ask_node(q, &r);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        ask_cgroups(q, &versions[i], &r);
    log_trace(LOG_NET, "%s leaves %llu bytes, without %llu that are promised to others", r.who,
              (unsigned long long)r.bytes, (unsigned long long)r.promised);
    return r;
}

struct memory_limit net_memory_limit_below(const char *root) {
    return limit_ask(&(struct question){.root = root});
}

bool net_room_is_beyond(uint64_t bytes, struct memory_limit *room) {
    enum { LARGE = 1 << 30 };
    if (bytes < LARGE)
        return false;
    *room = net_memory_limit_below("");
    return bytes > room->bytes;
}

struct memory_limit net_room_for(uint64_t promise_id) {
    return limit_ask(&(struct question){.root = "", .promise_id = &promise_id});
}

/* The memory that was left when the limit was last read, and what this process was promised since. */
static struct {
    pthread_mutex_t mutex;
    uint64_t read_ns, bytes, taken;
} recent = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_clearly_enough(uint64_t bytes) {
    enum { SECOND = 1000000000, PART = 8 };
    pthread_mutex_lock(&recent.mutex);
    bool enough =
        recent.read_ns && clock_ns() - recent.read_ns < SECOND && bytes < recent.bytes / PART - recent.taken;
    if (enough)
        recent.taken += bytes;
    pthread_mutex_unlock(&recent.mutex);
    return enough;
}

bool net_room_has(uint64_t promise_id, uint64_t bytes, struct memory_limit *room) {
    if (is_clearly_enough(bytes))
        return true;
    *room = net_room_for(promise_id);
    pthread_mutex_lock(&recent.mutex);
    recent.read_ns = clock_ns();
    recent.bytes = room->bytes;
    recent.taken = 0;
    pthread_mutex_unlock(&recent.mutex);
    return bytes <= room->bytes;
}

struct memory_limit net_memory_limit(void) {
    return net_room_for(0);
}
