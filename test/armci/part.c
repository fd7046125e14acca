/* part.c: ARMCI on a communicator of the program: some of the processes, in another order, while the others use MPI
 * alone. Absolute ids are ranks of that communicator. After ARMCI_Finalize it may be opened on another one. ranks: 3 */
#include <armci.h>
#include <armcix.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void expect(int holds, const char *what) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!holds) {
        fprintf(stderr, "rank %d: expected %s\n", rank, what);
        wrong = 1;
    }
}

/* Every process writes its own id to the next, adds to a sum at the first, and reads from the previous. */
static void use_memory(int me, int size) {
    int next = (me + 1) % size, previous = (me + size - 1) % size, one = 1, got[2] = {-1, -1}, *mine;
    void **parts = malloc((size_t)size * sizeof *parts);
    if (!parts || ARMCI_Malloc(parts, 3 * sizeof(int)) != 0) {
        expect(0, "memory from ARMCI_Malloc");
        return;
    }
    mine = parts[me];
    mine[0] = mine[1] = -1;
    mine[2] = 0;
    ARMCI_Barrier();
    ARMCI_PutValueInt(me, parts[next], next);
    ARMCI_PutValueInt(10 + me, (int *)parts[next] + 1, next);
    ARMCI_Acc(ARMCI_ACC_INT, &one, &one, (int *)parts[0] + 2, sizeof one, 0);
    ARMCI_Barrier();
    expect(mine[0] == previous && mine[1] == 10 + previous, "the values of the previous process");
    expect(me != 0 || mine[2] == size, "one addition by each process");
    ARMCI_Get(parts[previous], got, sizeof got, previous);
    expect(got[0] == (previous + size - 1) % size && got[1] == 10 + got[0],
           "the values at the previous process");
    ARMCI_Barrier();
    ARMCI_Free(parts[me]);
    free(parts);
}

static void use_world(MPI_Comm comm, int me, int size) {
    ARMCI_Group world;
    MPI_Comm own;
    int rank, members, same;
    ARMCI_Group_get_world(&world);
    ARMCI_Group_rank(&world, &rank);
    ARMCI_Group_size(&world, &members);
    expect(rank == me && members == size, "the ranks of the communicator");
    expect(ARMCI_Absolute_id(&world, rank) == me, "absolute ids that are ranks of the communicator");
    ARMCIX_Get_world_comm(&own);
    MPI_Comm_compare(comm, own, &same);
    expect(same == MPI_CONGRUENT, "a communicator of the same processes");
}

static void use_armci(MPI_Comm comm) {
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    expect(ARMCI_Init_mpi_comm(comm) == 0, "ARMCI_Init_mpi_comm to succeed");
    use_world(comm, me, size);
    use_memory(me, size);
    ARMCI_Finalize();
    expect(!ARMCI_Initialized(), "ARMCI to be closed");
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Comm some, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 1 : MPI_UNDEFINED, -rank, &some);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all);
    if (rank > 0)
        use_armci(some);
    MPI_Barrier(MPI_COMM_WORLD); /* process 0 waits here */
    use_armci(all);
    if (rank > 0)
        MPI_Comm_free(&some);
    MPI_Comm_free(&all);
    MPI_Finalize();
    return wrong;
}
