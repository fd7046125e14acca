/* hearth.c: `hearth COMMAND ...`: finds the subcommand and runs it. The program is not linked to any MPI, so that it
 * runs where none is set up, and one executable serves all MPIs. */
#include "tools.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "observe/output.h"
#include "run/script.h"

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const struct command *command_find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int refuse_command(const char *name) {
    char list[256] = "";
    for (size_t i = 0, n = 0; i < COMMANDS && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", commands[i]->name);
    return refuse("unknown command %s: the commands are %s; see hearth --help", name, list);
}

static int print_help(void) {
    puts("usage: hearth COMMAND [OPTION]...\n\n"
         "Hearth is a runtime for MPI, Global Arrays and PGAS programs: it caches remote data in local\n"
         "memory, and serves remote requests while ranks compute. It has four libraries:\n\n"
         "  libhearth-mpi   caches one-sided gets of MPI, and matches messages; preloaded by hearth run\n"
         "  libhearth-match the match queues alone, for other libraries\n"
         "  libarmci        ARMCI, for Global Arrays: linked in place of ARMCI-MPI\n"
         "  libvgasnet      GASNet-1 and GASNet-EX with segments on node-local NVM\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  hearth %-8s %s\n", commands[i]->name, commands[i]->summary);
    puts("\n  hearth help COMMAND   help for one command (also: hearth COMMAND --help)\n"
         "  hearth --version      the version");
    return 0;
}

static int print_help_on(const char *name) {
    const struct command *command = command_find(name);
    if (!command)
        return refuse_command(name);
    fputs(command->help, stdout);
    return 0;
}

/* Detects output that could not be written, for example to a full disk. */
static int flushed(int code) {
    int fault = output_fault(stdout);
    if (!fault)
        return code;
    log_error("cannot write all of the output: %s", strerror(fault));
    return code ? code : 1;
}

static bool is_one_of(const char *word, const char *a, const char *b) {
    return !strcmp(word, a) || !strcmp(word, b);
}

static int dispatch(int argc, char **argv) {
    const struct command *command = command_find(argv[0]);
    if (!command)
        return argv[0][0] == '-' ? refuse("unknown option %s: see hearth --help", argv[0])
                                 : refuse_command(argv[0]);
    if (argc > 1 && is_one_of(argv[1], "--help", "-h"))
        return print_help_on(argv[0]);
    opterr = 0; /* we print our own messages */
    return command->run(argc, argv);
}

int main(int argc, char **argv) {
    if (script_is_link(argv[0]))
        return script_run_launcher(argc, argv);
    if (argc < 2)
        return refuse("no command is given: see hearth --help");
    if (is_one_of(argv[1], "--version", "-V")) {
        puts("hearth " HEARTH_VERSION);
        return flushed(0);
    }
    bool is_help = is_one_of(argv[1], "--help", "-h") || !strcmp(argv[1], "help");
    if (is_help)
        return flushed(argc > 2 ? print_help_on(argv[2]) : print_help());
    return flushed(dispatch(argc - 1, argv + 1));
}
