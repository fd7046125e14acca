/* osu_collectives.c: blocking collectives. Each execution needs data of all ranks before the next one can end, so that the time of
 * rank 0 is that of the operation: the root moves from rank to rank. */
#include "osu.h"

enum { MOST = 1 << 20 };

static double barrier(size_t bytes, int times) {
    (void)bytes;
    double start = osu_now();
    for (int i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return osu_now() - start;
}

static double bcast(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times * osu_size; i++)
        MPI_Bcast(osu_out, (int)bytes, MPI_BYTE, i % osu_size, MPI_COMM_WORLD);
    return osu_now() - start;
}

static double allreduce(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times; i++)
        MPI_Allreduce(osu_out, osu_in, (int)(bytes / 8), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return osu_now() - start;
}

static double alltoall(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times; i++)
        MPI_Alltoall(osu_out, (int)bytes, MPI_BYTE, osu_in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    return osu_now() - start;
}

static double allgather(size_t bytes, int times) {
    double start = osu_now();
    for (int i = 0; i < times; i++)
        MPI_Allgather(osu_out, (int)bytes, MPI_BYTE, osu_in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    return osu_now() - start;
}

void osu_collectives(void) {
    osu_measure("barrier", 0, 1, barrier);
    for (size_t bytes = osu_first(8, MOST); bytes; bytes = osu_next(bytes, MOST)) {
        osu_measure("bcast", bytes, osu_size, bcast);
        osu_measure("allreduce", bytes, 1, allreduce);
        osu_measure("alltoall", bytes, 1, alltoall);
        osu_measure("allgather", bytes, 1, allgather);
    }
}
