/* net_help.h: processes of one node for tests, started as by a launcher. */
#ifndef HEARTH_TEST_NET_HELP_H
#define HEARTH_TEST_NET_HELP_H

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame/forbid.h"
#include "net/net.h"

enum { TEAM_MOST = 16 };

/* Shared besides their segments: memory in which they synchronise. */
struct team {
    _Atomic int arrived, round;
    int count;
    pid_t processes[TEAM_MOST];
    struct net_address addresses[TEAM_MOST];
    uint64_t board[TEAM_MOST][64];
};

static struct team *team;

static inline void team_open(int count) {
    team = mmap(NULL, sizeof *team, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    team->count = count;
}

/* Children that die with the parent and within two minutes, so that nothing is left over. */
static inline pid_t team_fork(void) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(120);
    }
    return child;
}

/* Returns whether it exited by itself and without failures. */
static inline bool team_join(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

static inline void team_close(void) {
    munmap(team, sizeof *team);
}

/* Waits for all processes. */
static inline void meet(void) {
    int round = atomic_load(&team->round);
    if (atomic_fetch_add(&team->arrived, 1) + 1 == team->count) {
        atomic_store(&team->arrived, 0);
        atomic_store(&team->round, round + 1);
    }
    while (atomic_load(&team->round) == round)
        sched_yield();
}

typedef void member(struct net_node *node, int rank);

static inline void be_member(const struct net_options *options, member *work) {
    struct net_node *node = NULL;
    int rank = options->rank;
    team->processes[rank] = getpid();
    expect_eq(net_node_open(options, &node, &team->addresses[rank]), 0);
    meet();
    int err = node ? net_node_connect(node, team->addresses) : -1;
    expect_eq(err, 0);
    if (!err)
        work(node, rank);
    meet();
    net_node_close(node);
}

/* Each in its own process, rank 0 in this one. */
static inline void run_team(int count, size_t limit, size_t header_bytes, member *work) {
    struct net_options o = {.count = count, .limit = limit, .header_bytes = header_bytes};
    pid_t children[TEAM_MOST];
    team_open(count);
    for (o.rank = 1; o.rank < count; o.rank++) {
        children[o.rank] = team_fork();
        if (!children[o.rank]) {
            be_member(&o, work);
            fflush(stdout);
            _exit(test_failures != 0);
        }
    }
    o.rank = 0;
    be_member(&o, work);
    for (int i = 1; i < count; i++)
        expect(team_join(children[i]));
    team_close();
}

static inline unsigned count_files(void) {
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Counts mappings of segments; a ledger of reservations is not one. */
static inline unsigned count_maps(void) {
    char line[512];
    unsigned n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, "memfd:hearth") && !strstr(line, "memfd:hearth-promised");
    if (f)
        fclose(f);
    return n;
}

#endif
