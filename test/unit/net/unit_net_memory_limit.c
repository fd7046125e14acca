/* unit_net_memory_limit.c: tests that the available memory is the minimum over all limits. */
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/shm/promise.h"
#include "net/shm/memory_limit.h"

static void write_file(const char *root, const char *path, const char *text) {
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *f = fopen(name, "w");
    expect(f && fputs(text, f) >= 0 && !fclose(f));
}

static void remove_tree(const char *path) {
    DIR *d = opendir(path);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && remove(name))
            remove_tree(name);
    }
    if (d)
        closedir(d);
    remove(path);
}

TEST(the_room_is_the_least_of_all_limits)
{
    char root[] = "/tmp/unit_net_memory_limit.XXXXXX";
    expect(mkdtemp(root) != NULL);
    expect_eq(net_memory_limit_below(root).bytes, UINT64_MAX);
    write_file(root, "/proc/meminfo",
               "MemTotal: 999 kB\nMemFree:  5 kB\nMemAvailable:   1000 kB\nSwapFree: 24 kB\n");
    expect_eq(net_memory_limit_below(root).bytes, 1 << 20);
    expect_text(net_memory_limit_below(root).who, "the node");
    /* Version 2; the limit is in the parent group, and ours has none. */
    write_file(root, "/proc/self/cgroup", "0::/job/step\n");
    write_file(root, "/sys/fs/cgroup/job/step/memory.max", "max\n");
    write_file(root, "/sys/fs/cgroup/job/step/memory.current", "5\n");
    write_file(root, "/sys/fs/cgroup/job/memory.max", "500000\n");
    write_file(root, "/sys/fs/cgroup/job/memory.current", "450000\n");
    expect_eq(net_memory_limit_below(root).bytes, 50000);
    write_file(root, "/sys/fs/cgroup/job/memory.stat", "anon 1\nfile 30000\nfile_mapped 7\nshmem 10000\n");
    /* The kernel can reclaim cached files, but not shared memory. */
    expect_eq(net_memory_limit_below(root).bytes, 70000);
    write_file(root, "/sys/fs/cgroup/job/memory.current", "600000\n");
    expect_eq(net_memory_limit_below(root).bytes, 0);
    /* Version 1, in a container that sees its own group as the root. */
    write_file(root, "/proc/self/cgroup", "12:cpu:/x\n4:memory:/host/docker/1\n0::/\n");
    write_file(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "300000\n");
    write_file(root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
    write_file(root, "/sys/fs/cgroup/memory/memory.stat", "cache 0\ntotal_cache 50000\ntotal_shmem 0\n");
    expect_eq(net_memory_limit_below(root).bytes, 250000);
    expect(net_memory_limit_below(root).who[0] && net_memory_limit_below(root).advice[0]);
    remove_tree(root);
}

TEST(the_room_of_this_machine)
{
    struct memory_limit r = net_memory_limit();
    uint64_t start = clock_ns();
    net_memory_limit();
    printf("%s has %.0f MiB left; asked in %.0f us\n", r.who, (double)r.bytes / (1 << 20),
           (double)(clock_ns() - start) / 1000);
    expect(r.bytes > 1 << 20);
}

/* ---- reservations of other processes ---- */

enum { PROMISED = 64 << 20, TOUCHED = 16 << 20, IDLE = 4 << 20 };

/* Reserves memory, touches a part, signals, and stays. */
static void hold_memory(uint64_t id, int ready) {
    struct net_address address;
    const char *what;
    int file;
    void *base;
    struct net_promise *p = net_promise_open(id), *more = net_promise_open(id);
    if (!p || !more || net_memfile_make(PROMISED, &file, &address, &what) ||
        net_memfile_map(file, PROMISED, NULL, 0, &base, &what))
        _exit(1);
    net_promise_add(p, PROMISED);
    net_promise_add(more, PROMISED);
    net_promise_add(more, -PROMISED);
    net_promise_file(p, &address, IDLE);
    memset(base, 1, TOUCHED);
    if (fork() == 0) { /* the child inherits the ledger, which is not its own */
        pause();
        _exit(0);
    }
    if (write(ready, "x", 1) == 1)
        pause();
    _exit(0);
}

/* Of this process and of those in the group of its child. */
static bool is_mine(const char *process, const void *group) {
    pid_t number = atoi(process);
    return number == getpid() || getpgid(number) == *(const pid_t *)group;
}

static uint64_t promised_by(pid_t child) {
    return net_promise_others(0, is_mine, &child);
}

TEST(memory_promised_to_other_processes_is_not_room)
{
    uint64_t id = net_promise_id();
    int ready[2];
    char byte;
    expect_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        hold_memory(id, ready[1]);
    }
    close(ready[1]);
    expect_eq(read(ready[0], &byte, 1), 1);
    expect_eq(promised_by(child), PROMISED - (TOUCHED - IDLE));
    expect(net_memory_limit().promised >= PROMISED - (TOUCHED - IDLE));
    struct net_promise *own = net_promise_open(id); /* of the same account */
    net_promise_add(own, 1000);
    expect_eq(promised_by(child), PROMISED - (TOUCHED - IDLE) + 1000);
    net_promise_close(own);
    expect_eq(promised_by(child), PROMISED - (TOUCHED - IDLE));
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
    expect_eq(promised_by(child), 0); /* released with its process */
    close(ready[0]);
}

/* The limit is not read for each small request, but a request beyond it is always refused. */
TEST(room_is_asked_often)
{
    struct memory_limit room = {0};
    for (int i = 0; i < 1000; i++)
        expect(net_room_has(1, 1 << 20, &room));
    expect(!net_room_has(1, (uint64_t)1 << 60, &room));
    expect(room.bytes < (uint64_t)1 << 60);
    expect(net_room_has(1, 1 << 20, &room));
}
