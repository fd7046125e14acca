/* served_denied.c: the kernel denies access to the memory of other processes, as in many containers. Windows over memory of
 * the program then stay with the MPI below; windows whose memory Hearth allocates are served.
 *
 * configs: serve; ranks: 2 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "frame/forbid.h"
#include "serving.h"

enum { WINDOW = 4096 };

static void use_dynamic(MPI_Win win, void *memory) {
    MPI_Aint here, there;
    int64_t value = 0, own = 40 + test_rank;
    memcpy(memory, &own, 8);
    MPI_Win_attach(win, memory, WINDOW);
    MPI_Get_address(memory, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, 1 - test_rank, 0, &there, 1, MPI_AINT, 1 - test_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Get(&value, 1, MPI_INT64_T, peer(), there, 1, MPI_INT64_T, win);
    MPI_Win_fence(0, win);
    expect_eq(value, 40 + peer());
    MPI_Win_detach(win, memory);
}

CASE(windows_without_access) {
    void *memory = aligned_bytes(WINDOW);
    MPI_Win created, dynamic;
    SKIP_IF(forbid_call(SYS_process_vm_readv, EPERM), "no seccomp here");
    for (int i = 0; i < 3; i++) {
        expect_eq(MPI_Win_create(memory, WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created), MPI_SUCCESS);
        MPI_Win_fence(0, created);
        MPI_Win_fence(0, created);
        MPI_Win_free(&created);
    }
    expect_eq(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic), MPI_SUCCESS);
    if (!test_open_mpi()) /* Open MPI 4 needs the same access for its own operations */
        use_dynamic(dynamic, memory);
    MPI_Win_free(&dynamic);
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Win_lock_all(0, w.win);
    add_number(w.win, peer(), 3, 10 + test_rank);
    barrier();
    expect_eq(load_number(&w, 3), 10 + (test_rank + test_size - 1) % test_size);
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
    free(memory);
}
