/* info_machine.c: prints this node, and the cores on which our threads would run.
 *
 * The heater itself reports its core. The helper's depends on the cores that the ranks of a job may use, which the
 * launcher decides. Both common cases are shown: ranks bound to one core each, the first ones, and unbound ranks. */
#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/settings.h"
#include "heater/cores.h"
#include "heater/heater.h"
#include "info/info.h"
#include "tools.h"
#include "track/track.h"

/* As ranges: 0-3,8. */
static const char *print_set(const cpu_set_t *set, char *text, size_t room) {
    size_t n = 0;
    text[0] = 0;
    for (int i = 0; i < CPU_SETSIZE && n + 16 < room; i++) {
        int last = i;
        if (!CPU_ISSET(i, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        n += (size_t)snprintf(text + n, room - n, last > i ? "%s%d-%d" : "%s%d", n ? "," : "", i, last);
        i = last;
    }
    return text;
}

static int count_distinct(const int *numbers, const cpu_set_t *among) {
    int count = 0;
    bool seen[MOST_CORES] = {0};
    for (int i = 0; i < MOST_CORES; i++)
        if (CPU_ISSET(i, among) && numbers[i] >= 0 && !seen[numbers[i]]) {
            seen[numbers[i]] = true;
            count++;
        }
    return count;
}

static const char *info_machine_print_bytes(double bytes, char text[32]) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    int i = 0;
    for (; i < 4 && bytes >= 1024; i++)
        bytes /= 1024;
    snprintf(text, 32, bytes < 10 && i ? "%.1f %s" : "%.0f %s", bytes, units[i]);
    return text;
}

/* ---- the node ---- */

static size_t count_files(const char *pattern) {
    glob_t found;
    size_t count = 0;
    if (!glob(pattern, 0, NULL, &found)) {
        count = found.gl_pathc;
        globfree(&found);
    }
    return count;
}

/* The scheduler's allocation, if this is a job. */
static void print_nodes(void) {
    struct utsname name;
    const char *list = getenv("SLURM_JOB_NODELIST"), *count = getenv("SLURM_JOB_NUM_NODES");
    uname(&name);
    printf("node       %s, %s, Linux %s\n", name.nodename, name.machine, name.release);
    if (list)
        printf("job        %s Slurm nodes: %s\n", count ? count : "some", list);
    else
        puts("job        not in a Slurm job: only this node is known");
}

static void print_cores(const struct cores *c) {
    char list[512];
    int threads = CPU_COUNT(&c->allowed), whole = count_distinct(c->whole, &c->allowed);
    printf("cores      %d usable: %s", threads, print_set(&c->allowed, list, sizeof list));
    if (whole > 0 && whole < threads)
        printf(", hardware threads of %d cores", whole);
    if (c->count < threads)
        printf("; the control group allows the CPU time of %.3g cores", c->count);
    putchar('\n');
}

static void print_cache(unsigned level) {
    static struct cores c; /* too large for the stack */
    char text[32];
    if (cores_open(&c, level) || !c.cache_bytes) {
        printf("L%u         none, or unknown\n", level);
        return;
    }
    printf("L%u         %d of %s\n", level, count_distinct(c.cache, &c.allowed),
           info_machine_print_bytes((double)c.cache_bytes, text));
}

static void print_memory(void) {
    char all[32], free_now[32];
    double page = (double)sysconf(_SC_PAGESIZE);
    size_t numa = count_files("/sys/devices/system/node/node[0-9]*");
    printf("memory     %s, %s free, in %zu NUMA node%s\n",
           info_machine_print_bytes(page * (double)sysconf(_SC_PHYS_PAGES), all),
           info_machine_print_bytes(page * (double)sysconf(_SC_AVPHYS_PAGES), free_now), numa ? numa : 1,
           numa > 1 ? "s" : "");
}

/* ---- stores that the kernel records ---- */

enum { TRACKED = 64 << 20, SCANS = 9 };

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of several scans of memory that nobody writes. 0, or a negative code. */
static int time_scan(int tracker, char *base, double *us) {
    int watch = track_watch(getpid()), err = watch < 0 ? watch : track_add(tracker, base, TRACKED);
    double took[SCANS];
    struct track_range range;
    uint64_t begin = (uintptr_t)base, reached;
    for (int i = 0; !err && i < SCANS; i++) {
        uint64_t start = clock_ns();
        int pages = track_scan(watch, begin, begin + TRACKED, &range, 1, &reached);
        took[i] = (double)(clock_ns() - start) / 1e3;
        err = pages < 0 ? pages : 0;
    }
    if (watch >= 0)
        close(watch);
    qsort(took, SCANS, sizeof *took, by_size);
    *us = took[SCANS / 2];
    return err;
}

static void print_tracking(void) {
    double us = 0;
    int tracker = track_open(), err = tracker;
    char *base = mmap(NULL, TRACKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tracker >= 0) {
        err = base == MAP_FAILED ? -ENOMEM : time_scan(tracker, base, &us);
        close(tracker);
    }
    if (base != MAP_FAILED)
        munmap(base, TRACKED);
    if (err < 0)
        printf("stores     not recorded by the kernel: %s%s\n", strerror(-err),
               err == -ENOSYS ? "; Linux 6.7 and later can" : "");
    else
        printf("stores     recorded by the kernel; to ask for those to 64 MB takes %.0f us\n", us);
}

/* ---- our threads ---- */

/* The first cores, one for each rank. */
static cpu_set_t bound_cores(const cpu_set_t *allowed, unsigned ranks) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < CPU_SETSIZE && ranks; i++)
        if (CPU_ISSET(i, allowed)) {
            CPU_SET(i, &set);
            ranks--;
        }
    return set;
}

static void print_helper_for(const char *binding, const cpu_set_t *allowed, const cpu_set_t *used) {
    cpu_set_t idle;
    char list[512];
    CPU_XOR(&idle, allowed, used);
    int way = settings_get()->helper_affinity;
    enum { AUTO, FLOAT, STAY, RULE }; /* the values of HEARTH_HELPER_AFFINITY */
    printf("           %s: ", binding);
    if (way == AUTO && CPU_COUNT(&idle))
        printf("on %s, which no rank uses\n", print_set(&idle, list, sizeof list));
    else if (way == STAY)
        puts("where the first rank of the node runs");
    else if (way == RULE)
        printf("on one of %s, moving with its load\n", print_set(used, list, sizeof list));
    else
        printf("shares %s with the ranks\n", print_set(used, list, sizeof list));
}

static void print_helper(const cpu_set_t *allowed, unsigned ranks) {
    char text[64];
    settings_print(settings_find("HEARTH_HELPER_AFFINITY"), settings_get(), text, sizeof text);
    printf("helper     %llu thread%s per node, affinity %s; with %u rank%s on this node\n",
           (unsigned long long)settings_get()->helpers, settings_get()->helpers > 1 ? "s" : "", text, ranks,
           ranks > 1 ? "s" : "");
    cpu_set_t used = bound_cores(allowed, ranks);
    print_helper_for("ranks bound to a core each", allowed, &used);
    print_helper_for("ranks not bound           ", allowed, allowed);
}

static void print_heater(const struct cores *c, unsigned ranks) {
    int core = heater_preview(ranks);
    printf("heater     with %u rank%s on this node: ", ranks, ranks > 1 ? "s" : "");
    if (settings_get()->heater == HEATER_OFF)
        puts("none, as HEARTH_HEATER=off");
    else if (core >= 0)
        printf("on core %d\n", core);
    else if (settings_get()->heater == HEATER_ON)
        puts("on any core, as HEARTH_HEATER=on and no core suits better");
    else if (c->count < ranks + 1.0)
        printf("none, as it would take a core from a rank: %u cores and one more are needed\n", ranks);
    else
        puts("none now: no idle core shares that cache (HEARTH_HEATER_LEVEL)");
}

void info_machine(unsigned ranks) {
    static struct cores c; /* too large for the stack */
    cpu_set_t before;
    bool known = !sched_getaffinity(0, sizeof before, &before);
    print_nodes();
    if (cores_open(&c, 0)) {
        puts("cores      unknown: the system does not report them");
        return;
    }
    ranks = ranks ? ranks : (unsigned)CPU_COUNT(&c.allowed);
    print_cores(&c);
    printf("vectors    %s\n", cpu_vectors());
    printf("clock      %s\n", clock_source());
    print_cache(2);
    print_cache(3);
    print_memory();
    print_tracking();
    print_helper(&c.allowed, ranks);
    print_heater(&c, ranks);
    if (known)
        sched_setaffinity(0, sizeof before, &before);
}
