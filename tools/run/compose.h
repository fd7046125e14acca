/* compose.h: the command line that starts the ranks, and only them, with the preload and the settings. */
#ifndef HEARTH_TOOLS_COMPOSE_H
#define HEARTH_TOOLS_COMPOSE_H

#include "run/launcher/launcher.h"
#include "run/program.h"
#include "run/strvec.h"

struct composition {
    const struct strvec *command; /* as the user wrote it */
    enum launcher_kind kind;
    size_t first; /* index of the launcher */
    const struct launcher_line *line;
    const struct program *programs; /* one for each part */
    const char *library;            /* to preload */
    const struct strvec *settings;  /* HEARTH_X=value */
};

/* Returns 0, or BAD_INPUT after logging an error. */
int compose(const struct composition *c, struct strvec *out);

/* The list without our own library; to be freed. */
char *compose_without_hearth(const char *preload);

#endif
