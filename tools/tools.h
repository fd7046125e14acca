/* tools.h: the command `hearth`, and functions shared by its subcommands.
 *
 * A subcommand is a line in commands.def and a file NAME/NAME.c, which defines `command_NAME`. */
#ifndef HEARTH_TOOLS_H
#define HEARTH_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

/* Exit code for a user's mistake, after one error that names the remedy. 0: success, 1: failure. */
enum { BAD_INPUT = 2 };

struct command {
    const char *name;
    const char *summary;               /* one line, for the list of commands */
    const char *help;                  /* printed by `hearth help NAME` and `hearth NAME --help` */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit code */
};

#define COMMAND(name) extern const struct command command_##name;
#include "commands.def"
#undef COMMAND

/* Logs one error and returns BAD_INPUT. */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* After getopt_long has returned '?' or ':' (with opterr 0): logs which option it was. */
int refuse_option(const struct command *command, int result, char **argv);

/* These tools are short-lived: if memory runs out, they log an error and exit. */
void *need(size_t bytes);
char *need_copy(const char *text);
char *need_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What to do about a file that could not be written, by errno: the end of a message. */
const char *remedy_of_write(int reason);

/* Whether these names are of one plain file. */
bool is_same_file(const char *a, const char *b);

/* The parent of a process; 0: unknown. */
int process_parent(int pid);

#endif
