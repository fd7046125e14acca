/* why.c: gets that bypass the cache for known reasons, each in a window of its own that is named after the reason. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, BLOCK = 64 };

static int rank, peer;
static char buffer[BYTES];

static MPI_Win make(const char *name, const char *mode) {
    MPI_Win win;
    MPI_Info info;
    char *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", mode);
    MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    memset(base, 1, BYTES);
    MPI_Win_set_name(win, name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    return win;
}

static void end(MPI_Win win) {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void get(MPI_Win win, int target, int block, int count) {
    MPI_Get(buffer + block * BLOCK, count, MPI_BYTE, target, block * BLOCK, count, MPI_BYTE, win);
}

/* Two gets before each flush: a get that a flush completes alone would be measured. */
static void stream(const char *name) {
    MPI_Win win = make(name, "always");
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < BYTES / BLOCK; i += 2) {
            get(win, peer, (i + round) % (BYTES / BLOCK), BLOCK);
            get(win, peer, (i + 1 + round) % (BYTES / BLOCK), BLOCK);
            MPI_Win_flush(peer, win);
        }
    end(win);
}

int main(int argc, char **argv) {
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = !rank;
    MPI_Win win = make("off", "off");
    for (int i = 0; i < 70; i++, MPI_Win_flush(peer, win))
        get(win, peer, i % 7, BLOCK);
    end(win);
    win = make("own", "always");
    for (int i = 0; i < 110; i++, MPI_Win_flush(rank, win))
        get(win, rank, i % 11, BLOCK);
    end(win);
    win = make("call", "always");
    for (int i = 0; i < 3; i++, MPI_Win_flush(peer, win))
        get(win, peer, i, 0);
    end(win);
    win = make("request", "transparent");
    for (int i = 0; i < 5; i++) {
        MPI_Rget(buffer, BLOCK, MPI_BYTE, peer, i * BLOCK, BLOCK, MPI_BYTE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    end(win);
    win = make("several", "off"); /* the mode changes: 20 of mode off, 10 of the own memory */
    MPI_Info info;
    for (int i = 0; i < 30; i++, MPI_Win_flush(rank, win)) {
        if (i == 20) {
            MPI_Info_create(&info);
            MPI_Info_set(info, "clampi_mode", "always");
            MPI_Win_set_info(win, info);
            MPI_Info_free(&info);
        }
        get(win, rank, i, BLOCK);
    }
    end(win);
    stream("stream");
    MPI_Finalize();
    return 0;
}
