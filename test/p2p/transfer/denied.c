/* denied.c: the kernel denies access to the memory of other processes, first the writing, then the reading too. It does so
 * after MPI_Init, so that Hearth has found the access allowed, as a process may find that changes its user later.
 *
 * ranks: 2 */
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "frame/forbid.h"

enum { BYTES = 700001, TIMES = 20 };

/* Each way, and both ways at once. */
static void exchange(int serial) {
    unsigned char *out = aligned_bytes(BYTES), *in = aligned_bytes(BYTES);
    for (int i = 0; i < TIMES; i++) {
        fill_pattern(out, BYTES, test_rank, 0, serial + i);
        memset(in, 0, BYTES);
        if (i % 3 == 2)
            MPI_Sendrecv(out, BYTES, MPI_BYTE, peer(), 1, in, BYTES, MPI_BYTE, previous(), 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        else if (i % 3 == test_rank)
            MPI_Send(out, BYTES, MPI_BYTE, peer(), 1, MPI_COMM_WORLD);
        else
            MPI_Recv(in, BYTES, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 3 == 2 || i % 3 != test_rank)
            expect_pattern(in, BYTES, previous(), 0, serial + i);
    }
    free(in);
    free(out);
}

CASE(writing_then_reading) {
    SKIP_IF(!own_messages(), "the messages of the MPI may need this access");
    exchange(0);
    SKIP_IF(forbid_call(SYS_process_vm_writev, EPERM), "no seccomp here");
    exchange(100);
    expect_eq(forbid_call(SYS_process_vm_readv, EPERM), 0);
    exchange(200);
}
