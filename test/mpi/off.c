/* off.c: messages, a collective and, without an argument, a window; then prints what the process has: "rank 0: 2 threads, 9 shared
 * mappings, result 7". test_off.sh compares it without Hearth and with HEARTH=off, test_defaults.sh with settings. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>

static int thread_count(void) {
    int count = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *entry; d && (entry = readdir(d));)
        count += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return count;
}

static int shared_mapping_count(void) {
    char line[512], access[8];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        count += sscanf(line, "%*s %7s", access) == 1 && access[3] == 's';
    if (file)
        fclose(file);
    return count;
}

static int get_from(int rank) {
    int got = 0, *memory;
    MPI_Win win;
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 6;
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    return got;
}

int main(int argc, char **argv) {
    int rank, size, value = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int got = argc > 1 ? 6 : get_from(right);
    dprintf(1, "rank %d: %d threads, %d shared mappings, result %d\n", rank, thread_count(),
            shared_mapping_count(), sum + got);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
