/* abi.c: tests what a program compiled for ARMCI-MPI relies on: sizes, values, and that every name exists and a
 * profiler can replace it. */
/* configs: node nodes1 */
#include "test.h"

#include <armcix.h>
#include <message.h>
#include <mp3.h>
#include <stdio.h>
#include <string.h>

#ifdef MPICH_VERSION
enum { COMM = 4, GROUP = 32, MUTEXES = 56 };
#else
enum { COMM = 8, GROUP = 40, MUTEXES = 64 };
#endif

#define SAME(what, value) _Static_assert((what) == (value), #what " is not that of ARMCI-MPI")
SAME(sizeof(MPI_Comm), COMM);
SAME(sizeof(MPI_Win), COMM);
SAME(sizeof(armci_size_t), 8);
SAME(sizeof(armci_domain_t), sizeof(int));

SAME(sizeof(armci_hdl_t), 8);
SAME(offsetof(armci_hdl_t, target), 0);
SAME(offsetof(armci_hdl_t, aggregate), 4);

SAME(sizeof(armci_giov_t), 24);
SAME(offsetof(armci_giov_t, src_ptr_array), 0);
SAME(offsetof(armci_giov_t, dst_ptr_array), 8);
SAME(offsetof(armci_giov_t, bytes), 16);
SAME(offsetof(armci_giov_t, ptr_array_len), 20);

SAME(sizeof(ARMCI_Group), GROUP);
SAME(offsetof(ARMCI_Group, comm), 0);
SAME(offsetof(ARMCI_Group, noncoll_pgroup_comm), COMM);
SAME(offsetof(ARMCI_Group, grp_to_abs), 2 * COMM);
SAME(offsetof(ARMCI_Group, abs_to_grp), 2 * COMM + 8);
SAME(offsetof(ARMCI_Group, rank), 2 * COMM + 16);
SAME(offsetof(ARMCI_Group, size), 2 * COMM + 20);

SAME(sizeof(struct armcix_mutex_hdl_s), MUTEXES);
SAME(offsetof(struct armcix_mutex_hdl_s, my_count), 0);
SAME(offsetof(struct armcix_mutex_hdl_s, max_count), 4);
SAME(offsetof(struct armcix_mutex_hdl_s, grp), 8);
SAME(offsetof(struct armcix_mutex_hdl_s, windows), 8 + GROUP);
SAME(offsetof(struct armcix_mutex_hdl_s, bases), 16 + GROUP);

SAME(ARMCI_MPI, 3);
SAME(ARMCI_ACC_INT, 0);
SAME(ARMCI_ACC_LNG, 1);
SAME(ARMCI_ACC_FLT, 2);
SAME(ARMCI_ACC_DBL, 3);
SAME(ARMCI_ACC_CPL, 4);
SAME(ARMCI_ACC_DCP, 5);
SAME(ARMCI_FETCH_AND_ADD, 0);
SAME(ARMCI_FETCH_AND_ADD_LONG, 1);
SAME(ARMCI_SWAP, 2);
SAME(ARMCI_SWAP_LONG, 3);
SAME(SCOPE_ALL, 0);
SAME(SCOPE_NODE, 1);
SAME(SCOPE_MASTERS, 2);
SAME(ARMCI_INT, 0);
SAME(ARMCI_LONG, 1);
SAME(ARMCI_LONG_LONG, 2);
SAME(ARMCI_FLOAT, 3);
SAME(ARMCI_DOUBLE, 4);
SAME(ARMCI_DOMAIN_SMP, 0);

/* ARMCI-MPI only declares these, or has them only in newer versions. */
#pragma weak ARMCIX_Get_world_comm
#pragma weak ARMCI_Init_mpi_comm
#pragma weak PARMCI_Init_mpi_comm
#pragma weak armci_exchange_address
#pragma weak armci_exchange_address_grp
#pragma weak armci_grp_clus_brdcst
#pragma weak armci_msg_clus_brdcst
#pragma weak armci_msg_clus_dgop
#pragma weak armci_msg_clus_fgop
#pragma weak armci_msg_clus_igop
#pragma weak armci_msg_clus_lgop
#pragma weak armci_msg_clus_llgop

static const struct {
    const char *name;
    void (*address)(void);
    bool only_declared;
} names[] = {
#define NAME(name)     {#name, (void (*)(void))(name), false},
#define DECLARED(name) {#name, (void (*)(void))(name), true},
#include "names.def"
};

CASE(every_name_is_there) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((test_ours || !names[i].only_declared) && !expect(names[i].address != NULL))
            fprintf(stderr, "%s is missing\n", names[i].name);
}

/* Names that a profiler defines take precedence over those of the library. */
static int fences, barriers;

void ARMCI_Fence(int proc) {
    fences++;
    PARMCI_Fence(proc);
}

void armci_msg_barrier(void) {
    barriers++;
    parmci_msg_barrier();
}

CASE(a_profiler_may_stand_in_between) {
    ARMCI_Fence((test_rank + 1) % test_size);
    armci_msg_barrier();
    expect_eq(fences, 1);
    expect_eq(barriers, 1);
}

/* Global Arrays reads at this place the communicator that it gives to its users. */
CASE(a_group_begins_with_its_communicator) {
    ARMCI_Group world;
    MPI_Comm comm;
    int result;
    ARMCI_Group_get_world(&world);
    memcpy(&comm, &world, sizeof comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    expect(result == MPI_CONGRUENT || result == MPI_IDENT);
}

CASE(initialised_more_than_once) {
    int argc = 0, sum = 1;
    char **argv = NULL;
    expect(ARMCI_Initialized() != 0);
    expect_eq(ARMCI_Init(), 0);
    expect_eq(ARMCI_Init_args(&argc, &argv), 0);
    expect_eq(ARMCI_Finalize(), 0);
    expect_eq(ARMCI_Finalize(), 0);
    expect(ARMCI_Initialized() != 0);
    armci_msg_igop(&sum, 1, "+");
    expect_eq(sum, test_size);
}
