/* sizes.c: the maximum segment size: a share of the free space of this machine, the same for all its ranks.
 *
 * Segments in files share the free space of their file system. Segments in memory share half of the memory that can be
 * allocated without swapping. Segments are created once, when all ranks attach, so that no rank takes space from others
 * in between. In memory their pages are allocated when they are touched, so that a program may attach the maximum and use
 * little of it.
 *
 * GASNET_MAX_SEGSIZE lowers it, in the form that GASNet defines: a size ("512MB"), or a share of the machine's memory
 * ("0.85"), for each rank ("/P", the default) or for all ranks of the machine ("/H"). */
#include "gas/job/sizes.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number.h"
#include "base/settings.h"

/* Address space is limited: the kernel gives a process 2^47 bytes or more. */
#define MOST_BYTES ((uint64_t)1 << 45)

static uint64_t promised;

uint64_t gas_sizes_promised(void) {
    return promised;
}

static uint64_t free_memory(void) {
    struct memory_limit room = net_memory_limit();
    promised = room.promised;
    return room.bytes / 2; /* the program needs some as well */
}

/* Space that an existing file of this rank with that name already uses. */
static uint64_t own_file(void) {
    char path[PATH_MAX];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s.%d", pages_folder(), settings_get()->nvm_name, gas_job.rank);
    return lstat(path, &file) == 0 ? (uint64_t)file.st_blocks * 512 : 0;
}

/* For each rank. A named segment may need more, up to three times its size, as the pages of its checkpoints are kept:
 * the write then reports that the disk is full. */
static uint64_t free_room(int machine_ranks) {
    struct statvfs fs;
    if (statvfs(pages_folder(), &fs) != 0) {
        log_info(LOG_GAS, "segments: the free space in %s is unknown: %s", pages_folder(),
                 strerror(errno)); /* gasnet_attach names the cause, once */
        return 0;
    }
    /* 1/16 is left for records. */
    uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize / 16 * 15 / (uint64_t)machine_ranks;
    return *settings_get()->nvm_name ? room + own_file() : room;
}

/* ---- the user's limit ---- */

/* Bytes of the unit after a number; *text moves behind it. 0: there is no unit. */
static uint64_t sizes_unit(const char **text) {
    static const char units[] = "BKMGT";
    while (**text == ' ')
        (*text)++;
    const char *unit = **text ? strchr(units, toupper((unsigned char)**text)) : NULL;
    if (!unit)
        return 0;
    (*text)++;
    if (unit != units && toupper((unsigned char)**text) == 'B')
        (*text)++;
    return (uint64_t)1 << 10 * (unit - units);
}

/* For each rank; MOST_BYTES: no limit. */
static uint64_t sizes_allowed(int machine_ranks) {
    const char *value = gasnet_getenv("GASNET_MAX_SEGSIZE"), *rest;
    char *end;
    if (!value || !*value)
        return MOST_BYTES;
    double number = number_parse(value, &end);
    rest = end;
    uint64_t unit = sizes_unit(&rest);
    bool is_share = unit == 0 && number < 1, of_host = !strcasecmp(rest, "/H");
    if (is_share)
        number *= (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    else
        number *= (double)(unit ? unit : 1);
    if (of_host)
        number /= machine_ranks;
    if (end == value || !(number >= 1) || (*rest && !of_host && strcasecmp(rest, "/P") != 0)) {
        log_warn("GASNET_MAX_SEGSIZE=%s is not a size such as 512MB, 4GB/P or 0.85/H; it is ignored", value);
        return MOST_BYTES;
    }
    return number < (double)MOST_BYTES ? (uint64_t)number : MOST_BYTES;
}

uint64_t gas_sizes_most(int machine_ranks) {
    const struct settings *set = settings_get();
    bool paged = set->nvm != NVM_OFF;
    uint64_t unit = paged && set->page_size > GASNET_PAGESIZE ? set->page_size : GASNET_PAGESIZE;
    uint64_t most = paged ? free_room(machine_ranks) : free_memory() / (uint64_t)machine_ranks;
    uint64_t allowed = sizes_allowed(machine_ranks);
    most = most < allowed ? most : allowed;
    return most / unit * unit;
}
