/* receives.h: how many receives the program has posted and not completed, while a report is wanted and MPI matches the
 * messages.
 *
 * A receive counts from the call that posts it until the call that tells the program of its completion. MPI's own queue of
 * posted receives is at most that long: a receive leaves it when its message arrives. */
#ifndef HEARTH_MPI_RECEIVES_H
#define HEARTH_MPI_RECEIVES_H

#include "base/compiler.h"
#include "mpi/host/host.h"
#include "observe/json.h"

extern HIDDEN bool receives_are_counted;

/* Call in MPI_Init. */
void receives_open(bool counts, bool threads);

/* Each of these is called only while receives_are_counted. */
void receives_note_blocking(int source); /* before a call that posts a receive and waits for it */
void receives_note(int rc, int source, const MPI_Request *request); /* after the call that posted it */
void receives_note_persistent(int rc, int source, const MPI_Request *request); /* after MPI_Recv_init */
void receives_note_start(int count, const MPI_Request requests[]);             /* before MPI_Start */
/* The call that completes this request is about to return or cannot but return so; other requests are ignored. */
void receives_complete(MPI_Request request);
void receives_forget(MPI_Request request); /* MPI_Request_free */

/* Writes the member "receives", unless they were not counted. */
void receives_json(struct json *j);

#endif
