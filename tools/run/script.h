/* script.h: `hearth run script.sh`: a shell script that calls launchers. */
#ifndef HEARTH_TOOLS_SCRIPT_H
#define HEARTH_TOOLS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "run/run_options.h"

/* Whether the file has the name of a shell. */
bool script_is_shell(const char *path);

/* Whether the command is a shell script, or a shell with one, that no launcher has started. */
bool script_is_command(char *const *words, size_t count);

/* Runs it, with a folder first in the PATH in which the launchers are links to this command. Returns the exit code only after an
 * error line. */
int script_run(const struct run_options *options, char **words);

/* Whether this command was called through such a link. */
bool script_is_link(const char *word);

/* Runs the launcher of that name with Hearth, or without, if hearth run refuses its arguments. */
int script_run_launcher(int argc, char **argv);

#endif
