/* output.h: the destination of a report: HEARTH_REPORT. */
#ifndef HEARTH_OUTPUT_H
#define HEARTH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    char path[4096];
    char draft[4128]; /* name until it is complete; empty: written in place */
};

/* Whether a report is requested at all; whether every rank writes its own (the name contains %r or %p). */
bool output_is_wanted(void);
bool output_is_apart(void);

/* A code for both, less than 16; 0: no report. It decides which collective calls the ranks make for the report, so it must be the
 * same on all of them. If it is not, none of them may write one: output_disable, and one of them calls output_differs, which says so. */
int output_kind(void);
void output_disable(void);
void output_differs(void);

/* The file, with its name expanded and an absolute path; false: none is wanted. */
bool output_path(int rank, char *path, size_t room);

/* Opens a new file, with permissions by the umask; links are not followed. `part`, unless NULL, is inserted
 * into the name before its extension, so that several reports of a process do not overwrite each other. Returns false
 * after an error line if it cannot be written. */
bool output_open(struct output *o, int rank, const char *part);

/* Logs an error if the report could not be written completely. */
void output_close(struct output *o);

/* Flushes a stream. Returns 0 if all of its output was written, or else an errno that says why not. */
int output_fault(FILE *file);
/* Closes a file. If all of its output was written, it renames `draft`, unless that is NULL, to `path`. Returns as output_fault does. */
int output_complete(FILE *file, const char *draft, const char *path);

/* Closes a stream of open_memstream. Returns its text, which the caller frees; NULL if it is not whole. */
char *output_text(FILE *file, char **text);

#endif
