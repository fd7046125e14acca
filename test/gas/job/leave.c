/* leave.c: ends a job in the way that its argument names; test_exit.sh checks the result. */
#define GASNET_PAR 1
#include <gasnet.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END = 140, NOTHING };

static int rank, size;

static void on_end(gasnet_token_t token, gasnet_handlerarg_t code) {
    (void)token;
    gasnet_exit(code);
}

static void on_nothing(gasnet_token_t token) {
    (void)token;
}

static void attach(void) {
    gasnet_handlerentry_t table[] = {{END, (void (*)(void))on_end}, {NOTHING, (void (*)(void))on_nothing}};
    GASNET_SAFE(gasnet_attach(table, 2, 16 * GASNET_PAGESIZE, 0));
}

static void barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    GASNET_SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}

static void *end_in_thread(void *arg) {
    (void)arg;
    gasnet_exit(6);
}

static void *poll_on(void *arg) {
    (void)arg;
    while (gasnet_AMPoll() == GASNET_OK)
        ;
    return NULL;
}

static void *put_on(void *arg) {
    gasnet_seginfo_t segments[16];
    int value = 1;
    (void)arg;
    GASNET_SAFE(gasnet_getSegmentInfo(segments, 16));
    for (gasnet_node_t to = 0;; to = (to + 1) % (gasnet_node_t)size)
        gasnet_put(to, segments[to].addr, &value, sizeof value);
    return NULL;
}

static void *load_on(void *arg) {
    gasnet_seginfo_t segments[16];
    (void)arg;
    GASNET_SAFE(gasnet_getSegmentInfo(segments, 16));
    volatile int *flag = segments[rank].addr;
    while (!*flag)
        ;
    return NULL;
}

static void *send_on(void *arg) {
    (void)arg;
    for (gasnet_node_t to = 0;; to = (to + 1) % (gasnet_node_t)size)
        GASNET_SAFE(gasnet_AMRequestShort0(to, NOTHING));
    return NULL;
}

/* ---- signals ---- */

static void on_quit(int number) {
    char line[] = "SIGQUIT handled by node 0\n";
    line[sizeof line - 3] = (char)('0' + rank);
    ssize_t written = write(STDOUT_FILENO, line, sizeof line - 1);
    (void)number, (void)written;
    gasnet_exit(9);
}

/* One process gets the signal; handlers of SIGQUIT run there and, as the job ends, in the others. */
static void quit_by(int number) {
    signal(SIGQUIT, on_quit);
    barrier();
    if (rank == 1)
        raise(number);
    for (;;)
        pause();
}

/* As from a terminal: all processes get the signal at once. */
static void quit_all_by_sigint(void) {
    signal(SIGQUIT, on_quit);
    barrier();
    raise(SIGINT);
    for (;;)
        pause();
}

static _Atomic int locked;

static void *lock_output(void *arg) {
    flockfile(stdout);
    locked = 1;
    pause();
    return arg;
}

/* In all processes the handler needs a lock that is not released: the exit must write out stdout. */
static void quit_without_lock(void) {
    pthread_t thread;
    signal(SIGQUIT, on_quit);
    pthread_create(&thread, NULL, lock_output, NULL);
    while (!locked)
        sched_yield();
    barrier();
    raise(SIGQUIT);
}

static void end_by(int number) {
    if (rank == 1)
        raise(number);
    GASNET_BLOCKUNTIL(0);
}

static void on_alarm(int number) {
    (void)number;
    gasnet_exit(7);
}

/* Interrupts puts and gets at an arbitrary instruction. */
static void exit_in_signal(void) {
    gasnet_seginfo_t segments[16];
    long value = 0;
    GASNET_SAFE(gasnet_getSegmentInfo(segments, 16));
    if (rank > 0)
        GASNET_BLOCKUNTIL(0);
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 20000 + getpid() % 97}, NULL);
    for (;; value++) {
        gasnet_put(0, segments[0].addr, &value, sizeof value);
        gasnet_get(&value, 0, segments[0].addr, sizeof value);
    }
}

/* In the middle of a put, whose read of the source faults. */
static void exit_in_fault(void) {
    gasnet_seginfo_t segments[16];
    GASNET_SAFE(gasnet_getSegmentInfo(segments, 16));
    void *nothing = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rank > 0)
        GASNET_BLOCKUNTIL(0);
    signal(SIGSEGV, on_alarm);
    gasnet_put(0, segments[0].addr, nothing, 65536);
}

static void in_thread(void *(*run)(void *), int join) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    if (join)
        pthread_join(thread, NULL);
}

static int is(const char *name, const char *given) {
    return strcmp(name, given) == 0;
}

static int end(const char *how) {
    if (is(how, "together"))
        gasnet_exit(5);
    if (is(how, "together_0"))
        gasnet_exit(0);
    if (is(how, "alone")) {
        if (rank == 1)
            gasnet_exit(9);
        GASNET_BLOCKUNTIL(0);
    }
    if (is(how, "alone_in_barrier")) {
        if (rank == 1)
            gasnet_exit(9);
        barrier();
    }
    if (is(how, "alone_among_busy")) {
        if (rank == 1)
            gasnet_exit(9);
        sleep(50); /* does not poll */
    }
    if (is(how, "quit_among_busy")) { /* the others do not poll: their signal handler runs */
        if (rank == 1)
            gasnet_exit(9);
        signal(SIGQUIT, on_quit);
        for (;;)
            pause();
    }
    if (is(how, "quit_by_sigterm"))
        quit_by(SIGTERM);
    if (is(how, "quit_by_sigint"))
        quit_by(SIGINT);
    if (is(how, "quit_all_by_sigint"))
        quit_all_by_sigint();
    if (is(how, "quit_without_lock"))
        quit_without_lock();
    if (is(how, "sigterm"))
        end_by(SIGTERM);
    if (is(how, "sigint"))
        end_by(SIGINT);
    if (is(how, "exit_in_signal"))
        exit_in_signal();
    if (is(how, "exit_in_fault"))
        exit_in_fault();
    if (is(how, "in_thread"))
        in_thread(end_in_thread, 1);
    if (is(how, "beside_a_thread_that_polls")) {
        in_thread(poll_on, 0);
        usleep(10000);
        gasnet_exit(7);
    }
    if (is(how, "beside_a_thread_that_puts")) {
        in_thread(put_on, 0);
        usleep(10000);
        gasnet_exit(7);
    }
    if (is(how, "beside_a_thread_that_loads")) {
        in_thread(load_on, 0);
        usleep(10000);
        gasnet_exit(7);
    }
    if (is(how, "return_beside_a_thread_that_loads")) {
        in_thread(load_on, 0);
        usleep(10000);
    }
    if (is(how, "beside_a_thread_that_sends")) {
        in_thread(send_on, 0);
        usleep(10000);
        gasnet_exit(7);
    }
    if (is(how, "in_handler")) {
        if (rank == 0)
            for (gasnet_node_t to = 0; to < (gasnet_node_t)size; to++)
                gasnet_AMRequestShort1(to, END, 8);
        GASNET_BLOCKUNTIL(0);
    }
    if (is(how, "return_late"))
        usleep((useconds_t)rank * 1500000);
    if (is(how, "return_1"))
        return 1;
    if (is(how, "return_1_alone")) {
        if (rank == 1)
            return 1;
        barrier();
    }
    if (is(how, "exit_0"))
        exit(0);
    if (is(how, "child")) { /* the child has nothing to end */
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            exit(3);
        waitpid(child, &status, 0);
        return !(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strncmp(how, "mpi", 3) == 0)
        MPI_Init(&argc, &argv);
    GASNET_SAFE(gasnet_init(&argc, &argv));
    rank = (int)gasnet_mynode();
    size = (int)gasnet_nodes();
    if (is(how, "before_attach"))
        gasnet_exit(4);
    if (is(how, "return_before_attach"))
        return 0;
    attach();
    if (rank == 0)
        printf("said before the end"); /* without a newline: it stays in the buffer */
    barrier();
    if (is(how, "mpi_finalize"))
        return MPI_Finalize() != MPI_SUCCESS;
    return end(how);
}
