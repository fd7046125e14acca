/* run.h: parts of `hearth run` that other subcommands use. */
#ifndef HEARTH_TOOLS_RUN_H
#define HEARTH_TOOLS_RUN_H

#include "run/profile.h"
#include "run/run_options.h"

/* A command, as far as it is known before it is started. */
struct run_facts {
    bool is_identified; /* `identity` is set */
    struct identity identity;
    enum flavour flavour;
    struct profile profile; /* that would be applied; the caller frees it */
};

/* Examines a command, argv[0] being its first word, and starts nothing. Returns 0, or the exit code after an error line. */
int run_examine(const struct run_options *o, int argc, char **argv, struct run_facts *facts);

/* Starts the command in place of this process. Returns only if that fails: the exit code, after an error line. */
int run_command(const struct run_options *o, int argc, char **argv);

#endif
