/* report.c: traffic on named windows, for the report at the end of the job. "numbers" is read ten times in mode
 * always, "flags" is read in mode transparent, "quiet" is never read. */
#include "test.h"

static void read_some(struct window *w, int rounds) {
    unsigned char got[128];
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < rounds; i++)
        for (size_t at = 0; at < 1024; at += 128) {
            MPI_Get(got, sizeof got, MPI_BYTE, peer(), (MPI_Aint)at, sizeof got, MPI_BYTE, w->win);
            MPI_Win_flush(peer(), w->win);
            expect_pattern(got, sizeof got, peer(), at, 0);
        }
    barrier();
    MPI_Win_unlock_all(w->win);
}

static struct window make_named(const char *name, const char *mode) {
    struct window w = make_window(4096, mode);
    MPI_Win_set_name(w.win, name);
    return w;
}

CASE(named_windows) {
    struct window numbers = make_named("numbers", "always"), flags = make_named("flags", "transparent");
    struct window quiet = make_named("quiet \"and\" odd", NULL);
    read_some(&numbers, 10);
    read_some(&flags, 2);
    expect_stat(numbers.win, full_hits, 72);
    expect_stat(numbers.win, bytes_served, 72 * 128);
    free_window(&quiet);
    free_window(&flags);
    free_window(&numbers);
}
