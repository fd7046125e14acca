/* unit_net_wake.c: tests that no wakeup is lost, between threads and between processes. */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/shm/wake.h"

TEST(without_a_wake_the_time_passes)
{
    struct wake w = {0};
    uint64_t start = clock_ns();
    expect(!net_wake_wait(&w, 20000));
    expect(clock_ns() - start >= 20000000);
    expect(!net_wake_wait(&w, 0));
}

TEST(a_wake_before_the_sleep_is_kept)
{
    struct wake w = {0};
    net_wake_up(&w);
    net_wake_up(&w);
    expect(net_wake_wait(&w, UINT64_MAX));
    expect(!net_wake_wait(&w, 1000)); /* two are equivalent to one */
}

/* A killed sleeper leaves its mark. */
TEST(a_mark_left_behind_does_no_harm)
{
    struct wake w = {.state = 1};
    net_wake_up(&w);
    expect(net_wake_wait(&w, UINT64_MAX));
    w.state = 1;
    expect(!net_wake_wait(&w, 1000));
    expect(!net_wake_wait(&w, 1000));
}

struct pair {
    struct wake ping, pong;
    uint64_t number; /* not atomic: a wakeup orders what was written before it */
};

enum { ROUNDS = 5000 };

static void answer(struct pair *p) {
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        while (!net_wake_wait(&p->ping, i % 3 ? UINT64_MAX : 5))
            continue;
        p->number += p->number == 2 * i - 1;
        net_wake_up(&p->pong);
    }
}

static void ask(struct pair *p) {
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        p->number++;
        net_wake_up(&p->ping);
        while (!net_wake_wait(&p->pong, i % 5 ? UINT64_MAX : 5))
            continue;
        expect_eq(p->number, 2 * i);
    }
}

static void *answer_thread(void *arg) {
    answer(arg);
    return NULL;
}

TEST(two_threads)
{
    struct pair p = {.number = 0};
    pthread_t thread;
    expect_eq(pthread_create(&thread, NULL, answer_thread, &p), 0);
    ask(&p);
    pthread_join(thread, NULL);
}

TEST(two_processes)
{
    struct pair *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        answer(p);
        _exit(0);
    }
    ask(p);
    int status = 1;
    expect(waitpid(child, &status, 0) == child && status == 0);
    munmap(p, sizeof *p);
}

static void ignore(int signal) {
}

static void *signal_and_wake(void *arg) {
    pthread_t *sleeper = ((void **)arg)[0];
    for (int i = 0; i < 5; i++) {
        usleep(2000);
        pthread_kill(*sleeper, SIGUSR1);
    }
    net_wake_up(((void **)arg)[1]);
    return NULL;
}

TEST(signals_do_not_end_the_sleep)
{
    struct wake w = {0};
    pthread_t self = pthread_self(), thread;
    void *arg[] = {&self, &w};
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGUSR1, &action, NULL);
    uint64_t start = clock_ns();
    expect_eq(pthread_create(&thread, NULL, signal_and_wake, arg), 0);
    expect(net_wake_wait(&w, UINT64_MAX));
    expect(clock_ns() - start >= 10000000);
    pthread_join(thread, NULL);
}
