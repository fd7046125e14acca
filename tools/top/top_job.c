/* top_job.c: groups processes into jobs, finds their names, and computes differences between two samples.
 *
 * The processes of a job have a common launcher as ancestor. MPICH's mpiexec starts a proxy for each node, Open MPI's
 * mpirun a daemon: if both are on this node, mpiexec or mpirun identifies the job. Without a launcher (srun may be on
 * another node, or hidden) the session does; a job of one process is then identified by that process. */
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/live.h"
#include "tools.h"
#include "top/top.h"

enum { MOST_LEVELS = 32 };

/* ---- /proc/PID/stat ---- */

/* The name, in parentheses, may contain anything: the last parenthesis ends it. */
bool top_stat_read(int pid, struct top_stat *s) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (n <= 0)
        return false;
    text[n] = 0;
    char *open = strchr(text, '('), *shut = strrchr(text, ')');
    unsigned long long started = 0;
    *s = (struct top_stat){0};
    if (!open || !shut || shut < open ||
        sscanf(shut + 1, " %*c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &s->parent, &s->session, &started) != 3)
        return false;
    s->started = started;
    snprintf(s->name, sizeof s->name, "%.*s", (int)(shut - open - 1), open + 1);
    return true;
}

/* ---- jobs ---- */

static bool is_launcher(const char *name) {
    static const char *const names[] = {"mpirun",    "mpiexec", "orterun", "prterun",   "orted",
                                        "prted",     "hydra_",  "srun",    "jsrun",     "slurmstepd",
                                        "pbs_demux", "prun",    "aprun",   "flux-shell"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* MPI's launchers. Above them there may be one of the batch system, which starts several jobs. */
static bool starts_daemons(const char *name) {
    return !strncmp(name, "mpirun", 6) || !strncmp(name, "mpiexec", 7) || !strncmp(name, "orterun", 7) ||
           !strncmp(name, "prterun", 7);
}

int top_job_of(int pid, const struct top_stat *s, int size) {
    struct top_stat above, next;
    int at = s->parent;
    for (int i = 0; i < MOST_LEVELS && at > 1 && top_stat_read(at, &above); i++) {
        if (is_launcher(above.name))
            return above.parent > 1 && top_stat_read(above.parent, &next) && starts_daemons(next.name)
                       ? above.parent
                       : at;
        at = above.parent;
    }
    return size == 1 || s->session <= 0 ? pid : s->session;
}

/* ---- names ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The name of the script, for interpreters. */
static const char *job_name_in(const char *words, size_t bytes) {
    const char *first = last_part(words);
    size_t length = strlen(words) + 1;
    bool runs_scripts = !strncmp(first, "python", 6);
    for (const char *w = words + length; runs_scripts && w < words + bytes && *w; w += strlen(w) + 1)
        if (*w != '-')
            return last_part(w);
    return first;
}

/* The name goes to a terminal, and need not be UTF-8. */
void top_name_clean(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
            *text = '?';
}

void top_program_read(int pid, char *name, size_t room) {
    char path[64], words[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, words, sizeof words - 1);
    if (file >= 0)
        close(file);
    words[n > 0 ? n : 0] = 0;
    snprintf(name, room, "%.*s", (int)room - 1, n > 0 ? job_name_in(words, (size_t)n) : "?");
    top_name_clean(name);
}

/* ---- rows ---- */

static uint64_t grown(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static struct top_row row_of(const struct top_process *now, const struct top_process *before,
                             double seconds) {
    struct top_row r = {.rank = now->rank, .pid = now->pid, .is_partial = now->is_partial};
    memcpy(r.values, now->values, sizeof r.values);
    memcpy(r.threads, now->threads, sizeof r.threads);
    if (!before)
        return r;
    r.seconds = seconds;
    for (int i = 0; i < LIVE_WHATS; i++)
        if (live_kind_of((enum live_what)i) == LIVE_KIND_count)
            r.deltas[i] = grown(now->values[i], before->values[i]);
    for (int i = 0; i < LIVE_ROLES; i++)
        r.busy[i] = (double)grown(now->busy_ns[i], before->busy_ns[i]) / 1e9;
    return r;
}

/* The page size is the same for all processes, and is not added up. */
static void job_add_row(struct top_row *sum, const struct top_row *r) {
    for (int i = 0; i < LIVE_WHATS; i++) {
        sum->deltas[i] += r->deltas[i];
        if (i != LIVE_page_bytes)
            sum->values[i] += r->values[i];
        else if (sum->values[i] < r->values[i])
            sum->values[i] = r->values[i];
    }
    for (int i = 0; i < LIVE_ROLES; i++) {
        sum->busy[i] += r->busy[i];
        sum->threads[i] += r->threads[i];
    }
    sum->seconds = sum->seconds > r->seconds ? sum->seconds : r->seconds;
    sum->is_partial |= r->is_partial;
}

static size_t count_of_job(const struct top_sample *s, size_t first) {
    size_t end = first;
    while (end < s->count && s->of[end].job == s->of[first].job)
        end++;
    return end - first;
}

static struct top_job make_job(const struct top_sample *now, const struct top_sample *before, size_t first) {
    const struct top_process *p = &now->of[first];
    struct top_job j = {.id = p->job, .size = p->size, .count = count_of_job(now, first), .sum.rank = -1};
    memcpy(j.program, p->program, sizeof j.program);
    j.rows = need(j.count * sizeof *j.rows);
    double seconds = before ? (double)(now->ns - before->ns) / 1e9 : 0;
    for (size_t i = 0; i < j.count; i++) {
        j.rows[i] = row_of(&p[i], before ? top_sample_find(before, &p[i]) : NULL, seconds);
        job_add_row(&j.sum, &j.rows[i]);
    }
    return j;
}

void top_jobs_make(struct top_jobs *jobs, const struct top_sample *now, const struct top_sample *before) {
    *jobs = (struct top_jobs){.of = need(now->count * sizeof *jobs->of)}; /* upper bound */
    for (size_t first = 0; first < now->count; first += jobs->of[jobs->count++].count)
        jobs->of[jobs->count] = make_job(now, before, first);
}

void top_jobs_choose(struct top_jobs *jobs, const struct top_choice *c) {
    size_t kept = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        struct top_job *j = &jobs->of[i];
        if ((c->job && c->job != j->id) || (c->program && fnmatch(c->program, j->program, 0) != 0))
            free(j->rows);
        else
            jobs->of[kept++] = *j;
    }
    jobs->count = kept;
}

void top_jobs_free(struct top_jobs *jobs) {
    for (size_t i = 0; i < jobs->count; i++)
        free(jobs->of[i].rows);
    free(jobs->of);
    free(jobs->silent);
    *jobs = (struct top_jobs){0};
}
