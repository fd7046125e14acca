/* timer.c: the clock that programs compare with MP_TIMER() of mp3.h, which is MPI's. */
#include "armci/armci_internal.h"

double armci_timer(void) {
    return MPI_Wtime();
}
