/* gets.c: two ranks read from each other, as input for a report: one window whose name contains markup, read from one
 * call site in a loop that exceeds a small cache; and one with a plain name, read repeatedly from another call site. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, BLOCKS = 64, ROUNDS = 40 };

static char buffer[BLOCK];

static MPI_Win make_window(const char *name, MPI_Aint bytes) {
    MPI_Win win;
    MPI_Info info;
    char *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", "always");
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win);
    memset(base, 1, (size_t)bytes);
    MPI_Info_free(&info);
    MPI_Win_set_name(win, name);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

__attribute__((noinline)) void read_loop(MPI_Win win, int peer) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < BLOCKS; i++) {
            MPI_Get(buffer, BLOCK, MPI_BYTE, peer, (MPI_Aint)i * BLOCK, BLOCK, MPI_BYTE, win);
            MPI_Win_flush(peer, win);
        }
}

__attribute__((noinline)) void read_again(MPI_Win win, int peer) {
    for (int i = 0; i < 10 * ROUNDS; i++) {
        MPI_Get(buffer, 8, MPI_BYTE, peer, 8 * (i % 4), 8, MPI_BYTE, win);
        MPI_Win_flush(peer, win);
    }
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win odd = make_window("</script><script>alert(1)</script>&'\"\xff", BLOCK * BLOCKS);
    MPI_Win plain = make_window("plain", 64);
    MPI_Win_lock_all(0, odd);
    MPI_Win_lock_all(0, plain);
    read_loop(odd, 1 - rank);
    read_again(plain, 1 - rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(plain);
    MPI_Win_unlock_all(odd);
    MPI_Win_free(&odd);
    if (argc < 2) /* with an argument the window is still open at the end */
        MPI_Win_free(&plain);
    MPI_Finalize();
    return 0;
}
