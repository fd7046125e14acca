/* info.h: the parts of the output of `hearth info`. */
#ifndef HEARTH_TOOLS_INFO_H
#define HEARTH_TOOLS_INFO_H

#include <stdbool.h>

#include "run/launcher/flavour.h"

void info_version(void);
int info_settings(int argc, char **argv); /* argv[1] on: a command, if there is one; returns the exit code */
void info_machine(unsigned ranks);        /* number of ranks on this node; 0: as many as it has cores */

/* A job, for --scale. */
struct info_scale {
    unsigned long ranks;    /* 0: not wanted */
    unsigned long per_node; /* 0: as many as this node has cores */
};
int info_scale_parse(const char *text,
                     struct info_scale *s); /* returns 0, or BAD_INPUT after logging an error */
void info_scale(const struct info_scale *s);

/* Verifies the file of a named segment. Returns 0, or BAD_INPUT after logging an error; damage is a finding. */
int info_nvm(const char *path);

/* The grade of a finding. GRADE_WARN: a fault that programs meet without Hearth, too. */
enum grade { GRADE_OK, GRADE_NOTE, GRADE_WARN, GRADE_BAD };

/* Prints one finding: the object, the result and its meaning. `advice` is the remedy; NULL: none needed. */
void check_say(enum grade grade, const char *what, const char *advice, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* 1 if any finding so far is bad, else 0. is_strict: a warning is bad. */
int check_code(bool is_strict);

void check_system(void);
/* FLAVOUR_NONE: all that are installed. `seconds`: the time limit of each job. */
void check_mpi(enum flavour flavour, double seconds);

/* Shared memory that dead jobs of this user left: lists it, or removes it. False: some could not be removed. */
bool leftovers_report(bool is_to_be_removed);

#endif
