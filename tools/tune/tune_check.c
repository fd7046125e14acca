/* tune_check.c: compares the output of runs, and reads the summary of checked hits. */
#include "tune/tune_check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools.h"

/* The content, terminated by 0; NULL: it cannot be read. */
static char *check_load(const char *path, size_t *length) {
    size_t room = 65536;
    ssize_t n;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    char *text = need(room);
    *length = 0;
    while ((n = read(file, text + *length, room - *length - 1)) > 0) {
        *length += (size_t)n;
        if (room - *length > 1)
            continue;
        char *more = need(2 * room);
        memcpy(more, text, *length);
        free(text);
        text = more;
        room *= 2;
    }
    close(file);
    text[*length] = 0;
    return text;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool tune_lines_read(const char *path, struct tune_lines *lines) {
    size_t length, most = 1;
    *lines = (struct tune_lines){.text = check_load(path, &length)};
    if (!lines->text)
        return false;
    for (size_t i = 0; i < length; i++) {
        most += lines->text[i] == '\n';
        if (!lines->text[i])
            lines->text[i] = ' '; /* binary output: all of it is compared */
    }
    lines->line = need(most * sizeof *lines->line);
    for (char *at = lines->text, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        lines->line[lines->count++] = at;
        if (*end)
            *end++ = 0;
    }
    qsort(lines->line, lines->count, sizeof *lines->line, by_text);
    return true;
}

bool tune_lines_equal(const struct tune_lines *a, const struct tune_lines *b) {
    bool equal = a->count == b->count;
    for (size_t i = 0; i < a->count && equal; i++)
        equal = !strcmp(a->line[i], b->line[i]);
    return equal;
}

void tune_lines_free(struct tune_lines *lines) {
    free(lines->text);
    free(lines->line);
    *lines = (struct tune_lines){0};
}

/* One line per rank: see rma_check_summary. */
struct tune_stale tune_stale_read(const char *path) {
    static const char mark[] = "HEARTH_CHECK: ";
    struct tune_stale sum = {0};
    size_t length;
    char *text = check_load(path, &length);
    for (char *at = text; at && (at = strstr(at, mark));) {
        uint64_t stale = 0, checked = 0;
        at += sizeof mark - 1;
        if (sscanf(at, "none of %" SCNu64 " hits was stale", &checked) == 1 ||
            sscanf(at, "%" SCNu64 " of %" SCNu64 " hits were stale", &stale, &checked) == 2)
            sum.ranks++;
        sum.checked += checked;
        sum.stale += stale;
    }
    free(text);
    return sum;
}

char *tune_last_line(const char *path) {
    size_t length;
    char *text = check_load(path, &length);
    while (text && length &&
           strchr("\n\r -", text[length - 1])) /* launchers frame their messages with dashes */
        text[--length] = 0;
    char *start = text ? strrchr(text, '\n') : NULL;
    char *line = need_text("%.200s", start ? start + 1 : text ? text : "");
    free(text);
    return line;
}
