/* domains.c: tests the nodes that ARMCI reports: one for each process, or the real ones if a setting says so. */
/* configs: node nodes1 nodes2 real */
#include "test.h"

CASE(every_process_has_one_node) {
    expect_eq(armci_domain_count(ARMCI_DOMAIN_SMP), test_nodes());
    expect_eq(armci_domain_my_id(ARMCI_DOMAIN_SMP), test_node(test_rank));
    for (int i = 0; i < test_size; i++) {
        expect_eq(armci_domain_id(ARMCI_DOMAIN_SMP, i), test_node(i));
        expect_eq(armci_domain_same_id(ARMCI_DOMAIN_SMP, i) != 0, test_node(i) == test_node(test_rank));
        expect_eq(ARMCI_Same_node(i) != 0, test_node(i) == test_node(test_rank));
    }
}

CASE(nodes_list_their_processes) {
    int total = 0;
    for (int node = 0; node < test_nodes(); node++) {
        int count = armci_domain_nprocs(ARMCI_DOMAIN_SMP, node);
        for (int i = 0; i < count; i++, total++)
            expect_eq(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, node, i), test_master(node) + i);
    }
    expect_eq(total, test_size);
}

CASE(a_negative_id_is_the_own_node) {
    int mine = test_node(test_rank);
    expect_eq(armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1), armci_domain_nprocs(ARMCI_DOMAIN_SMP, mine));
    SKIP_IF_STOCK();
    expect_eq(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, -1, 0), test_master(mine));
}

CASE(what_does_not_exist_is_minus_one) {
    SKIP_IF_STOCK();
    int here = armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1);
    expect_eq(armci_domain_id(ARMCI_DOMAIN_SMP, test_size), -1);
    expect_eq(armci_domain_id(ARMCI_DOMAIN_SMP, -1), -1);
    expect_eq(armci_domain_nprocs(ARMCI_DOMAIN_SMP, test_nodes()), -1);
    expect_eq(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, test_nodes(), 0), -1);
    expect_eq(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, -1, here), -1);
    expect_eq(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, -1, -1), -1);
    expect_eq(armci_domain_same_id(ARMCI_DOMAIN_SMP, test_size), 0);
    expect_eq(ARMCI_Same_node(-1), 0);
}

CASE(memory_is_shared_where_a_node_has_several) {
    int first[2] = {0, 1}, ends[2] = {0, test_size - 1};
    ARMCI_Group near = {0}, far = {0};
    expect_eq(ARMCI_Uses_shm(), test_nodes() < test_size);
    SKIP_IF(test_size < 2, "needs two processes");
    ARMCI_Group_create(2, first, &near);
    ARMCI_Group_create(2, ends, &far);
    if (near.rank >= 0)
        expect_eq(ARMCI_Uses_shm_grp(&near), test_node(0) == test_node(1));
    if (far.rank >= 0)
        expect_eq(ARMCI_Uses_shm_grp(&far), test_node(0) == test_node(test_size - 1));
    ARMCI_Group_free(&far);
    ARMCI_Group_free(&near);
}
