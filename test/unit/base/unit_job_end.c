/* unit_job_end.c: tests the end of a job: by the interface on a thread of the program, by exit on one of Hearth's own; lines arrive
 * first, and the exit status is never 0. */
#include "base/job_end.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

enum { BY_INTERFACE = 70 };

static void end_here(int code) {
    _exit(BY_INTERFACE + code);
}

static void has_no_job(int code) {
    (void)code;
}

static void *end_on_own_thread(void *code) {
    job_end_by_exit();
    job_end(*(int *)code);
}

static void *end_on_other_thread(void *code) {
    job_end(*(int *)code);
}

static int status_of(void (*interface)(int code), void *(*thread)(void *), int code) {
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_t id;
        job_end_register(interface);
        if (!thread)
            job_end(code);
        if (pthread_create(&id, NULL, thread, &code) == 0)
            pthread_join(id, NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(the_interface_ends_the_job_on_threads_of_the_program)
{
    expect_eq(status_of(end_here, NULL, 3), BY_INTERFACE + 3);
    expect_eq(status_of(end_here, NULL, 0), BY_INTERFACE + EXIT_FAILURE);
    expect_eq(status_of(end_here, end_on_other_thread, 3), BY_INTERFACE + 3);
}

TEST(own_threads_exit)
{ expect_eq(status_of(end_here, end_on_own_thread, 3), 3); }

TEST(without_an_interface_or_a_job_the_process_exits)
{
    expect_eq(status_of(NULL, NULL, 3), 3);
    expect_eq(status_of(has_no_job, NULL, 3), 3);
}

TEST(the_status_is_never_success)
{
    static const int successes[] = {0, 256, 512};
    for (int i = 0; i < 3; i++) {
        expect_eq(status_of(has_no_job, NULL, successes[i]), EXIT_FAILURE);
        expect_eq(status_of(NULL, end_on_own_thread, successes[i]), EXIT_FAILURE);
    }
}

/* A launcher discards what is still in the pipe when a process exits. */
TEST(lines_arrive_before_the_end)
{
    int ends[2], status;
    char text[200] = "";
    expect_eq(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        log_error("the reason");
        job_end(5);
    }
    usleep(20000);
    expect_eq(waitpid(child, &status, WNOHANG), 0); /* it waits for the reader */
    expect(read(ends[0], text, sizeof text - 1) > 0);
    expect(strstr(text, "the reason") != NULL);
    expect_eq(waitpid(child, &status, 0), child);
    expect_eq(WEXITSTATUS(status), 5);
    close(ends[0]);
    close(ends[1]);
}
