/* complaints.c: see complaints.h. */
#include "mpi/host/complaints.h"

#include "base/log.h"
#include "base/settings.h"
#include "mpi/host/host.h"

/* Before any other constructor reads a setting. */
__attribute__((constructor(101))) static void hold_early(void) {
    settings_hold();
}

/* One round for each different set of complaints; mostly there is none. */
void complaints_agree(void) {
    int rank, ranks, lowest;
    uint32_t own = settings_complaints();
    host_Comm_rank(MPI_COMM_WORLD, &rank);
    host_Comm_size(MPI_COMM_WORLD, &ranks);
    for (;;) {
        int mine = own ? rank : ranks, same = 0;
        if (host_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS ||
            lowest == ranks)
            return;
        uint32_t code = own;
        host_Bcast(&code, 1, MPI_UINT32_T, lowest, MPI_COMM_WORLD);
        mine = code == own;
        host_Allreduce(&mine, &same, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == lowest)
            settings_complain(same, ranks);
        if (code == own) {
            settings_complained();
            own = 0;
        }
    }
}

void complaints_last(void) {
    if (log_is_first_rank())
        settings_complain(0, 0);
}
