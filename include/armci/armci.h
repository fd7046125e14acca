/* armci.h: one-sided communication, as Global Arrays and other programs for ARMCI-MPI know it.
 *
 * Names, arguments, sizes of the structures and values of the constants are those of ARMCI-MPI, so that a program or
 * library that was compiled for it links with this one. Functions return 0 unless stated otherwise; a mistake that a
 * call cannot report ends the job after a line on stderr.
 *
 * Processes are named by their absolute id, the rank among all. Addresses of remote memory are those that
 * ARMCI_Malloc gave for the target. */
#ifndef _ARMCI_H_ /* the name that ARMCI-MPI's header has: only one of the two is ever read */
#define _ARMCI_H_

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define ARMCI_MPI 3 /* the generation of ARMCI-MPI's interface, which programs test for */

typedef long armci_size_t;
#define ARMCII_MPI_SIZE_T MPI_LONG

/* ---- start and end ---- */

/* After MPI_Init. May be called several times, and is then ended by as many ARMCI_Finalize. */
int ARMCI_Init(void);
int ARMCI_Init_args(int *argc, char ***argv); /* the arguments are left alone */
int ARMCI_Init_thread(int armci_requested);   /* a level of MPI's, such as MPI_THREAD_SINGLE */
int ARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm); /* all processes are those of comm */
int ARMCI_Initialized(void);                                    /* 1 between the two, else 0 */
int ARMCI_Finalize(void);                                       /* collective, before MPI_Finalize */

void ARMCI_Cleanup(void);                    /* before the program ends the job by itself */
void ARMCI_Error(const char *msg, int code); /* ends the job */

/* ---- memory ---- */

/* Memory that others may read and write. Collective over all, or over a group: base_ptrs gets one address per
 * process, NULL where the size was 0. ARMCI_Free is collective too, each process with its own address. */
int ARMCI_Malloc(void **base_ptrs, armci_size_t size);
int ARMCI_Free(void *ptr);

/* Memory of this process alone, well aligned for transfers. */
void *ARMCI_Malloc_local(armci_size_t size);
int ARMCI_Free_local(void *ptr);

/* Around direct access to the own part of such memory. */
void ARMCI_Access_begin(void *ptr);
void ARMCI_Access_end(void *ptr);

void ARMCI_Copy(void *src, void *dst, int size); /* inside this process */

/* The same with a kind of memory by name; the name is not needed here. */
int ARMCI_Malloc_memdev(void **ptr_arr, armci_size_t bytes, const char *device);
int ARMCI_Free_memdev(void *ptr);

/* ---- order ---- */

void ARMCI_Fence(int proc); /* what this process started towards proc is done there */
void ARMCI_AllFence(void);  /* the same towards all */
void ARMCI_Barrier(void);   /* AllFence, and all processes are here */

/* ---- transfers ---- */

enum ARMCI_Acc_e { ARMCI_ACC_INT, ARMCI_ACC_LNG, ARMCI_ACC_FLT, ARMCI_ACC_DBL, ARMCI_ACC_CPL, ARMCI_ACC_DCP };

/* Copy so many bytes from src to dst: for a get src is the target's, else dst. A get returns when the data is
 * here; a put or accumulate when src may be changed, and is complete at the target after a fence. An
 * accumulate adds, dst += scale * src, in elements of an ARMCI_Acc_e; those of several processes to the same
 * memory do not disturb each other. */
int ARMCI_Get(void *src, void *dst, int size, int target);
int ARMCI_Put(void *src, void *dst, int size, int target);
int ARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);

/* The same of patches, strided: count[0] bytes in a row, count[1] rows that are stride[0] bytes apart, and so
 * on. There are stride_levels strides and one count more. */
int ARMCI_PutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
               int stride_levels, int proc);
int ARMCI_GetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
               int stride_levels, int proc);
int ARMCI_AccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
               int dst_stride_ar[], int count[], int stride_levels, int proc);

/* A put, and then a value into an int at the target, which may wait for it. */
int ARMCI_Put_flag(void *src, void *dst, int size, int *flag, int value, int proc);
int ARMCI_PutS_flag(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                    int stride_levels, int *flag, int value, int proc);

/* From a strided area of own memory into a buffer, and back. */
void armci_write_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);
void armci_read_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf);

/* Pieces of the same length, anywhere. */
typedef struct {
    void **src_ptr_array;
    void **dst_ptr_array;
    int bytes; /* of each piece */
    int ptr_array_len;
} armci_giov_t;

/* The same of pieces anywhere in memory: iov_len lists of them, each with pieces of one length. */
int ARMCI_PutV(armci_giov_t *iov, int iov_len, int proc);
int ARMCI_GetV(armci_giov_t *iov, int iov_len, int proc);
int ARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc);

/* Single values, given and returned as they are. */
int ARMCI_PutValueInt(int src, void *dst, int proc);
int ARMCI_PutValueLong(long src, void *dst, int proc);
int ARMCI_PutValueFloat(float src, void *dst, int proc);
int ARMCI_PutValueDouble(double src, void *dst, int proc);
int ARMCI_GetValueInt(void *src, int proc);
long ARMCI_GetValueLong(void *src, int proc);
float ARMCI_GetValueFloat(void *src, int proc);
double ARMCI_GetValueDouble(void *src, int proc);

/* ---- transfers that are waited for later ---- */

typedef struct armci_hdl_s {
    int target;
    int aggregate;
} armci_hdl_t;

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);               /* before its first use */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle);   /* several operations may then use it at once */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle); /* one at a time again */

/* ARMCI_NbX begins what ARMCI_X does and returns: until it was waited for, the source stays unchanged and the
 * destination is not looked at. With hdl = NULL they are waited for by ARMCI_WaitProc or ARMCI_WaitAll. */
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

int ARMCI_Wait(armci_hdl_t *hdl); /* for what has this handle, as if it had not begun with Nb */
int ARMCI_Test(armci_hdl_t *hdl); /* 0 when done */
int ARMCI_WaitProc(int proc);     /* what was begun towards proc without a handle */
int ARMCI_WaitAll(void);          /* all that was begun without a handle */

/* ---- atomics and mutexes ---- */

enum ARMCI_Rmw_e { ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP, ARMCI_SWAP_LONG };

/* Adds a value to an int or long of proc, or swaps it, in one step, also with those of other processes. The
 * old value comes back in *ploc, from which a swap also takes the new one. op is an ARMCI_Rmw_e. */
int ARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);

/* Mutexes 0 to count - 1 of each process, which any process may lock. One set at a time. */
int ARMCI_Create_mutexes(int count); /* collective; count may differ between processes */
int ARMCI_Destroy_mutexes(void);     /* collective, with none of them locked */
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

/* ---- groups ---- */

typedef struct {
    MPI_Comm comm; /* of the members, to be used by the program as it likes */
    MPI_Comm noncoll_pgroup_comm;
    int *grp_to_abs; /* [size] absolute ids */
    int *abs_to_grp; /* [number of all processes] MPI_UNDEFINED for those that are not members */
    int rank, size;  /* -1 and 0 if this process is no member */
} ARMCI_Group;

/* The processes pid_list[] of the default group, or of a parent, in this order. Collective over these alone; others may
 * call it too, and are no members of what they get. */
void ARMCI_Group_create(int grp_size, int *pid_list, ARMCI_Group *group_out);
void ARMCI_Group_create_child(int grp_size, int *pid_list, ARMCI_Group *group_out, ARMCI_Group *group_parent);
void ARMCI_Group_free(ARMCI_Group *group);

int ARMCI_Group_rank(ARMCI_Group *group, int *rank);  /* not 0, and *rank -1, if this process is no member */
void ARMCI_Group_size(ARMCI_Group *group, int *size); /* how many members it has */
int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank); /* of a member, from its rank in the group */

/* The parent of groups that ARMCI_Group_create makes; at first all processes. */
void ARMCI_Group_set_default(ARMCI_Group *group);
void ARMCI_Group_get_default(ARMCI_Group *group_out);
void ARMCI_Group_get_world(ARMCI_Group *group_out); /* all processes */

/* As ARMCI_Malloc and ARMCI_Free, collective over a group; one address per member, in the order of their
 * ranks. */
int ARMCI_Malloc_group(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group);
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);
int ARMCI_Malloc_group_memdev(void **ptr_arr, armci_size_t bytes, ARMCI_Group *group, const char *device);

/* ---- which processes share a node ---- */

enum armci_domain_e { ARMCI_DOMAIN_SMP };
typedef int armci_domain_t;

/* Nodes are numbered from 0; id < 0 is the own one. -1 for what does not exist. As for ARMCI-MPI each process
 * is a node of its own, unless HEARTH_ARMCI_TOPOLOGY=real. */
int armci_domain_count(armci_domain_t domain);                /* how many nodes there are */
int armci_domain_my_id(armci_domain_t domain);                /* which one this process is on */
int armci_domain_id(armci_domain_t domain, int glob_proc_id); /* which one another is on */
int armci_domain_nprocs(armci_domain_t domain, int id);       /* how many processes a node has */
int armci_domain_glob_proc_id(armci_domain_t domain, int id,
                              int loc_proc_id);            /* the process with a place in a node */
int armci_domain_same_id(armci_domain_t domain, int proc); /* 1 if proc is on the own node, else 0 */
int ARMCI_Same_node(int proc);                             /* the same */

int ARMCI_Uses_shm(void);                           /* 1 if there are nodes with several processes, else 0 */
int ARMCI_Uses_shm_grp(ARMCI_Group *group);         /* the same of a group's members */
void ARMCI_Set_shm_limit(unsigned long shmemlimit); /* does nothing: memory is taken as it is asked for */

/* ---- the same under the names that a profiler calls ---- */

/* PARMCI_X does what ARMCI_X does. A profiler defines ARMCI_X itself, and calls PARMCI_X from there. */

int PARMCI_Init(void);
int PARMCI_Init_args(int *argc, char ***argv);
int PARMCI_Init_thread(int armci_requested);
int PARMCI_Init_thread_comm(int armci_requested, MPI_Comm comm);
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
