/* info.h: what `hearth info` prints, in parts. */
#ifndef HEARTH_TOOLS_INFO_H
#define HEARTH_TOOLS_INFO_H

#include <stdbool.h>

#include "flavour.h"

void info_version(void);
void info_settings(void);
void info_machine(unsigned ranks); /* so many on this node; 0: as many as it has cores */

/* Of the file of a named segment. 0, or after a line the code of bad input; damage is a finding. */
int info_nvm(const char *path);

/* How a finding is marked. */
enum grade { GRADE_OK, GRADE_NOTE, GRADE_BAD };

/* One finding: what was looked at, what was found and what it means. `advice` says what to do, NULL:
 * nothing. */
void check_say(enum grade grade, const char *what, const char *advice, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* 1 if something was bad so far, else 0. */
int check_code(void);

void check_system(void);
void check_mpi(enum flavour flavour); /* FLAVOUR_NONE: each that there is */

/* Shared memory that dead jobs of this user left: lists it, or removes it. False: some could not be
 * removed. */
bool leftovers_report(bool is_to_be_removed);

#endif
