#include "net/slices.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void slices_make_short(void) {
    enum { SHORTEST_NS = 100000 };
    struct { /* struct sched_attr, which not every C library has */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes, .nice = getpriority(PRIO_PROCESS, 0), .runtime = SHORTEST_NS};
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}
