/* tune_decide.c: intervals of medians by order statistics.
 *
 * Times of runs are skewed, and their distribution is unknown, so nothing is assumed about it. Of n independent runs each is
 * below the median with probability 1/2. The k-th smallest and the k-th largest time therefore enclose the median with
 * probability 1 - 2 P(fewer than k of n below it). The largest k with at least `enough` is used; with fewer than 5 runs there
 * is none, and the interval is that of all times. */
#include "tune/tune_decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

static const double enough = 0.93; /* 5 runs have 0.9375 between the smallest and the largest */
enum { FEWEST_ROUNDS = 5 };
static const double least_gain_in_turn = 0.1;
static const double least_gain = 0.01; /* of the run */

/* P(fewer than k of n fair coins show heads). */
static double fewer_than(size_t k, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) -
                   (double)n * log(2));
    return sum;
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct tune_interval tune_interval(const double *seconds, size_t count) {
    double *sorted = need(count * sizeof *sorted);
    size_t k = 1;
    memcpy(sorted, seconds, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_time);
    while (k + 1 <= count / 2 && 1 - 2 * fewer_than(k + 1, count) >= enough)
        k++;
    struct tune_interval i = {.low = sorted[k - 1],
                              .median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                              .high = sorted[count - k],
                              .coverage = fmax(0, 1 - 2 * fewer_than(k, count))};
    free(sorted);
    return i;
}

bool tune_is_faster(const struct tune_interval *a, const struct tune_interval *b) {
    return a->high < b->low && a->median <= (1 - least_gain) * b->median;
}

/* Chance alone makes every ratio of 5 rounds small once in 32 times, so a larger gain is required than of intervals that are
 * apart: where the times vary little, chance does not reach it; where they vary much, it does once in a hundred times. */
bool tune_is_faster_in_turn(const double *a, const double *b, size_t rounds) {
    double *ratio = need(rounds * sizeof *ratio);
    for (size_t i = 0; i < rounds; i++)
        ratio[i] = a[i] / b[i];
    bool is_faster = rounds >= FEWEST_ROUNDS && tune_interval(ratio, rounds).high <= 1 - least_gain_in_turn;
    free(ratio);
    return is_faster;
}

bool tune_is_slower(const struct tune_interval *a, const struct tune_interval *b) {
    return a->low > b->high;
}
