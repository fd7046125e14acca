/* timer.c: armci_timer is MPI_Wtime, because programs compare it with MP_TIMER() of mp3.h, which is MPI_Wtime too. */
#include "armci/job/armci_internal.h"

double armci_timer(void) {
    return MPI_Wtime();
}
