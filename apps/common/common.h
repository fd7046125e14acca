/* common.h: services for every program of apps/: the command line, error lines, agreement among ranks, a progress
 * line, result files.
 *
 *      options.c    the command line, from a table; --help is written from the same table
 *      complain.c   error lines on stderr
 *      agree.c      the same exit code on all ranks (MPI)
 *      progress.c   progress of rank 0
 *      files.c      result files: an unwritable file is detected before the work
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
 *          {0}};   (use .offset =, not a positional value: the compiler then does not warn of missing fields)
 *      static const struct app app = {.name = "heat", .about = "Heat that spreads.", .options = table,
 *                                     .manner = offsetof(struct heat_options, manner)};
 *      ...
 *      struct heat_options o = {.cells = 1000, .dt = 0.1};
 *      int code = app_parse(&app, argc, argv, rank, &o);
 *      if (code || o.manner.help)
 *          return code;
 *
 * Every rank parses the same command line with the same result; only rank 0 prints. */
#ifndef HEARTH_APPS_COMMON_H
#define HEARTH_APPS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum app_exit { APP_OK = 0, APP_FAILED = 1, APP_BAD_INPUT = 2 };

/* The kind says what is stored at the option's offset. */
enum app_kind {
    APP_SWITCH, /* bool; no value */
    APP_COUNT,  /* uint64_t; least .. most */
    APP_SIZE,   /* uint64_t, bytes; k, m or g at the end; least .. most */
    APP_REAL,   /* double; real_least .. real_most */
    APP_WORD,   /* int: the position in words */
    APP_TEXT,   /* const char *; NULL: not given */
    APP_OWN     /* whatever parse() stores */
};

struct app_option {
    const char *name;  /* without the dashes; NULL ends the table */
    const char *value; /* name of the value in --help; NULL for a switch */
    const char *help;  /* of any length; --help appends the default value, unless fallback is set */
    enum app_kind kind;
    size_t offset; /* in the program's struct of options */
    uint64_t least, most;
    double real_least, real_most;
    const char *const *words; /* NULL at the end */
    /* APP_OWN: sets *at (or more of *options). Returns APP_OK, or the result of app_reject. */
    int (*parse)(const struct app_option *option, const char *text, void *at, void *options);
    const char *fallback; /* description of the default, such as "all"; "": no default is printed */
};

/* The options that every program has in addition to its own: --progress, --quiet, --json, --help. */
struct app_manner {
    bool help, quiet;
    int progress; /* enum app_progress */
    const char *json;
};

struct app {
    const char *name;    /* prefix of error lines */
    const char *about;   /* one line for --help */
    const char *remarks; /* more lines at the end of --help, or NULL */
    const struct app_option *options;
    size_t manner; /* offset of the struct app_manner in the struct of options */
};

/* On entry *options holds the defaults. Returns APP_OK, or APP_BAD_INPUT after one line by rank 0. Rank 0
 * prints --help; manner.help is then set, and the program ends with APP_OK. Also sets the name for error lines. */
int app_parse(const struct app *app, int argc, char **argv, int rank, void *options);

/* The parsers, for options of kind APP_OWN. */
int app_parse_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value);
int app_parse_size(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value);
int app_parse_real(const char *name, const char *text, double least, double most, double *value);
int app_parse_word(const char *name, const char *text, const char *const *words, int *position);

/* For use while parsing, or later for options that contradict each other: rank 0 prints the error, all ranks
 * return APP_BAD_INPUT. To be called on every rank alike. */
int app_reject(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line on stderr, from any rank: "NAME: ..." */
void app_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Collective over MPI_COMM_WORLD: returns the highest code of all ranks. If that is not 0, rank 0 prints the
 * complaint; NULL: it was printed already. */
int app_agree(int code, const char *complaint);

/* Progress on stderr, printed by the calling rank (rank 0). auto: on a terminal, one line that is rewritten
 * every second; through a pipe of a launcher that was started from a terminal, a new line every few seconds;
 * else nothing. */
enum app_progress { APP_PROGRESS_AUTO, APP_PROGRESS_LINE, APP_PROGRESS_LINES, APP_PROGRESS_NONE };
void app_progress_begin(const struct app_manner *manner);
/* Whether a new line is due. Only reads the clock, so it may be called in a loop. */
bool app_progress_due(void);
/* Prints a line, if one is due: "NAME: <the formatted text>, 12 s". */
void app_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void app_progress_end(void);

/* Result files. Returns NULL in *file for a NULL name and on any rank but 0. Not collective: agree on the codes. */
int app_file_open(const char *name, int rank, FILE **file);
/* Reports a file that could not be written completely. NULL is allowed; closing twice is not. */
int app_file_close(const char *name, FILE *file);
/* At the end: flushes stdout, and reports a full disk. */
int app_flush_stdout(int code);

#endif
