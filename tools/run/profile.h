/* profile.h: files with the settings of a program, which `hearth tune` writes and `hearth run` applies.
 *
 *      # comment
 *      HEARTH_MODE=acquire */
#ifndef HEARTH_TOOLS_PROFILE_H
#define HEARTH_TOOLS_PROFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/settings.h"
#include "run/identity.h"
#include "run/strvec.h"

struct profile {
    char path[PATH_MAX];    /* empty: there is none */
    struct strvec settings; /* NAME=value */
};

/* The file of this program in the user's configuration; false if the user has none (no HOME). */
bool profile_path(const struct identity *id, char path[PATH_MAX]);

/* Reads a file that the user named: any readable file may be one. Returns 0, or -1 with the reason in `why`. */
int profile_read_named(const char *path, struct profile *p, char *why, size_t room);

/* Reads a file of the user's configuration, which nobody asked for. So it must be a plain file, and other users must not be
 * able to replace or change it. Returns 0, also if there is none (then p->path is empty), or -1 with the reason. */
int profile_read_own(const char *path, struct profile *p, char *why, size_t room);

/* Replaces the file at once: readers see the old one or the new one. Makes the folders above it if they are missing.
 * `head`: lines that begin with #. Returns 0, or -1 with the reason. */
int profile_write(const char *path, const char *head, const struct strvec *settings, char *why, size_t room);

void profile_free(struct profile *p);

/* The value that a list of NAME=value has for this setting; the last one counts. NULL: none. */
struct setting;
const char *profile_value(const struct strvec *settings, const struct setting *s);

/* The value that the environment has for it; NULL: none. An empty one counts as none. */
const char *profile_environment(const struct setting *s);

#endif
