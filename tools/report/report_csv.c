/* report_csv.c: runs as CSV (RFC 4180, lines end with a newline alone).
 *
 * One row is one observation: of a rank, of a window on a rank, of an MPI function on a rank, or of a target of a rank. The
 * first column says which. All rows have the same columns, those that do not apply are empty, so that one file can be
 * filtered by its first column. The tables can also be printed one by one, with their own columns only. Units are in the
 * header, in brackets; a column without one is a count, a number of a rank or window, or text. */
#include "report/report_csv.h"

#include <inttypes.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/report_matrix.h"
#include "report/html/report_nodes.h"

static const char *const table_names[] = {"ranks", "windows", "calls", "targets"};

enum column {
    COLUMN_TABLE,
    COLUMN_GROUP,
    COLUMN_REPORT,
    COLUMN_PARTIAL,
    COLUMN_RANK,
    COLUMN_NODE,
    COLUMN_WINDOW,
    COLUMN_WINDOW_NAME,
    COLUMN_MODE,
    COLUMN_CALL,
    COLUMN_CALLS,
    COLUMN_TARGET,
    COLUMN_TARGET_NODE,
    COLUMN_RUN_TIME,
    COLUMN_MPI_TIME,
    COLUMN_TIME,
    COLUMN_LONGEST,
    COLUMN_GET_BYTES,
    COLUMN_PUTS,
    COLUMN_PUT_BYTES,
    COLUMN_MESSAGES,
    COLUMN_MESSAGE_BYTES,
#define X(name) COLUMN_COUNT_##name,
    REPORT_COUNTS(X)
#undef X
        COLUMNS
};

static const struct {
    const char *name;
    unsigned tables;
} csv_columns[COLUMNS] = {[COLUMN_TABLE] = {"table", CSV_ALL},
                          [COLUMN_GROUP] = {"group", CSV_ALL},
                          [COLUMN_REPORT] = {"report", CSV_ALL},
                          [COLUMN_PARTIAL] = {"partial", CSV_ALL},
                          [COLUMN_RANK] = {"rank", CSV_ALL},
                          [COLUMN_NODE] = {"node", CSV_ALL},
                          [COLUMN_WINDOW] = {"window", CSV_WINDOWS},
                          [COLUMN_WINDOW_NAME] = {"window_name", CSV_WINDOWS},
                          [COLUMN_MODE] = {"mode", CSV_WINDOWS},
                          [COLUMN_CALL] = {"call", CSV_CALLS},
                          [COLUMN_CALLS] = {"calls", CSV_CALLS},
                          [COLUMN_TARGET] = {"target", CSV_TARGETS},
                          [COLUMN_TARGET_NODE] = {"target_node", CSV_TARGETS},
                          [COLUMN_RUN_TIME] = {"run_time [s]", CSV_RANKS},
                          [COLUMN_MPI_TIME] = {"mpi_time [s]", CSV_RANKS},
                          [COLUMN_TIME] = {"time [s]", CSV_CALLS | CSV_TARGETS},
                          [COLUMN_LONGEST] = {"longest [s]", CSV_CALLS},
                          [COLUMN_GET_BYTES] = {"get_bytes [B]", CSV_TARGETS},
                          [COLUMN_PUTS] = {"puts", CSV_TARGETS},
                          [COLUMN_PUT_BYTES] = {"put_bytes [B]", CSV_TARGETS},
                          [COLUMN_MESSAGES] = {"messages", CSV_TARGETS},
                          [COLUMN_MESSAGE_BYTES] = {"message_bytes [B]", CSV_TARGETS},
#define X(name) [COLUMN_COUNT_##name] = {#name, CSV_WINDOWS},
                          REPORT_COUNTS(X)
#undef X
};

/* gets is a column of windows and of targets. */
static unsigned column_tables(int column) {
    return csv_columns[column].tables | (column == COLUMN_COUNT_gets ? CSV_TARGETS : 0);
}

unsigned csv_table(const char *name) {
    for (unsigned i = 0; name && i < sizeof table_names / sizeof *table_names; i++)
        if (!strcmp(table_names[i], name))
            return 1u << i;
    return name ? 0 : CSV_ALL;
}

/* ---- cells ---- */

struct csv {
    FILE *file;
    unsigned tables;
    const struct run_group *group;
    const struct run *run;
    const char *cells[COLUMNS]; /* NULL: empty */
    char numbers[COLUMNS][32];
};

static void csv_text(struct csv *c, enum column column, const char *text) {
    c->cells[column] = text;
}

static void csv_count(struct csv *c, enum column column, uint64_t value) {
    snprintf(c->numbers[column], sizeof c->numbers[column], "%" PRIu64, value);
    c->cells[column] = c->numbers[column];
}

static void csv_seconds(struct csv *c, enum column column, double value) {
    snprintf(c->numbers[column], sizeof c->numbers[column], "%.12g", value);
    c->cells[column] = c->numbers[column];
}

/* Names come from programs: text with a separator, a quote, a line break or a blank at an end is quoted. */
static void csv_put(FILE *f, const char *text) {
    size_t length = strlen(text);
    bool is_plain =
        !length || (strcspn(text, ",\"\r\n") == length && *text != ' ' && text[length - 1] != ' ');
    if (is_plain) {
        fputs(text, f);
        return;
    }
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text, f);
    }
    putc('"', f);
}

static void csv_header(const struct csv *c) {
    for (int i = 0, printed = 0; i < COLUMNS; i++)
        if (column_tables(i) & c->tables)
            fprintf(c->file, "%s%s%s", printed++ ? "," : "", csv_columns[i].name,
                    i >= COLUMN_COUNT_gets && strstr(csv_columns[i].name, "bytes") ? " [B]" : "");
    putc('\n', c->file);
}

static void csv_row(struct csv *c) {
    for (int i = 0, printed = 0; i < COLUMNS; i++)
        if (column_tables(i) & c->tables) {
            fputs(printed++ ? "," : "", c->file);
            csv_put(c->file, c->cells[i] ? c->cells[i] : "");
        }
    putc('\n', c->file);
    memset(c->cells, 0, sizeof c->cells);
}

static const char *csv_host(const struct run *run, uint64_t rank) {
    size_t index = run_rank_index(run, rank);
    return index < run->rank_count ? run->rank[index].host : "";
}

static void csv_begin(struct csv *c, const char *table, uint64_t rank) {
    csv_text(c, COLUMN_TABLE, table);
    csv_text(c, COLUMN_GROUP, c->group->name);
    csv_text(c, COLUMN_REPORT, c->run->path);
    csv_text(c, COLUMN_PARTIAL, c->run->partial);
    csv_count(c, COLUMN_RANK, rank);
    csv_text(c, COLUMN_NODE, csv_host(c->run, rank));
}

/* ---- tables ---- */

static void csv_ranks(struct csv *c) {
    for (size_t i = 0; i < c->run->rank_count; i++) {
        const struct rank_sum *r = &c->run->rank[i];
        csv_begin(c, "rank", r->rank);
        csv_seconds(c, COLUMN_RUN_TIME, r->seconds);
        if (c->run->is_timed)
            csv_seconds(c, COLUMN_MPI_TIME, r->mpi_seconds);
        csv_row(c);
    }
}

static void csv_windows(struct csv *c) {
    const struct json_value *windows = json_member(c->run->root, "windows");
    for (const struct json_value *v = NULL; (v = json_next(windows, v));) {
        const struct json_value *name = json_member(v, "name"), *mode = json_member(v, "mode");
        csv_begin(c, "window", json_member(v, "rank")->count);
        csv_count(c, COLUMN_WINDOW, json_member(v, "window")->count);
        csv_text(c, COLUMN_WINDOW_NAME, name ? name->text : "");
        csv_text(c, COLUMN_MODE, mode ? mode->text : "");
#define X(name) csv_count(c, COLUMN_COUNT_##name, json_member(v, #name)->count);
        REPORT_COUNTS(X)
#undef X
        csv_row(c);
    }
}

static void csv_calls(struct csv *c) {
    const struct json_value *processes = json_member(c->run->root, "processes");
    for (const struct json_value *p = NULL; (p = json_next(processes, p));) {
        const struct json_value *calls = json_member(json_member(p, "mpi"), "calls");
        for (const struct json_value *v = NULL; calls && (v = json_next(calls, v));) {
            csv_begin(c, "call", json_member(p, "rank")->count);
            csv_text(c, COLUMN_CALL, json_member(v, "call")->text);
            csv_count(c, COLUMN_CALLS, json_member(v, "count")->count);
            csv_seconds(c, COLUMN_TIME, json_member(v, "seconds")->number);
            csv_seconds(c, COLUMN_LONGEST, json_member(v, "longest")->number);
            csv_row(c);
        }
    }
}

static void csv_targets(struct csv *c) {
    struct flows flows = run_flows(c->run);
    for (size_t i = 0; i < flows.count; i++) {
        const struct flow *f = &flows.of[i];
        csv_begin(c, "target", f->rank);
        csv_count(c, COLUMN_TARGET, f->target);
        csv_text(c, COLUMN_TARGET_NODE, csv_host(c->run, f->target));
        csv_seconds(c, COLUMN_TIME, f->seconds);
        csv_count(c, COLUMN_COUNT_gets, f->gets);
        csv_count(c, COLUMN_GET_BYTES, f->get_bytes);
        csv_count(c, COLUMN_PUTS, f->puts);
        csv_count(c, COLUMN_PUT_BYTES, f->put_bytes);
        csv_count(c, COLUMN_MESSAGES, f->messages);
        csv_count(c, COLUMN_MESSAGE_BYTES, f->message_bytes);
        csv_row(c);
    }
    flows_free(&flows);
}

void report_csv(FILE *f, const struct run_groups *groups, unsigned tables) {
    static void (*const print[])(struct csv *) = {csv_ranks, csv_windows, csv_calls, csv_targets};
    struct csv c = {.file = f, .tables = tables};
    csv_header(&c);
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->of[i].count; k++) {
            c.group = &groups->of[i];
            c.run = &groups->of[i].runs[k];
            for (unsigned t = 0; t < sizeof print / sizeof *print; t++)
                if (tables >> t & 1)
                    print[t](&c);
        }
}
