/* compose.c: builds the command line that preloads the library into the ranks and not into the launcher.
 *
 *      mpirun -n 1 ./a x : -n 2 ./b
 *      mpirun -n 1 /usr/bin/env LD_PRELOAD=... HEARTH_MODE=... ./a x : -n 2 /usr/bin/env LD_PRELOAD=... ./b
 *
 * `env` in front of each program was chosen over the launchers' own options because it works in the same way for all
 * of them, for each part of a line with colons, and on other hosts, to which Open MPI passes only the variables that
 * its options name. It execs the program, so that the process, standard streams, signals and exit code are the
 * program's, and it is not preloaded itself. Variables that the launcher sets for the ranks are kept: if the user
 * gave them an LD_PRELOAD, in any way, ours comes after it, so that a tool or a sanitizer stays first.
 *
 * If the program is `env` itself, which may clear the environment or set LD_PRELOAD, our assignments go into that
 * one, after its own.
 *
 * aprun and jsrun may copy the first word to the nodes, and flux checks it there: for them the settings are options of the
 * launcher in front of each program, -e, -E and --env.
 *
 * Only srun has cases where no word can precede the program: --multi-prog takes the programs from a file, --bcast
 * copies the first word to the nodes. There --export is used, which cannot pass a value that contains a comma. */
#include "run/compose.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools.h"

static const char library_name[] = "libhearth-mpi.so";

/* Under its name, or with the number of its interface behind it. */
static bool is_hearth(const char *path, size_t length) {
    const char *name = memrchr(path, '/', length);
    name = name ? name + 1 : path;
    size_t n = sizeof library_name - 1, rest = length - (size_t)(name - path);
    return rest >= n && !strncmp(name, library_name, n) && (rest == n || name[n] == '.');
}

char *compose_without_hearth(const char *preload) {
    char *rest = need(strlen(preload) + 1), *to = rest;
    while (*(preload += strspn(preload, ": "))) {
        size_t length = strcspn(preload, ": ");
        if (!is_hearth(preload, length)) {
            if (to != rest)
                *to++ = ':';
            to = mempcpy(to, preload, length);
        }
        preload += length;
    }
    *to = 0;
    return rest;
}

/* LD_PRELOAD=others:ours */
static char *preload_word(const char *others, const char *library) {
    char *rest = compose_without_hearth(others ? others : "");
    char *word = need_text("LD_PRELOAD=%s%s%s", rest, *rest ? ":" : "", library);
    free(rest);
    return word;
}

static void add_settings(const struct composition *c, const char *others, struct strvec *out) {
    char *word = preload_word(others, c->library);
    strvec_add(out, word);
    free(word);
    for (size_t i = 0; i < c->settings->count; i++)
        strvec_add(out, c->settings->of[i]);
}

/* The LD_PRELOAD that the ranks would get without us. */
static const char *others_of(const struct composition *c) {
    return c->line->preload ? c->line->preload : getenv("LD_PRELOAD");
}

/* ---- a program that is env ---- */

static bool is_env(const char *word) {
    const char *slash = strrchr(word, '/');
    return !strcmp(slash ? slash + 1 : word, "env");
}

/* The index of the program after the options and assignments of an env; 0: unknown (-S, or an unknown option). */
static size_t behind_env(char *const *words, size_t at, size_t end, const char **others) {
    for (at++; at < end; at++) {
        const char *word = words[at];
        if (!strncmp(word, "LD_PRELOAD=", 11))
            *others = word + 11;
        if (!strcmp(word, "-u") || !strcmp(word, "-C") || !strcmp(word, "--unset") ||
            !strcmp(word, "--chdir")) {
            if (++at < end && !strcmp(words[at], "LD_PRELOAD"))
                *others = NULL;
            continue;
        }
        bool is_empty = !strcmp(word, "-i") || !strcmp(word, "-") || !strcmp(word, "--ignore-environment");
        if (is_empty)
            *others = NULL;
        else if (*word == '-' && strcmp(word, "--") != 0 && strncmp(word, "--unset=", 8) != 0 &&
                 strncmp(word, "--chdir=", 8) != 0 && !(word[1] == 'u' && word[2]))
            return 0;
        else if (*word != '-' && !strchr(word, '='))
            return at;
    }
    return 0;
}

/* ---- one part ---- */

/* The launcher's option that sets a variable for the ranks; NULL: env does. */
static const char *env_option(enum launcher_kind kind) {
    return kind == LAUNCHER_APRUN   ? "-e"
           : kind == LAUNCHER_JSRUN ? "-E"
           : kind == LAUNCHER_FLUX  ? "--env"
                                    : NULL;
}

/* flux takes $NAME in a value for a variable. */
static int put_options(const struct composition *c, const char *option, struct strvec *out) {
    struct strvec settings = {0};
    int err = 0;
    add_settings(c, others_of(c), &settings);
    for (size_t i = 0; i < settings.count && !err; i++) {
        if (c->kind == LAUNCHER_FLUX && strchr(settings.of[i], '$'))
            err = refuse("flux cannot pass on %s, which holds a $: choose another value", settings.of[i]);
        char *joined = need_text("%s=%s", option, settings.of[i]);
        if (c->kind == LAUNCHER_FLUX) {
            strvec_add(out, joined);
        } else {
            strvec_add(out, option);
            strvec_add(out, settings.of[i]);
        }
        free(joined);
    }
    strvec_free(&settings);
    return err;
}

static void put_env(const struct composition *c, struct strvec *out) {
    strvec_add(out, access("/usr/bin/env", X_OK) ? "env" : "/usr/bin/env");
    add_settings(c, others_of(c), out);
}

static int put_part(const struct composition *c, size_t number, struct strvec *out) {
    const struct launcher_part *part = &c->line->parts[number];
    const struct program *program = &c->programs[number];
    char *const *words = c->command->of;
    const char *others = others_of(c), *option = env_option(c->kind);
    size_t inner = is_env(words[part->program]) ? behind_env(words, part->program, part->end, &others) : 0;
    if (!inner && !option && strchr(program->word, '='))
        return refuse("%s: env would treat a program with = in its name as an assignment; rename it, or make "
                      "a link to it",
                      program->word);
    if (!inner && option) {
        int err = put_options(c, option, out);
        if (err)
            return err;
    } else if (!inner) {
        put_env(c, out);
    }
    for (size_t i = part->program; i < part->end; i++) {
        if (i == inner && inner)
            add_settings(c, others, out);
        strvec_add(out, i == part->program && program->located[0] ? program->located : words[i]);
    }
    return 0;
}

static int put_parts(const struct composition *c, struct strvec *out) {
    size_t at = 0;
    for (size_t i = 0; i < c->line->count; i++) {
        for (; at < c->line->parts[i].program; at++)
            strvec_add(out, c->command->of[at]);
        int err = put_part(c, i, out);
        if (err)
            return err;
        at = c->line->parts[i].end;
    }
    for (; at < c->command->count; at++)
        strvec_add(out, c->command->of[at]);
    return 0;
}

/* ---- srun's --export ---- */

static int refuse_comma(const char *word) {
    return refuse(
        "srun cannot pass on %s, which holds a comma, to programs that it takes from a file or copies: "
        "set it in the job script instead",
        word);
}

/* The list without its LD_PRELOAD. */
static char *without_preload(const char *list) {
    char *rest = need(strlen(list) + 1), *to = rest;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (strncmp(list, "LD_PRELOAD=", 11) != 0) {
            if (to != rest)
                *to++ = ',';
            to = mempcpy(to, list, length);
        }
        list += length + (list[length] == ',');
    }
    *to = 0;
    return rest;
}

/* ALL,LD_PRELOAD=...,HEARTH_X=... */
static int export_list(const struct composition *c, const char *before, char **list) {
    struct strvec extra = {0};
    int err = 0;
    add_settings(c, others_of(c), &extra);
    *list = without_preload(before);
    for (size_t i = 0; i < extra.count && !err; i++) {
        err = strchr(extra.of[i], ',') ? refuse_comma(extra.of[i]) : 0;
        char *longer = need_text("%s,%s", *list, extra.of[i]);
        free(*list);
        *list = longer;
    }
    strvec_free(&extra);
    return err;
}

static int put_export(const struct composition *c, struct strvec *out) {
    size_t old = c->line->export_word;
    const char *given = old ? c->command->of[old] : getenv("SLURM_EXPORT_ENV");
    bool is_joined = old && !strncmp(given, "--export=", 9);
    const char *before = !given ? "ALL" : is_joined ? given + 9 : given;
    if (!strcmp(before, "NONE") || !strcmp(before, "NIL"))
        return refuse("srun --export=%s withholds all variables from the ranks, LD_PRELOAD too: name the "
                      "variables instead",
                      before);
    char *list;
    int err = export_list(c, before, &list);
    char *joined = need_text("--export=%s", list);
    for (size_t i = 0; i < c->command->count && !err; i++) {
        strvec_add(out, old && i == old ? (is_joined ? joined : list) : c->command->of[i]);
        if (!old && i == c->first)
            strvec_add(out, joined);
    }
    free(joined);
    free(list);
    return err;
}

int compose(const struct composition *c, struct strvec *out) {
    if (strpbrk(c->library, ": "))
        return refuse("%s cannot be preloaded: its path holds a colon or blank; install Hearth elsewhere",
                      c->library);
    if (c->kind == LAUNCHER_SRUN && (c->line->program_file || c->line->is_copied))
        return put_export(c, out);
    return put_parts(c, out);
}
