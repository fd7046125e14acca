/* tracked.h: MPI's calls that complete requests, for requests that are not of Hearth's messages. Those that are of gets are
 * concluded in the cache, and all others are sync events. While a report is wanted, the receives among the completed requests are counted
 * (observe/receives.h).
 *
 * `statuses` are pointers, because MPI_STATUSES_IGNORE is no array: GCC checks that an argument declared as [] has an element. */
#ifndef HEARTH_MPI_REQUESTS_TRACKED_H
#define HEARTH_MPI_REQUESTS_TRACKED_H

#include "mpi/host/host.h"

int requests_Wait(MPI_Request *request, MPI_Status *status);
int requests_Test(MPI_Request *request, int *flag, MPI_Status *status);
int requests_Waitall(int count, MPI_Request requests[], MPI_Status *statuses);
int requests_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses);
int requests_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status);
int requests_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int requests_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses);
int requests_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses);
int requests_Request_free(MPI_Request *request);
int requests_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
#if HEARTH_MPI_4_1
int requests_Request_get_status_all(int count, HEARTH_CONST MPI_Request requests[], int *flag,
                                    MPI_Status *statuses);
int requests_Request_get_status_any(int count, HEARTH_CONST MPI_Request requests[], int *index, int *flag,
                                    MPI_Status *status);
int requests_Request_get_status_some(int count, HEARTH_CONST MPI_Request requests[], int *done, int indices[],
                                     MPI_Status *statuses);
#endif

#endif
