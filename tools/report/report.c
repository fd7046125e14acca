/* report.c: `hearth report`: prints a run's JSON report as text or as an HTML page.
 *
 * Everything is read and computed before anything is written. A page is written under another name and renamed when
 * it is complete, so no partial output is ever visible. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools.h"

static const char help[] =
    "usage: hearth report [--html FILE] RUN.json [OTHER.json]\n"
    "\n"
    "  RUN.json       the report of a run: HEARTH_REPORT=RUN.json, or hearth run --report RUN.json\n"
    "  OTHER.json     the report of another run, to be compared with the first\n"
    "  --html FILE    write a self-contained HTML page instead, for a browser or for print\n"
    "\n"
    "Prints a summary by rank, window and call site, and advice. doc/report.md explains the "
    "numbers.\n";

struct wishes {
    const char *html;
    const char *paths[2];
    int count;
};

static int report_command_read_options(struct wishes *w, int argc, char **argv) {
    static const struct option options[] = {{"html", required_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option != 'h')
            return refuse_option(&command_report, option, argv);
        w->html = optarg;
    }
    w->count = argc - optind;
    if (w->count < 1 || w->count > 2)
        return refuse("hearth report takes one or two runs, RUN.json [OTHER.json]: see hearth help report");
    for (int i = 0; i < w->count; i++)
        w->paths[i] = argv[optind + i];
    return 0;
}

/* ---- atomic output file ---- */

struct page {
    FILE *file;
    /* draft: the name until the file is complete; NULL: written in place, as it is not a regular file. */
    char *path, *draft;
};

static int refuse_page(struct page *p, int reason) {
    int err = refuse("cannot write %s: %s: name a file in a folder that you may write to", p->path,
                     strerror(reason));
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
    bool is_special = !stat(path, &about) && !S_ISREG(about.st_mode);
    *p = (struct page){.path = (char *)path};
    int fd = is_special ? open(path, O_WRONLY | O_CLOEXEC) : open_draft(p);
    p->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (p->file)
        return 0;
    int err = refuse_page(p, errno);
    if (fd >= 0)
        close(fd);
    return err;
}

static int page_close(struct page *p) {
    errno = 0;
    bool is_whole = !fflush(p->file) && !ferror(p->file);
    int reason = errno ? errno : EIO;
    if (fclose(p->file) && is_whole) {
        is_whole = false;
        reason = errno;
    }
    if (is_whole && p->draft && rename(p->draft, p->path)) {
        is_whole = false;
        reason = errno;
    }
    if (!is_whole)
        return refuse_page(p, reason);
    free(p->draft);
    return 0;
}

/* ---- everything together ---- */

static void print(FILE *f, const struct wishes *w, const struct run *runs) {
    struct comparison c;
    if (w->count == 1) {
        (w->html ? report_html : report_text)(f, &runs[0]);
        return;
    }
    report_compare(&runs[0], &runs[1], &c);
    (w->html ? report_html_comparison : report_text_comparison)(f, &runs[0], &runs[1], &c);
    comparison_free(&c);
}

static int print_page(const struct wishes *w, const struct run *runs) {
    struct page p;
    int err = page_open(&p, w->html);
    if (err)
        return err;
    print(p.file, w, runs);
    return page_close(&p);
}

static int report_command_run(int argc, char **argv) {
    struct wishes w = {0};
    struct run runs[2] = {{0}, {0}};
    int err = report_command_read_options(&w, argc, argv);
    for (int i = 0; i < w.count && !err; i++)
        err = report_read(w.paths[i], &runs[i]);
    if (!err && w.html)
        err = print_page(&w, runs);
    else if (!err)
        print(stdout, &w, runs);
    for (int i = 0; i < 2; i++)
        report_free(&runs[i]);
    return err;
}

const struct command command_report = {.name = "report",
                                       .summary = "show a run's report as text or HTML, or compare two runs",
                                       .help = help,
                                       .run = report_command_run};
