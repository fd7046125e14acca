/* single.c: tests a process without MPI thread support: MPI's messages serve one port, and are refused for more.
 * configs: mpi */
#include "../mpi/test.h"

#include <errno.h>

#include "net/link/link.h"
#include "net/mpi/boot_mpi.h"

static int try_open(int ports, struct link **link) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct link_options options = {.kind = LINK_MPI, .most = 1000, .ports = ports, .comm = &world};
    net_mpi_offer(NULL);
    return net_link_open(&options, link);
}

CASE(one_port) {
    struct link *link = NULL;
    SKIP_IF(test_threads == MPI_THREAD_MULTIPLE, "this MPI always provides MPI_THREAD_MULTIPLE");
    if (expect_eq(try_open(1, &link), 0))
        net_link_close(link);
}

CASE(several_ports) {
    struct link *link = NULL;
    SKIP_IF(test_threads == MPI_THREAD_MULTIPLE, "this MPI always provides MPI_THREAD_MULTIPLE");
    expect_eq(try_open(2, &link), -ENOTSUP);
    expect(link == NULL);
}

/* If one rank cannot, all are refused, so that none continues alone. */
CASE(all_agree) {
    struct link *link = NULL;
    SKIP_IF(test_threads == MPI_THREAD_MULTIPLE, "this MPI always provides MPI_THREAD_MULTIPLE");
    expect_eq(try_open(test_rank == 0 ? 2 : 1, &link), -ENOTSUP);
    expect(link == NULL);
}
