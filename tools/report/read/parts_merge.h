/* parts_merge.h: merges the reports of single ranks. */
#ifndef HEARTH_TOOLS_PARTS_MERGE_H
#define HEARTH_TOOLS_PARTS_MERGE_H

#include <stddef.h>

struct part {
    int rank;
    char *text; /* a JSON object, as observe/json.h writes it */
    size_t length;
};

/* One report of at least one part, to be freed; NULL without memory. Lists are joined in the order of the parts, other members are
 * those of the first. `why`: its member "partial", plain text without quotes; empty: that of the first part. The result is JSON if
 * the parts are. */
char *parts_merge(const struct part *parts, size_t count, const char *why, size_t *length);

#endif
