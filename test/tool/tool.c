/* tool.c: a typical profiling tool: it counts MPI_Get and MPI_Win_flush, and calls PMPI. Preloaded beside Hearth, in
 * either order, it must see each of its calls once. Prints its counts at MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

#ifdef COLLECTIVES /* also some calls in which a rank waits for others */
int MPI_Barrier(MPI_Comm comm) {
    return PMPI_Barrier(comm);
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return PMPI_Allreduce(out, in, count, type, op, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status) {
    return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    return PMPI_Probe(source, tag, comm, status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    return PMPI_Wait(request, status);
}
#endif

static long gets, flushes;

int MPI_Get(void *origin, int ocount, MPI_Datatype otype, int target, MPI_Aint disp, int tcount,
            MPI_Datatype ttype, MPI_Win win) {
    gets++;
    return PMPI_Get(origin, ocount, otype, target, disp, tcount, ttype, win);
}

int MPI_Win_flush(int target, MPI_Win win) {
    flushes++;
    return PMPI_Win_flush(target, win);
}

int MPI_Finalize(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "tool: rank %d: %ld gets, %ld flushes\n", rank, gets, flushes);
    return PMPI_Finalize();
}
