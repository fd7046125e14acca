/* node_comm.c: keeps the part of a communicator on this node as an attribute of it: to make one takes longer than all the
 * rest of creating a window. */
#include "mpi/serve/node_comm.h"

#include <pthread.h>

#include "mpi/serve/serve_agree.h"
#include "mpi/serve/served.h"

static int keyval = MPI_KEYVAL_INVALID;

/* The attribute is a pointer, which holds the handle itself: an int in one MPI, a pointer in the other. */
static void *pack_comm(MPI_Comm comm) {
    void *p = NULL;
    memcpy(&p, &comm, sizeof comm);
    return p;
}

static MPI_Comm unpack_comm(void *p) {
    MPI_Comm comm;
    memcpy(&comm, &p, sizeof comm);
    return comm;
}
_Static_assert(sizeof(MPI_Comm) <= sizeof(void *), "a handle fits into a pointer");

static bool is_predefined(MPI_Comm comm) {
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

/* All processes free the communicator, so they free its part, too. MPI_Finalize does so for the predefined ones, when
 * communicators can no longer be freed. */
static int node_comm_delete(MPI_Comm comm, int key, void *value, void *state) {
    (void)key, (void)state;
    MPI_Comm node = unpack_comm(value);
    if (!is_predefined(comm))
        serve_host.Comm_free(&node);
    return MPI_SUCCESS;
}

static void make_keyval(void) {
    if (host_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, node_comm_delete, &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
}

/* On all ranks or on none: if one has no part, those of the others are removed again. */
static MPI_Comm node_comm_make(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    bool made =
        serve_host.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS;
    if (made)
        host_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    bool kept = made && keyval != MPI_KEYVAL_INVALID &&
                host_Comm_set_attr(comm, keyval, pack_comm(node)) == MPI_SUCCESS;
    if (serve_agree(kept, comm))
        return node;
    if (kept)
        host_Comm_delete_attr(comm, keyval);
    if (made && (!kept || is_predefined(comm))) /* else node_comm_delete has freed it */
        serve_host.Comm_free(&node);
    return MPI_COMM_NULL;
}

MPI_Comm serve_node_comm(MPI_Comm comm) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *kept;
    int found = 0;
    pthread_once(&once, make_keyval);
    if (keyval != MPI_KEYVAL_INVALID && host_Comm_get_attr(comm, keyval, &kept, &found) == MPI_SUCCESS &&
        found)
        return unpack_comm(kept);
    return node_comm_make(comm);
}
