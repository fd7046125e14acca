/* progress.c: how far rank 0 is, which is about how far all are, for ranks share no counter. Its measure is
 * edges, not vertices, for a few vertices have most of them. On a terminal one line is rewritten every
 * second; elsewhere (a launcher's pipe, a log file) a new one appears every few seconds. The clock is read
 * per vertex and is cheap; printing happens rarely enough not to show in the time.
 */
#include "lcc.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/base.h"

static struct {
    int style;
    uint64_t began, last, interval; /* ns */
    bool dirty;                     /* the terminal's line has been written on */
} progress;

void lcc_progress_begin(int style) {
    if (style == LCC_AUTO)
        style = isatty(STDERR_FILENO) ? LCC_LINE : LCC_LINES;
    progress.style = style;
    progress.interval = style == LCC_LINE ? 1000000000u : 5000000000u;
    progress.began = progress.last = clock_ns();
    progress.dirty = false;
}

void lcc_progress(uint64_t done, uint64_t total, uint64_t vertices) {
    uint64_t now;
    if (progress.style == LCC_NONE || (now = clock_ns()) - progress.last < progress.interval)
        return;
    progress.last = now;
    progress.dirty = progress.style == LCC_LINE;
    fprintf(stderr, "%slcc: rank 0: %3" PRIu64 " %% of its edges, %" PRIu64 " vertices, %.0f s%s",
            progress.dirty ? "\r" : "", 100 * done / total, vertices, (double)(now - progress.began) * 1e-9,
            progress.dirty ? "   " : "\n");
    fflush(stderr);
}

void lcc_progress_end(void) {
    if (progress.dirty)
        fputc('\n', stderr);
}
