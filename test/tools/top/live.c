/* live.c: two ranks that do a known amount of work, and stop at steps where the test inspects them.       live FOLDER
 *
 *   1  after 100 gets of 10 different blocks; 5 receives are posted, 3 messages are unexpected
 *   2  after as many gets again; all messages are received
 *   3  the window is freed
 *   4  a forked child has a copy of everything, and gets of a new window follow each other, 1 ms apart
 *   5  after MPI_Finalize */
#include <mpi.h>
#include <string.h>
#include <sys/wait.h>

#include "steps.h"

enum { BLOCK = 512, BLOCKS = 10, GETS = 100, RECEIVES = 5, MESSAGES = 3 };

static int rank, peer;

/* Both ranks arrive before either reports it, and neither continues alone. */
static void wait_at(int step) {
    MPI_Barrier(MPI_COMM_WORLD);
    steps_wait(step, rank);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void get_all(MPI_Win win) {
    char buffer[BLOCK];
    for (int i = 0; i < GETS; i++) {
        MPI_Get(buffer, BLOCK, MPI_BYTE, peer, i % BLOCKS * BLOCK, BLOCK, MPI_BYTE, win);
        MPI_Win_flush(peer, win);
        if (buffer[0] != 1)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static MPI_Win make_window(void) {
    MPI_Win win;
    MPI_Info info;
    char *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", "always");
    MPI_Win_allocate(BLOCK * BLOCKS, 1, info, MPI_COMM_WORLD, &base, &win);
    memset(base, 1, BLOCK * BLOCKS);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void fork_child(void) {
    pid_t child = fork();
    if (child == 0) {
        alarm(800);
        steps_wait_for("go4");
        _exit(0);
    }
    steps_write("child", rank, (int)child);
}

static void get_until(const char *name, MPI_Win win) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", steps_folder, name);
    MPI_Win_lock_all(0, win);
    while (access(path, F_OK)) {
        char byte;
        MPI_Get(&byte, 1, MPI_BYTE, peer, 0, 1, MPI_BYTE, win);
        MPI_Win_flush(peer, win);
        usleep(1000);
    }
    MPI_Win_unlock_all(win);
}

static void send_all(int first_tag, int count) {
    for (int i = 0; i < count; i++)
        MPI_Send(&i, 1, MPI_INT, peer, first_tag + i, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int numbers[RECEIVES], number;
    MPI_Request requests[RECEIVES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    steps_folder = argc > 1 ? argv[1] : ".";
    peer = 1 - rank;
    MPI_Win win = make_window();
    MPI_Win_lock_all(0, win);
    get_all(win);
    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, peer, 10 + i, MPI_COMM_WORLD, &requests[i]);
    send_all(20, MESSAGES);
    MPI_Probe(peer, 20 + MESSAGES - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the others arrived before it */
    wait_at(1);
    get_all(win);
    send_all(10, RECEIVES);
    for (int i = 0; i < RECEIVES; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Recv(&number, 1, MPI_INT, peer, 20 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wait_at(2);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    wait_at(3);
    win = make_window();
    fork_child();
    steps_write("at4", rank, (int)getpid());
    get_until("go4", win);
    MPI_Win_free(&win);
    while (wait(NULL) > 0)
        ;
    MPI_Finalize();
    steps_wait(5, rank);
    return 0;
}
