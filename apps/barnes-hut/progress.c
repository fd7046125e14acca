/* progress.c: how far rank 0 is, which is about how far all are, for the work is balanced. On a terminal
 * one line is rewritten every second; elsewhere (a launcher's pipe, a log file) a new one appears every
 * few seconds. The clock is read per body and is cheap; printing happens rarely enough not to show in the
 * time. */
#include "bh.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/base.h"

static struct {
    int style;
    uint64_t step, steps;
    uint64_t began, last, interval; /* ns */
    bool dirty;                     /* the terminal's line has been written on */
} progress;

void bh_progress_begin(const struct bh_options *o) {
    int style = o->quiet ? BH_SILENT : o->progress;
    if (style == BH_AUTO)
        style = isatty(STDERR_FILENO) ? BH_LINE : BH_LINES;
    progress.style = style;
    progress.steps = o->steps;
    progress.interval = style == BH_LINE ? 1000000000u : 5000000000u;
    progress.began = progress.last = clock_ns();
    progress.dirty = false;
}

void bh_progress_step(uint64_t step) {
    progress.step = step;
}

void bh_progress(uint64_t done, uint64_t total) {
    uint64_t now;
    if (progress.style == BH_SILENT || (now = clock_ns()) - progress.last < progress.interval)
        return;
    progress.last = now;
    progress.dirty = progress.style == BH_LINE;
    fprintf(stderr,
            "%sbarnes-hut: step %" PRIu64 " of %" PRIu64 ", rank 0: %3" PRIu64 " %% of its bodies, %.0f s%s",
            progress.dirty ? "\r" : "", progress.step, progress.steps, 100 * done / total,
            (double)(now - progress.began) * 1e-9, progress.dirty ? "   " : "\n");
    fflush(stderr);
}

void bh_progress_end(void) {
    if (progress.dirty)
        fputc('\n', stderr);
}
