/* top_remote.c: jobs on other nodes: `hearth top --once --json` is run there through ssh, on all nodes at once, and its output read
 * back into the jobs that the table and the screen show. A node that does not answer has a line that says so, and the others
 * are shown.
 *
 * What ssh prints is not trusted: what is missing in it counts as 0. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/json_read.h"
#include "observe/live.h"
#include "run/strvec.h"
#include "tools.h"
#include "top/top.h"

enum { MOST_TEXT = 1 << 26, SECONDS = 10 /* to connect, and to answer */ };

struct answer {
    const char *host;
    FILE *pipe;
};

/* ---- asking ---- */

static FILE *answer_open(const char *host, double delay) {
    char self[PATH_MAX], seconds[32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    snprintf(seconds, sizeof seconds, "%g", delay);
    struct strvec remote = {0}, local = {0};
    const char *const there[] = {self, "top", "--once", "--json", "-d", seconds};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        strvec_add(&remote, there[i]);
    char *command = strvec_quoted(&remote), *limit = need_text("ConnectTimeout=%d", SECONDS),
         *most = need_text("%g", 2 * SECONDS + delay);
    const char *const here[] = {"timeout", most,  "ssh", "-o", "BatchMode=yes",
                                "-o",      limit, "--",  host, command};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        strvec_add(&local, here[i]);
    char *line = strvec_quoted(&local), *silenced = need_text("%s </dev/null 2>/dev/null", line);
    FILE *pipe = popen(silenced, "re");
    free(silenced);
    free(line);
    free(most);
    free(limit);
    free(command);
    strvec_free(&local);
    strvec_free(&remote);
    return pipe;
}

static char *answer_text(FILE *pipe, size_t *length) {
    size_t room = 1 << 16, n;
    char *text = need(room);
    *length = 0;
    while (*length < MOST_TEXT && (n = fread(text + *length, 1, room - *length - 1, pipe)) > 0) {
        *length += n;
        if (*length + 1 == room) {
            char *more = need(2 * room);
            memcpy(more, text, *length);
            free(text);
            text = more;
            room *= 2;
        }
    }
    return text;
}

/* ---- reading ---- */

static uint64_t remote_count(const struct json_value *in, const char *name) {
    const struct json_value *v = json_member(in, name);
    return v && v->is_count ? v->count : 0;
}

static double remote_number(const struct json_value *in, const char *name) {
    const struct json_value *v = json_member(in, name);
    return v && v->kind == JSON_NUMBER && v->number >= 0 ? v->number : 0;
}

static struct top_row remote_row(const struct json_value *in, double seconds) {
    static const char *const roles[LIVE_ROLES] = {NULL, "helper", "service", "messages"};
    const struct json_value *values = json_member(in, "values"), *rates = json_member(in, "rates"),
                            *threads = json_member(in, "threads"), *shown = json_member(in, "shown");
    struct top_row r = {
        .rank = (int)remote_count(in, "rank"), .pid = (int)remote_count(in, "pid"), .seconds = seconds};
    r.is_partial = shown && !strcmp(shown->text, "partly");
    for (int i = 0; i < LIVE_WHATS; i++) {
        r.values[i] = remote_count(values, live_name((enum live_what)i));
        r.deltas[i] = (uint64_t)(remote_number(rates, live_name((enum live_what)i)) * seconds + 0.5);
    }
    for (int i = LIVE_NO_THREAD + 1; i < LIVE_ROLES; i++) {
        const struct json_value *role = json_member(threads, roles[i]);
        r.threads[i] = (unsigned)remote_count(role, "count");
        r.busy[i] = remote_number(role, "load") * seconds;
    }
    return r;
}

static struct top_job remote_job(const struct json_value *in, const char *host, double seconds) {
    const struct json_value *list = json_member(in, "processes"), *program = json_member(in, "program");
    struct top_job j = {
        .id = (int)remote_count(in, "job"), .size = (int)remote_count(in, "ranks"), .host = host};
    snprintf(j.program, sizeof j.program, "%s", program ? program->text : "?");
    top_name_clean(j.program);
    j.sum = remote_row(in, seconds);
    j.sum.rank = -1;
    j.rows = need((list ? list->size : 0) * sizeof *j.rows);
    for (const struct json_value *v = NULL; list && (v = json_next(list, v));)
        j.rows[j.count++] = remote_row(v, seconds);
    return j;
}

static void jobs_grow(struct top_jobs *jobs, size_t more) {
    struct top_job *all = need((jobs->count + more) * sizeof *all);
    if (jobs->count)
        memcpy(all, jobs->of, jobs->count * sizeof *all);
    free(jobs->of);
    jobs->of = all;
}

static bool answer_read(struct answer *a, struct top_jobs *jobs) {
    size_t length;
    struct json_value *root = NULL;
    struct json_error error;
    char *text = answer_text(a->pipe, &length);
    int status = pclose(a->pipe);
    bool good = WIFEXITED(status) && !WEXITSTATUS(status) && !json_read(text, length, &root, &error);
    const struct json_value *list = good ? json_member(root, "jobs") : NULL;
    if (list && list->kind == JSON_ARRAY) {
        jobs_grow(jobs, list->size);
        for (const struct json_value *v = NULL; (v = json_next(list, v));)
            jobs->of[jobs->count++] = remote_job(v, a->host, remote_number(root, "seconds"));
    }
    free(root);
    free(text);
    return list != NULL;
}

void top_remote_look(const struct strvec *hosts, double delay, struct top_jobs *jobs) {
    struct answer *answers = need(hosts->count * sizeof *answers);
    *jobs = (struct top_jobs){0};
    for (size_t i = 0; i < hosts->count; i++)
        answers[i] = (struct answer){.host = hosts->of[i], .pipe = answer_open(hosts->of[i], delay)};
    for (size_t i = 0; i < hosts->count; i++)
        if (!answers[i].pipe || !answer_read(&answers[i], jobs)) {
            char *longer =
                need_text("%s%s%s", jobs->silent ? jobs->silent : "", jobs->silent ? ", " : "", hosts->of[i]);
            free(jobs->silent);
            jobs->silent = longer;
        }
    free(answers);
}

/* a,b,c. A name that begins with - would be an option of ssh. */
int top_remote_hosts(const char *list, struct strvec *hosts) {
    while (*list) {
        size_t n = strcspn(list, ",");
        if (!n || *list == '-')
            return refuse("--hosts needs names of hosts, separated by commas");
        char *host = need_text("%.*s", (int)n, list);
        strvec_add(hosts, host);
        free(host);
        list += n + (list[n] == ',');
    }
    return hosts->count ? 0 : refuse("--hosts needs names of hosts, separated by commas");
}
