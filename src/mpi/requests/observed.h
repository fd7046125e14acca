/* observed.h: the calls that complete requests, where Hearth does not manage messages: they go to MPI, and while a report is
 * wanted the receives among the completed requests are counted (observe/receives.h). */
#ifndef HEARTH_MPI_REQUESTS_OBSERVED_H
#define HEARTH_MPI_REQUESTS_OBSERVED_H

#include "mpi/observe/receives.h"
#include "mpi/requests/tracked.h"

#define OBSERVED(name, verb, params, args)                                                                   \
    int requests_observed_##verb##_slow params;                                                              \
    static inline int requests_observed_##verb params {                                                      \
        return UNLIKELY(receives_are_counted) ? requests_observed_##verb##_slow args : requests_##name args; \
    }

OBSERVED(Wait, wait, (MPI_Request * request, MPI_Status *status), (request, status))
OBSERVED(Test, test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
OBSERVED(Waitall, waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
         (count, requests, statuses))
OBSERVED(Testall, testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
         (count, requests, flag, statuses))
OBSERVED(Waitany, waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
         (count, requests, index, status))
OBSERVED(Testany, testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
         (count, requests, index, flag, status))
OBSERVED(Waitsome, waitsome,
         (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
         (count, requests, done, indices, statuses))
OBSERVED(Testsome, testsome,
         (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
         (count, requests, done, indices, statuses))
OBSERVED(Request_free, request_free, (MPI_Request * request), (request))
#undef OBSERVED

#endif
