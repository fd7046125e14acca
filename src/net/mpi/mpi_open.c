/* mpi_open.c: opens the link over MPI: creates its two communicators, and finds out whether all processes run on one
 * machine. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "net/mpi/boot_mpi.h"
#include "net/mpi/mpi_link.h"

int net_link_mpi_error(int code, const char *what, int rank) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(code, text, &length);
    if (rank < 0)
        log_error("network mpi: %s: %s", what, text);
    else
        log_error("network mpi: %s, rank %d: %s", what, rank, text);
    return -EIO;
}

#ifdef HEARTH_WITHOUT_UCX
#define OR_OVER_UCX ""
#else
#define OR_OVER_UCX ", or set HEARTH_NET=ucx"
#endif

static int check_threads(const struct link_options *options) {
    int level;
    PMPI_Query_thread(&level);
    if (options->ports <= 1 || level == MPI_THREAD_MULTIPLE)
        return 0;
    log_error("network mpi: needs MPI_THREAD_MULTIPLE, which MPI does not provide: call "
              "MPI_Init_thread" OR_OVER_UCX);
    return -ENOTSUP;
}

/* All agree before they create communicators together, so that no process waits there for one that failed. */
static int agree(int status, MPI_Comm comm) {
    int worst;
    return PMPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS ? worst : -EIO;
}

static int find_machine(struct mpi_link *l, MPI_Comm comm) {
    MPI_Comm machine;
    int here, all;
    int code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    if (code != MPI_SUCCESS)
        return net_link_mpi_error(code, "MPI_Comm_split_type", -1);
    PMPI_Comm_size(machine, &here);
    PMPI_Comm_size(comm, &all);
    PMPI_Comm_free(&machine);
    l->one_machine = here == all;
    return 0;
}

/* Not MPI_Comm_dup, which would invoke the program's attribute callbacks. A process in which one fails still takes part in the
 * next. */
static int make_comms(struct mpi_link *l, MPI_Comm comm) {
    int rank, status = 0;
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 2; i++) {
        int code = PMPI_Comm_split(comm, 0, rank, &l->comms[i]);
        if (code != MPI_SUCCESS) {
            status = net_link_mpi_error(code, "MPI_Comm_split", rank);
            l->comms[i] = MPI_COMM_NULL;
        } else {
            PMPI_Comm_set_errhandler(l->comms[i], MPI_ERRORS_RETURN);
        }
    }
    return status;
}

void net_link_mpi_close(struct link *link) {
    struct mpi_link *l = (struct mpi_link *)link;
    int over = 0;
    PMPI_Finalized(&over);
    for (int i = 0; i < 2; i++)
        if (!over && l->comms[i] != MPI_COMM_NULL)
            PMPI_Comm_free(&l->comms[i]);
    free(l);
}

static void *(*find_below)(const char *name);

void net_mpi_offer(void *(*find_mpi)(const char *name)) {
    find_below = find_mpi;
    net_link_offer_mpi(&net_link_mpi);
}

static void *find_call(const char *name, void *linked) {
    void *found = find_below ? find_below(name) : NULL;
    return found ? found : linked;
}

/* A function pointer and a data pointer have the same representation wherever dlsym exists. */
#define FIND_CALL(into, name) (*(void **)&(into) = find_call("MPI_" #name, (void *)PMPI_##name))

static void find_calls(struct link_mpi_calls *calls) {
    FIND_CALL(calls->isend, Isend);
    FIND_CALL(calls->improbe, Improbe);
    FIND_CALL(calls->imrecv, Imrecv);
    FIND_CALL(calls->iprobe, Iprobe);
    FIND_CALL(calls->test, Test);
    FIND_CALL(calls->testsome, Testsome);
}

int net_link_mpi_open(const struct link_options *options, struct link **link) {
    MPI_Comm comm = *(const MPI_Comm *)options->comm;
    if (options->most > INT_MAX / 2) {
        log_error("network mpi: messages of %zu bytes are too large", options->most);
        return -EINVAL;
    }
    struct mpi_link *l = calloc(1, sizeof *l);
    if (!l)
        log_error("network mpi: no memory");
    int status = agree(l ? check_threads(options) : -ENOMEM, comm);
    if (status != 0) {
        free(l);
        return status;
    }
    *l = (struct mpi_link){
        .base = {.network = &net_link_mpi}, .comms = {MPI_COMM_NULL, MPI_COMM_NULL}, .most = options->most};
    find_calls(&l->calls);
    status = agree(find_machine(l, comm), comm);
    status = status ? status : make_comms(l, comm);
    if (status != 0) {
        net_link_mpi_close(&l->base);
        return status;
    }
    *link = &l->base;
    return 0;
}
