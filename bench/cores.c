/* cores.c: shows whether something outside of this system uses the same physical cores.
 *
 * A virtual machine does not see its neighbours: neither its load nor the time stolen from it shows that another thread of the same
 * physical core competes for the units that load and store. So each core executes the same loop of loads and stores, a few times, with
 * pauses between them.
 *
 *  Prints for each core: its number, and of its loops the fastest, the median and the slowest, in us */
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "sample.h"

enum { STEPS = 200000, WORDS = 512 };

static double loop_us(void) {
    static volatile uint64_t words[WORDS];
    uint64_t start = clock_ns();
    for (unsigned i = 0; i < STEPS; i++)
        words[i % WORDS] += 1;
    return (double)(clock_ns() - start) / 1000;
}

static void measure_core(int core, int loops) {
    const struct timespec pause = {.tv_nsec = 5000000};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)core, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    struct samples times = {0};
    loop_us(); /* the clock rate may be low after a pause, and the words are not in the caches */
    for (int i = 0; i < loops; i++) {
        samples_add(&times, loop_us());
        nanosleep(&pause, NULL);
    }
    printf("%d,%.1f,%.1f,%.1f\n", core, samples_at(&times, 0), samples_at(&times, 0.5),
           samples_at(&times, 1));
    samples_free(&times);
}

int main(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        perror("cores");
        return 1;
    }
    int loops = 60 / CPU_COUNT(&allowed); /* all cores in less than a second, unless there are very many */
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET((size_t)core, &allowed))
            measure_core(core, loops < 5 ? 5 : loops);
    return 0;
}
