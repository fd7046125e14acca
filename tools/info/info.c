/* info.c: `hearth info`: build, settings and machine, and diagnosis of common problems. */
#include "info/info.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/number.h"
#include "base/settings.h"
#include "run/find_library.h"
#include "run/launcher/vendor.h"
#include "tools.h"

static const char help[] =
    "usage: hearth info [-v] [-c [-- COMMAND]] [-t [-n RANKS]] [--check [--strict] [--mpi NAME]\n"
    "                   [--timeout S]] [--clean] [--nvm FILE] [--scale RANKS[:PER_NODE]]\n"
    "\n"
    "  -v, --version    version, build options, processor and clock, and supported MPIs with their ABI\n"
    "                   (also without any option)\n"
    "  -c, --settings   every setting with its value, the source of the value, and its meaning; after --,\n"
    "                   for a command as hearth run takes it, with its options and its profile\n"
    "  -t, --topology   this node: cores, caches, memory, and the cores for helper and heater\n"
    "  -n RANKS         for -t: number of ranks on the node; default: as many as it has cores\n"
    "  --check          diagnose this machine: MPI with two ranks, limits of the system, and shared\n"
    "                   memory of dead jobs; prints the meaning and the remedy of each finding\n"
    "  --strict         for --check: warnings count, too: faults of the MPI that programs meet without\n"
    "                   Hearth as well\n"
    "  --mpi NAME       for --check: only this MPI, mpich or openmpi, or abi, the standard ABI of MPI 5.0\n"
    "  --timeout S      for --check: seconds after which a job of two ranks counts as hung; default: 40\n"
    "  --clean          remove this user's shared memory of dead jobs, and nothing else\n"
    "  --nvm FILE       verify the checkpoints in the file of a named segment of vGASNet\n"
    "                   (HEARTH_NVM_NAME): every page against its checksum\n"
    "  --scale RANKS[:PER_NODE]\n"
    "                   memory that each part of Hearth needs in a job of RANKS ranks, per rank and per\n"
    "                   node; PER_NODE: ranks of a node; default: as many as this one has cores\n"
    "\n"
    "The exit code is 1 if --check or --nvm found something bad or --clean could not remove something, else "
    "0.\n";

static enum grade worst;

void check_say(enum grade grade, const char *what, const char *advice, const char *format, ...) {
    static const char *const marks[] = {"ok", "note", "warn", "BAD"};
    va_list arguments;
    printf("%-5s %s: ", marks[grade], what);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    if (advice)
        printf("      -> %s\n", advice);
    fflush(stdout); /* the next check may take seconds */
    worst = grade > worst ? grade : worst;
}

int check_code(bool is_strict) {
    return worst >= (is_strict ? GRADE_WARN : GRADE_BAD);
}

/* ---- the version ---- */

/* The number behind .so is the version of the ABI: 12 of MPICH and all that are compatible with it, 40 of Open MPI 4 and 5. */
static void print_abi(const struct mpi_library *host) {
    const char *base = strrchr(host->name, '/'), *so = strstr(base ? base : host->name, ".so.");
    static const char *const names[FLAVOURS] = {"unknown", "MPICH", "Open MPI", "MPI 5.0"};
    printf("           %s; ABI of %s", vendor_of(host).name, names[host->flavour]);
    printf(so ? ", libmpi %s\n" : "\n", so ? so + 4 : "");
}

static void print_preload(enum flavour flavour) {
    char path[PATH_MAX];
    struct mpi_library host;
    if (find_library_preload(flavour, path, &host)) {
        printf("%-10s %s, for %s\n", flavour_name(flavour), path, *host.path ? host.path : host.name);
        print_abi(&host);
    } else if (flavour != FLAVOUR_ABI) {
        printf("%-10s not built\n", flavour_name(flavour));
    } else {
        printf("%-10s not built; it needs an MPI with the standard ABI of MPI 5.0, such as MPICH 5\n",
               flavour_name(flavour));
    }
}

/* What depends on the processor, and is chosen at run time. */
static void print_machine(void) {
    struct utsname name;
    uname(&name);
    printf("machine    %s, pages of %ld KB, vectors %s, clock %s\n", name.machine,
           sysconf(_SC_PAGESIZE) >> 10, cpu_vectors(), clock_source());
}

void info_version(void) {
    printf("hearth %s\n", HEARTH_VERSION);
    printf("build      %s, with %s, by %s\n", HEARTH_BUILD, HEARTH_WITH, __VERSION__);
    print_machine();
    for (int i = FLAVOUR_MPICH; i < FLAVOURS; i++)
        print_preload((enum flavour)i);
}

/* ---- options ---- */

struct wishes {
    bool version, settings, machine, check, is_strict, clean;
    unsigned ranks;
    enum flavour flavour;
    double timeout;  /* seconds */
    const char *nvm; /* file */
    struct info_scale scale;
};

static int take_ranks(struct wishes *w, const char *text) {
    char *end;
    unsigned long ranks = strtoul(text, &end, 10);
    if (*end || end == text || *text == '-' || !ranks || ranks > 1000000)
        return refuse("-n %s is not a number of ranks, from 1 to 1000000", text);
    w->ranks = (unsigned)ranks;
    w->machine = true;
    return 0;
}

static int info_command_take_mpi(struct wishes *w, const char *name) {
    w->flavour = flavour_named(name);
    return w->flavour ? 0 : refuse("--mpi %s is unknown: use mpich, openmpi or abi", name);
}

static int info_command_take_timeout(struct wishes *w, const char *text) {
    char *end;
    w->timeout = number_parse(text, &end);
    bool good = *text && !*end && w->timeout >= 0.1 && w->timeout <= 1e6;
    return good ? 0 : refuse("--timeout %s is not a number of seconds, from 0.1 to 1000000", text);
}

enum {
    OPTION_CHECK = 256,
    OPTION_STRICT,
    OPTION_CLEAN,
    OPTION_MPI,
    OPTION_TIMEOUT,
    OPTION_NVM,
    OPTION_SCALE
};

static int info_command_take_option(struct wishes *w, int option) {
    switch (option) {
    case 'n':
        return take_ranks(w, optarg);
    case OPTION_MPI:
        return info_command_take_mpi(w, optarg);
    case OPTION_TIMEOUT:
        return info_command_take_timeout(w, optarg);
    case OPTION_NVM:
        w->nvm = optarg;
        return 0;
    case OPTION_SCALE:
        return info_scale_parse(optarg, &w->scale);
    }
    bool *wish = option == 'v'             ? &w->version
                 : option == 'c'           ? &w->settings
                 : option == 't'           ? &w->machine
                 : option == OPTION_CHECK  ? &w->check
                 : option == OPTION_STRICT ? &w->is_strict
                                           : &w->clean;
    *wish = true;
    return 0;
}

static int info_command_read_options(struct wishes *w, int argc, char **argv) {
    static const struct option options[] = {{"version", no_argument, NULL, 'v'},
                                            {"settings", no_argument, NULL, 'c'},
                                            {"topology", no_argument, NULL, 't'},
                                            {"check", no_argument, NULL, OPTION_CHECK},
                                            {"strict", no_argument, NULL, OPTION_STRICT},
                                            {"clean", no_argument, NULL, OPTION_CLEAN},
                                            {"mpi", required_argument, NULL, OPTION_MPI},
                                            {"timeout", required_argument, NULL, OPTION_TIMEOUT},
                                            {"nvm", required_argument, NULL, OPTION_NVM},
                                            {"scale", required_argument, NULL, OPTION_SCALE},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "+:vctn:", options, NULL)) != -1) {
        int err = option == '?' || option == ':' ? refuse_option(&command_info, option, argv)
                                                 : info_command_take_option(w, option);
        if (err)
            return err;
    }
    if (optind < argc && !w->settings)
        return refuse("hearth info takes no argument such as %s: see hearth help info", argv[optind]);
    return 0;
}

static void check_all(const struct wishes *w) {
    check_system();
    check_mpi(w->flavour, w->timeout);
    if (!w->clean)
        leftovers_report(false);
}

static int info(int argc, char **argv) {
    struct wishes w = {.timeout = 40};
    int err = info_command_read_options(&w, argc, argv);
    if (err)
        return err;
    settings_get(); /* logs invalid settings first */
    if (w.version || argc == 1)
        info_version();
    /* the word before the command takes the place of argv[0] */
    if (w.settings && (err = info_settings(argc - optind + 1, argv + optind - 1)) != 0)
        return err;
    if (w.machine)
        info_machine(w.ranks);
    if (w.scale.ranks)
        info_scale(&w.scale);
    if (w.nvm && (err = info_nvm(w.nvm)) != 0)
        return err;
    if (w.check)
        check_all(&w);
    bool cleaned = !w.clean || leftovers_report(true);
    return check_code(w.is_strict) || !cleaned;
}

const struct command command_info = {.name = "info",
                                     .summary = "show build, settings and machine; diagnose this machine",
                                     .help = help,
                                     .run = info};
