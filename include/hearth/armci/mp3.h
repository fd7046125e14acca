/* mp3.h: the macros by which programs for Global Arrays and ARMCI call their message library, here MPI. */
#ifndef _MP3_H_
#define _MP3_H_

#include <mpi.h>

#define MP_INIT(argc, argv) MPI_Init(&(argc), &(argv))
#define MP_FINALIZE()       MPI_Finalize()
#define MP_BARRIER()        MPI_Barrier(MPI_COMM_WORLD)
#define MP_PROCS(count)     MPI_Comm_size(MPI_COMM_WORLD, count)
#define MP_MYID(rank)       MPI_Comm_rank(MPI_COMM_WORLD, rank)
#define MP_TIMER()          MPI_Wtime()

#define GA_INIT(argc, argv)    GA_Initialize()
#define ARMCI_INIT(argc, argv) ARMCI_Init()

#endif
