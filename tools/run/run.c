/* run.c: `hearth run`: rewrites the user's command so that it preloads Hearth, and executes it.
 *
 *      options -> the launcher -> its programs -> their MPI -> the preload for it -> the new command -> exec
 *
 * Nothing is started before all of this is known. Afterwards no process of ours remains beside the launcher: exit
 * code, signals and terminal are the launcher's own. */
#include "tools.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "run/find_library.h"
#include "run/compose.h"
#include "run/launcher/launcher.h"
#include "run/program.h"
#include "run/python.h"
#include "run/run.h"
#include "run/script.h"
#include "run/strvec.h"
#include "run/watch.h"
#include "run/launcher/vendor.h"

extern char **environ;

static const char help[] =
    "usage: hearth run [OPTION]... [--] mpirun -n 4 ./app [ARGUMENT]...\n"
    "       hearth run [OPTION]... [--] -n 4 ./app [ARGUMENT]...      with the mpirun of the program's MPI\n"
    "       hearth run [OPTION]... [--] ./app [ARGUMENT]...           as a single process\n"
    "\n"
    "Runs an MPI program with Hearth. Detects its MPI, preloads the library for that MPI into the ranks,\n"
    "not into the launcher (mpirun, mpiexec, srun, prun, aprun, jsrun, flux run, ibrun, ccc_mprun), and "
    "returns\n"
    "the exit code. If the program is a shell script, launchers that it calls by name are run the same way.\n"
    "\n"
    "  --mode MODE         reuse policy for cached data: transparent, acquire, auto, always, user, off\n"
    "  --cache-size SIZE   storage of each window's cache, such as 16m\n"
    "  --match             match messages in Hearth instead of MPI\n"
    "  --check             also fetch every hit and compare: tells whether the mode is safe\n"
    "  --report FILE       write a report at the end, for hearth report; %r is the rank\n"
    "  --profile FILE      take settings from this file, not from the program's profile\n"
    "  --no-profile        do not use the profile that hearth tune has written for the program\n"
    "  --mpi NAME          the program's MPI, mpich, openmpi, or abi for the standard ABI of MPI 5.0, if it\n"
    "                      cannot be detected\n"
    "  -v, --verbose       print the detected MPI and the exact command\n"
    "  --dry-run           print the command on stdout without running it\n"
    "\n"
    "All variables HEARTH_* are passed on to the ranks, on other hosts too. A setting comes from the\n"
    "option, else the environment, else the profile, else it has its default: `hearth info -c` lists them.\n"
    "With HEARTH=off in the environment the program runs without Hearth.\n"
    "In a line with colons Hearth is preloaded into each program.\n";

struct run {
    const struct run_options *options;
    struct profile profile; /* empty: none */
    struct identity identity;
    bool is_identified;
    struct strvec command;
    size_t first; /* index of the launcher in it */
    struct launcher launcher;
    bool is_implied; /* the launcher is still to be chosen; word 0 is reserved for it */
    struct launcher_line line;
    struct program *programs;
    enum flavour flavour;
    char library[PATH_MAX];
    struct mpi_library host; /* the MPI that it is linked to */
};

/* ---- the launcher and its programs ---- */

/* Commands that run the command in their arguments. After any other, a word such as mpirun may be mere data. */
static bool is_prefix(const char *word) {
    static const char *const prefixes[] = {"timeout", "time",    "nice",   "env",    "nohup",
                                           "setsid",  "stdbuf",  "ionice", "strace", "numactl",
                                           "taskset", "setarch", "salloc", "perf"};
    const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strcmp(base, prefixes[i]))
            return true;
    return false;
}

static void find_launcher(struct run *r) {
    struct launcher found = launcher_identify(r->command.of[0]);
    size_t at = 0;
    if (!found.kind && is_prefix(r->command.of[0]))
        while (!found.kind && ++at < r->command.count)
            found = launcher_identify(r->command.of[at]);
    at = launcher_skip(&found, r->command.of, at, r->command.count);
    r->launcher = found;
    r->first = found.kind ? at : 0;
}

static int check_launcher(const struct run *r) {
    if (r->launcher.kind || is_prefix(r->command.of[0]) || python_is_interpreter(r->command.of[0]) ||
        !launcher_is_suspected(r->command.of, r->command.count))
        return 0;
    const char *word = r->command.of[0];
    return refuse("%s looks like a launcher that hearth does not know: if it starts ranks, write %s ... "
                  "hearth run PROGRAM; if it is a "
                  "script that calls mpirun or the like, hearth run bash %s ...; if it runs in one process, "
                  "hearth run env %s ...",
                  word, word, word, word);
}

static struct launcher_line whole_line(size_t count) {
    struct launcher_line line = {.count = 1, .parts = need(sizeof *line.parts)};
    line.parts[0].end = count;
    return line;
}

static void run_read_command(struct run *r, int argc, char **argv) {
    r->is_implied = argv[0][0] == '-' && argv[0][1];
    if (r->is_implied)
        strvec_add(&r->command, "mpirun");
    for (int i = 0; i < argc; i++)
        strvec_add(&r->command, argv[i]);
    if (r->is_implied)
        r->launcher = (struct launcher){LAUNCHER_OTHER, FLAVOUR_NONE};
    else
        find_launcher(r);
    r->line = r->launcher.kind ? launcher_read(r->launcher.kind, r->command.of, r->first, r->command.count)
                               : whole_line(r->command.count);
}

/* The parts of one job cannot use different MPIs. */
static int take_flavour(struct run *r, const struct program *p) {
    if (!p->mpi.flavour || r->flavour == p->mpi.flavour)
        return 0;
    if (!r->flavour) {
        r->flavour = p->mpi.flavour;
        return 0;
    }
    return refuse("%s uses %s, but another program of the job uses %s: build them with one MPI", p->word,
                  flavour_name(p->mpi.flavour), flavour_name(r->flavour));
}

static int judge_parts(struct run *r) {
    int err = 0;
    r->programs = need(r->line.count * sizeof *r->programs);
    for (size_t i = 0; i < r->line.count && !err; i++) {
        err = program_judge(r->command.of, &r->line.parts[i], r->options->wanted, &r->programs[i]);
        err = err ? err : take_flavour(r, &r->programs[i]);
    }
    return err;
}

/* One line of srun's --multi-prog: "0-3 ./app argument". */
static int judge_line(struct run *r, char *text) {
    char *rest = text, *ranks = strtok_r(rest, " \t\n", &rest), *word = strtok_r(rest, " \t\n", &rest);
    struct launcher_part part = {.end = 1};
    struct program program;
    if (!ranks || *ranks == '#' || !word)
        return 0;
    int err = program_judge(&word, &part, r->options->wanted, &program);
    err = err ? err : take_flavour(r, &program);
    program.word = r->line.program_file; /* the text is freed */
    if (program.mpi.flavour && !r->programs)
        r->programs = need(sizeof *r->programs);
    if (program.mpi.flavour)
        *r->programs = program;
    return err;
}

static int run_judge_file(struct run *r) {
    const char *path = r->line.program_file;
    if (r->launcher.kind != LAUNCHER_SRUN)
        return refuse(
            "the programs are listed in %s, where they cannot be preloaded: write them into the command, "
            "separated by colons",
            path);
    FILE *file = fopen(path, "re");
    if (!file)
        return refuse("cannot read %s, which lists the programs for srun: %s", path, strerror(errno));
    char *text = NULL;
    size_t room = 0;
    int err = 0;
    while (!err && getline(&text, &room, file) > 0)
        err = judge_line(r, text);
    free(text);
    fclose(file);
    return err;
}

static int judge_programs(struct run *r) {
    if (r->line.program_file)
        return run_judge_file(r);
    if (!r->line.count)
        return refuse("hearth run: %s starts no program: add one after its options", r->command.of[r->first]);
    return judge_parts(r);
}

/* ---- choosing the MPI ---- */

/* The first program whose MPI is known, or NULL. */
static const struct program *witness(const struct run *r) {
    size_t count = r->line.program_file ? r->programs != NULL : r->line.count;
    for (size_t i = 0; i < count; i++)
        if (r->programs[i].mpi.flavour)
            return &r->programs[i];
    return NULL;
}

static int refuse_unknown(const struct run *r) {
    const char *word = r->line.count ? r->command.of[r->line.parts[0].program] : r->line.program_file;
    if (!r->launcher.kind)
        return refuse(
            "%s is neither a launcher nor, as far as can be detected, a program that uses MPI: "
            "name the MPI that it "
            "loads with --mpi mpich, --mpi openmpi or --mpi abi; if it calls a launcher, write hearth "
            "run before that one",
            word);
    return refuse("cannot detect which MPI %s loads: add --mpi mpich, --mpi openmpi or --mpi abi", word);
}

/* A program for the standard ABI runs under the MPI whose library the loader finds. */
static int refuse_other_abi(const struct run *r, const struct program *p) {
    const char *mpi = flavour_name(r->launcher.flavour);
    return refuse("%s uses the standard ABI, and would load %s of %s, but %s is the launcher of %s: put the "
                  "folder of the %s of %s first into LD_LIBRARY_PATH, or add --mpi abi if this is wrong",
                  p->word, p->mpi.path, flavour_name(flavour_owner(&p->mpi)), r->command.of[r->first], mpi,
                  p->mpi.name, mpi);
}

/* If launcher and program have different MPIs, each rank runs as a job of its own. */
static int refuse_disagreement(const struct run *r, const struct program *p) {
    const char *mpi = flavour_name(p->mpi.flavour);
    if (p->mpi.flavour == FLAVOUR_ABI)
        return refuse_other_abi(r, p);
    return refuse(
        "%s uses %s (%s needs %s), but %s is the launcher of %s: use that of %s, or add --mpi NAME if "
        "this is wrong",
        p->word, mpi, p->carrier, p->mpi.name, r->command.of[r->first], flavour_name(r->launcher.flavour),
        mpi);
}

/* Such as C for the standard ABI with Fortran, for which each MPI has an ABI of its own. */
static int refuse_two_interfaces(const struct program *p) {
    return refuse(
        "%s needs %s and %s, two interfaces of MPI that cannot be mixed: build all of it with the "
        "compilers of one MPI (the standard ABI has no Fortran), or add --mpi NAME if this is wrong",
        p->word, p->mpi.name, p->mpi.other);
}

static int run_decide(struct run *r) {
    const struct program *p = witness(r);
    if (r->options->wanted) {
        if (p && p->mpi.flavour != r->options->wanted)
            return refuse(
                "--mpi %s, but %s uses %s (%s needs %s): leave --mpi out, or build the program with %s",
                flavour_name(r->options->wanted), p->word, flavour_name(p->mpi.flavour), p->carrier,
                p->mpi.name, flavour_name(r->options->wanted));
        r->flavour = r->options->wanted;
        return 0;
    }
    if (p && *p->mpi.other)
        return refuse_two_interfaces(p);
    enum flavour owner = p ? flavour_owner(&p->mpi) : FLAVOUR_NONE;
    if (owner && r->launcher.flavour && r->launcher.flavour != owner)
        return refuse_disagreement(r, p);
    r->flavour = p ? p->mpi.flavour : r->launcher.flavour;
    return r->flavour ? 0 : refuse_unknown(r);
}

/* Programs for another member of an ABI family run, but nobody has tested it. */
static void say_vendor(const struct program *p) {
    struct vendor vendor = vendor_of(&p->mpi);
    if (!vendor.is_tested)
        log_warn("%s uses %s (%s), which has the %s%s: Hearth was tested with %s, not with it", p->word,
                 vendor.name, *p->mpi.path ? p->mpi.path : p->mpi.name,
                 p->mpi.flavour == FLAVOUR_ABI ? "standard ABI" : "ABI of ",
                 p->mpi.flavour == FLAVOUR_ABI ? "" : flavour_name(p->mpi.flavour),
                 vendor_tested(p->mpi.flavour));
}

/* Our library loads the MPI library that it was built for. If the program needs another one, its process would have
 * two. */
static int find_library(struct run *r) {
    const struct mpi_library *host = &r->host;
    const struct program *p = witness(r);
    const char *name = flavour_name(r->flavour);
    if (!find_library_preload(r->flavour, r->library, &r->host))
        return refuse("there is no libhearth-mpi.so for %s beside this command: build Hearth for it (make), "
                      "or install it",
                      name);
    if (p &&
        (r->options->wanted || !strcmp(p->mpi.name, host->name) || is_same_file(p->mpi.path, host->path)))
        say_vendor(p);
    else if (p)
        return refuse(
            "%s uses %s, but %s was built for %s: build Hearth with that MPI's compiler (-DHEARTH_MPICC=)",
            p->word, *p->mpi.path ? p->mpi.path : p->mpi.name, r->library, host->path);
    return 0;
}

static int choose_launcher(struct run *r) {
    char path[PATH_MAX];
    if (!r->is_implied)
        return 0;
    const struct program *p = witness(r);
    const struct mpi_library *library = p ? &p->mpi : &r->host;
    enum flavour flavour = r->flavour == FLAVOUR_ABI ? flavour_owner(library) : r->flavour;
    if (!flavour)
        return refuse("%s is not found here, so that its launcher is unknown: write the launcher before the "
                      "program",
                      library->name);
    if (!launcher_find(flavour, path))
        return refuse(
            "there is no mpirun of %s on the PATH: install it, or write the launcher before the program",
            flavour_name(flavour));
    free(r->command.of[0]);
    r->command.of[0] = need_copy(path);
    return 0;
}

/* ---- settings ---- */

static bool is_set(const struct run *r, const char *variable, bool in_environment) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
    const struct setting *s = settings_find(name);
    return s && (profile_value(&r->options->settings, s) || (in_environment && profile_environment(s)));
}

/* The settings of the profile that neither an option nor the environment sets. */
static struct strvec profile_rest(const struct run *r) {
    struct strvec rest = {0};
    for (size_t i = 0; i < r->profile.settings.count; i++)
        if (!is_set(r, r->profile.settings.of[i], true))
            strvec_add(&rest, r->profile.settings.of[i]);
    return rest;
}

/* Settings of the environment, except those that an option sets, then the profile's, then those of options. */
static struct strvec all_settings(const struct run *r) {
    struct strvec all = {0}, rest = profile_rest(r);
    for (char **variable = environ; *variable; variable++)
        if (!strncmp(*variable, "HEARTH_", 7) && strchr(*variable, '=') && !is_set(r, *variable, false))
            strvec_add(&all, *variable);
    for (size_t i = 0; i < rest.count; i++)
        strvec_add(&all, rest.of[i]);
    for (size_t i = 0; i < r->options->settings.count; i++)
        strvec_add(&all, r->options->settings.of[i]);
    strvec_free(&rest);
    return all;
}

/* A profile that the user named must be usable. The program's own, which nobody asked for, is left out if it is not. */
static int find_profile(struct run *r) {
    char path[PATH_MAX], why[700];
    if (r->options->profile)
        return profile_read_named(r->options->profile, &r->profile, why, sizeof why)
                   ? refuse("--profile %s: %s", r->options->profile, why)
                   : 0;
    r->is_identified = !r->line.program_file && identity_find(r->command.of, r->first, r->launcher.kind,
                                                              &r->line, r->programs, &r->identity);
    if (!r->options->no_profile && r->is_identified && profile_path(&r->identity, path) &&
        profile_read_own(path, &r->profile, why, sizeof why))
        log_warn("profile %s is not used: %s", path, why);
    return 0;
}

static void say_profile(const struct run *r) {
    struct strvec rest = profile_rest(r);
    if (*r->profile.path) {
        fprintf(stderr, "hearth: profile %s:", r->profile.path);
        for (size_t i = 0; i < rest.count; i++)
            fprintf(stderr, " %s", rest.of[i]);
        fprintf(stderr, "%s%s\n", rest.count ? "" : " its settings are overridden",
                r->options->profile ? "" : "; --no-profile runs without it");
    }
    strvec_free(&rest);
}

/* ---- execution ---- */

static bool is_without_mpi(const struct run *r) {
    bool any = r->line.program_file;
    for (size_t i = 0; !any && i < r->line.count; i++)
        any = !r->programs[i].lacks_mpi;
    return !any;
}

/* A compiled program may load MPI at run time, but rarely does. */
static void say_without_mpi(const struct run *r) {
    for (size_t i = 0; !r->line.program_file && i < r->line.count; i++)
        if (r->programs[i].lacks_mpi)
            log_warn("%s is not linked to MPI: unless it loads MPI while it runs, Hearth does nothing in it "
                     "and writes no report",
                     r->programs[i].word);
}

/* If the user preloads our library everywhere, the launcher is still exempt. */
static void spare_launcher(const struct run *r) {
    const char *list = getenv("LD_PRELOAD");
    char *rest = list ? compose_without_hearth(list) : NULL;
    if (rest && strlen(rest) != strlen(list)) {
        if (r->options->is_verbose)
            fputs("hearth: LD_PRELOAD names libhearth-mpi.so: it is removed for the launcher\n", stderr);
        setenv("LD_PRELOAD", rest, 1);
    }
    free(rest);
}

static void explain(const struct run *r) {
    const struct program *p = witness(r);
    const char *name = flavour_name(r->flavour);
    if (r->options->wanted)
        fprintf(stderr, "hearth: %s, given by --mpi\n", name);
    else if (p)
        fprintf(stderr, "hearth: %s uses %s: %s needs %s, %s; tested with %s\n", p->word, name, p->carrier,
                *p->mpi.path ? p->mpi.path : p->mpi.name, vendor_of(&p->mpi).name, vendor_tested(r->flavour));
    else
        fprintf(stderr, "hearth: %s, that of the launcher; the program may load MPI at run time\n", name);
}

static int execute(struct run *r, struct strvec *command) {
    char *text = strvec_quoted(command);
    if (r->options->is_verbose) {
        if (!r->options->is_bare)
            explain(r);
        fprintf(stderr, "hearth: %s\n", text);
    }
    if (r->options->is_dry)
        puts(text);
    free(text);
    if (r->options->is_dry)
        return 0;
    if (run_options_report(r->options) && !r->options->is_bare && !is_without_mpi(r))
        watch_report(run_options_report(r->options));
    fflush(NULL);
    execvp(command->of[0], command->of);
    return refuse("cannot run %s: %s", command->of[0], strerror(errno));
}

static int run_prepare(struct run *r) {
    int err = check_launcher(r);
    err = err ? err : judge_programs(r);
    err = err ? err : run_decide(r);
    err = err || r->options->is_bare ? err : find_library(r);
    err = err ? err : choose_launcher(r);
    return err || r->options->is_bare ? err : find_profile(r);
}

static int run_start(struct run *r) {
    struct strvec command = {0}, settings = all_settings(r);
    struct composition c = {.command = &r->command,
                            .kind = r->launcher.kind,
                            .first = r->first,
                            .line = &r->line,
                            .programs = r->programs,
                            .library = r->library,
                            .settings = &settings};
    spare_launcher(r);
    int err = r->options->is_bare ? 0 : compose(&c, &command);
    say_profile(r);
    if (!r->options->is_bare)
        say_without_mpi(r);
    err = err ? err : execute(r, r->options->is_bare ? &r->command : &command);
    strvec_free(&command);
    strvec_free(&settings);
    return err;
}

static void run_free(struct run *r) {
    strvec_free(&r->command);
    launcher_free(&r->line);
    profile_free(&r->profile);
    free(r->programs);
}

int run_command(const struct run_options *o, int argc, char **argv) {
    struct run r = {.options = o};
    run_read_command(&r, argc, argv);
    int err = run_prepare(&r);
    err = err ? err : run_start(&r);
    run_free(&r);
    return err;
}

int run_examine(const struct run_options *o, int argc, char **argv, struct run_facts *facts) {
    struct run r = {.options = o};
    run_read_command(&r, argc, argv);
    int err = run_prepare(&r);
    *facts = (struct run_facts){
        .is_identified = r.is_identified, .identity = r.identity, .flavour = r.flavour, .profile = r.profile};
    r.profile = (struct profile){0};
    if (err)
        profile_free(&facts->profile);
    run_free(&r);
    return err;
}

/* The command as it is. Only a launcher that it does not name is found as always. */
static int run_off(struct run_options *o, int count, char **words) {
    struct run r = {.options = o};
    fputs("hearth: HEARTH=off: the program runs without Hearth\n", stderr);
    o->is_bare = true;
    if (words[0][0] == '-' && words[0][1])
        return run_command(o, count, words);
    for (int i = 0; i < count; i++)
        strvec_add(&r.command, words[i]);
    spare_launcher(&r);
    int err = execute(&r, &r.command);
    run_free(&r);
    return err;
}

static int run_child(int argc, char **argv) {
    struct run_options options = {0};
    int err = run_options_read(&options, argc, argv);
    if (!err && settings_are_off())
        err = run_off(&options, argc - optind, argv + optind);
    else if (!err && script_is_command(argv + optind, (size_t)(argc - optind)))
        err = script_run(&options, argv + optind);
    else if (!err)
        err = run_command(&options, argc - optind, argv + optind);
    strvec_free(&options.settings);
    return err;
}

const struct command command_run = {
    .name = "run", .summary = "run an MPI program with Hearth preloaded", .help = help, .run = run_child};
