/* common.h: what every program of apps/ needs and none is about: the command line, complaints, agreement among
 * ranks, a progress line, files of results.
 *
 *      options.c    the command line, from a table; --help is written from the same table
 *      complain.c   one line on stderr
 *      agree.c      the same exit code on all ranks (MPI)
 *      progress.c   how far rank 0 is
 *      files.c      results: a file that cannot be written is found out before the work
 *
 * A program has a struct of its own for its options, with a struct app_manner in it, and a table:
 *
 *      struct heat_options { struct app_manner manner; uint64_t cells; double dt; int shape; };
 *      static const char *const shapes[] = {"rod", "ring", NULL};
 *      static const struct app_option table[] = {
 *          {"cells", "N", "how many", APP_COUNT, .offset = offsetof(struct heat_options, cells),
 *           .least = 1, .most = 1 << 30},
 *          {"dt", "T", "length of a step", APP_REAL, .offset = offsetof(struct heat_options, dt),
 *           .real_most = 1},
 *          {"shape", "SHAPE", "rod or ring", APP_WORD, .offset = offsetof(struct heat_options, shape),
 *           .words = shapes},
 *          {0}};   (a row with .offset and not a bare value there: the compiler then warns of no missing fields)
 *      static const struct app app = {.name = "heat", .about = "Heat that spreads.", .options = table,
 *                                     .manner = offsetof(struct heat_options, manner)};
 *      ...
 *      struct heat_options o = {.cells = 1000, .dt = 0.1};
 *      int code = app_parse(&app, argc, argv, rank, &o);
 *      if (code || o.manner.help)
 *          return code;
 *
 * Every rank reads the same command line and comes to the same result; rank 0 alone speaks. */
#ifndef HEARTH_APPS_COMMON_H
#define HEARTH_APPS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum app_exit { APP_OK = 0, APP_FAILED = 1, APP_BAD_INPUT = 2 };

/* The kind says what lies at the option's offset. */
enum app_kind {
    APP_SWITCH, /* bool; no value */
    APP_COUNT,  /* uint64_t; least .. most */
    APP_SIZE,   /* uint64_t, bytes; k, m or g at the end; least .. most */
    APP_REAL,   /* double; real_least .. real_most */
    APP_WORD,   /* int: the position in words */
    APP_TEXT,   /* const char *; NULL: not given */
    APP_OWN     /* whatever parse() makes of it */
};

struct app_option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* how --help calls the value; NULL for a switch */
    const char *help;  /* of any length. --help adds the default value, if fallback does not say otherwise */
    enum app_kind kind;
    size_t offset; /* in the program's struct of options */
    uint64_t least, most;
    double real_least, real_most;
    const char *const *words; /* NULL at the end */
    /* APP_OWN: sets *at (or more of *options). APP_OK, or what app_reject returned. */
    int (*parse)(const struct app_option *option, const char *text, void *at, void *options);
    const char *fallback; /* the default in words, such as "all"; "": none is told */
};

/* The options that every program has, beside its own: --progress, --quiet, --json, --help. */
struct app_manner {
    bool help, quiet;
    int progress; /* enum app_progress */
    const char *json;
};

struct app {
    const char *name;    /* as complaints begin */
    const char *about;   /* a line for --help */
    const char *remarks; /* more lines at the end of --help, or NULL */
    const struct app_option *options;
    size_t manner; /* offset of the struct app_manner in the struct of options */
};

/* Before: *options holds the defaults. APP_OK, or APP_BAD_INPUT after one line by rank 0. --help is printed by
 * rank 0 and leaves manner.help set: the program ends with APP_OK. Also sets the name for complaints. */
int app_parse(const struct app *app, int argc, char **argv, int rank, void *options);

/* The pieces, for options of a kind of their own. */
int app_parse_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value);
int app_parse_size(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value);
int app_parse_real(const char *name, const char *text, double least, double most, double *value);
int app_parse_word(const char *name, const char *text, const char *const *words, int *position);

/* While parsing, or later for options that do not go together: rank 0 complains, all return APP_BAD_INPUT. To be
 * called on every rank alike. */
int app_reject(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr, from whichever rank calls: "NAME: ..." */
void app_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Collective over MPI_COMM_WORLD: the highest of all ranks' codes. If that is not 0, rank 0 complains; NULL: it has
 * been said. */
int app_agree(int code, const char *complaint);

/* Progress, on stderr, by whoever calls (rank 0). auto: on a terminal one line that is rewritten every second;
 * behind a launcher's pipe that was started from a terminal a new line every few seconds; else nothing. */
enum app_progress { APP_PROGRESS_AUTO, APP_PROGRESS_LINE, APP_PROGRESS_LINES, APP_PROGRESS_NONE };
void app_progress_begin(const struct app_manner *manner);
/* Whether it is time for a new line. Reads the clock, no more: may be asked in a loop. */
bool app_progress_due(void);
/* The line, if it is due: "NAME: <what the format says>, 12 s". */
void app_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void app_progress_end(void);

/* Results. Opening a NULL name, on any rank but 0, or both, gives NULL. Not collective: agree on the codes. */
int app_file_open(const char *name, int rank, FILE **file);
/* A file that could not be written whole is complained about. NULL is allowed. Closing twice is not. */
int app_file_close(const char *name, FILE *file);
/* At the end: stdout is flushed, and a full disk noticed. */
int app_flush_stdout(int code);

#endif
