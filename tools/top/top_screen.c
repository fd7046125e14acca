/* top_screen.c: the table on a terminal, updated periodically.
 *
 *      hearth top on HOST   2 jobs, 6 processes   every 1 s
 *      RANK   PID   GETS/s  HIT% ...                            the sort column is highlighted
 *      ... lines of the table, from `first` on ...
 *      keys
 *
 * The screen is always drawn from the last sample and the keys so far, so a resize of the terminal only redraws it.
 * A terminal that has become too small shows one line until it is larger. Without ncurses, all of this is one error
 * that names --once. */
#include "top/top.h"

#include <unistd.h>

#include "base/clock.h"
#include "tools.h"

#ifndef HEARTH_NCURSES

int top_screen_run(double delay, const struct top_choice *choice) {
    (void)delay;
    (void)choice;
    return refuse("hearth was built without ncurses and has no screen: use hearth top --once, or build "
                  "it with ncurses "
                  "(package libncurses-dev)");
}

#else

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct screen {
    struct top_sample now, before;
    struct top_jobs jobs;
    struct top_order order;
    size_t first; /* first visible line of the table */
    bool is_help, ends;
    double delay;
    const struct top_choice *choice;
    int selected; /* number of the selected job */
    int *turned;  /* jobs that are not shown as folded or unfolded as they would be */
    size_t turned_count;
    char *message; /* instead of the keys, until the next key; NULL: none */
};

/* ---- drawing ---- */

static void screen_put(int line, int attributes, const char *text) {
    attrset(attributes);
    mvaddnstr(line, 0, text, COLS);
    if (attributes != A_NORMAL)
        for (int i = getcurx(stdscr); i > 0 && i < COLS && getcury(stdscr) == line; i++)
            addch(' ');
    attrset(A_NORMAL);
}

static void put_title(const struct screen *s) {
    char host[65] = "", *text;
    gethostname(host, sizeof host - 1);
    size_t jobs = s->jobs.count, processes = 0;
    for (size_t i = 0; i < jobs; i++)
        processes += s->jobs.of[i].count;
    text = need_text("hearth top on %s   %zu job%s, %zu process%s   every %g s%s%s",
                     s->choice->hosts ? "other hosts" : host, jobs, jobs == 1 ? "" : "s", processes,
                     processes == 1 ? "" : "es", s->delay, s->jobs.silent ? "   no answer: " : "",
                     s->jobs.silent ? s->jobs.silent : "");
    screen_put(0, A_BOLD, text);
    free(text);
}

static void screen_put_head(const struct top_table *t) {
    screen_put(1, A_REVERSE, t->head);
    if (t->selected_at >= 0)
        mvchgat(1, t->selected_at, t->selected_at ? TOP_COLUMN_WIDTH : 6, A_REVERSE | A_BOLD | A_UNDERLINE, 0,
                NULL);
}

static size_t room_for_lines(void) {
    return (size_t)LINES - 3;
}

static void put_lines(struct screen *s, const struct top_table *t) {
    size_t room = room_for_lines(), last = t->count > room ? t->count - room : 0;
    s->first = s->first < last ? s->first : last;
    for (size_t i = 0; i < room && s->first + i < t->count; i++) {
        const struct top_line *line = &t->lines[s->first + i];
        bool is_head = line->kind == TOP_LINE_JOB || line->kind == TOP_LINE_FOLDED;
        int look = is_head && s->jobs.count > 1 && s->jobs.of[line->job].id == s->selected
                       ? A_BOLD | A_UNDERLINE
                   : line->kind == TOP_LINE_ROW ? A_NORMAL
                                                : A_BOLD;
        screen_put((int)i + 2, look, line->text);
    }
}

static void put_keys(const struct screen *s, const struct top_table *t) {
    size_t below = t->count > s->first + room_for_lines() ? t->count - s->first - room_for_lines() : 0;
    char lines[40] = "", columns[40] = "";
    if (below)
        snprintf(lines, sizeof lines, "%zu more lines  ", below);
    if (t->hidden)
        snprintf(columns, sizeof columns, "%u more columns  ", t->hidden);
    char *text = s->message
                     ? need_copy(s->message)
                     : need_text("%s%sq quit  h help  tab job  enter unfold  r report  <- -> sort  R reverse",
                                 lines, columns);
    screen_put(LINES - 1, A_DIM, text);
    free(text);
}

static void draw_table(struct screen *s) {
    struct top_table t;
    put_title(s);
    if (!s->jobs.count) {
        screen_put(2, A_NORMAL, top_nobody);
        screen_put(LINES - 1, A_DIM, "q quit");
        return;
    }
    top_table_make(&t, &s->jobs, s->order, (unsigned)COLS);
    screen_put_head(&t);
    put_lines(s, &t);
    put_keys(s, &t);
    top_table_free(&t);
}

static void draw_help(struct screen *s) {
    size_t room = room_for_lines() + 1, last = top_columns() > room ? top_columns() - room : 0;
    screen_put(0, A_BOLD, "the columns; empty ones are hidden");
    s->first = s->first < last ? s->first : last;
    for (size_t i = 0; i < room && s->first + i < top_columns(); i++) {
        unsigned column = (unsigned)(s->first + i);
        char *text = need_text("%-10s %s", top_column_name(column), top_column_help(column));
        screen_put((int)i + 1, A_NORMAL, text);
        free(text);
    }
    screen_put(LINES - 1, A_DIM, "up, down: scroll   any other key: back");
}

static bool is_too_small(void) {
    return COLS < TOP_LEAST_WIDTH || LINES < TOP_LEAST_HEIGHT;
}

static void draw(struct screen *s) {
    erase();
    if (is_too_small()) {
        char *text = need_text("too small: %d x %d is needed", TOP_LEAST_WIDTH, TOP_LEAST_HEIGHT);
        screen_put(0, A_NORMAL, text);
        free(text);
    } else if (s->is_help) {
        draw_help(s);
    } else {
        draw_table(s);
    }
    refresh();
}

/* ---- sampling ---- */

static void look_here(struct screen *s) {
    struct top_sample now;
    top_sample_take(&now, &s->now);
    top_sample_free(&s->before);
    s->before = s->now;
    s->now = now;
    top_jobs_make(&s->jobs, &s->now, s->before.ns ? &s->before : NULL);
}

static bool is_turned(const struct screen *s, int job) {
    for (size_t i = 0; i < s->turned_count; i++)
        if (s->turned[i] == job)
            return true;
    return false;
}

/* A single job is unfolded, and several are folded, except those that the user has turned. */
static void fold_jobs(struct screen *s) {
    bool found = false;
    for (size_t i = 0; i < s->jobs.count; i++) {
        struct top_job *j = &s->jobs.of[i];
        j->is_folded = (s->jobs.count > 1) != is_turned(s, j->id);
        found |= j->id == s->selected;
    }
    if (!found)
        s->selected = s->jobs.count ? s->jobs.of[0].id : 0;
}

static void screen_look(struct screen *s) {
    top_jobs_free(&s->jobs);
    if (s->choice->hosts)
        top_remote_look(s->choice->hosts, s->delay, &s->jobs);
    else
        look_here(s);
    top_jobs_choose(&s->jobs, s->choice);
    fold_jobs(s);
}

/* ---- the selected job ---- */

static struct top_job *selected_job(struct screen *s) {
    for (size_t i = 0; i < s->jobs.count; i++)
        if (s->jobs.of[i].id == s->selected)
            return &s->jobs.of[i];
    return NULL;
}

static void select_next(struct screen *s) {
    struct top_job *j = selected_job(s);
    size_t at = j ? (size_t)(j - s->jobs.of) + 1 : 0;
    if (s->jobs.count)
        s->selected = s->jobs.of[at % s->jobs.count].id;
}

static void turn_selected(struct screen *s) {
    size_t kept = 0;
    bool was_turned = is_turned(s, s->selected);
    for (size_t i = 0; i < s->turned_count; i++)
        if (s->turned[i] != s->selected)
            s->turned[kept++] = s->turned[i];
    s->turned_count = kept;
    if (!was_turned) {
        int *more = need((kept + 1) * sizeof *more);
        if (kept)
            memcpy(more, s->turned, kept * sizeof *more);
        free(s->turned);
        s->turned = more;
        s->turned[s->turned_count++] = s->selected;
    }
    fold_jobs(s);
}

static void ask_selected(struct screen *s) {
    struct top_job *j = selected_job(s);
    if (!j)
        return;
    size_t asked = j->host ? 0 : top_ask(j);
    if (j->host)
        s->message =
            need_text("job %d is on %s: run hearth top there to ask it for a report", j->id, j->host);
    else if (!asked)
        s->message = need_text("job %d writes no report: start it with HEARTH_REPORT=FILE", j->id);
    else
        s->message = need_text("%zu of %zu processes of job %d write a report at their next MPI call", asked,
                               j->count, j->id);
}

/* ---- keys ---- */

static void move_by(struct screen *s, long lines) {
    s->first =
        lines < 0 && s->first < (size_t)-lines ? 0 : s->first + (size_t)lines; /* draw limits it at the end */
}

static bool take_movement(struct screen *s, int key) {
    long page = (long)(is_too_small() ? 1 : room_for_lines());
    switch (key) {
    case KEY_UP:
    case 'k':
        move_by(s, -1);
        return true;
    case KEY_DOWN:
    case 'j':
        move_by(s, 1);
        return true;
    case KEY_PPAGE:
        move_by(s, -page);
        return true;
    case KEY_NPAGE:
        move_by(s, page);
        return true;
    default:
        return key == KEY_RESIZE;
    }
}

static void take_key(struct screen *s, int key) {
    free(s->message);
    s->message = NULL;
    if (take_movement(s, key))
        return;
    if (s->is_help && key != 'q') {
        s->is_help = false;
        s->first = 0;
        return;
    }
    switch (key) {
    case 'q':
        s->ends = true;
        break;
    case 'h':
    case '?':
        s->is_help = true;
        s->first = 0;
        break;
    case KEY_LEFT:
    case '<':
        s->order.column = top_table_step(&s->jobs, s->order.column, -1);
        break;
    case KEY_RIGHT:
    case '>':
        s->order.column = top_table_step(&s->jobs, s->order.column, 1);
        break;
    case 'R':
        s->order.is_reverse = !s->order.is_reverse;
        break;
    case '\t':
        select_next(s);
        break;
    case '\n':
    case KEY_ENTER:
        turn_selected(s);
        break;
    case 'r':
        ask_selected(s);
        break;
    case ' ':
        screen_look(s);
        break;
    }
}

/* ---- main loop ---- */

/* Waits for a key or the deadline. False: the terminal is gone. */
static bool screen_wait_until(uint64_t due) {
    struct pollfd keyboard = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t now = clock_ns();
    int ms = due > now ? (int)((due - now + 999999) / 1000000) : 0;
    int ready = poll(&keyboard, 1, ms);
    return ready >= 0 ? !(keyboard.revents & (POLLHUP | POLLERR | POLLNVAL)) : errno == EINTR;
}

static void screen_run(struct screen *s) {
    uint64_t step = (uint64_t)(s->delay * 1e9), due = clock_ns();
    while (!s->ends) {
        if (clock_ns() >= due) {
            screen_look(s);
            due = clock_ns() + step;
        }
        draw(s);
        if (!screen_wait_until(due))
            return;
        for (int key; (key = getch()) != ERR && !s->ends;)
            take_key(s, key);
    }
}

static int refuse_size(int width, int height) {
    return refuse("the terminal has %d x %d characters, and at least %d x %d are needed: enlarge it, or use "
                  "hearth top --once",
                  width, height, TOP_LEAST_WIDTH, TOP_LEAST_HEIGHT);
}

int top_screen_run(double delay, const struct top_choice *choice) {
    struct screen s = {.order.column = -1, .delay = delay, .choice = choice};
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return refuse("hearth top needs a terminal: use hearth top --once, or --once --json for scripts");
    setlocale(LC_CTYPE, ""); /* characters alone: other hosts get numbers with a decimal point */
    SCREEN *terminal = newterm(name, stdout, stdin);
    if (!terminal)
        return refuse("the terminal %s is unknown (TERM): use hearth top --once",
                      name && *name ? name : "without a name");
    int width = COLS, height = LINES;
    bool is_small = is_too_small();
    if (!is_small) {
        cbreak();
        noecho();
        keypad(stdscr, true);
        nodelay(stdscr, true);
        curs_set(0);
        screen_run(&s);
    }
    endwin();
    delscreen(terminal);
    free(s.turned);
    free(s.message);
    top_jobs_free(&s.jobs);
    top_sample_free(&s.now);
    top_sample_free(&s.before);
    return is_small ? refuse_size(width, height) : 0;
}

#endif
