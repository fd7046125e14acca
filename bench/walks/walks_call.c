/* walks_call.c: single calls, each announced to modes_step.c, which notes the instructions of one.
 *
 *   walks_call cache | messages | served [--times N]
 *
 * Prints the name of each announced call, in order. Every call is warm: it was made many times before. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { BYTES = 8, LINE = 64, WARM = 200, TAG_GO = 1, TAG_DATA = 2 };

static char buffer[LINE];
static long times;

static void begin(const char *name) {
    puts(name);
    raise(SIGUSR1);
}

static void end(void) {
    raise(SIGUSR2);
}

/* ---- gets and their flushes ---- */

static void get_at(uint64_t disp, const char *name, const char *flush_name, MPI_Win win) {
    if (name)
        begin(name);
    bench_get(buffer, disp, BYTES, win);
    if (name) {
        end();
        begin(flush_name);
    }
    bench_flush(win);
    if (name)
        end();
    bench_verify(buffer, disp, BYTES);
}

/* Gets of new places, and then of one place again. */
static void walk_gets(const char *mode, bool hits) {
    size_t bytes = (size_t)(2 * WARM + times) * LINE;
    char *memory = bench_memory(bytes);
    bench_fill(memory, bytes);
    MPI_Win win = bench_open(memory, bytes, mode);
    for (long i = 0; i < WARM + times && bench_is_initiator(); i++)
        get_at((uint64_t)i * LINE,
               i < WARM ? NULL
               : hits   ? "get that misses"
                        : "served get",
               hits ? "its flush" : "its served flush", win);
    for (long i = 0; i < WARM + times && bench_is_initiator() && hits; i++)
        get_at(0, i < WARM ? NULL : "get that hits", "its elided flush", win);
    bench_close(&win);
}

/* ---- messages, each of which has arrived when it is received ---- */

static void receive_one(bool announced) {
    MPI_Send(buffer, 0, MPI_BYTE, TARGET, TAG_GO, MPI_COMM_WORLD);
    usleep(2000);
    if (announced)
        begin("receive");
    MPI_Recv(buffer, BYTES, MPI_BYTE, TARGET, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (announced) {
        end();
        begin("send");
    }
    MPI_Send(buffer, BYTES, MPI_BYTE, TARGET, TAG_DATA, MPI_COMM_WORLD);
    if (announced)
        end();
}

static void answer_one(void) {
    MPI_Recv(buffer, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, BYTES, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv(buffer, BYTES, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void walk_messages(void) {
    for (long i = 0; i < WARM + times; i++)
        if (bench_is_initiator())
            receive_one(i >= WARM);
        else
            answer_one();
}

int main(int argc, char **argv) {
    bench_start(&argc, &argv);
    times = option(argc, argv, "--times", 15);
    signal(SIGUSR1, SIG_IGN); /* without a tracer; a tracer sees the signals anyway */
    signal(SIGUSR2, SIG_IGN);
    const char *what = argc > 1 ? argv[1] : "cache";
    if (!strcmp(what, "messages"))
        walk_messages();
    else
        walk_gets(strcmp(what, "served") ? "always" : "off", strcmp(what, "served"));
    bench_end();
    return 0;
}
