/* tune_check.h: whether a run did what the first run without Hearth did. */
#ifndef HEARTH_TOOLS_TUNE_CHECK_H
#define HEARTH_TOOLS_TUNE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lines of a text in sorted order: ranks print in any order. */
struct tune_lines {
    char *text;
    char **line;
    size_t count;
};

/* False: the file cannot be read. */
bool tune_lines_read(const char *path, struct tune_lines *lines);
bool tune_lines_equal(const struct tune_lines *a, const struct tune_lines *b);
void tune_lines_free(struct tune_lines *lines);

/* What the messages of HEARTH_CHECK say, in the stderr of a run. */
struct tune_stale {
    uint64_t checked, stale;
    size_t ranks; /* that reported */
};
struct tune_stale tune_stale_read(const char *path);

/* The last line of a file that is not empty, for an error message; to be freed. */
char *tune_last_line(const char *path);

#endif
