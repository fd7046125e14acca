/* json.c: a value a line, indented by depth. Numbers that JSON cannot hold (infinite, not a number) become
 * null. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

static void put_escaped(FILE *file, const char *text) {
    putc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else
            putc(*c, file);
    }
    putc('"', file);
}

static void begin_value(struct json *j, const char *name) {
    fputs(j->fresh ? "" : ",", j->file);
    if (j->depth)
        fprintf(j->file, "\n%*s", 2 * j->depth, "");
    j->fresh = 0;
    if (name) {
        put_escaped(j->file, name);
        fputs(": ", j->file);
    }
}

void json_begin(struct json *j, FILE *file) {
    *j = (struct json){.file = file, .fresh = 1};
}

void json_open(struct json *j, const char *name, char bracket) {
    begin_value(j, name);
    putc(bracket, j->file);
    j->depth++;
    j->fresh = 1;
}

void json_close(struct json *j, char bracket) {
    j->depth--;
    if (!j->fresh)
        fprintf(j->file, "\n%*s", 2 * j->depth, "");
    putc(bracket, j->file);
    j->fresh = 0;
    if (!j->depth)
        putc('\n', j->file);
}

void json_string(struct json *j, const char *name, const char *value) {
    begin_value(j, name);
    put_escaped(j->file, value);
}

void json_count(struct json *j, const char *name, uint64_t value) {
    begin_value(j, name);
    fprintf(j->file, "%" PRIu64, value);
}

void json_number(struct json *j, const char *name, double value) {
    begin_value(j, name);
    if (isfinite(value))
        fprintf(j->file, "%.6g", value);
    else
        fputs("null", j->file);
}
