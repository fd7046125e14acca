/* verify.c: computes the forces of some bodies again, as the sum over all bodies. Neither tree nor window nor
 * cache takes part: the chosen bodies are sent to all ranks with plain messages, each rank sums the forces of
 * its own bodies, and the sums are combined.
 *
 * The measure is the error of the whole force field: the root mean square of the errors, divided by that of the
 * forces. A single body may have a force near zero, where the relative error means nothing. */
#include "bh.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { FIELDS = 6 }; /* of a probe: its position, and its acceleration from the tree */

struct probes {
    uint64_t count, *ids; /* ascending */
    double *found;        /* FIELDS each */
    double *sums;         /* acceleration by direct summation, 3 each */
};

static int compare_ids(const void *p, const void *q) {
    uint64_t a = *(const uint64_t *)p, b = *(const uint64_t *)q;
    return (a > b) - (a < b);
}

static int open_probes(struct probes *p, const struct bh_options *o, uint64_t total) {
    struct random random;
    p->count = o->verify < total ? o->verify : total;
    p->ids = malloc((p->count + 1) * sizeof *p->ids);
    p->found = calloc(FIELDS * p->count + 1, sizeof *p->found);
    p->sums = calloc(3 * p->count + 1, sizeof *p->sums);
    if (!p->ids || !p->found || !p->sums)
        return APP_BAD_INPUT;
    random_seed(&random, o->seed ^ 0x76657269667921);
    for (uint64_t i = 0; i < p->count; i++) /* all, or a random sample; a body drawn twice counts twice */
        p->ids[i] = p->count == total ? i : random_below(&random, (uint32_t)total);
    qsort(p->ids, p->count, sizeof *p->ids, compare_ids);
    return APP_OK;
}

static void close_probes(struct probes *p) {
    free(p->ids);
    free(p->found);
    free(p->sums);
}

static uint64_t first_probe(const struct probes *p, uint64_t id) {
    uint64_t low = 0, high = p->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (p->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Every probe is on one rank; the other ranks contribute zeros, so that the sum is the probe. */
static void gather(struct probes *p, const struct bh_bodies *b) {
    for (uint64_t i = 0; i < b->count; i++) {
        const struct bh_body *body = &b->list[i];
        for (uint64_t k = first_probe(p, body->id); k < p->count && p->ids[k] == body->id; k++) {
            memcpy(p->found + FIELDS * k, body->x, sizeof body->x);
            memcpy(p->found + FIELDS * k + 3, body->a, sizeof body->a);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, p->found, (int)(FIELDS * p->count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void pull(const struct bh_bodies *b, uint64_t id, const double *x, double softening, double *sum) {
    for (uint64_t i = 0; i < b->count; i++) {
        const struct bh_body *other = &b->list[i];
        double away[3], square = softening * softening;
        if (other->id == id)
            continue;
        for (int k = 0; k < 3; k++) {
            away[k] = other->x[k] - x[k];
            square += away[k] * away[k];
        }
        double strength = other->mass / (square * sqrt(square));
        for (int k = 0; k < 3; k++)
            sum[k] += strength * away[k];
    }
}

static void sum_directly(struct probes *p, const struct bh_bodies *b, double softening) {
    for (uint64_t i = 0; i < p->count; i++)
        pull(b, p->ids[i], p->found + FIELDS * i, softening, p->sums + 3 * i);
    MPI_Allreduce(MPI_IN_PLACE, p->sums, (int)(3 * p->count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void compare(const struct probes *p, struct bh_result *r) {
    double errors = 0, forces = 0, most = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        double error = 0;
        for (int k = 0; k < 3; k++) {
            double right = p->sums[3 * i + (uint64_t)k],
                   difference = p->found[FIELDS * i + 3 + (uint64_t)k] - right;
            error += difference * difference;
            forces += right * right;
        }
        errors += error;
        /* fmax would drop a NaN */
        most = error > most || isnan(error) ? error : most;
    }
    r->error_rms = errors == 0 ? 0 : sqrt(errors / forces);
    r->error_most = most == 0 ? 0 : sqrt(most * (double)p->count / forces);
}

int bh_verify(const struct bh_options *o, const struct bh_bodies *b, struct bh_result *r) {
    struct probes probes = {0};
    int code = app_agree(open_probes(&probes, o, b->total), "--verify: no memory for so many bodies");
    if (!code) {
        gather(&probes, b);
        sum_directly(&probes, b, o->softening);
        compare(&probes, r);
        if (!(r->error_rms <= o->tolerance)) /* a NaN fails too */
            code = APP_FAILED;
        if (code && b->rank == 0)
            app_complain("verify: the forces on %" PRIu64
                         " bodies are wrong by %.2g of their size, more than %.2g "
                         "(--tolerance)",
                         probes.count, r->error_rms, o->tolerance);
    }
    close_probes(&probes);
    return code;
}
