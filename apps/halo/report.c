/* report.c: prints each result twice: as text on stdout, and as JSON in the file of --json. */
#include "halo.h"

#include <inttypes.h>
#include <stdlib.h>

#include "observe/json.h"

struct halo_report {
    FILE *file;
    struct json json;
    bool speaks;
    const char *name;
};

int halo_report_open(struct halo_report **report, const struct app_manner *manner, int rank) {
    struct halo_report *r = calloc(1, sizeof *r);
    int code = r ? app_file_open(manner->json, rank, &r->file) : APP_FAILED;
    *report = r;
    if (r) {
        r->speaks = !rank && !manner->quiet;
        r->name = manner->json;
    }
    if (r && r->file) {
        json_begin(&r->json, r->file);
        json_open(&r->json, NULL, '{');
    }
    return app_agree(code, NULL);
}

void halo_report_text(struct halo_report *r, const char *key, const char *label, const char *value) {
    if (r->speaks && label)
        printf("%-28s %s\n", label, value);
    if (r->file)
        json_string(&r->json, key, value);
}

void halo_report_count(struct halo_report *r, const char *key, const char *label, uint64_t value) {
    if (r->speaks && label)
        printf("%-28s %" PRIu64 "\n", label, value);
    if (r->file)
        json_count(&r->json, key, value);
}

void halo_report_number(struct halo_report *r, const char *key, const char *label, double value) {
    if (r->speaks && label)
        printf("%-28s %.4g\n", label, value);
    if (r->file)
        json_number(&r->json, key, value);
}

int halo_report_close(struct halo_report *r, int code) {
    int closed = APP_OK;
    if (r && r->file) {
        json_string(&r->json, "result", code ? "wrong" : "right");
        json_close(&r->json, '}');
        closed = app_file_close(r->name, r->file);
    }
    free(r);
    return app_agree(code ? code : closed, NULL);
}

double halo_slowest(double seconds) {
    double most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

uint64_t halo_sum(uint64_t value) {
    uint64_t sum;
    MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

void halo_report_times(struct halo_report *r, const struct halo_times *t, uint64_t steps) {
    double each = steps ? 1e6 / (double)steps : 0;
    halo_report_number(r, "us_post", "us per step: posting", halo_slowest(t->post) * each);
    halo_report_number(r, "us_exchange", "us per step: exchange", halo_slowest(t->exchange) * each);
    halo_report_number(r, "us_compute", "us per step: computing", halo_slowest(t->compute) * each);
    halo_report_number(r, "us_step", "us per step: all", halo_slowest(t->total) * each);
    halo_report_number(r, "seconds", "seconds", halo_slowest(t->total));
}

int halo_judge(const char *what, double value, double limit) {
    char text[256];
    snprintf(text, sizeof text, "wrong result: %s is %g, the limit is %g", what, halo_slowest(value), limit);
    return app_agree(value <= limit ? APP_OK : APP_FAILED, text); /* a NaN fails too */
}
