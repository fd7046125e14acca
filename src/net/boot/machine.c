/* machine.c: compares the machines of all processes by their ids.
 *
 * An id is a hash of all that two processes must have in common to share memory as Hearth does, through /proc/PID/fd: the name of
 * the machine, its running system, and the namespaces of processes, of users and of shared memory. So containers and virtual hosts on one
 * machine count as machines of their own. The name is part of it because virtual machines that were resumed from one
 * snapshot have the rest in common. Id 0 stands for a user's wish that MPI's report counts. */
#include "net/boot/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "net/boot/agree.h"

struct machine_id {
    uint64_t words[2];
};

static void id_add(struct machine_id *id, const void *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0, left = bytes - at;
        memcpy(&word, (const char *)data + at, left < sizeof word ? left : sizeof word);
        id->words[0] = random_mix(id->words[0] ^ word);
        id->words[1] = random_mix(id->words[1] + ~word);
    }
}

/* A process that cannot read it counts as alone. */
static void id_add_boot(struct machine_id *id) {
    char text[64] = "";
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    if (length <= 0)
        snprintf(text, sizeof text, "%d %llu", (int)getpid(), (unsigned long long)clock_ns());
    id_add(id, text, strlen(text));
}

static void id_add_namespaces(struct machine_id *id) {
    const char *const paths[] = {"/proc/self/ns/pid", "/proc/self/ns/user", "/proc/self/ns/ipc", "/dev/shm"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct stat s;
        uint64_t found[2] = {0};
        if (stat(paths[i], &s) == 0)
            found[0] = (uint64_t)s.st_dev, found[1] = (uint64_t)s.st_ino;
        id_add(id, found, sizeof found);
    }
}

/* The variables by which MPICH treats processes of one machine as if they were on several. */
static bool is_emulated(void) {
    const char *const prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"}, *const names[] = {
                                                                                "NOLOCAL", "NUM_CLIQUES",
                                                                                "ODD_EVEN_CLIQUES"};
    for (int i = 0; i < 9; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", prefixes[i / 3], names[i % 3]);
        const char *value = getenv(name);
        if (value && *value && strcmp(value, "0") != 0)
            return true;
    }
    return false;
}

static struct machine_id id_own(void) {
    struct machine_id id = {{0}};
    struct utsname name = {.nodename = ""};
    if (is_emulated())
        return id;
    uname(&name);
    id_add(&id, name.nodename, strlen(name.nodename));
    id_add_boot(&id);
    id_add_namespaces(&id);
    return id;
}

/* -1 if a user of any of them wants MPI's report. */
static int lowest_like(const struct machine_id *all, int count, const struct machine_id *own) {
    const struct machine_id none = {{0}};
    int lowest = -1;
    for (int i = count; i--;) {
        if (memcmp(&all[i], &none, sizeof none) == 0)
            return -1;
        if (memcmp(&all[i], own, sizeof *own) == 0)
            lowest = i;
    }
    return lowest;
}

int net_machine_lowest(const struct net_boot *boot) {
    struct machine_id own = id_own(), *all = malloc((size_t)boot->size * sizeof *all);
    int lowest = -1;
    if (net_agree_on_memory(boot, all, "the machines") == 0 &&
        net_boot_gather(boot, &own, all, sizeof own) == 0)
        lowest = lowest_like(all, boot->size, &own);
    free(all);
    return lowest;
}

int net_machine_mark(void) {
    const struct machine_id id = id_own(), none = {{0}};
    return memcmp(&id, &none, sizeof id) == 0 ? 0 : (int)(id.words[0] % INT_MAX) + 1;
}
