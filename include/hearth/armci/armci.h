/* armci.h: the ARMCI interface for one-sided communication, compatible with ARMCI-MPI.
 *
 * Names, arguments, structure sizes and constants are those of ARMCI-MPI, so that programs and libraries compiled for
 * ARMCI-MPI, such as Global Arrays, link with this library. Functions return 0 unless stated otherwise. An error that
 * a call cannot return ends the job, with a line on stderr.
 *
 * Processes are named by their absolute id, which is the rank among all processes. The address of remote memory is
 * the one that ARMCI_Malloc returned for the target. A process that is its own target may pass any address of its
 * own. */
#ifndef _ARMCI_H_ /* the guard of ARMCI-MPI's header: a program can include only one of the two */
#define _ARMCI_H_

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define ARMCI_MPI 3 /* version of ARMCI-MPI's interface, which programs test */

typedef long armci_size_t;
#define ARMCII_MPI_SIZE_T MPI_LONG

/* ---- start and end ---- */

/* Collective. Initialise ARMCI, and MPI as well if the program has not done so (not the two with a communicator). They
 * may be called several times; as many calls of ARMCI_Finalize, or MPI_Finalize, end ARMCI. */
int ARMCI_Init(void);
int ARMCI_Init_args(int *argc, char ***argv); /* the arguments are ignored */
int ARMCI_Init_thread(int armci_requested);   /* MPI thread level, used only to initialise MPI */
int ARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm); /* "all processes" are those of comm */
int ARMCI_Init_mpi_comm(MPI_Comm comm);                         /* the same */
int ARMCI_Initialized(void); /* 1 after ARMCI_Init and before the end, else 0 */
int ARMCI_Finalize(void);    /* collective, before MPI_Finalize */

void ARMCI_Cleanup(void);                    /* for programs that end the job themselves; does nothing */
void ARMCI_Error(const char *msg, int code); /* prints msg and ends the job */

/* ---- memory ---- */

/* Allocate and free memory that other processes may access. Collective over all processes. The sizes may differ:
 * base_ptrs receives the address of each process, NULL where the size was 0. ARMCI_Malloc returns nonzero on all
 * processes if memory does not suffice. Each process passes its own address to ARMCI_Free. */
int ARMCI_Malloc(void **base_ptrs, armci_size_t size);
int ARMCI_Free(void *ptr);

/* Allocate and free private memory of this process, aligned to a cache line. */
void *ARMCI_Malloc_local(armci_size_t size);
int ARMCI_Free_local(void *ptr);

/* Called before and after loads and stores to the caller's own part of memory from ARMCI_Malloc. */
void ARMCI_Access_begin(void *ptr);
void ARMCI_Access_end(void *ptr);

void ARMCI_Copy(void *src, void *dst, int size); /* memcpy with src first */

/* The same as ARMCI_Malloc and ARMCI_Free. device, which names a kind of memory, is ignored. */
int ARMCI_Malloc_memdev(void **ptr_arr, armci_size_t bytes, const char *device);
int ARMCI_Free_memdev(void *ptr);

/* ---- fences and barrier ---- */

void ARMCI_Fence(int proc); /* this process's operations on proc are complete there */
void ARMCI_AllFence(void);  /* the same for all targets */
void ARMCI_Barrier(void);   /* AllFence, then a barrier of all processes */

/* ---- transfers ---- */

enum ARMCI_Acc_e { ARMCI_ACC_INT, ARMCI_ACC_LNG, ARMCI_ACC_FLT, ARMCI_ACC_DBL, ARMCI_ACC_CPL, ARMCI_ACC_DCP };

/* Copy bytes from src to dst. For a get, src is memory of the target; for a put or accumulate, dst is. A get returns
 * when the data has arrived. A put or accumulate returns when src may be changed, and is complete at the target after
 * a fence. An accumulate computes dst += scale * src on elements of the type `datatype`, an ARMCI_Acc_e; concurrent
 * accumulates to the same memory are atomic per element. */
int ARMCI_Get(void *src, void *dst, int size, int target);
int ARMCI_Put(void *src, void *dst, int size, int target);
int ARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);

/* The same for strided patches: rows of count[0] bytes, count[1] rows at distances of stride[0] bytes, and so on.
 * There are stride_levels strides and stride_levels + 1 counts. */
int ARMCI_PutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
               int stride_levels, int proc);
int ARMCI_GetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
               int stride_levels, int proc);
int ARMCI_AccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
               int dst_stride_ar[], int count[], int stride_levels, int proc);

/* A put that then stores value in *flag at the target, after the data, so that the target can poll the flag. */
int ARMCI_Put_flag(void *src, void *dst, int size, int *flag, int value, int proc);
int ARMCI_PutS_flag(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                    int stride_levels, int *flag, int value, int proc);

/* Pack a strided patch of local memory into buf (write), and unpack it (read). */
void armci_write_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);
void armci_read_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);

/* A list of pieces of equal length at arbitrary addresses. */
typedef struct {
    void **src_ptr_array;
    void **dst_ptr_array;
    int bytes; /* of each piece */
    int ptr_array_len;
} armci_giov_t;

/* The same for iov_len lists of pieces; each list has its own piece length. */
int ARMCI_PutV(armci_giov_t *iov, int iov_len, int proc);
int ARMCI_GetV(armci_giov_t *iov, int iov_len, int proc);
int ARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc);

/* Puts and gets of a single value, passed and returned by value. */
int ARMCI_PutValueInt(int src, void *dst, int proc);
int ARMCI_PutValueLong(long src, void *dst, int proc);
int ARMCI_PutValueFloat(float src, void *dst, int proc);
int ARMCI_PutValueDouble(double src, void *dst, int proc);
int ARMCI_GetValueInt(void *src, int proc);
long ARMCI_GetValueLong(void *src, int proc);
float ARMCI_GetValueFloat(void *src, int proc);
double ARMCI_GetValueDouble(void *src, int proc);

/* ---- non-blocking transfers ---- */

typedef struct armci_hdl_s {
    int target;
    int aggregate;
} armci_hdl_t;

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl); /* initialises a handle; required before its first use */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle);   /* several operations may use the handle */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle); /* only one operation at a time may */

/* ARMCI_NbX starts the operation of ARMCI_X and returns. Until the program has waited for it, the program must not
 * change the source, nor read the destination. If hdl is NULL, wait with ARMCI_WaitProc or ARMCI_WaitAll. */
int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                 int stride_levels, int proc, armci_hdl_t *hdl);
int ARMCI_NbGetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                 int stride_levels, int proc, armci_hdl_t *hdl);
int ARMCI_NbAccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                 int dst_stride_ar[], int count[], int stride_levels, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int ARMCI_NbGetV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int ARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int ARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);

/* Wait for non-blocking operations. After that they are in the state in which the blocking call returns: a get has
 * arrived; the source of a put or accumulate may be changed. */
int ARMCI_Wait(armci_hdl_t *hdl); /* for the operations of this handle */
int ARMCI_Test(armci_hdl_t *hdl); /* does not wait: 0 if they are complete, else 1 */
int ARMCI_WaitProc(int proc);     /* for all operations on proc, with and without a handle */
int ARMCI_WaitAll(void);          /* for all operations, with and without a handle */

/* ---- atomics and mutexes ---- */

enum ARMCI_Rmw_e { ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP, ARMCI_SWAP_LONG };

/* Atomically adds value to the int or long at prem of proc, or swaps it with *ploc. Returns the old value in *ploc.
 * op is an ARMCI_Rmw_e. */
int ARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);

/* Each process owns mutexes 0 to count - 1, which any process may lock. Only one set exists at a time. */
int ARMCI_Create_mutexes(int count); /* collective; count may differ between processes */
int ARMCI_Destroy_mutexes(void);     /* collective; no mutex may be locked */
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

/* ---- groups ---- */

typedef struct {
    MPI_Comm comm; /* of the members; the program may use it */
    MPI_Comm noncoll_pgroup_comm;
    int *grp_to_abs; /* [size] absolute ids */
    int *abs_to_grp; /* [number of all processes] ranks in the group; MPI_UNDEFINED: not a member */
    int rank, size;  /* -1 and 0 if this process is not a member */
} ARMCI_Group;

/* Create a group of the processes pid_list[], in this order, and free it. The entries of pid_list are ranks in the
 * default group, or in the parent. Creation is collective over the listed processes only; any other caller gets a group
 * of which it is not a member. */
void ARMCI_Group_create(int grp_size, int *pid_list, ARMCI_Group *group_out);
void ARMCI_Group_create_child(int grp_size, int *pid_list, ARMCI_Group *group_out, ARMCI_Group *group_parent);
void ARMCI_Group_free(ARMCI_Group *group);

int ARMCI_Group_rank(ARMCI_Group *group, int *rank);       /* nonzero, and *rank -1: not a member */
void ARMCI_Group_size(ARMCI_Group *group, int *size);      /* number of members */
int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank); /* of the member with this rank */

/* Set and get the default group, the parent for ARMCI_Group_create. Initially it has all processes. */
void ARMCI_Group_set_default(ARMCI_Group *group);
void ARMCI_Group_get_default(ARMCI_Group *group_out);
void ARMCI_Group_get_world(ARMCI_Group *group_out); /* all processes */

/* As ARMCI_Malloc and ARMCI_Free, collective over a group; one address per member, in the order of their group
 * ranks. */
int ARMCI_Malloc_group(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group);
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);
int ARMCI_Malloc_group_memdev(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group, const char *device);

/* ---- which processes share a node ---- */

enum armci_domain_e { ARMCI_DOMAIN_SMP };
typedef int armci_domain_t;

/* Nodes are numbered from 0. id < 0 is the caller's node. The calls return -1 for a node or process that does not
 * exist. Each process is reported as a node of its own, as by ARMCI-MPI, unless HEARTH_ARMCI_TOPOLOGY=real. */
int armci_domain_count(armci_domain_t domain);                /* number of nodes */
int armci_domain_my_id(armci_domain_t domain);                /* the caller's node */
int armci_domain_id(armci_domain_t domain, int glob_proc_id); /* the node of another process */
int armci_domain_nprocs(armci_domain_t domain, int id);       /* number of processes on a node */
int armci_domain_glob_proc_id(armci_domain_t domain, int id,
                              int loc_proc_id);            /* absolute id, from the index on a node */
int armci_domain_same_id(armci_domain_t domain, int proc); /* 1 if proc is on the caller's node, else 0 */
int ARMCI_Same_node(int proc);                             /* the same */

int ARMCI_Uses_shm(void);                           /* 1 if a node has several processes, else 0 */
int ARMCI_Uses_shm_grp(ARMCI_Group *group);         /* 1 if a node has several members, else 0 */
void ARMCI_Set_shm_limit(unsigned long shmemlimit); /* does nothing: memory is allocated on demand */

/* ---- the profiling interface: PARMCI names ---- */

/* PARMCI_X is the same as ARMCI_X. A profiler defines ARMCI_X, and calls PARMCI_X from there. */

int PARMCI_Init(void);
int PARMCI_Init_args(int *argc, char ***argv);
int PARMCI_Init_thread(int armci_requested);
int PARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm);
int PARMCI_Init_mpi_comm(MPI_Comm comm);
int PARMCI_Initialized(void);
int PARMCI_Finalize(void);

int PARMCI_Malloc(void **base_ptrs, armci_size_t size);
int PARMCI_Free(void *ptr);
void *PARMCI_Malloc_local(armci_size_t size);
int PARMCI_Free_local(void *ptr);
void PARMCI_Access_begin(void *ptr);
void PARMCI_Access_end(void *ptr);
int PARMCI_Malloc_memdev(void **ptr_arr, armci_size_t bytes, const char *device);
int PARMCI_Malloc_group_memdev(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group, const char *device);
int PARMCI_Free_memdev(void *ptr);

void PARMCI_Fence(int proc);
void PARMCI_AllFence(void);
void PARMCI_Barrier(void);

int PARMCI_Get(void *src, void *dst, int size, int target);
int PARMCI_Put(void *src, void *dst, int size, int target);
int PARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);
int PARMCI_PutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                int stride_levels, int proc);
int PARMCI_GetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                int stride_levels, int proc);
int PARMCI_AccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                int dst_stride_ar[], int count[], int stride_levels, int proc);
int PARMCI_Put_flag(void *src, void *dst, int size, int *flag, int value, int proc);
int PARMCI_PutS_flag(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                     int stride_levels, int *flag, int value, int proc);
int PARMCI_PutV(armci_giov_t *iov, int iov_len, int proc);
int PARMCI_GetV(armci_giov_t *iov, int iov_len, int proc);
int PARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc);
int PARMCI_PutValueInt(int src, void *dst, int proc);
int PARMCI_PutValueLong(long src, void *dst, int proc);
int PARMCI_PutValueFloat(float src, void *dst, int proc);
int PARMCI_PutValueDouble(double src, void *dst, int proc);
int PARMCI_GetValueInt(void *src, int proc);
long PARMCI_GetValueLong(void *src, int proc);
float PARMCI_GetValueFloat(void *src, int proc);
double PARMCI_GetValueDouble(void *src, int proc);

int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                  int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbGetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                  int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbAccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                  int dst_stride_ar[], int count[], int stride_levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int PARMCI_NbGetV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int PARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle);
int PARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_Wait(armci_hdl_t *hdl);
int PARMCI_Test(armci_hdl_t *hdl);
int PARMCI_WaitProc(int proc);
int PARMCI_WaitAll(void);

int PARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);
int PARMCI_Create_mutexes(int count);
int PARMCI_Destroy_mutexes(void);
void PARMCI_Lock(int mutex, int proc);
void PARMCI_Unlock(int mutex, int proc);

void parmci_msg_barrier(void);
void parmci_msg_group_barrier(ARMCI_Group *group);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#include "message.h"

#endif
