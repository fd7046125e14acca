/* check_mpi.c: probes an MPI with hearth-probe, on two ranks of this node, once in its default configuration and
 * once over TCP, as between nodes.
 *
 * The probe prints each result as soon as it is known, so a hang or a crash loses only the later ones. When its time
 * limit is over, the launcher gets SIGTERM, which ends the job, and SIGKILL if it does not end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "observe/output.h"
#include "run/find_library.h"
#include "info/info.h"
#include "run/launcher/launcher.h"
#include "tools.h"
#include "run/strvec.h"

enum { GRACE = 3000, ROOM = 16384 }; /* ms, bytes */

static long limit_ms; /* of one job */

struct output_text {
    char text[ROOM];
    size_t length;
    bool is_late; /* it did not end in time */
    int status;   /* as from waitpid */
};

/* ---- running the probe ---- */

static void become_launcher(const struct strvec *command, int to) {
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    unsetenv("LD_PRELOAD");
    if (!geteuid()) { /* Open MPI refuses to run as root by default */
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        setenv("PRTE_ALLOW_RUN_AS_ROOT", "1", 1); /* from version 5 on */
        setenv("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    execv(command->of[0], command->of);
    _exit(127);
}

/* Reads until the probe closes its end of the pipe or the time limit is over. Output that does not fit is dropped. */
static void check_mpi_read_all(int from, struct output_text *o) {
    uint64_t end = clock_ns() + (uint64_t)limit_ms * 1000000;
    char rest[512];
    while (!o->is_late) {
        int64_t left = ((int64_t)(end - clock_ns())) / 1000000;
        struct pollfd p = {.fd = from, .events = POLLIN};
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        o->is_late = !ready;
        if (ready <= 0)
            continue;
        size_t room = ROOM - 1 - o->length;
        ssize_t n = room ? read(from, o->text + o->length, room) : read(from, rest, sizeof rest);
        if (n <= 0)
            return;
        o->length += room ? (size_t)n : 0;
    }
}

static bool check_mpi_has_ended(pid_t child) {
    siginfo_t info = {0};
    return !waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* On SIGTERM the launcher ends its ranks, which may be in process groups of their own. Then the rest of the launcher's
 * group is killed. The group's number cannot be reused before the caller's waitpid. */
static void end_launcher(pid_t child) {
    struct timespec a_while = {.tv_nsec = 50000000};
    kill(child, SIGTERM);
    for (int waited = 0; waited < GRACE && waited < limit_ms && !check_mpi_has_ended(child); waited += 50)
        nanosleep(&a_while, NULL);
    kill(-child, SIGKILL);
}

static bool run_probe(const struct strvec *command, struct output_text *o) {
    int ends[2];
    *o = (struct output_text){.length = 0};
    if (pipe2(ends, O_CLOEXEC))
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        become_launcher(command, ends[1]);
    close(ends[1]);
    if (child > 0) {
        setpgid(child, child);
        check_mpi_read_all(ends[0], o);
        if (o->is_late)
            end_launcher(child);
        while (waitpid(child, &o->status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return child > 0;
}

/* ---- results ---- */

/* The value of a line key=value, or NULL. */
static const char *find_value(const struct output_text *o, const char *key, char value[256]) {
    size_t length = strlen(key);
    for (const char *line = o->text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, key, length) && line[length] == '=') {
            snprintf(value, 256, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
            return value;
        }
    return NULL;
}

/* Of a failed probe: the first line of output that is neither a result nor decoration. */
static void find_complaint(const struct output_text *o, char line[256]) {
    snprintf(line, 256, "no error message");
    for (const char *at = o->text; at && *at; at = strchr(at, '\n'), at += at != NULL) {
        size_t length = strcspn(at, "\n");
        if (length > 8 && !memchr(at, '=', length < 16 ? length : 16) && strspn(at, "-=* \t") < length) {
            snprintf(line, 256, "%.*s", (int)(length < 200 ? length : 200), at);
            return;
        }
    }
}

static void judge_alignment(const struct output_text *o, const char *where) {
    char value[256], what[64];
    snprintf(what, sizeof what, "window alignment%s", where);
    if (!find_value(o, "align", value))
        return;
    if (!strcmp(value, "right"))
        check_say(GRADE_OK, what, NULL, "windows may have any alignment");
    else
        check_say(
            GRADE_WARN, what,
            "use MPICH 4.1 or later, or give windows memory that is aligned to 64 bytes and sizes that are "
            "multiples of 64",
            "a get from a window that begins 8 bytes beyond a multiple of 16 returns wrong bytes, with "
            "and "
            "without Hearth (a bug of MPICH 4.0)");
}

static void judge_get(const struct output_text *o, const char *key, const char *window, const char *where) {
    char value[256], what[96];
    enum { SLOW = 10000 }; /* us; the target computes for ten times as long */
    snprintf(what, sizeof what, "passive progress%s, %s", where, window);
    if (!find_value(o, key, value))
        return;
    double us = strtod(value, NULL);
    if (us < SLOW)
        check_say(GRADE_OK, what, NULL, "yes: a get from a rank that computes took %.3f ms", us / 1000);
    else
        check_say(
            GRADE_NOTE, what, "HEARTH_WINDOWS=serve: Hearth executes such operations without the target",
            "no: a get took %.1f ms, until the target, which computed for 100 ms, called MPI", us / 1000);
}

static void judge_alone(const struct output_text *o) {
    char value[256];
    if (!find_value(o, "alone", value))
        return;
    if (!strcmp(value, "right"))
        check_say(GRADE_OK, "window of one process", NULL, "works");
    else
        check_say(GRADE_NOTE, "window of one process", "run such programs on two ranks or more",
                  "refused by this MPI (known for Open MPI 4.1): a program on one rank cannot make windows");
}

static void judge_thread(const struct output_text *o) {
    char value[256];
    if (!find_value(o, "thread", value))
        return;
    bool all = !strcmp(value, "multiple");
    check_say(all ? GRADE_OK : GRADE_NOTE, "thread level", all ? NULL : "build MPI with thread support",
              all ? "%s" : "%s: programs whose threads all call MPI, and HEARTH_NET=mpi, do not work", value);
}

static void judge_end(const struct output_text *o, const char *where) {
    char complaint[256];
    if (!o->is_late && WIFEXITED(o->status) && !WEXITSTATUS(o->status))
        return;
    find_complaint(o, complaint);
    if (o->is_late)
        check_say(GRADE_BAD, "two ranks", "check whether a plain MPI program ends",
                  "%shang: not done in %.3g s", where, (double)limit_ms / 1000);
    else
        check_say(GRADE_BAD, "two ranks", "check whether a plain MPI program runs", "%sfail: %s", where,
                  complaint);
}

/* ---- the two configurations ---- */

static void add_words(struct strvec *w, const char *const *list) {
    for (; *list; list++)
        strvec_add(w, *list);
}

/* The component for one-sided operations over TCP: pt2pt, which Open MPI 5 no longer has. */
static const char *component_over_tcp(const char *library) {
    const char *version = strstr(library, "Open MPI v");
    return version && atoi(version + strlen("Open MPI v")) >= 5 ? "rdma" : "pt2pt";
}

static struct strvec probe_command(enum flavour flavour, const char *launcher, const char *probe,
                                   bool over_tcp, const char *library) {
    static const char *const openmpi[] = {"--oversubscribe", "--bind-to", "none", "-n", "2", NULL};
    static const char *const openmpi_tcp[] = {"--mca", "pml",      "ob1",   "--mca",
                                              "btl",   "tcp,self", "--mca", "btl_tcp_if_include",
                                              "lo",    "--mca",    "osc",   NULL};
    static const char *const mpich[] = {"-n", "2", NULL};
    static const char *const mpich_tcp[] = {"/usr/bin/env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo",
                                            "MPIR_CVAR_NOLOCAL=1", NULL};
    struct strvec w = {0};
    strvec_add(&w, launcher);
    add_words(&w, flavour == FLAVOUR_OPENMPI ? openmpi : mpich);
    if (over_tcp)
        add_words(&w, flavour == FLAVOUR_OPENMPI ? openmpi_tcp : mpich_tcp);
    if (over_tcp && flavour == FLAVOUR_OPENMPI)
        strvec_add(&w, component_over_tcp(library));
    strvec_add(&w, probe);
    if (over_tcp)
        strvec_add(&w, "plain");
    return w;
}

static void check_mpi_judge(const struct output_text *o, const char *where) {
    judge_thread(o);
    judge_alone(o);
    judge_alignment(o, where);
    judge_get(o, "allocate_us", "MPI_Win_allocate", where);
    judge_get(o, "create_us", "MPI_Win_create", where);
}

/* `owner`: the MPI whose launcher it is. */
static void check_mpi_try_out(enum flavour flavour, enum flavour owner, const char *launcher,
                              const char *probe) {
    static struct output_text o; /* too large for the stack */
    char library[256] = "unknown version";
    for (int over_tcp = 0; over_tcp < 2; over_tcp++) {
        struct strvec command = probe_command(owner, launcher, probe, over_tcp, library);
        if (!run_probe(&command, &o))
            check_say(GRADE_BAD, flavour_name(flavour), NULL, "cannot start a process: %s", strerror(errno));
        if (!over_tcp)
            printf("----- %s: %s\n", flavour_name(flavour),
                   find_value(&o, "library", library) ? library : "unknown version");
        check_mpi_judge(&o, over_tcp ? " over TCP" : " on a node");
        judge_end(&o, over_tcp ? "over TCP they " : "they ");
        strvec_free(&command);
    }
}

/* `asked`: the user named it. */
static void check_mpi_one(enum flavour flavour, bool asked) {
    char probe[PATH_MAX], launcher[PATH_MAX];
    bool is_built = find_library_probe(flavour, probe);
    if (!is_built && flavour == FLAVOUR_ABI && !asked) /* few MPIs have it */
        return;
    if (!is_built) {
        check_say(GRADE_NOTE, flavour_name(flavour),
                  asked ? "build Hearth for it (make), or install it" : NULL,
                  "not probed: Hearth was not built for it");
        return;
    }
    struct mpi_library library = flavour_of_file(probe);
    enum flavour owner = flavour_owner(&library);
    if (!owner || !launcher_find(owner, launcher))
        check_say(GRADE_NOTE, flavour_name(flavour),
                  "install its mpirun, or inside a job: srun -n 2 hearth-probe",
                  "not probed: its mpirun is not on the PATH");
    else
        check_mpi_try_out(flavour, owner, launcher, probe);
}

void check_mpi(enum flavour flavour, double seconds) {
    limit_ms = (long)(seconds * 1000);
    for (int i = FLAVOUR_MPICH; i < FLAVOURS; i++)
        if (!flavour || flavour == (enum flavour)i)
            check_mpi_one((enum flavour)i, flavour != FLAVOUR_NONE);
}
