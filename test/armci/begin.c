/* begin.c: a program that knows only ARMCI. The library initializes MPI too, and finalizes it when the program exits,
 * but not when a forked child does. configs: node nodes1 */
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int rank, size, status = 0;
    ARMCI_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pid_t child = fork();
    if (child == 0)
        exit(3); /* runs the exit handlers */
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) {
        fprintf(stderr, "rank %d: the child ended with %x\n", rank, (unsigned)status);
        return 1;
    }
    void **parts = malloc((size_t)size * sizeof *parts);
    if (ARMCI_Malloc(parts, sizeof(int)) != 0)
        return 1;
    ARMCI_PutValueInt(rank, parts[(rank + 1) % size], (rank + 1) % size);
    ARMCI_Barrier();
    int wrong = *(int *)parts[rank] != (rank + size - 1) % size;
    ARMCI_Finalize();
    free(parts);
    return wrong;
}
