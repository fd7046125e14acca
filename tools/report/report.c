/* report.c: `hearth report`: prints a run's JSON report, or a comparison of several, as text, as an HTML page or as CSV.
 *
 * Everything is read and computed before anything is written. A file is written under another name and renamed when
 * it is complete, so no partial output is ever visible. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/output.h"
#include "report/report_compare.h"
#include "report/report_csv.h"
#include "report/read/report_load.h"
#include "tools.h"

static const char help[] =
    "usage: hearth report [--html FILE | --csv[=TABLE] | --json] [--output FILE] RUN.json [RUN.json...]\n"
    "\n"
    "  RUN.json       the report of a run: HEARTH_REPORT=RUN.json, or hearth run --report RUN.json\n"
    "  --html FILE    write a self-contained HTML page instead, for a browser or for print\n"
    "  --csv          print CSV instead: a row per rank, and per window, MPI function and target of a rank\n"
    "  --csv=TABLE    only one kind of row: ranks, windows, calls or targets\n"
    "  --json         print the report itself; of a job that was killed or still runs, the parts of its "
    "ranks as one\n"
    "  --output FILE  write text, CSV or JSON to a file\n"
    "\n"
    "Prints a summary by rank, window and call site, and advice. Several runs are compared. Runs of one\n"
    "configuration belong together: A1.json,A2.json,A3.json B1.json,B2.json,B3.json, or A*.json : B*.json.\n"
    "A difference is called clear if there are at least 3 runs of each and their ranges do not overlap.\n"
    "doc/report.md explains the numbers.\n";

struct wishes {
    const char *html, *output;
    unsigned csv; /* tables; 0: no CSV */
    bool json;
};

static int report_command_read_options(struct wishes *w, int argc, char **argv) {
    static const struct option options[] = {{"html", required_argument, NULL, 'h'},
                                            {"csv", optional_argument, NULL, 'c'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"output", required_argument, NULL, 'o'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == 'h')
            w->html = optarg;
        else if (option == 'o')
            w->output = optarg;
        else if (option == 'j')
            w->json = true;
        else if (option != 'c')
            return refuse_option(&command_report, option, argv);
        else if (!(w->csv = csv_table(optarg)))
            return refuse("there is no table %s: write --csv, or --csv=ranks, windows, calls or targets",
                          optarg);
    }
    if (w->html && (w->csv || w->output))
        return refuse("--html FILE writes a page: leave out %s", w->csv ? "--csv" : "--output");
    if (w->json && (w->html || w->csv))
        return refuse("--json prints the report itself: leave out %s", w->html ? "--html" : "--csv");
    if (w->json && argc - optind > 1)
        return refuse("--json prints one report: name one file");
    if (optind == argc)
        return refuse("hearth report takes the report of a run, RUN.json: see hearth help report");
    return 0;
}

/* ---- atomic output file ---- */

struct page {
    FILE *file;
    /* draft: the name until the file is complete; NULL: written in place, as it is not a regular file. A link is not replaced
     * either: /dev/stdout is one. */
    char *path, *draft;
};

static int refuse_page(struct page *p, int reason) {
    int err = refuse("cannot write %s: %s: %s", p->path, strerror(reason), remedy_of_write(reason));
    if (p->draft)
        unlink(p->draft);
    free(p->draft);
    return err;
}

/* mkstemp makes the file private; it gets the permissions that open would have given it. */
static int open_draft(struct page *p) {
    p->draft = need_text("%s.XXXXXX", p->path);
    int fd = mkstemp(p->draft);
    if (fd < 0) {
        free(p->draft);
        p->draft = NULL;
        return -1;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask); /* on failure it stays private to the owner */
    return fd;
}

static int page_open(struct page *p, const char *path) {
    struct stat about;
    bool is_special = !lstat(path, &about) && !S_ISREG(about.st_mode);
    *p = (struct page){.path = (char *)path};
    int fd = is_special ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : open_draft(p);
    p->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (p->file)
        return 0;
    int err = refuse_page(p, errno);
    if (fd >= 0)
        close(fd);
    return err;
}

static int page_close(struct page *p) {
    int fault = output_complete(p->file, p->draft, p->path);
    if (fault)
        return refuse_page(p, fault);
    free(p->draft);
    return 0;
}

/* ---- reports are not replaced ---- */

static bool begins_as_json(const char *path) {
    FILE *file = fopen(path, "re");
    int first = file ? fgetc(file) : EOF;
    if (file)
        fclose(file);
    return first == '{';
}

/* Of two reports on a command line, one is easily taken for the file to write. */
static int refuse_to_replace(const struct wishes *w, char **reports, size_t count) {
    const char *path = w->html ? w->html : w->output;
    struct stat about;
    if (!path || stat(path, &about) || !S_ISREG(about.st_mode))
        return 0;
    bool is_read = !w->json && begins_as_json(path);
    for (size_t i = 0; i < count; i++)
        is_read |= is_same_file(reports[i], path);
    return is_read
               ? refuse("%s is a report, which the output would replace: name another file for the output",
                        path)
               : 0;
}

/* ---- everything together ---- */

static void print(FILE *f, const struct wishes *w, const struct run_groups *groups) {
    struct comparison c;
    if (w->csv) {
        report_csv(f, groups, w->csv);
        return;
    }
    if (groups->path_count == 1) {
        (w->html ? report_html : report_text)(f, &groups->of[0].runs[0]);
        return;
    }
    report_compare(groups, &c);
    (w->html ? report_html_comparison : report_text_comparison)(f, &c);
    comparison_free(&c);
}

static int print_page(const struct wishes *w, const struct run_groups *groups) {
    struct page p;
    int err = page_open(&p, w->html ? w->html : w->output);
    if (err)
        return err;
    print(p.file, w, groups);
    return page_close(&p);
}

static int print_json(const struct wishes *w, const char *path) {
    struct page p = {.file = stdout};
    char *text;
    size_t length;
    int err = refuse_to_replace(w, (char *[]){(char *)path}, 1);
    err = err ? err : report_load(path, &text, &length);
    if (err)
        return err;
    err = w->output ? page_open(&p, w->output) : 0;
    if (!err) {
        fwrite(text, 1, length, p.file);
        err = w->output ? page_close(&p) : 0;
    }
    free(text);
    return err;
}

static int report_command_run(int argc, char **argv) {
    struct wishes w = {0};
    struct run_groups groups = {0};
    int err = report_command_read_options(&w, argc, argv);
    if (!err && w.json)
        return print_json(&w, argv[optind]);
    if (!err)
        err = run_groups_read(argv + optind, argc - optind, &groups);
    if (!err)
        err = refuse_to_replace(&w, groups.paths, groups.path_count);
    if (!err && (w.html || w.output))
        err = print_page(&w, &groups);
    else if (!err)
        print(stdout, &w, &groups);
    run_groups_free(&groups);
    return err;
}

const struct command command_report = {.name = "report",
                                       .summary = "show a run's report as text, HTML or CSV, or compare runs",
                                       .help = help,
                                       .run = report_command_run};
