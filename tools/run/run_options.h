/* run_options.h: the options of `hearth run`. */
#ifndef HEARTH_RUN_OPTIONS_H
#define HEARTH_RUN_OPTIONS_H

#include <stdbool.h>

#include "run/launcher/flavour.h"
#include "run/strvec.h"

struct run_options {
    struct strvec settings; /* NAME=value */
    enum flavour wanted;    /* --mpi */
    bool is_verbose, is_dry;
    bool is_bare;        /* for HEARTH=off and hearth tune: the command as it is, without Hearth */
    bool no_profile;     /* --no-profile */
    const char *profile; /* --profile; NULL: that of the program, if there is one */
};

/* Reads the options; the command follows at `optind`. Returns 0, or the exit code after an error line. */
int run_options_read(struct run_options *o, int argc, char **argv);

/* The file of --report, with its whole path; NULL: there is none, or each rank makes the name of its own. */
const char *run_options_report(const struct run_options *o);

#endif
