/* series.c: see series.h. */
#include "observe/series.h"

#include <string.h>

void series_start(struct series *s, uint64_t start, uint64_t width) {
    s->start = start;
    s->width = width;
    s->count = 0;
}

static void series_add(struct series *s, const uint64_t *values) {
    memcpy(s->values[s->count++], values, sizeof s->values[0]);
}

/* Only when all bins are full, so that each has a partner. */
static void series_halve(struct series *s) {
    for (uint32_t i = 0; i < SERIES_BINS / 2; i++)
        memcpy(s->values[i], s->values[2 * i + 1], sizeof s->values[0]);
    s->count = SERIES_BINS / 2;
    s->width *= 2;
}

void series_note(struct series *s, uint64_t now, const uint64_t values[SERIES_COLUMNS]) {
    for (;;) {
        uint64_t bin = (now - s->start) / s->width, end = bin < SERIES_BINS ? bin : SERIES_BINS;
        while (s->count < end)
            series_add(s, values);
        if (bin < SERIES_BINS)
            return;
        series_halve(s);
    }
}

void series_end(struct series *s, uint64_t now, const uint64_t values[SERIES_COLUMNS]) {
    series_note(s, now, values);
    series_add(s, values);
}
