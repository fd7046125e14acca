/* cores.c: chooses a core by the caches that it shares, read from hwloc, and by its load, read from /proc/stat.
 *
 * Built without hwloc, caches are unknown: cores_choose then finds a core only if `any_cache` is set. The topology is
 * read once, reduced to two numbers per core, and released, because it takes megabytes on a large machine.
 *
 * The kernel counts busy time in ticks of 10 ms, so samples less than WINDOW apart are meaningless. */
#include "heater/cores.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HEARTH_HWLOC
#include <hwloc.h>
#endif

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"

enum { WINDOW = 150000000 }; /* ns */

#ifdef HEARTH_HWLOC

static void number_members(int *numbers, hwloc_obj_t object, int number) {
    int cpu;
    hwloc_bitmap_foreach_begin(cpu, object->cpuset) if (cpu < MOST_CORES) numbers[cpu] = number;
    hwloc_bitmap_foreach_end();
}

static void number_caches(struct cores *c, hwloc_topology_t topology, unsigned level) {
    hwloc_obj_t object = NULL;
    hwloc_obj_type_t type = level == 2 ? HWLOC_OBJ_L2CACHE : HWLOC_OBJ_L3CACHE;
    for (int n = 0; (object = hwloc_get_next_obj_by_type(topology, type, object)); n++) {
        number_members(c->cache, object, n);
        c->cache_bytes = object->attr->cache.size;
        c->level = level;
    }
}

static void read_topology(struct cores *c, hwloc_topology_t topology, unsigned level) {
    hwloc_obj_t object = NULL;
    for (int n = 0; (object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, object)); n++)
        number_members(c->whole, object, n);
    if (level != 3)
        number_caches(c, topology, 2);
    if (level != 2)
        number_caches(c, topology, 3);
}

static void find_caches(struct cores *c, unsigned level) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE); /* no disks, no networks */
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (!hwloc_topology_load(topology))
        read_topology(c, topology, level);
    hwloc_topology_destroy(topology);
}

#else

static void find_caches(struct cores *c, unsigned level) {
    if (settings_get()->heater == HEATER_ON && level)
        log_warn(
            "heater: built without hwloc, which tells the cores that share a cache: it is bound to no core; "
            "build with libhwloc-dev, or set HEARTH_HEATER_LEVEL=any");
    else
        log_debug(LOG_HEATER, "built without hwloc: shared caches are unknown");
}

#endif

/* CPU limit of a container, in cores: "max 100000", or for instance "150000 100000" for one and a half. */
static double granted(double cores) {
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    double quota, period;
    if (!file)
        return cores;
    if (fscanf(file, "%lf %lf", &quota, &period) == 2 && period > 0 && quota / period < cores)
        cores = quota / period;
    fclose(file);
    return cores;
}

/* A launcher may have bound the process to the core it computes on; the kernel restricts the request to the cores of
 * the job. */
static int cores_widen(cpu_set_t *allowed) {
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    (void)sched_setaffinity(0, sizeof all, &all);
    return sched_getaffinity(0, sizeof *allowed, allowed) ? -errno : 0;
}

int cores_open(struct cores *c, unsigned level) {
    memset(c, 0, sizeof *c);
    memset(c->cache, -1, sizeof c->cache);
    memset(c->whole, -1, sizeof c->whole);
    int err = cores_widen(&c->allowed);
    if (err)
        return err;
    c->count = granted(CPU_COUNT(&c->allowed));
    find_caches(c, level);
    return 0;
}

/* A line reads "cpu3 user nice system idle iowait irq softirq steal ...". */
static void take_line(const char *line, double tick, uint64_t *busy) {
    unsigned cpu;
    unsigned long long t[8] = {0};
    if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2], &t[3], &t[4],
               &t[5], &t[6], &t[7]) < 5 ||
        cpu >= MOST_CORES)
        return;
    busy[cpu] = (uint64_t)((double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) * tick);
}

bool cores_look(struct cores *c) {
    static uint64_t busy[MOST_CORES]; /* too large for a stack that may be small */
    char line[512];
    uint64_t now = clock_ns(), passed = now - c->when;
    bool first = !c->when;
    FILE *file = !first && passed < WINDOW ? NULL : fopen("/proc/stat", "re");
    if (!file)
        return false;
    memcpy(busy, c->busy, sizeof busy); /* a core that went offline has no line, and counts as idle */
    while (fgets(line, sizeof line, file) && !strncmp(line, "cpu", 3))
        take_line(line, 1e9 / (double)sysconf(_SC_CLK_TCK), busy);
    fclose(file);
    for (int i = 0; i < MOST_CORES; i++) {
        c->load[i] = first || busy[i] < c->busy[i] ? 0 : (float)(busy[i] - c->busy[i]) / (float)passed;
        c->busy[i] = busy[i];
    }
    c->when = now;
    return !first;
}

static bool shares(const struct cores *c, int cpu, const struct cores_wish *wish) {
    return wish->any_cache || (c->cache[cpu] >= 0 && c->cache[cpu] == c->cache[wish->neighbour]);
}

/* The cost of a core: at most 3.6, or 9 if it does not meet the requirements. */
static double unfitness(const struct cores *c, int cpu, const struct cores_wish *wish) {
    double load = c->load[cpu] - (cpu == wish->own ? wish->own_load : 0);
    load = load < 0 ? 0 : load > 1 ? 1 : load;
    if (cpu == wish->neighbour || !CPU_ISSET(cpu, &c->allowed) || !shares(c, cpu, wish) ||
        load > wish->most_load)
        return 9;
    if (cpu == wish->own)
        return 0;
    bool other_cache = c->cache[cpu] != c->cache[wish->neighbour];
    bool same_whole = c->whole[cpu] >= 0 && c->whole[cpu] == c->whole[wish->neighbour];
    return 0.1 + 2 * other_cache + same_whole + load / 2;
}

int cores_choose(const struct cores *c, const struct cores_wish *wish) {
    int best = -1;
    double least = 4;
    if (wish->neighbour < 0 || wish->neighbour >= MOST_CORES)
        return -1;
    /* Starts at the neighbour, so that several processes choose different ones among equal cores. */
    for (int i = 1; i < MOST_CORES; i++) {
        int cpu = (wish->neighbour + i) % MOST_CORES;
        double u = unfitness(c, cpu, wish);
        if (u < least) {
            least = u;
            best = cpu;
        }
    }
    return best;
}
