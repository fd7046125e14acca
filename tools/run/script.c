/* script.c: runs shell scripts that call launchers, without preloading the shell, the commands of the script, or the launchers.
 *
 *      hearth run --mode acquire job.sh        exec job.sh with   HEARTH_MODE=acquire   PATH=LINKS:...   hearth_links=LINKS
 *          mpirun -n 4 ./app                   LINKS/mpirun is this command: hearth run -- /usr/bin/mpirun -n 4 ./app
 *
 * LINKS is a folder of the user's cache (~/.cache/hearth/links-N), with a link of the name of each launcher that is on the PATH, and
 * mpirun and mpiexec. It is made once, and stays: nothing of it could be removed after exec. A launcher that the script calls by its
 * path runs without Hearth; if no other is called, a line says so at the end (watch.h).
 *
 * `module load`, and the start files of a login shell, put other folders first into the PATH. bash therefore also gets a function for each
 * launcher, through the environment (BASH_FUNC_mpirun%%), which it prefers to the PATH. Other shells read no functions from there. */
#include "run/script.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"
#include "run/launcher/launcher.h"
#include "run/profile.h"
#include "run/watch.h"
#include "tools.h"

extern char **environ;

static const char links_variable[] = "hearth_links";

/* Options that are handed on to the launchers of the script: the variable holds the value, empty for an option without one. */
enum { HANDED_MPI, HANDED_PROFILE, HANDED_NO_PROFILE, HANDED_VERBOSE, HANDED };
static const struct handed {
    const char *variable, *option;
} handed[HANDED] = {[HANDED_MPI] = {"hearth_links_mpi", "--mpi"},
                    [HANDED_PROFILE] = {"hearth_links_profile", "--profile"},
                    [HANDED_NO_PROFILE] = {"hearth_links_no_profile", "--no-profile"},
                    [HANDED_VERBOSE] = {"hearth_links_verbose", "--verbose"}};

/* ---- recognising a script ---- */

bool script_is_shell(const char *path) {
    static const char *const shells[] = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "csh", "tcsh"};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(base, shells[i]))
            return true;
    return false;
}

/* #!/bin/bash, #!/usr/bin/env bash, or #!/usr/bin/env -S bash -e */
static bool is_shell_script(const char *path) {
    char line[256], *rest = line + 2;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = file < 0 ? 0 : read(file, line, sizeof line - 1);
    if (file >= 0)
        close(file);
    line[n > 0 ? n : 0] = 0;
    if (strncmp(line, "#!", 2) != 0)
        return false;
    line[strcspn(line, "\n")] = 0;
    char *word = strtok_r(rest, " \t", &rest);
    const char *slash = word ? strrchr(word, '/') : NULL;
    if (slash && !strcmp(slash, "/env"))
        do /* options of env, such as -S, and variables */
            word = strtok_r(rest, " \t", &rest);
        while (word && (*word == '-' || strchr(word, '=')));
    return word && script_is_shell(word);
}

/* A launcher has started this process: then the script is a rank. */
static bool is_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                        "SLURM_PROCID",         "ALPS_APP_PE", "FLUX_TASK_RANK"};
    bool is_step = getenv("SLURM_STEP_ID") != NULL; /* a batch script has SLURM_PROCID, too */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && (strcmp(names[i], "SLURM_PROCID") != 0 || is_step))
            return true;
    return false;
}

bool script_is_command(char *const *words, size_t count) {
    char path[PATH_MAX];
    bool by_shell;
    if (is_rank() || !count || launcher_is_name(words[0]) ||
        !launcher_resolve(words[0], NULL, NULL, path, &by_shell))
        return false;
    return script_is_shell(words[0]) ? count > 1
                                     : is_shell_script(path) && !launcher_is_suspected(words, count);
}

/* ---- the folder of links ---- */

static int script_cannot(const char *path) {
    return refuse("cannot make the folder %s, through which the launchers of the script are found: %s; write "
                  "hearth run "
                  "before each mpirun in the script instead",
                  path, strerror(errno));
}

/* Makes all folders of the path. */
static int make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        int failed = mkdir(path, 0700) && errno != EEXIST;
        if (failed)
            return -1;
        if (!slash)
            return 0;
        *slash = '/';
    }
}

/* One folder for each place of this command. */
static char *links_folder(const char *self) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    uint64_t number = 0;
    for (const char *c = self; *c; c++)
        number = random_mix(number ^ (unsigned char)*c);
    if (cache && *cache == '/')
        return need_text("%s/hearth/links-%08x", cache, (unsigned)number);
    return home && *home == '/' ? need_text("%s/.cache/hearth/links-%08x", home, (unsigned)number) : NULL;
}

static int link_one(const char *folder, const char *name, const char *self) {
    char *path = need_text("%s/%s", folder, name), old[PATH_MAX];
    ssize_t n = readlink(path, old, sizeof old - 1);
    old[n > 0 ? n : 0] = 0;
    int failed = 0;
    if (strcmp(old, self) != 0) {
        char *draft = need_text("%s.%ld", path, (long)getpid());
        unlink(
            draft); /* of a process with this number, on this host or another, that did not come to the next line */
        failed = symlink(self, draft) || rename(draft, path);
        free(draft);
    }
    free(path);
    return failed;
}

/* A link for each launcher in this folder of the PATH. */
static int link_launchers(const char *from, const char *folder, const char *self) {
    DIR *d = opendir(from);
    int failed = 0;
    for (struct dirent *entry; d && !failed && (entry = readdir(d));)
        if (launcher_is_name(entry->d_name))
            failed = link_one(folder, entry->d_name, self);
    if (d)
        closedir(d);
    return failed;
}

/* mpirun and mpiexec may come with a module that the script loads. */
static int make_links(char *folder, const char *self) {
    int failed =
        make_folders(folder) || link_one(folder, "mpirun", self) || link_one(folder, "mpiexec", self);
    const char *list = getenv("PATH");
    while (!failed && list && *list) {
        size_t n = strcspn(list, ":");
        char *from = need_text("%.*s", (int)n, list);
        failed = *from == '/' && strcmp(from, folder) != 0 ? link_launchers(from, folder, self) : 0;
        free(from);
        list += n + (list[n] == ':');
    }
    return failed ? script_cannot(folder) : 0;
}

/* ---- functions of bash ---- */

static const char function_prefix[] = "BASH_FUNC_";

/* bash does not read functions with other names, and complains. */
static bool is_identifier(const char *name) {
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* A function that the user has exported stays. */
static void export_function(const char *folder, const char *name) {
    struct strvec word = {0};
    char *link = need_text("%s/%s", folder, name), *variable = need_text("%s%s%%%%", function_prefix, name);
    strvec_add(&word, link);
    char *quoted = strvec_quoted(&word), *body = need_text("() { %s \"$@\"; }", quoted);
    setenv(variable, body, 0);
    free(body);
    free(quoted);
    free(variable);
    free(link);
    strvec_free(&word);
}

static void export_functions(const char *folder) {
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (launcher_is_name(entry->d_name) && is_identifier(entry->d_name))
            export_function(folder, entry->d_name);
    if (d)
        closedir(d);
}

/* Removes those that call the links: a shell that a rank runs does not need them. */
static void remove_functions(const char *folder) {
    for (size_t i = 0; environ[i];) {
        size_t length = strcspn(environ[i], "=");
        if (strncmp(environ[i], function_prefix, sizeof function_prefix - 1) ||
            !strstr(environ[i] + length, folder)) {
            i++;
            continue;
        }
        char *name = need_text("%.*s", (int)length, environ[i]);
        unsetenv(name);
        free(name);
    }
}

/* ---- running the script ---- */

/* value: NULL: the option was not given. */
static void hand_on(int option, const char *value) {
    if (value)
        setenv(handed[option].variable, value, 1);
    else
        unsetenv(handed[option].variable);
}

/* Checks the file before the script starts; the script may call the launcher in another folder. */
static int hand_on_profile(const char *file) {
    struct profile profile = {0};
    char why[700], path[PATH_MAX];
    hand_on(HANDED_PROFILE, NULL);
    if (!file)
        return 0;
    if (profile_read_named(file, &profile, why, sizeof why))
        return refuse("--profile %s: %s", file, why);
    profile_free(&profile);
    if (!realpath(file, path))
        return refuse("--profile %s: %s", file, strerror(errno));
    hand_on(HANDED_PROFILE, path);
    return 0;
}

static void set_environment(const struct run_options *o, const char *folder) {
    const char *path = getenv("PATH");
    for (size_t i = 0; i < o->settings.count; i++) {
        char *name = need_text("%.*s", (int)strcspn(o->settings.of[i], "="), o->settings.of[i]);
        setenv(name, o->settings.of[i] + strlen(name) + 1, 1);
        free(name);
    }
    char *longer = need_text("%s:%s", folder, path ? path : "/usr/bin:/bin");
    setenv("PATH", longer, 1);
    setenv(links_variable, folder, 1);
    export_functions(folder);
    hand_on(HANDED_MPI, o->wanted ? flavour_name(o->wanted) : NULL);
    hand_on(HANDED_NO_PROFILE, o->no_profile ? "" : NULL);
    hand_on(HANDED_VERBOSE, o->is_verbose ? "" : NULL);
    free(longer);
}

int script_run(const struct run_options *o, char **words) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *folder = links_folder(self);
    if (!folder)
        return refuse("%s is a script: set HOME, as its launchers are found through a folder in ~/.cache",
                      words[0]);
    int err = make_links(folder, self);
    err = err ? err : hand_on_profile(o->profile);
    if (!err) {
        set_environment(o, folder);
        if (o->is_verbose || o->is_dry)
            fprintf(o->is_dry ? stdout : stderr,
                    "hearth: %s is a script: its launchers are found in %s first\n", words[0], folder);
        if (!o->is_dry) {
            watch_script(folder, script_is_shell(words[0]) && *words[1] != '-' ? words[1] : words[0],
                         run_options_report(o));
            fflush(NULL);
            execvp(words[0], words);
            watch_saw_launcher(folder); /* there is no script to say something about */
            err = refuse("cannot run %s: %s", words[0], strerror(errno));
        }
    }
    free(folder);
    return err;
}

/* ---- a launcher of the script ---- */

/* Whether this file is this command. */
static bool is_self(const char *path) {
    struct stat a, b;
    return !stat(path, &a) && !stat("/proc/self/exe", &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A script may have emptied the environment: then the variable is missing, but the name tells. */
bool script_is_link(const char *word) {
    return launcher_is_name(word);
}

/* The folder of the link through which this command was called; NULL: it is not on the PATH. */
static char *called_folder(const char *name) {
    const char *variable = getenv(links_variable), *list = getenv("PATH");
    if (variable)
        return need_copy(variable);
    while (list && *list) {
        size_t n = strcspn(list, ":");
        char *path = need_text("%.*s/%s", (int)n, list, name);
        bool found = *path == '/' && is_self(path);
        path[n] = 0;
        if (found)
            return path;
        free(path);
        list += n + (list[n] == ':');
    }
    return NULL;
}

/* Removes the links from the PATH, so that the launcher itself is found. */
static void restore_path(const char *folder) {
    const char *list = getenv("PATH");
    char *rest = need(list ? strlen(list) + 1 : 1), *to = rest;
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (n != strlen(folder) || strncmp(list, folder, n) != 0) {
            if (to != rest)
                *to++ = ':';
            to = mempcpy(to, list, n);
        }
        list += n + (list[n] == ':');
    }
    *to = 0;
    setenv("PATH", rest, 1);
    free(rest);
}

/* Whether the launcher starts a program: mpirun --version does not. */
static bool starts_program(int argc, char **argv) {
    struct launcher launcher = launcher_identify(argv[0]);
    size_t first = launcher_skip(&launcher, argv, 0, (size_t)argc);
    if (!launcher.kind)
        return false;
    struct launcher_line line = launcher_read(launcher.kind, argv, first, (size_t)argc);
    bool starts = line.count || line.program_file;
    launcher_free(&line);
    return starts;
}

/* Adds the options that were handed on, and removes them from the environment. */
static void take_handed(struct strvec *words) {
    for (size_t i = 0; i < HANDED; i++) {
        const char *value = getenv(handed[i].variable);
        if (!value)
            continue;
        char *word = need_text("%s%s%s", handed[i].option, *value ? "=" : "", value);
        strvec_add(words, word);
        free(word);
        unsetenv(handed[i].variable);
    }
}

int script_run_launcher(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    struct strvec words = {0};
    argv[0] = slash ? (char *)slash + 1 : argv[0];
    char *folder = called_folder(argv[0]);
    if (!folder)
        return refuse("%s is a link to hearth, and its folder is not on the PATH: call hearth run", argv[0]);
    watch_saw_launcher(folder);
    restore_path(folder);
    remove_functions(folder);
    unsetenv(links_variable);
    strvec_add(&words, "run");
    take_handed(&words);
    if (starts_program(argc, argv)) {
        strvec_add(&words, "--");
        for (int i = 0; i < argc; i++)
            strvec_add(&words, argv[i]);
        command_run.run((int)words.count, words.of); /* returns only if it refuses */
        log_warn("%s runs without Hearth", argv[0]);
    }
    strvec_free(&words);
    free(folder);
    execvp(argv[0], argv);
    return refuse("there is no launcher %s on the PATH: load the module of your MPI, or install it", argv[0]);
}
