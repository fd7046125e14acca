/* main.c: lcc, the Local Clustering Coefficient of every vertex of a graph that is spread over the ranks of
 * an MPI program. It is plain MPI-3: each rank reads the adjacency lists it needs by MPI_Get, the same lists
 * over and over. A library that caches gets can be put under it, and then shows in the time; what lcc does
 * for it are info keys on its window, which MPI itself ignores, and, if asked to, a word on which lists to
 * keep.
 *
 * Every rank takes the same decisions: an error on one is agreed upon before the next collective step, so
 * that all leave with the same exit code and none waits for the others. */
#include "lcc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void lcc_complain(const char *format, ...) {
    char line[1024];
    int head = snprintf(line, sizeof line, "lcc: ");
    va_list args;
    va_start(args, format);
    int n = head + vsnprintf(line + head, sizeof line - (size_t)head, format, args);
    va_end(args);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    /* one write, so that lines of several ranks do not mix */
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

int lcc_agree(int code, const char *complaint) {
    int highest, rank;
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (highest && complaint && rank == 0)
        lcc_complain("%s", complaint);
    return highest;
}

int lcc_compare_pairs(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Opened before the work, so that a name that cannot be written is found out before it. */
static int open_json(const struct lcc_options *o, int rank, FILE **json) {
    int code = LCC_OK;
    *json = NULL;
    if (o->json && rank == 0 && !(*json = fopen(o->json, "w"))) {
        lcc_complain("cannot write '%s': %s", o->json, strerror(errno));
        code = LCC_BAD_INPUT;
    }
    return lcc_agree(code, NULL);
}

static int count_and_report(const struct lcc_options *o, const struct lcc_graph *g, FILE *json) {
    struct lcc_result result = {0};
    int code = lcc_count(g, o, &result);
    if (!code && o->verify)
        code = lcc_verify(g, &result);
    if (!code)
        code = lcc_report(o, g, &result, json);
    free(result.counts);
    return code;
}

static int build_and_count(const struct lcc_options *o, FILE *json) {
    struct lcc_source source = {0};
    struct lcc_graph graph = {0};
    int code = lcc_source_open(&source, o);
    if (!code)
        code = lcc_graph_build(&graph, &source, o->order);
    lcc_source_close(&source);
    if (!code)
        code = count_and_report(o, &graph, json);
    lcc_graph_free(&graph);
    return code;
}

static int run(int argc, char **argv) {
    int rank;
    struct lcc_options options;
    FILE *json;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = lcc_parse(argc, argv, rank, &options);
    if (code)
        return code;
    if (options.help) {
        if (rank == 0)
            lcc_help(stdout);
        return LCC_OK;
    }
    code = open_json(&options, rank, &json);
    if (!code)
        code = build_and_count(&options, json);
    if (json && fclose(json) && !code) {
        lcc_complain("cannot write '%s': %s", options.json, strerror(errno));
        code = LCC_FAILED;
    }
    return lcc_agree(code, NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = run(argc, argv);
    fflush(stdout);
    MPI_Finalize();
    return code;
}
