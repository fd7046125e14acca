/* How large a segment may be: a share of what this machine has left, the same for all its ranks.
 *
 * In files: of the free room of the file system that holds them. In memory: of what could be taken without
 * swapping. Segments are made once, when all ranks attach, so that nobody takes room from others in between. */
#include "gas/sizes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Address space is not endless: the kernel gives a process 2^47 bytes or more. */
#define MOST_BYTES ((uint64_t)1 << 45)

static uint64_t available_memory(void) {
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (f)
        fclose(f);
    return (uint64_t)kilobytes * 1024;
}

/* What a container may use and does not, if it has a limit. */
static uint64_t container_memory(void) {
    unsigned long long limit = 0, used = 0;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
    bool has = f && fscanf(f, "%llu", &limit) == 1;
    if (f)
        fclose(f);
    f = fopen("/sys/fs/cgroup/memory.current", "re");
    has = has && f && fscanf(f, "%llu", &used) == 1;
    if (f)
        fclose(f);
    return !has ? UINT64_MAX : limit > used ? limit - used : 0;
}

static uint64_t free_memory(void) {
    uint64_t machine = available_memory(), container = container_memory();
    return (machine < container ? machine : container) / 2; /* the program needs some as well */
}

static const char *nvm_folder(void) {
    const char *set = settings_get()->nvm_dir, *temporary = getenv("TMPDIR");
    return set && *set ? set : temporary && *temporary ? temporary : "/var/tmp";
}

static uint64_t free_room(void) {
    struct statvfs fs;
    if (statvfs(nvm_folder(), &fs) != 0) {
        log_warn("segments: the room in %s is not known: %s; set HEARTH_NVM_DIR to a folder on the NVM",
                 nvm_folder(), strerror(errno));
        return 0;
    }
    return (uint64_t)fs.f_bavail * fs.f_frsize / 16 * 15; /* records beside the data */
}

uint64_t sizes_most(int machine_ranks) {
    const struct settings *set = settings_get();
    bool paged = set->nvm != NVM_OFF;
    uint64_t unit = paged && set->page_size > GASNET_PAGESIZE ? set->page_size : GASNET_PAGESIZE;
    uint64_t most = (paged ? free_room() : free_memory()) / (uint64_t)machine_ranks;
    most = most < MOST_BYTES ? most : MOST_BYTES;
    return most / unit * unit;
}
