/* tools.h: the command `hearth` and what its subcommands share.
 *
 * A subcommand is a line in commands.def and a file of that name, which defines `command_NAME`. */
#ifndef HEARTH_TOOLS_H
#define HEARTH_TOOLS_H

#include <stddef.h>

/* For a user's mistake, after one line that says what to do. 0: all is well, 1: it is not. */
enum { BAD_INPUT = 2 };

struct command {
    const char *name;
    const char *summary;               /* one line, for the list of all */
    const char *help;                  /* all of it; `hearth help NAME` and `hearth NAME --help` print it */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit code */
};

#define COMMAND(name) extern const struct command command_##name;
#include "commands.def"
#undef COMMAND

/* Prints one line and returns BAD_INPUT. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* After getopt_long has returned '?' or ':' (opterr is 0): says which option it was. */
int refuse_option(const struct command *command, int result, char **argv);

/* These tools are short-lived: without memory they end with a line. */
void *need(size_t bytes);
char *need_copy(const char *text);
char *need_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
