/* inside.h: declarations shared by the files of apps/common. */
#ifndef HEARTH_APPS_COMMON_INSIDE_H
#define HEARTH_APPS_COMMON_INSIDE_H

#include "common/common.h"

void app_set_name(const char *name);
const char *app_own_name(void);

/* help.c: the caller frees the result; NULL: out of memory. `defaults` is the program's struct of options
 * before parsing. */
char *app_help(const struct app *app, const void *defaults);

/* options.c: --progress, --quiet, --json and --help; their offsets are in struct app_manner. */
extern const struct app_option app_manner_options[];

#endif
