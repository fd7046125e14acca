/* run_options.c: the options of `hearth run`. They are checked before anything is started. */
#include "run/run_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"
#include "run/launcher/launcher.h"
#include "tools.h"

static int add_setting(struct run_options *o, const char *name, const char *value) {
    struct settings scratch;
    char why[512];
    const struct setting *setting = settings_find(name);
    if (setting && settings_parse(setting, value, &scratch, why, sizeof why))
        return refuse("%s", why);
    char *word = need_text("%s=%s", name, value);
    strvec_add(&o->settings, word);
    free(word);
    return 0;
}

static int check_report_file(const char *path) {
    struct stat st;
    if (lstat(path, &st))
        return 0;
    if (!S_ISREG(st.st_mode))
        return refuse("--report %s: it is not a plain file, and links are not followed; name another", path);
    return access(path, W_OK)
               ? refuse("--report %s: %s; name another file, or remove it", path, strerror(errno))
               : 0;
}

/* 0, or the error that prevents new files in this folder. */
static int folder_fault(const char *folder) {
    struct stat st;
    if (stat(folder, &st))
        return errno;
    return !S_ISDIR(st.st_mode) ? ENOTDIR : access(folder, W_OK | X_OK) ? errno : 0;
}

/* As in hearth run --report mpirun -n 2 ./app. */
static bool is_launcher(const char *file) {
    const char *slash = strrchr(file, '/');
    return launcher_is_name(slash ? slash + 1 : file);
}

/* Checks now that the report can be written, as the job may take hours. Ranks may start in other folders, so the path
 * is made absolute. */
static int add_report(struct run_options *o, const char *file) {
    char here[PATH_MAX];
    if (!strcmp(file, "-"))
        return refuse("--report - names no file: write --report run.json, which hearth report prints");
    if (is_launcher(file))
        return refuse(
            "--report %s: this is the name of a launcher: write the name of the file before it, as in "
            "--report run.json %s",
            file, file);
    if (!*file || file[strlen(file) - 1] == '/')
        return refuse("--report \"%s\" is not the name of a file", file);
    if (*file != '/' && !getcwd(here, sizeof here))
        return refuse("--report %s: the current folder has no name: %s; write an absolute path", file,
                      strerror(errno));
    char *path = *file == '/' ? need_copy(file) : need_text("%s/%s", here, file);
    char *slash = strrchr(path, '/');
    *slash = 0;
    int fault = strchr(path, '%') ? 0 : folder_fault(*path ? path : "/");
    int err = fault ? refuse("--report %s: cannot write in %s: %s: %s", file, *path ? path : "/",
                             strerror(fault), remedy_of_write(fault))
                    : 0;
    *slash = '/';
    err = err ? err : check_report_file(path);
    err = err ? err : add_setting(o, "HEARTH_REPORT", path);
    free(path);
    return err;
}

static int run_take_mpi(struct run_options *o, const char *name) {
    o->wanted = flavour_named(name);
    return o->wanted ? 0 : refuse("--mpi %s is unknown: use mpich, openmpi or abi", name);
}

enum {
    OPTION_MODE = 256,
    OPTION_SIZE,
    OPTION_MATCH,
    OPTION_CHECK,
    OPTION_REPORT,
    OPTION_MPI,
    OPTION_PROFILE,
    OPTION_NO_PROFILE,
    OPTION_DRY
};

static int run_take_option(struct run_options *o, int option) {
    switch (option) {
    case OPTION_MODE:
        return add_setting(o, "HEARTH_MODE", optarg);
    case OPTION_SIZE:
        return add_setting(o, "HEARTH_CACHE_SIZE", optarg);
    case OPTION_MATCH:
        return add_setting(o, "HEARTH_MATCH", "on");
    case OPTION_CHECK:
        return add_setting(o, "HEARTH_CHECK", "on");
    case OPTION_REPORT:
        return add_report(o, optarg);
    case OPTION_MPI:
        return run_take_mpi(o, optarg);
    case OPTION_PROFILE:
        o->profile = optarg;
        return 0;
    case OPTION_NO_PROFILE:
        o->no_profile = true;
        return 0;
    case OPTION_DRY:
        o->is_dry = true;
        return 0;
    }
    o->is_verbose = true;
    return 0;
}

const char *run_options_report(const struct run_options *o) {
    static const char name[] = "HEARTH_REPORT=/";
    const char *report = NULL;
    for (size_t i = 0; i < o->settings.count; i++)
        if (!strncmp(o->settings.of[i], name, sizeof name - 1))
            report = o->settings.of[i] + sizeof name - 2;
    return report && !strchr(report, '%') ? report : NULL;
}

/* The report would replace a file that this command reads: a program, its input or the profile. */
static int refuse_to_replace(const struct run_options *o, char **command) {
    const char *report = run_options_report(o);
    bool is_read = report && o->profile && is_same_file(report, o->profile);
    for (; report && *command; command++)
        is_read |= is_same_file(report, *command);
    return is_read
               ? refuse(
                     "--report %s: the command names this file, which the report would replace: name another",
                     report)
               : 0;
}

/* In `hearth run -n 4 ./app` the -- before -n may be omitted. */
static bool begins_command(int argc, char **argv) {
    return optind < argc && (!strcmp(argv[optind], "-n") || !strcmp(argv[optind], "-np"));
}

int run_options_read(struct run_options *o, int argc, char **argv) {
    static const struct option options[] = {{"mode", required_argument, NULL, OPTION_MODE},
                                            {"cache-size", required_argument, NULL, OPTION_SIZE},
                                            {"match", no_argument, NULL, OPTION_MATCH},
                                            {"check", no_argument, NULL, OPTION_CHECK},
                                            {"report", required_argument, NULL, OPTION_REPORT},
                                            {"mpi", required_argument, NULL, OPTION_MPI},
                                            {"profile", required_argument, NULL, OPTION_PROFILE},
                                            {"no-profile", no_argument, NULL, OPTION_NO_PROFILE},
                                            {"dry-run", no_argument, NULL, OPTION_DRY},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while (!begins_command(argc, argv) && (option = getopt_long(argc, argv, "+:v", options, NULL)) != -1) {
        int err = option == '?' || option == ':' ? refuse_option(&command_run, option, argv)
                                                 : run_take_option(o, option);
        if (err)
            return err;
    }
    if (o->profile && o->no_profile)
        return refuse("--profile and --no-profile exclude each other: omit one");
    if (optind >= argc)
        return refuse("hearth run: no program is given; for example: hearth run -- mpirun -n 4 ./app");
    return refuse_to_replace(o, argv + optind);
}
