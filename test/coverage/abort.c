/* abort.c: linked into the shared libraries of the coverage tree with --wrap=MPI_Abort. A process that ends by MPI_Abort writes no
 * counts by itself. */
void __gcov_dump(void);
/* A communicator is an int in one MPI and a pointer in the other; either is passed in the first register. */
int __real_MPI_Abort(void *comm, int code);
int __wrap_MPI_Abort(void *comm, int code);

int __wrap_MPI_Abort(void *comm, int code) {
    __gcov_dump();
    return __real_MPI_Abort(comm, code);
}
