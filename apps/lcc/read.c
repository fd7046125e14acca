/* read.c: reads a graph from a text file.
 *
 *      Matrix Market    %%MatrixMarket matrix coordinate ...      edge list     # comment
 *                       % comment                                               u v [anything]
 *                       rows columns entries                                    ...
 *                       u v [value]   (counting from 1)                         (counting from 0)
 *
 * The first line selects the format. Values are ignored: an entry is an edge. A malformed file is refused with
 * the number of its first wrong line. */
#include "lcc.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_VERTICES = INT32_MAX }; /* counts of MPI calls are ints */

struct reader {
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    uint64_t number; /* of the line, from 1 */
    bool market;
    bool held;        /* the line was peeked at but not consumed */
    uint64_t entries; /* announced by the Matrix Market header */
};

static int reject(const struct reader *r, const char *reason) {
    app_complain("%s:%" PRIu64 ": %s", r->path, r->number, reason);
    return APP_BAD_INPUT;
}

/* Parses one whole number and advances past it. */
static bool take(const char **at, uint64_t *value) {
    char *end;
    while (isspace((unsigned char)**at))
        ++*at;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    *at = end;
    return !errno && (!*end || isspace((unsigned char)*end));
}

/* Reads the next line with content: 1; 0 at the end; -1 on an error. */
static int next_line(struct reader *r) {
    while (r->held || getline(&r->line, &r->room, r->file) >= 0) {
        r->held = false;
        r->number++;
        size_t blank = strspn(r->line, " \t\r\n");
        char c = r->line[blank];
        if (c && c != '%' && !(c == '#' && !r->market))
            return 1;
    }
    if (!ferror(r->file) && feof(r->file))
        return 0;
    app_complain("cannot read '%s': %s", r->path, strerror(errno));
    return -1;
}

static int read_sizes(struct reader *r, struct lcc_source *s) {
    uint64_t rows, columns;
    int got = next_line(r);
    const char *at = r->line;
    if (got < 0)
        return APP_BAD_INPUT;
    if (!got || !take(&at, &rows) || !take(&at, &columns) || !take(&at, &r->entries))
        return reject(r, "expected the line 'rows columns entries'");
    if (rows != columns)
        return reject(r, "the matrix is not square, so it is not a graph");
    if (rows > MOST_VERTICES)
        return reject(r, "graph too large: more than 2147483647 vertices");
    s->vertices = rows;
    return APP_OK;
}

static int read_header(struct reader *r, struct lcc_source *s) {
    char object[32] = "", format[32] = "";
    r->held = getline(&r->line, &r->room, r->file) >= 0;
    r->market = r->held && !strncasecmp(r->line, "%%MatrixMarket", 14);
    if (!r->market)
        return APP_OK;
    r->held = false;
    r->number = 1;
    sscanf(r->line + 14, "%31s %31s", object, format);
    if (strcasecmp(object, "matrix") || strcasecmp(format, "coordinate"))
        return reject(r, "only 'matrix coordinate' of Matrix Market is a graph");
    return read_sizes(r, s);
}

static int parse_edge(const struct reader *r, struct lcc_source *s, uint64_t *edge) {
    uint64_t u, v;
    const char *at = r->line;
    if (!take(&at, &u) || !take(&at, &v))
        return reject(r, "expected two vertex numbers");
    if (r->market && (!u-- || !v--))
        return reject(r, "Matrix Market counts from 1, and this is 0");
    uint64_t higher = u > v ? u : v;
    if (r->market && higher >= s->vertices)
        return reject(r, "vertex beyond the size that the header gives");
    if (higher >= MOST_VERTICES)
        return reject(r, "graph too large: vertex beyond 2147483646");
    if (higher >= s->vertices)
        s->vertices = higher + 1;
    *edge = lcc_pair((uint32_t)u, (uint32_t)v);
    return APP_OK;
}

static int append(struct lcc_source *s, uint64_t *room, uint64_t edge) {
    if (s->count == *room) {
        uint64_t more = *room ? 2 * *room : 1024;
        uint64_t *listed = realloc(s->listed, more * sizeof *listed);
        if (!listed) {
            app_complain("graph too large: no memory for %" PRIu64 " edges", more);
            return APP_BAD_INPUT;
        }
        s->listed = listed;
        *room = more;
    }
    s->listed[s->count++] = edge;
    return APP_OK;
}

static int read_edges(struct reader *r, struct lcc_source *s) {
    uint64_t room = 0, edge;
    int got, code;
    while ((got = next_line(r)) > 0) {
        if (r->market && s->count == r->entries)
            return reject(r, "more entries than the header announces");
        if ((code = parse_edge(r, s, &edge)) || (code = append(s, &room, edge)))
            return code;
    }
    if (got < 0)
        return APP_BAD_INPUT;
    if (r->market && s->count < r->entries)
        return reject(r, "the file ends before all entries that the header announces");
    if (!s->vertices) {
        app_complain("%s: the graph has no vertices", r->path);
        return APP_BAD_INPUT;
    }
    return APP_OK;
}

int lcc_read(const char *path, struct lcc_source *s) {
    struct reader r = {.path = path, .file = fopen(path, "r")};
    if (!r.file) {
        app_complain("cannot read '%s': %s", path, strerror(errno));
        return APP_BAD_INPUT;
    }
    int code = read_header(&r, s);
    if (!code)
        code = read_edges(&r, s);
    free(r.line);
    fclose(r.file);
    return code;
}
