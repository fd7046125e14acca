/* armci_init.c: initialisation and finalisation. Global Arrays and TCGMSG both initialise and finalise ARMCI: calls are
 * counted, and the last finalise closes it. If a program never finalises ARMCI, MPI_Finalize closes it.
 *
 * MPI_Init is defined here, in the same object as ARMCI_Init, so that it is linked wherever ARMCI is. If messages
 * between nodes go through MPI (HEARTH_NET=mpi), the helper's thread calls MPI too, so MPI is initialised with
 * MPI_THREAD_MULTIPLE. Otherwise the call is passed on unchanged, and no thread level is needed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "armci/engine.h"
#include "armci/mutex.h"
#include "armci/request/armci_count.h"
#include "armci/job/group.h"
#include "armci/request/armci_handle.h"
#include "armci/job/armci_internal.h"
#include "armci/request/locks.h"
#include "armci/request/armci_memory.h"
#include "base/log.h"
#include "base/settings.h"
#include "observe/live.h"
#include "observe/output_part.h"

/* ---- MPI initialisation ---- */

static bool needs_threads(void) {
    return settings_get()->net == LINK_OVER_MPI;
}

__attribute__((visibility("default"))) int MPI_Init(int *argc, char ***argv) {
    int provided;
    return needs_threads() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                           : PMPI_Init(argc, argv);
}

__attribute__((visibility("default"))) int MPI_Init_thread(int *argc, char ***argv, int required,
                                                           int *provided) {
    return PMPI_Init_thread(argc, argv, needs_threads() ? MPI_THREAD_MULTIPLE : required, provided);
}

#ifdef OPEN_MPI /* its Fortran bindings do not call the functions above */
void mpi_init_(MPI_Fint *status);
void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *status);

__attribute__((visibility("default"))) void mpi_init_(MPI_Fint *status) {
    *status = MPI_Init(NULL, NULL);
}

__attribute__((visibility("default"))) void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided,
                                                             MPI_Fint *status) {
    int got;
    *status = MPI_Init_thread(NULL, NULL, *required, &got);
    *provided = got;
}
#endif

static pid_t begun_by; /* a forked child must not finalise MPI */

static void job_finalize_mpi(void) {
    int over;
    if (getpid() != begun_by)
        return;
    MPI_Finalized(&over);
    if (!over)
        MPI_Finalize();
}

/* Initialises MPI if the program has not. ARMCI-MPI rejects such programs, but there are many. */
static void need_mpi(int level) {
    int started, provided;
    MPI_Initialized(&started);
    log_debug(LOG_ARMCI, "MPI is %s; threads at level %d are asked for",
              started ? "initialised already" : "initialised by ARMCI", level);
    if (started)
        return;
    if (level > MPI_THREAD_SINGLE)
        MPI_Init_thread(NULL, NULL, level, &provided);
    else
        MPI_Init(NULL, NULL);
    begun_by = getpid();
    atexit(job_finalize_mpi);
}

/* ---- closing ---- */

static int close_key = MPI_KEYVAL_INVALID;

static void job_close_all(void) {
    struct net_counts net;
    log_debug(LOG_ARMCI, "ARMCI closes, and waits for all operations");
    armci_job.opened = 1; /* for the calls below */
    PARMCI_WaitAll();     /* for requests that nobody waits for any more */
    PARMCI_AllFence();
    armci_check("ARMCI_Finalize", MPI_Barrier(armci_job.comm));
    armci_memory_close_reach();
    armci_engine_close(&net);
    armci_count_report(&net);
    live_close(LIVE_BY_ARMCI);
    armci_handle_close_all();
    armci_memory_close_all();
    armci_locks_close_all();
    armci_mutex_forget();
    armci_group_close();
    armci_engine_free();
    armci_job = (struct armci){0};
}

/* MPI_Finalize with ARMCI still open. Closes ARMCI before MPI starts to finalise: after that MPICH no longer expects
 * calls from several threads. */
__attribute__((visibility("default"))) int MPI_Finalize(void) {
    if (armci_job.opened > 0)
        job_close_all();
    return PMPI_Finalize();
}

#ifdef OPEN_MPI
void mpi_finalize_(MPI_Fint *status);

__attribute__((visibility("default"))) void mpi_finalize_(MPI_Fint *status) {
    *status = MPI_Finalize();
}
#endif

/* The same, if MPI_Finalize was called without passing through us. */
static int close_with_mpi(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    if (armci_job.opened > 0)
        job_close_all();
    return MPI_SUCCESS;
}

static void close_when_mpi_ends(void) {
    if (close_key != MPI_KEYVAL_INVALID)
        return;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_with_mpi, &close_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, close_key, NULL);
}

/* ---- opening ---- */

/* Before any other constructor reads a setting. */
__attribute__((constructor(101))) static void armci_announce(void) {
    settings_hold();
    output_part_announce();
}

static bool is_threaded(void) {
    int level;
    return MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

static int job_open_all(MPI_Comm comm) {
    armci_job.threaded = is_threaded();
    armci_check("ARMCI_Init", MPI_Comm_dup(comm, &armci_job.comm));
    MPI_Comm_rank(armci_job.comm, &armci_job.rank);
    MPI_Comm_size(armci_job.comm, &armci_job.size);
    log_identify(armci_job.rank);
    live_open(LIVE_BY_ARMCI, armci_job.rank, armci_job.size);
    armci_count_show();
    net_boot_over(&armci_job.comm, &armci_job.boot);
    net_mpi_offer(NULL);
    int status = net_agree_on_settings(&armci_job.boot);
    if (status == 0)
        status = net_world_open(&armci_job.boot, net_boot_machine(&armci_job.comm),
                                (unsigned)settings_get()->node_ranks, &armci_job.world);
    if (status == 0) {
        armci_job.reserve = net_world_share(armci_job.world, &armci_job.boot, net_reserve_bytes());
        status = armci_job.reserve ? armci_group_open() : -ENOMEM;
    }
    if (status == 0)
        status = armci_engine_open();
    if (status != 0)
        return status;
    armci_job.lock_table = net_lock_table(armci_job.net);
    armci_memory_open();
    close_when_mpi_ends();
    /* The helpers' threads use all of this as soon as a request arrives. */
    armci_check("ARMCI_Init", MPI_Barrier(armci_job.comm));
    return 0;
}

int PARMCI_Init_thread_comm(int level, MPI_Comm comm) {
    (void)level; /* MPI's thread level counts: with MPI_THREAD_MULTIPLE, threads may call concurrently */
    if (armci_job.opened++ > 0)
        return 0;
    if (job_open_all(comm) != 0)
        armci_fail("ARMCI_Init", "cannot initialise ARMCI, see above");
    return 0;
}
ALIAS(int, ARMCI_Init_thread_comm, (int level, MPI_Comm comm));

int PARMCI_Init_mpi_comm(MPI_Comm comm) {
    return PARMCI_Init_thread_comm(MPI_THREAD_SINGLE, comm);
}
ALIAS(int, ARMCI_Init_mpi_comm, (MPI_Comm comm));

int PARMCI_Init_thread(int level) {
    need_mpi(level);
    return PARMCI_Init_thread_comm(level, MPI_COMM_WORLD);
}
ALIAS(int, ARMCI_Init_thread, (int level));

int PARMCI_Init(void) {
    return PARMCI_Init_thread(MPI_THREAD_SINGLE);
}
ALIAS(int, ARMCI_Init, (void));

int PARMCI_Init_args(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return PARMCI_Init();
}
ALIAS(int, ARMCI_Init_args, (int *argc, char ***argv));

int PARMCI_Initialized(void) {
    return armci_job.opened > 0;
}
ALIAS(int, ARMCI_Initialized, (void));

int PARMCI_Finalize(void) {
    if (armci_job.opened == 0)
        return 0;
    if (--armci_job.opened == 0)
        job_close_all();
    return 0;
}
ALIAS(int, ARMCI_Finalize, (void));
