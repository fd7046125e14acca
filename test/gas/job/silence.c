/* silence.c: tests that HEARTH_NET_TIMEOUT ends a job if a node does not answer, but not if there is merely no traffic: an
 * operation that is complete but not synchronised yet, a rank that reads its own NVM, a job that is stopped for a while.
 * ranks: 2; configs: tiny; timeout: 60 */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEGMENT = 4 << 20, PAGE = 65536 };
TEST_SEGMENT(SEGMENT)

#define LIMIT 2.0 /* seconds; at the minimum of 1 a busy machine is silent */

__attribute__((constructor)) static void set_limit(void) {
    setenv("HEARTH_NET_TIMEOUT", "2", 1);
}

static gasnet_handle_t start_put(uint64_t *value) {
    gasnet_node_t next = (gasnet_node_t)((test_rank + 1) % test_size);
    return gasnet_put_nb_bulk(next, test_segments[next].addr, value, sizeof *value);
}

/* With a small pool each get from the rank's own segment reads the NVM. */
CASE(an_operation_that_is_not_synchronised) {
    uint64_t value = 42;
    char *page = malloc(PAGE), *own = test_segments[test_rank].addr;
    gasnet_handle_t h = start_put(&value);
    double begun = test_elapsed();
    for (size_t at = PAGE; test_elapsed() - begun < 2.5 * LIMIT;
         at = at + 2 * PAGE < SEGMENT ? at + PAGE : PAGE)
        if (test_rank == 0)
            gasnet_get(page, (gasnet_node_t)test_rank, own + at, PAGE), usleep(1000);
        else
            usleep(10000);
    gasnet_wait_syncnb(h);
    test_barrier();
    expect_eq(*(uint64_t *)(void *)own, 42);
    free(page);
}

/* Stops this process; a child continues it. */
static void stop_for(double seconds) {
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        kill(self, SIGSTOP);
        usleep((useconds_t)(seconds * 1e6));
        kill(self, SIGCONT);
        _exit(0);
    }
    int status = -1;
    expect(child > 0 && waitpid(child, &status, 0) == child);
    expect_eq(status, 0);
}

CASE(a_job_that_is_stopped) {
    uint64_t value = 7;
    test_barrier();
    gasnet_handle_t h = start_put(&value);
    stop_for(2.2 * LIMIT);
    gasnet_wait_syncnb(h);
    test_barrier();
    expect_eq(*(uint64_t *)test_segments[test_rank].addr, 7);
}

/* ---- an error that ends the job ---- */

static bool is_stopped(pid_t process) {
    char path[32], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state == 'T';
}

/* Rank 1 stops when a value has arrived: before, its own messages of the barrier may not have left. */
static void stop_when_told(void) {
    uint64_t told = 0;
    while (!told)
        gasnet_get(&told, 1, test_segments[1].addr, sizeof told);
    raise(SIGSTOP);
}

ON_CALL(a_node_that_does_not_answer) {
    uint64_t value = (uint64_t)getpid();
    if (test_rank == 1)
        gasnet_put(0, test_segments[0].addr, &value, sizeof value);
    test_barrier();
    if (test_rank == 1) {
        stop_when_told();
        return;
    }
    gasnet_wait_syncnb(start_put(&value));
    gasnet_get(&value, 0, test_segments[0].addr, sizeof value);
    while (!is_stopped((pid_t)value))
        usleep(1000);
    gasnet_put(1, (char *)test_segments[1].addr + PAGE, &value, sizeof value);
}
