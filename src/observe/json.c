/* json.c: writes JSON, one value per line, indented by depth. Numbers that JSON cannot represent (infinite, not a
 * number) become null. */
#include "observe/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

/* Names come from programs, which may truncate them in the middle of a character: invalid UTF-8 becomes U+FFFD. */
static void put_escaped(FILE *file, const char *text) {
    size_t left = strlen(text), n;
    putc('"', file);
    for (; left; text += n, left -= n) {
        size_t valid = utf8_length(text, left);
        n = valid ? valid : 1;
        if (!valid)
            fputs("\xef\xbf\xbd", file);
        else if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if (n == 1 && (unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned char)*text);
        else
            fwrite(text, 1, n, file);
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

void json_counts(struct json *j, const char *name, const uint64_t *values, size_t count) {
    begin_value(j, name);
    putc('[', j->file);
    for (size_t i = 0; i < count; i++)
        fprintf(j->file, "%s%" PRIu64, i ? ", " : "", values[i]);
    putc(']', j->file);
}

void json_paste(struct json *j, const char *text, size_t length) {
    fputs(j->fresh ? "" : ",", j->file);
    fwrite(text, 1, length, j->file);
    j->fresh = 0;
}

void json_text(struct json *j, const char *name, const char *text) {
    size_t length;
    text += strspn(text, " \t\r\n");
    for (length = strlen(text); length && strchr(" \t\r\n", text[length - 1]);)
        length--;
    begin_value(j, name);
    fwrite(text, 1, length, j->file);
}

void json_number(struct json *j, const char *name, double value) {
    char text[32] = "null";
    begin_value(j, name);
    if (isfinite(value))
        number_print(value, 6, text, sizeof text);
    fputs(text, j->file);
}
