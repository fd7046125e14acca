/* messages.c: MPI calls for which there is no memory: each returns MPI_ERR_NO_MEM, and later calls work. Run by
 * test_messages.sh, with fail.so behind libhearth-mpi. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100, MOST = 1 << 20, LARGE = 1 << 20 };

static int rank, failures;
static void (*arm)(const char *plan);
static char out[LARGE], in[LARGE];

static void expect(int is_so, const char *what, int line) {
    if (is_so)
        return;
    printf("FAIL rank %d, line %d: not so: %s\n", rank, line, what);
    failures++;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* What the call returns while no allocation succeeds. */
#define WITHOUT_MEMORY(code, call)                                                                           \
    do {                                                                                                     \
        arm("memory:1:on");                                                                                  \
        code = call;                                                                                         \
        arm(NULL);                                                                                           \
    } while (0)

/* Requests are allocated in chunks: takes all that there are. Returns how many. */
static int take_all_requests(MPI_Request *requests) {
    int code = MPI_SUCCESS, count = 0;
    arm("memory:1:on");
    while (count < MOST && code == MPI_SUCCESS)
        code = MPI_Recv_init(in, 1, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &requests[count++]);
    arm(NULL);
    EXPECT(code == MPI_ERR_NO_MEM);
    return count - 1;
}

static void give_all_requests(MPI_Request *requests, int count) {
    while (count--)
        MPI_Request_free(&requests[count]);
}

static void start_calls(void) {
    MPI_Request *taken = malloc(MOST * sizeof *taken), request;
    int code, count = take_all_requests(taken);
    WITHOUT_MEMORY(code, MPI_Irecv(in, 1, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &request));
    EXPECT(code == MPI_ERR_NO_MEM);
    WITHOUT_MEMORY(code, MPI_Isend(out, LARGE, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &request));
    EXPECT(code == MPI_ERR_NO_MEM);
    WITHOUT_MEMORY(code, MPI_Issend(out, 1, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &request));
    EXPECT(code == MPI_ERR_NO_MEM);
    give_all_requests(taken, count);
    free(taken);
}

static void copies(void) {
    int code;
    WITHOUT_MEMORY(code,
                   MPI_Sendrecv_replace(out, LARGE, MPI_BYTE, 0, 9, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(code == MPI_ERR_NO_MEM);
}

/* The requests are still there, and complete later. */
static void many_requests(void) {
    MPI_Request requests[MANY];
    int code, done, flag, indices[MANY];
    for (int i = 0; i < MANY; i++)
        if (i % 2)
            MPI_Isend(out, 1, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(in + i, 1, MPI_BYTE, 0, i + 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[0]); /* one of MPI's own; no message has its tag */
    WITHOUT_MEMORY(code, MPI_Waitsome(MANY, requests, &done, indices, MPI_STATUSES_IGNORE));
    EXPECT(code == MPI_ERR_NO_MEM);
    WITHOUT_MEMORY(code, MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE));
    EXPECT(code == MPI_ERR_NO_MEM || (code == MPI_SUCCESS && !flag));
    EXPECT(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    *(void **)&arm = dlsym(RTLD_DEFAULT, "test_fail_arm");
    if (!arm) {
        puts("FAIL fail.so is not preloaded");
        return 1;
    }
    if (rank == 0) {
        start_calls();
        copies();
        many_requests();
    }
    MPI_Barrier(MPI_COMM_WORLD); /* a message that arrives while there is no memory ends the job */
    memset(out, 1 + rank, sizeof out);
    int code = MPI_Sendrecv(out, LARGE, MPI_BYTE, 1 - rank, 1, in, LARGE, MPI_BYTE, 1 - rank, 1,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(code == MPI_SUCCESS && in[0] == 2 - rank && in[LARGE - 1] == 2 - rank);
    MPI_Finalize();
    return failures != 0;
}
