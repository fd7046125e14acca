/* launcher_line.c: finds the programs in a launcher's command line.
 *
 *      mpirun --mca btl tcp,self -n 2 ./a x y : -n 1 ./b z
 *             ------- options ------- ~~~~~~~   ---- ~~~~~
 *
 * The program is the first word that is neither an option nor the value of one, so we must know which options take
 * values (launcher_options.c). After an option that is not listed, a word that is not an executable file is taken for its value. If the next word is not a program
 * either, the first one is taken for the program, and the caller reports that it does not exist. */
#include "run/launcher/launcher.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "run/launcher/launcher_options.h"
#include "tools.h"

struct reader {
    enum launcher_kind kind;
    char *const *words;
    size_t count;
    struct launcher_line line;
    const char *folder, *path; /* of the current part */
    bool is_multi_prog;
    bool is_unknown; /* the option before this word is in no table */
};

/* ---- one option ---- */

static bool is_named(const char *name, size_t length, const char *wanted) {
    return strlen(wanted) == length && !strncmp(name, wanted, length);
}

static void note_preload(struct reader *r, const char *list, size_t length) {
    free(r->line.preload);
    r->line.preload = need_text("%.*s", (int)length, list);
}

static void note_setting(struct reader *r, const char *assignment) {
    if (assignment && !strncmp(assignment, "LD_PRELOAD=", 11))
        note_preload(r, assignment + 11, strlen(assignment + 11));
}

/* Records options of mpirun or mpiexec that matter to us. */
static void line_note(struct reader *r, const char *name, size_t length, const char *value,
                      const char *second) {
    if (is_named(name, length, "wdir") || is_named(name, length, "wd") || is_named(name, length, "gwdir") ||
        is_named(name, length, "cwd") || is_named(name, length, "chdir") ||
        (r->kind == LAUNCHER_JSRUN && is_named(name, length, "h")))
        r->folder = value;
    else if (is_named(name, length, "path") || is_named(name, length, "gpath"))
        r->path = value;
    else if (is_named(name, length, "app") || is_named(name, length, "configfile"))
        r->line.program_file = value;
    else if (is_named(name, length,
                      r->kind == LAUNCHER_APRUN   ? "e"
                      : r->kind == LAUNCHER_JSRUN ? "E"
                      : r->kind == LAUNCHER_FLUX  ? "env"
                                                  : "x"))
        note_setting(r, value);
    else if (second && value && (is_named(name, length, "genv") || is_named(name, length, "env")) &&
             !strcmp(value, "LD_PRELOAD"))
        note_preload(r, second, strlen(second));
}

/* The number of words that an option of mpirun or mpiexec takes, including itself. */
static size_t take_dashed(struct reader *r, size_t at) {
    const char *name = r->words[at] + strspn(r->words[at], "-");
    size_t length = strcspn(name, "=");
    size_t values = launcher_option_takes(r->kind, name, length, 1)   ? 1
                    : launcher_option_takes(r->kind, name, length, 2) ? 2
                                                                      : 0;
    bool is_listed = values || launcher_option_takes(r->kind, name, length, 0);
    if (!is_listed && launcher_option_is_joined(r->kind, r->words[at])) {
        line_note(r, name, 1, name + 1, NULL);
        return 1;
    }
    r->is_unknown = !is_listed && name[length] != '=';
    if (name[length] == '=') {
        line_note(r, name, length, name + length + 1, NULL);
        return 1;
    }
    const char *value = values > 0 && at + 1 < r->count ? r->words[at + 1] : NULL;
    const char *second = values > 1 && at + 2 < r->count ? r->words[at + 2] : NULL;
    if (values)
        line_note(r, name, length, value, second);
    return 1 + values;
}

/* --export=ALL,LD_PRELOAD=x,... */
static void note_export(struct reader *r, const char *list) {
    const char *at = strstr(list, "LD_PRELOAD=");
    if (!at || (at != list && at[-1] != ','))
        return;
    note_preload(r, at + 11, strcspn(at + 11, ","));
}

static void note_srun(struct reader *r, const char *name, size_t length, const char *value,
                      size_t value_word) {
    if (is_named(name, length, "multi-prog"))
        r->is_multi_prog = true;
    else if (is_named(name, length, "bcast"))
        r->line.is_copied = true;
    else if (value && (is_named(name, length, "chdir") || is_named(name, length, "D")))
        r->folder = value;
    else if (value && is_named(name, length, "export")) {
        note_export(r, value);
        r->line.export_word = value_word;
    }
}

static size_t take_srun(struct reader *r, size_t at) {
    const char *word = r->words[at], *next = at + 1 < r->count ? r->words[at + 1] : NULL;
    if (!strncmp(word, "--", 2)) {
        const char *name = word + 2;
        size_t length = strcspn(name, "=");
        bool has_value = name[length] == '=',
             wants = !has_value && launcher_option_takes(LAUNCHER_SRUN, name, length, 1);
        note_srun(r, name, length, has_value ? name + length + 1 : wants ? next : NULL, at + wants);
        return 1 + (size_t)wants;
    }
    for (const char *letter = word + 1; *letter; letter++)
        if (launcher_option_is_srun_letter(*letter)) { /* -n4, or -n 4 */
            bool wants = !letter[1];
            note_srun(r, letter, 1, wants ? next : letter + 1, at + wants);
            return 1 + (size_t)wants;
        }
    return 1;
}

/* ---- one part ---- */

static void add_part(struct reader *r, size_t program) {
    size_t end = program;
    while (end < r->count && strcmp(r->words[end], ":") != 0)
        end++;
    struct launcher_part *more = need((r->line.count + 1) * sizeof *more);
    if (r->line.count)
        memcpy(more, r->line.parts, r->line.count * sizeof *more);
    free(r->line.parts);
    r->line.parts = more;
    more[r->line.count++] =
        (struct launcher_part){.program = program, .end = end, .folder = r->folder, .path = r->path};
}

static bool is_colon(const struct reader *r, size_t at) {
    return !strcmp(r->words[at], ":");
}

static bool is_there(const struct reader *r, size_t at) {
    char path[PATH_MAX];
    bool by_shell;
    return launcher_resolve(r->words[at], r->folder, r->path, path, &by_shell);
}

/* Skips the options, to the program, a colon or the end. */
static size_t skip_options(struct reader *r, size_t at) {
    size_t doubtful = 0;
    while (at < r->count && !is_colon(r, at)) {
        const char *word = r->words[at];
        if (!strcmp(word, "--")) {
            at++;
            break;
        }
        if (word[0] == '-' && word[1]) {
            r->is_unknown = false;
            at += r->kind == LAUNCHER_SRUN ? take_srun(r, at) : take_dashed(r, at);
            continue;
        }
        if (!r->is_unknown || is_there(r, at))
            break;
        r->is_unknown = false;
        doubtful = at++;
    }
    if (doubtful && (at >= r->count || is_colon(r, at) || !is_there(r, at)))
        return doubtful;
    return at;
}

/* Reads from the options of a part to the colon after its program, or the end. */
static size_t line_read_part(struct reader *r, size_t at) {
    r->is_unknown = false;
    at = skip_options(r, at);
    if (at >= r->count || is_colon(r, at))
        return at;
    if (r->is_multi_prog) {
        r->line.program_file = r->words[at];
        return r->count;
    }
    add_part(r, at);
    return r->line.parts[r->line.count - 1].end;
}

struct launcher_line launcher_read(enum launcher_kind kind, char *const *words, size_t first, size_t count) {
    struct reader r = {.kind = kind, .words = words, .count = count};
    for (size_t at = first + 1; at < count && !r.line.program_file; at++) {
        if (kind != LAUNCHER_HYDRA) /* Hydra's apply to the following parts too */
            r.folder = r.path = NULL;
        at = line_read_part(&r, at);
    }
    return r.line;
}

void launcher_free(struct launcher_line *line) {
    free(line->parts);
    free(line->preload);
    *line = (struct launcher_line){0};
}
