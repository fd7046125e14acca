/* unit_log.c: tests that each event is one complete line on stderr, if the level includes it. */
#include "test.h"

#include <errno.h>
#include <signal.h>
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
    log_info(LOG_NET, "not by default");
    log_set_level(LOG_INFO);
    log_info(LOG_NET, "now");
    log_debug(LOG_NET, "still not");
    log_set_level(LOG_ERROR);
    log_warn("no more");
    log_set_level(LOG_WARN);
    release_stderr(text, sizeof text);
    expect_text(text, "hearth: info: net: now\n");
}

/* The lines that these levels let through, one letter each: of the net area error (n), info (i), debug (d), trace (t), of the cache area
 * debug (D), trace (T), and a warning without an area (w). */
static const char *lets_through(const char *levels) {
    static char letters[32];
    char text[1024], why[512];
    size_t n = 0;
    log_set_level(LOG_WARN);
    int err = log_set_levels(levels, why, sizeof why);
    catch_stderr();
    log_info(LOG_NET, "i");
    log_debug(LOG_NET, "d");
    log_trace(LOG_NET, "t");
    log_debug(LOG_CACHE, "D");
    log_trace(LOG_CACHE, "T");
    log_warn("w");
    release_stderr(text, sizeof text);
    log_set_level(LOG_WARN);
    for (const char *end = strchr(text, '\n'); end; end = strchr(end + 1, '\n'))
        letters[n++] = end[-1];
    letters[n] = 0;
    return err ? "refused" : letters;
}

TEST(each_area_has_its_level)
{
    expect_text(lets_through("warn"), "w");
    expect_text(lets_through("error"), "");
    expect_text(lets_through("trace"), "idtDTw");
    expect_text(lets_through("net:trace"), "idtw");
    expect_text(lets_through("net:debug,cache:trace"), "idDTw");
    expect_text(lets_through("net:trace,cache:debug,warn"), "idtDw");
    expect_text(lets_through("error,cache:debug"), "D"); /* in any order */
    expect_text(lets_through("cache:debug,error"), "D");
    expect_text(lets_through("info,net:warn"), "w");
    expect_text(lets_through("NET:Debug"), "idw");
    expect_text(lets_through("net:info,net:trace"), "idtw"); /* the last one counts */
}

static void expect_levels_refused(const char *levels, const char *word, const char *possible) {
    char why[512] = "";
    int8_t before[sizeof log_levels];
    memcpy(before, log_levels, sizeof before);
    expect_eq(log_set_levels(levels, why, sizeof why), -EINVAL);
    expect_eq(log_check_levels(levels, why, sizeof why), -EINVAL);
    expect(strstr(why, word) != NULL);
    expect(strstr(why, possible) != NULL);
    expect(memcmp(before, log_levels, sizeof before) == 0);
    expect_eq(log_set_levels(levels, NULL, 0), -EINVAL);
}

TEST(wrong_words_are_told_with_what_is_possible)
{
    static const char levels[] = "error, warn, info, debug or trace",
                      areas[] = "job, cache, windows, messages, match, net, pages";
    expect_levels_refused("loud", "'loud' is not a level", levels);
    expect_levels_refused("net:loud", "'loud' is not a level", levels);
    expect_levels_refused("nett:debug", "'nett' is not an area", areas);
    expect_levels_refused("net:", "'' is not a level", levels);
    expect_levels_refused(":debug", "'' is not an area", areas);
    expect_levels_refused("net:debug,", "'' is not a level", levels);
    expect_levels_refused("net", "'net' is not a level", levels);
    expect_levels_refused("debug net", "'debug net' is not a level", levels);
    expect_levels_refused("net:debug:trace", "'debug:trace' is not a level", levels);
}

TEST(a_line_leaves_errno_alone)
{
    char text[128];
    catch_stderr();
    log_set_level(LOG_DEBUG);
    errno = EDOM;
    log_debug(LOG_JOB, "%s", strerror(ENOENT));
    expect_eq(errno, EDOM);
    log_set_level(LOG_WARN);
    release_stderr(text, sizeof text);
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

static void expect_ended(bool holds, const char *line) {
    int ends[2], status = 0;
    char text[512] = "";
    expect_eq(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        ASSERT(holds);
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], text + strlen(text), sizeof text - 1 - strlen(text)) > 0)
        continue;
    waitpid(child, &status, 0);
    expect_eq(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, line != NULL);
    expect(line ? strstr(text, line) != NULL : !*text);
    close(ends[0]);
}

/* Where they are off, the condition is not even evaluated. */
TEST(assertions_end_the_process_in_trees_for_tests)
{
    int calls = 0;
    ASSERT(++calls > 0);
    expect_ended(true, NULL);
#ifdef NDEBUG
    expect_eq(calls, 0);
    expect_ended(false, NULL);
#else
    expect_eq(calls, 1);
    expect_ended(false, "expect_ended: this does not hold: holds; please report it");
#endif
}
