/* How large a segment may be: a share of what this machine has left, the same for all its ranks.
 *
 * In files: of the free room of the file system that holds them. In memory: of what could be taken without
 * swapping. Segments are made once, when all ranks attach, so that nobody takes room from others in between. */
#include "gas/sizes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Address space is not endless: the kernel gives a process 2^47 bytes or more. */
#define MOST_BYTES ((uint64_t)1 << 45)

static uint64_t free_memory(void) {
    return net_room().bytes / 2; /* the program needs some as well */
}

/* What the file of this rank takes already, if there is one of that name. */
static uint64_t own_file(void) {
    char path[PATH_MAX];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s.%d", pages_folder(), settings_get()->nvm_name, gas.rank);
    return lstat(path, &file) == 0 ? (uint64_t)file.st_blocks * 512 : 0;
}

/* For each rank. A segment with a name may need more, up to three times its size, as pages of its checkpoints stay: then the
 * disk says so when it is full. */
static uint64_t free_room(int machine_ranks) {
    struct statvfs fs;
    if (statvfs(pages_folder(), &fs) != 0) {
        log_warn("segments: the room in %s is not known: %s; set HEARTH_NVM_DIR to a folder on the NVM",
                 pages_folder(), strerror(errno));
        return 0;
    }
    uint64_t room =
        (uint64_t)fs.f_bavail * fs.f_frsize / 16 * 15 / (uint64_t)machine_ranks; /* records beside the data */
    return *settings_get()->nvm_name ? room + own_file() : room;
}

uint64_t sizes_most(int machine_ranks) {
    const struct settings *set = settings_get();
    bool paged = set->nvm != NVM_OFF;
    uint64_t unit = paged && set->page_size > GASNET_PAGESIZE ? set->page_size : GASNET_PAGESIZE;
    uint64_t most = paged ? free_room(machine_ranks) : free_memory() / (uint64_t)machine_ranks;
    most = most < MOST_BYTES ? most : MOST_BYTES;
    return most / unit * unit;
}
