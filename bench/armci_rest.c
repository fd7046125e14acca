/* armci_rest.c: implements armci_rest.h. */
#include "armci_rest.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"

enum { COMPUTE_NS = 10000000, SLEEP_NS = 1000000 }; /* between two checks for the end */

void rest_bind(bool second) {
    cpu_set_t all, mine;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
        return;
    int half = CPU_COUNT(&all) / 2, number = 0;
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all) && (number++ >= half) == second)
            CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
}

void rest_compute_until(uint64_t end) {
    volatile double result;
    double x = 1;
    while (clock_ns() < end)
        for (int i = 0; i < 2000; i++)
            x = x * 0.999 + 0.001;
    result = x;
    (void)result;
}

bool rest_is_way(const char *word) {
    return rig_named("wait,sleep,compute", word);
}

static void be_nice(int niceness) {
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), niceness); /* for this thread only */
}

void rest_until_all(bool measured, const char *way, int niceness) {
    MPI_Request all;
    int here = 0;
    bool computes = !strcmp(way, "compute");
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    if (measured || !strcmp(way, "wait")) {
        MPI_Wait(&all, MPI_STATUS_IGNORE);
        return;
    }
    if (computes)
        be_nice(niceness);
    for (MPI_Test(&all, &here, MPI_STATUS_IGNORE); !here; MPI_Test(&all, &here, MPI_STATUS_IGNORE))
        if (computes)
            rest_compute_until(clock_ns() + COMPUTE_NS);
        else
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
}
