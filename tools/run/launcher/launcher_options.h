/* launcher_options.h: the options of the launchers, as far as they matter for finding the program after them. */
#ifndef HEARTH_TOOLS_LAUNCHER_OPTIONS_H
#define HEARTH_TOOLS_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "run/launcher/launcher.h"

/* Whether an option of this name, without dashes, takes so many values: 0, 1 or 2. False if it is not listed. */
bool launcher_option_takes(enum launcher_kind kind, const char *name, size_t length, int values);

/* Whether -n4 means -n 4: the first letter is an option that takes a value. */
bool launcher_option_is_joined(enum launcher_kind kind, const char *word);

/* Of srun's options that are single letters: whether this one takes a value. */
bool launcher_option_is_srun_letter(char letter);

#endif
