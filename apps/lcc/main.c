/* main.c: lcc computes the Local Clustering Coefficient of every vertex of a graph that is distributed over the
 * ranks of an MPI program.
 *
 * It is plain MPI-3: each rank reads the adjacency lists that it needs by MPI_Get, the same lists repeatedly,
 * so that a caching library shows in the time. For such a library lcc sets info keys on its window, which MPI
 * itself ignores, and optionally a score that says which lists to keep.
 *
 * Every rank takes the same decisions: an error on one rank is agreed upon before the next collective step, so
 * that all exit with the same code and none waits for another. */
#include "lcc.h"

#include <stdlib.h>

int lcc_compare_pairs(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
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
    if (code || options.manner.help)
        return code;
    code = app_agree(app_file_open(options.manner.json, rank, &json), NULL);
    if (!code)
        code = build_and_count(&options, json);
    int written = app_file_close(options.manner.json, json);
    return app_agree(code ? code : written, NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = app_flush_stdout(run(argc, argv));
    MPI_Finalize();
    return code;
}
