/* unit_log.c: tests that each event is one complete line on stderr, if the level includes it. */
#include "test.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static int original;
static FILE *caught;

static void catch_stderr(void) {
    caught = tmpfile();
    original = dup(STDERR_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
}

static void release_stderr(char *text, size_t room) {
    dup2(original, STDERR_FILENO);
    close(original);
    rewind(caught);
    text[fread(text, 1, room - 1, caught)] = 0;
    fclose(caught);
}

TEST(lines_say_who_and_how_bad)
{
    char text[512];
    catch_stderr();
    log_error("no %s", "memory");
    log_identify(3);
    log_warn("%d", 7);
    log_identify(-1);
    release_stderr(text, sizeof text);
    expect_text(text, "hearth: error: no memory\nhearth[3]: warning: 7\n");
}

TEST(levels_hold_lines_back)
{
    char text[512];
    catch_stderr();
    log_info("not by default");
    log_set_level(LOG_INFO);
    log_info("now");
    log_debug("still not");
    log_set_level(LOG_ERROR);
    log_warn("no more");
    log_set_level(LOG_WARN);
    release_stderr(text, sizeof text);
    expect_text(text, "hearth: info: now\n");
}

TEST(long_lines_are_cut_but_end)
{
    char text[4096], many[3000];
    memset(many, 'x', sizeof many);
    many[sizeof many - 1] = 0;
    catch_stderr();
    log_error("%s", many);
    release_stderr(text, sizeof text);
    size_t length = strlen(text);
    expect(length > 900 && length <= 1024);
    expect_eq(text[length - 1], '\n');
    expect(strchr(text, '\n') == text + length - 1);
}

/* A child that reads the pipe slowly, as launchers do. */
static pid_t slow_reader(int from) {
    pid_t child = fork();
    if (child != 0)
        return child;
    char text[512];
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    _exit(read(from, text, sizeof text) > 0 ? 0 : 1);
}

TEST(the_last_words_are_heard)
{
    int ends[2], unread = -1, status = -1;
    expect_eq(pipe(ends), 0);
    original = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    log_error("the last words");
    pid_t child = slow_reader(ends[0]);
    log_settle();
    ioctl(ends[0], FIONREAD, &unread);
    dup2(original, STDERR_FILENO);
    close(original);
    expect_eq(unread, 0);
    waitpid(child, &status, 0);
    expect_eq(status, 0);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_reader_that_is_gone_is_not_waited_for_without_end)
{
    int ends[2];
    expect_eq(pipe(ends), 0);
    original = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    log_error("heard by nobody");
    log_settle();
    dup2(original, STDERR_FILENO);
    close(original);
    close(ends[0]);
    close(ends[1]);
}
