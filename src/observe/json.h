/* json.h: writes JSON. Handles commas, nesting and escapes. Names may be NULL inside arrays. */
#ifndef HEARTH_JSON_H
#define HEARTH_JSON_H

#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *file;
    int depth;
    int fresh; /* nothing written at this depth yet */
};

void json_begin(struct json *j, FILE *file);
void json_open(struct json *j, const char *name, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);                  /* '}' or ']' */
void json_string(struct json *j, const char *name, const char *value);
void json_count(struct json *j, const char *name, uint64_t value);
void json_number(struct json *j, const char *name, double value);
void json_counts(struct json *j, const char *name, const uint64_t *values, size_t count); /* on one line */

/* A value that was written elsewhere; white space around it is dropped. */
void json_text(struct json *j, const char *name, const char *text);
/* Inserts a value that was written elsewhere, by a fresh struct json of the same depth. */
void json_paste(struct json *j, const char *text, size_t length);

#endif
