/* main.c: dgemm computes the product of two matrices that are distributed over the segments of a GASNet job. It
 * is a plain GASNet-1 client: settings of the library decide whether segments are in memory, or on NVM with
 * cooperating caches.
 *
 * Every rank takes the same decisions: an error on one rank is agreed upon before the next collective step, so
 * that all exit with the same code and none waits for another. */
#include "dgemm.h"

#include <gasnet_coll.h>
#include <stdlib.h>

static int multiply_and_report(const struct dgemm_layout *l, const struct dgemm_options *o, FILE *json) {
    struct dgemm_result result = {.seconds = calloc(o->repeats, sizeof(double))};
    int code =
        dgemm_agree(result.seconds ? APP_OK : APP_FAILED, "no memory for the times: use fewer --repeats");
    if (!code)
        code = dgemm_fill(l, o->seed);
    if (!code)
        code = dgemm_multiply(l, o, &result);
    if (!code) {
        int wrong = o->verify ? dgemm_verify(l, o, &result) : APP_OK;
        code = dgemm_report(l, o, &result, json); /* for wrong results too: the report shows the error */
        code = wrong ? wrong : code;
    }
    free(result.seconds);
    return code;
}

static int run(int argc, char **argv) {
    struct dgemm_options options;
    struct dgemm_layout layout;
    FILE *json = NULL;
    int rank = (int)gasnet_mynode(), ranks = (int)gasnet_nodes();
    int code = dgemm_parse(argc, argv, rank, ranks, &options);
    if (code || options.manner.help)
        return code;
    dgemm_layout_describe(&layout, &options, rank, ranks);
    code = dgemm_layout_attach(&layout);
    if (code)
        return code;
    gasnet_coll_init(NULL, 0, NULL, 0, 0);
    code = dgemm_agree(app_file_open(options.manner.json, rank, &json), NULL);
    if (!code)
        code = multiply_and_report(&layout, &options, json);
    int written = app_file_close(options.manner.json, json);
    code = dgemm_agree(code ? code : written, NULL);
    dgemm_layout_free(&layout);
    return code;
}

int main(int argc, char **argv) {
    int code = gasnet_init(&argc, &argv);
    if (code != GASNET_OK) {
        fprintf(stderr, "dgemm: gasnet_init: %s\n", gasnet_ErrorDesc(code));
        return APP_FAILED;
    }
    gasnet_exit(app_flush_stdout(run(argc, argv)));
}
