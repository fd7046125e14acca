/* output.h: where a report goes: HEARTH_REPORT. */
#ifndef HEARTH_OUTPUT_H
#define HEARTH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    bool is_json;
    char path[4096]; /* empty: stderr */
};

/* Whether a report is wanted at all; whether every rank writes its own (the name holds %r or %p). */
bool output_is_wanted(void);
bool output_is_apart(void);
/* Whether it will be JSON: the name ends in .json. */
bool output_is_json(void);

/* Opens it: stderr, or a new file for its owner alone; links are not followed. `part`, unless NULL, is put into the
 * name before its ending, so that several reports of a process do not overwrite each other. False after a line: it cannot be
 * written. */
bool output_open(struct output *o, int rank, const char *part);

/* Says so if it could not be written whole. */
void output_close(struct output *o);

#endif
