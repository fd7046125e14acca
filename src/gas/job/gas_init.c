/* gas_init.c: gasnet_init, which makes this process part of the job; gasnet_attach, which sets its handlers and segment;
 * and queries about the job.
 *
 * MPI launches the job, and is initialised here unless the program has done so. With HEARTH_NET=mpi the helper's thread
 * calls MPI too, so its thread level must allow that. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gas/am/am.h"
#include "gas/ex/ex.h"
#include "gas/process/gas_comm.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "gas/memory/ask.h"
#include "gas/coll/barrier.h"
#include "gas/rma/gas_handle.h"
#include "gas/coll/coll.h"
#include "gas/am/am_remote.h"
#include "gas/job/leave.h"
#include "gas/memory/gas_memory.h"
#include "gas/job/service.h"
#include "gas/job/sizes.h"
#include "observe/live.h"
#include "observe/output_part.h"

static uint64_t most_local, most_global;

/* ---- MPI ---- */

static int begin_mpi(int *argc, char ***argv) {
    int started, over, level,
        wanted = settings_get()->net == LINK_OVER_MPI ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    MPI_Finalized(&over);
    if (over)
        return gas_refuse(GASNET_ERR_RESOURCE, "gasnet_init",
                          "MPI is already finalised: call gasnet_init before MPI_Finalize");
    MPI_Initialized(&started);
    if (started)
        MPI_Query_thread(&level);
    else if (MPI_Init_thread(argc, argv, wanted, &level) != MPI_SUCCESS)
        return gas_refuse(GASNET_ERR_RESOURCE, "gasnet_init", "MPI cannot be initialised");
    if (level < MPI_THREAD_MULTIPLE && wanted == MPI_THREAD_MULTIPLE)
        return gas_refuse(
            GASNET_ERR_RESOURCE, "gasnet_init",
            "HEARTH_NET=mpi needs MPI_THREAD_MULTIPLE, which MPI was not initialised with: leave MPI_Init to "
            "gasnet_init, or call MPI_Init_thread");
    return GASNET_OK;
}

/* ---- opening ---- */

/* Before any other constructor reads a setting. */
__attribute__((constructor(101))) static void gas_announce(void) {
    settings_hold();
    output_part_announce();
}

static int open_comms(void) {
    MPI_Comm_dup(MPI_COMM_WORLD, &gas_comm.all);
    MPI_Comm_rank(gas_comm.all, &gas_job.rank);
    MPI_Comm_size(gas_comm.all, &gas_job.size);
    log_identify(gas_job.rank);
    live_open(LIVE_BY_GASNET, gas_job.rank, gas_job.size);
    net_boot_over(&gas_comm.all, &gas_job.boot);
    net_mpi_offer(NULL);
    int status = net_agree_on_settings(&gas_job.boot), machine = net_boot_machine(&gas_comm.all);
    if (status != 0)
        return status;
    gas_job.hosts = malloc((size_t)gas_job.size * sizeof *gas_job.hosts);
    if (!gas_job.hosts)
        return -ENOMEM;
    MPI_Allgather(&machine, 1, MPI_INT, gas_job.hosts, 1, MPI_INT, gas_comm.all);
    for (int i = 0; i < gas_job.size; i++)
        gas_job.machine_ranks += gas_job.hosts[i] == machine;
    status = net_world_open(&gas_job.boot, machine, (unsigned)settings_get()->node_ranks, &gas_job.world);
    if (status != 0)
        return status;
    MPI_Comm_split(gas_comm.all, gas_job.world->node, gas_job.rank, &gas_comm.node);
    net_boot_over(&gas_comm.node, &gas_job.node_boot);
    return 0;
}

static void find_sizes(void) {
    most_local = gas_sizes_most(gas_job.machine_ranks);
    MPI_Allreduce(&most_local, &most_global, 1, MPI_UINT64_T, MPI_MIN, gas_comm.all);
}

/* Everything that the helper's thread uses must exist before it starts. */
static int init_open_all(void) {
    int status = open_comms();
    gas_handle_open();
    if (status == 0)
        status = gas_memory_open();
    if (status == 0)
        status = gas_box_open();
    if (status == 0)
        status = gas_arrive_open();
    if (status == 0)
        status = net_open(&gas_job.boot, gas_job.world, &gas_service, &gas_comm.all, &gas_job.net);
    if (status == 0)
        status = gas_remote_open();
    return status;
}

int gasnet_init(int *argc, char ***argv) {
    if (atomic_load(&gas_job.stage) != GAS_NOTHING)
        return gas_refuse(GASNET_ERR_NOT_INIT, "gasnet_init", "it has already been called");
    int status = begin_mpi(argc, argv);
    if (status != GASNET_OK)
        return status;
    if (init_open_all() != 0)
        gas_fail("gasnet_init",
                 "GASNet cannot be initialised, see above"); /* no error code: others may have succeeded */
    find_sizes();
    log_debug(LOG_GAS, "rank %d of %d, on node %d of %d; segments may have %llu bytes here, %llu on all",
              gas_job.rank, gas_job.size, gas_job.world->node, gas_job.world->nodes,
              (unsigned long long)most_local, (unsigned long long)most_global);
    gas_leave_prepare();
    MPI_Barrier(gas_comm.all);
    atomic_store(&gas_job.stage, GAS_BEGUN);
    return GASNET_OK;
}
ALSO(int, init, (int *argc, char ***argv));

/* ---- attaching ---- */

static int register_at(int index, am_handler *fn) {
    if (gas_am_registered(index))
        return gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "two handlers with index %d", index);
    gas_am_register(index, fn);
    return GASNET_OK;
}

static int job_check_entry(const gasnet_handlerentry_t *e, int number) {
    if (!e->fnptr)
        return gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "entry %d of the table has no function",
                          number);
    if (e->index != 0 && e->index < AM_FIRST)
        return gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach",
                          "entry %d of the table has index %d: indices of the program are 128 to 255", number,
                          e->index);
    return GASNET_OK;
}

/* Assigns the lowest free index. All nodes with the same table get the same indices. */
static int assign(gasnet_handlerentry_t *e) {
    for (int index = AM_FIRST; index <= AM_LAST; index++)
        if (!gas_am_registered(index)) {
            gas_am_register(index, (am_handler *)e->fnptr);
            e->index = (gasnet_handler_t)index;
            return GASNET_OK;
        }
    return gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "more than %d handlers", AM_LAST - AM_FIRST + 1);
}

static int register_all(gasnet_handlerentry_t *table, int count) {
    int status = count < 0 || (count > 0 && !table)
                     ? gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "invalid table of %d handlers", count)
                     : GASNET_OK;
    for (int i = 0; i < count && status == GASNET_OK; i++) {
        status = job_check_entry(&table[i], i);
        if (status == GASNET_OK && table[i].index != 0)
            status = register_at(table[i].index, (am_handler *)table[i].fnptr);
    }
    for (int i = 0; i < count && status == GASNET_OK; i++)
        if (table[i].index == 0)
            status = assign(&table[i]);
    return status;
}

static void unregister_all(void) {
    for (int index = AM_FIRST; index <= AM_LAST; index++)
        gas_am_register(index, NULL);
}

static int job_check_size(const char *call, uintptr_t bytes) {
    if (bytes % GASNET_PAGESIZE != 0)
        return gas_refuse(GASNET_ERR_BAD_ARG, call,
                          "a segment of %llu bytes: the size must be a multiple of %d",
                          (unsigned long long)bytes, GASNET_PAGESIZE);
    if (bytes > most_local && most_local > 0) /* 0: unknown; the cause is reported later */
        return gas_refuse(GASNET_ERR_BAD_ARG, call,
                          "a segment of %llu bytes: the maximum is %llu (gasnet_getMaxLocalSegmentSize), "
                          "beside %llu that are promised to other jobs",
                          (unsigned long long)bytes, (unsigned long long)most_local,
                          (unsigned long long)gas_sizes_promised());
    return GASNET_OK;
}

/* An error at one rank is an error at all: none can continue alone. */
static int job_agree(int status) {
    int worst;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, gas_comm.all);
    return worst;
}

/* Collective. `status`: an error that this rank has found before. */
static int job_attach_memory(int status, uintptr_t bytes) {
    status = job_agree(status);
    log_debug(LOG_GAS, "attach: a segment of %llu bytes, %s", (unsigned long long)bytes,
              status == GASNET_OK ? "as all ranks agree" : "which a rank refuses");
    return status == GASNET_OK && gas_memory_attach(bytes) != 0 ? GASNET_ERR_RESOURCE
                                                                : status; /* on all ranks */
}

/* Collective: from now on messages may be sent and received. */
static void job_open_messages(void) {
    gas_barrier_open();
    gas_coll_open();
    gas_leave_attached();
    atomic_store(&gas_job.stage, GAS_ATTACHED);
    MPI_Barrier(gas_comm.all);
}

static int job_begin(const char *call, const char *name, unsigned flags, int *argc, char ***argv) {
    if (atomic_load(&gas_job.stage) != GAS_NOTHING)
        return gas_refuse(GASNET_ERR_NOT_INIT, call, "the job has already begun");
    int status = gasnet_init(argc, argv);
    if (status != GASNET_OK)
        return status;
    gas_ex_open(name, flags);
    job_open_messages();
    return GASNET_OK;
}

/* The barrier polls until all ranks have called; gas_memory_attach, which does not poll, then need not wait for them. */
static int job_attach(const char *call, uintptr_t bytes) {
    int status = job_check_size(call, bytes);
    gas_barrier();
    return job_attach_memory(status, bytes);
}

int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize, uintptr_t minheapoffset) {
    (void)minheapoffset; /* segments do not lie between stack and heap */
    if (atomic_load(&gas_job.stage) != GAS_BEGUN)
        return gas_refuse(GASNET_ERR_NOT_INIT, "gasnet_attach", "it must be called once, after gasnet_init");
    int status = register_all(table, numentries);
    if (status == GASNET_OK)
        status = job_check_size("gasnet_attach", segsize);
    status = job_attach_memory(status, segsize);
    if (status != GASNET_OK) {
        unregister_all();
        return status;
    }
    gas_ex_open("", 0);
    if (segsize > 0)
        gas_ex_bind();
    job_open_messages();
    return GASNET_OK;
}
ALSO(int, attach,
     (gasnet_handlerentry_t * table, int numentries, uintptr_t segsize, uintptr_t minheapoffset));

/* ---- the same by GASNet-EX ---- */

int gex_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *clientName, int *argc,
                    char ***argv, gex_Flags_t flags) {
    const char *call = "gex_Client_Init";
    if (!client_p || !ep_p || !tm_p)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "an address for a new object is NULL");
    if (!clientName || !*clientName)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "the client has no name");
    if (flags & ~(GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS))
        return gas_refuse(GASNET_ERR_BAD_ARG, call,
                          "flags 0x%x: only GEX_FLAG_USES_GASNET1 and GEX_FLAG_DEFER_THREADS are allowed",
                          flags);
    int status = job_begin(call, clientName, flags, argc, argv);
    if (status == GASNET_OK)
        gasnet_QueryGexObjects(client_p, ep_p, tm_p, NULL);
    return status;
}

int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size) {
    const char *call = "gex_Segment_Attach";
    gas_need(call, 0);
    gas_need_free(call);
    gas_ex_check_member(call, tm);
    if (UNLIKELY(tm != &gas_ex_all))
        gas_fail(call, "the team has %u of %d processes: it must be the team of all", tm->team->size,
                 gas_job.size);
    if (UNLIKELY(gas_ex_endpoint.bound))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "the endpoint already has a segment");
    if (UNLIKELY(size == 0))
        gas_fail(call, "a segment of 0 bytes: call it only for a segment");
    int status = job_attach(call, size);
    if (status != GASNET_OK)
        return status;
    gas_ex_bind();
    if (segment_p)
        *segment_p = &gas_ex_segment;
    gas_barrier();
    return GASNET_OK;
}

/* ---- queries ---- */

static void need_begun(const char *call) {
    if (UNLIKELY(atomic_load_explicit(&gas_job.stage, memory_order_relaxed) == GAS_NOTHING))
        gas_fail(call, "this process is not part of a job yet: call gasnet_init first");
}

gasnet_node_t gasnet_mynode(void) {
    need_begun("gasnet_mynode");
    return (gasnet_node_t)gas_job.rank;
}
ALSO(gasnet_node_t, mynode, (void));

gasnet_node_t gasnet_nodes(void) {
    need_begun("gasnet_nodes");
    return (gasnet_node_t)gas_job.size;
}
ALSO(gasnet_node_t, nodes, (void));

uintptr_t gasnet_getMaxLocalSegmentSize(void) {
    need_begun("gasnet_getMaxLocalSegmentSize");
    return (uintptr_t)most_local;
}
ALSO(uintptr_t, getMaxLocalSegmentSize, (void));

uintptr_t gasnet_getMaxGlobalSegmentSize(void) {
    need_begun("gasnet_getMaxGlobalSegmentSize");
    return (uintptr_t)most_global;
}
ALSO(uintptr_t, getMaxGlobalSegmentSize, (void));

/* A table may be shorter than the number of nodes. */
static int table_length(const char *call, const void *table, int entries) {
    if (!table || entries <= 0)
        return -gas_refuse(GASNET_ERR_BAD_ARG, call, "invalid table of %d entries", entries);
    return entries < gas_job.size ? entries : gas_job.size;
}

int gasnet_getSegmentInfo(gasnet_seginfo_t *table, int numentries) {
    if (!gas_is_attached())
        return gas_refuse(GASNET_ERR_NOT_INIT, "gasnet_getSegmentInfo",
                          "there are no segments yet: call gasnet_attach first");
    int count = table_length("gasnet_getSegmentInfo", table, numentries);
    if (count < 0)
        return -count;
    memcpy(table, gas_job.segments, (size_t)count * sizeof *table);
    return GASNET_OK;
}
ALSO(int, getSegmentInfo, (gasnet_seginfo_t * table, int numentries));

int gasnet_getNodeInfo(gasnet_nodeinfo_t *table, int numentries) {
    if (atomic_load(&gas_job.stage) == GAS_NOTHING)
        return gas_refuse(GASNET_ERR_NOT_INIT, "gasnet_getNodeInfo", "call gasnet_init first");
    int count = table_length("gasnet_getNodeInfo", table, numentries);
    if (count < 0)
        return -count;
    gas_job_nodes(table, count);
    return GASNET_OK;
}
ALSO(int, getNodeInfo, (gasnet_nodeinfo_t * table, int numentries));

/* The launchers pass the environment of the job to all processes. */
char *gasnet_getenv(const char *name) {
    return name ? getenv(name) : NULL;
}
ALSO(char *, getenv, (const char *name));
