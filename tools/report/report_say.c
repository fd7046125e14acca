/* report_say.c: formats numbers for people. The buffers are static and used in turn, so that one printf may have
 * several. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "report/report.h"

enum { TEXTS = 16, ROOM = 640 };

static char *next_text(void) {
    static char texts[TEXTS][ROOM];
    static unsigned turn;
    return texts[turn++ % TEXTS];
}

/* Cuts, if necessary, between two characters. */
static int fitting(const char *text, size_t most) {
    size_t length = strlen(text), n = 0, step;
    while ((step = utf8_length(text + n, length - n)) && n + step <= most)
        n += step;
    return (int)n;
}

const char *say_cut(const char *text, size_t most) {
    char *cut = next_text();
    snprintf(cut, ROOM, "%.*s", fitting(text, most < ROOM ? most : ROOM - 1), text);
    return cut;
}

/* Three digits, without trailing zeros. */
static void say_print_short(char *text, double value, const char *unit) {
    const char *format = value >= 99.95 ? "%.0f %s" : value >= 9.995 ? "%.1f %s" : "%.2f %s";
    int n = snprintf(text, ROOM, format, value, unit);
    char *blank = strchr(text, ' '), *end = blank, *point = strchr(text, '.');
    if (!point || !blank || point > blank || n >= ROOM)
        return;
    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    memmove(end, blank, strlen(blank) + 1);
}

static void say_print_bytes(char *text, uint64_t bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1023.5 && unit < 6; unit++)
        value /= 1024;
    say_print_short(text, value, units[unit]);
}

const char *say_bytes(uint64_t bytes) {
    char *text = next_text();
    say_print_bytes(text, bytes);
    return text;
}

const char *say_percent(double part) {
    char *text = next_text();
    double percent = 100 * part;
    snprintf(text, ROOM, percent && percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
    return text;
}

const char *say_seconds(double seconds) {
    char *text = next_text();
    if (seconds > 0 && seconds < 0.9995e-6)
        say_print_short(text, seconds * 1e9, "ns");
    else if (seconds < 1e-3)
        say_print_short(text, seconds * 1e6, "us");
    else if (seconds < 1)
        say_print_short(text, seconds * 1e3, "ms");
    else if (seconds < 600)
        say_print_short(text, seconds, "s");
    else if (seconds < 36000)
        snprintf(text, ROOM, "%.0f min", seconds / 60);
    else
        snprintf(text, ROOM, "%.0f h %02.0f min", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
    return text;
}

const char *say_count(uint64_t count) {
    char *text = next_text(), digits[24], *to = text;
    int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            to = stpcpy(to, "\xe2\x80\xaf"); /* narrow no-break space */
        *to++ = digits[i];
    }
    *to = 0;
    return text;
}

const char *say_plain(uint64_t count) {
    char *text = next_text();
    snprintf(text, ROOM, "%" PRIu64, count);
    return text;
}

/* "function (file.c:41)", or without debug information "function (program+0x1234)" */
const char *say_site(const struct site *s) {
    char *text = next_text();
    const char *slash = strrchr(s->file, '/'), *name = slash ? slash + 1 : s->file;
    if (*s->function && s->line)
        snprintf(text, ROOM, "%.*s (%.*s)", fitting(s->function, 300), s->function, fitting(s->line, 200),
                 s->line);
    else if (*s->function)
        snprintf(text, ROOM, "%.*s (%.*s+0x%" PRIx64 ")", fitting(s->function, 300), s->function,
                 fitting(name, 200), name, s->offset);
    else
        snprintf(text, ROOM, "%.*s+0x%" PRIx64, fitting(name, 500), name, s->offset);
    return text;
}

const char *say_size_class(unsigned i) {
    return say_bytes(i < 64 ? 1ull << i : UINT64_MAX);
}

/* Open MPI names windows itself, "rdma window 3". */
static bool is_default_name(const char *name) {
    const char *word = strstr(name, " window ");
    return word && strcspn(name, " ") == (size_t)(word - name) && word[8] &&
           strspn(word + 8, "0123456789") == strlen(word + 8);
}

const char *say_window(const struct window_sum *w) {
    char *text = next_text();
    if (!w)
        snprintf(text, ROOM, "(unknown)");
    else if (*w->name && !is_default_name(w->name))
        snprintf(text, ROOM, "'%.*s'", fitting(w->name, 500), w->name);
    else if (w->made.line)
        snprintf(text, ROOM, "number %" PRIu64 " (%.*s)", w->serial, fitting(w->made.line, 200),
                 w->made.line);
    else if (w->made.file && *w->made.function)
        snprintf(text, ROOM, "number %" PRIu64 " (%.*s)", w->serial, fitting(w->made.function, 300),
                 w->made.function);
    else
        snprintf(text, ROOM, "number %" PRIu64, w->serial);
    return text;
}

const char *say_site_window(const struct run *run, const struct site *s) {
    return s->window ? say_window(run_window(run, s->window)) : "(several)";
}

const char *say_time(uint64_t seconds) {
    char *text = next_text();
    time_t when = (time_t)seconds;
    struct tm parts;
    if (!seconds || !localtime_r(&when, &parts) || !strftime(text, ROOM, "%Y-%m-%d %H:%M:%S", &parts))
        snprintf(text, ROOM, "(unknown)");
    return text;
}

const char *say_event(const struct event *e) {
    char *text = next_text(), from[ROOM], to[ROOM];
    say_print_bytes(from, e->from);
    say_print_bytes(to, e->to);
    if (!strcmp(e->what, "storage"))
        snprintf(text, ROOM, "storage %s, from %.30s to %.30s", e->to > e->from ? "grown" : "shrunk", from,
                 to);
    else if (!strcmp(e->what, "index"))
        snprintf(text, ROOM, "index %s, from %" PRIu64 " to %" PRIu64 " slots",
                 e->to > e->from ? "grown" : "shrunk", e->from, e->to);
    else if (!strcmp(e->what, "suspended"))
        snprintf(text, ROOM, "suspended: it took more time than it saved");
    else
        snprintf(text, ROOM, "%.*s", fitting(e->what, 200), e->what);
    return text;
}
