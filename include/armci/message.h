/* message.h: messages, collectives and reductions beside one-sided communication; part of armci.h.
 *
 * None of them waits for one-sided operations. Processes, roots included, are named by absolute ids, in groups too.
 *
 * A scope says who takes part: all (of the group); those on the own node; or the first process of each node, the
 * others then return at once. What a node is, armci_domain_id says. */
#ifndef HAVE_ARMCI_MSG_H
#define HAVE_ARMCI_MSG_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum armci_scope_e { SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS };
enum armci_type_e { ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE };

int armci_msg_me(void);         /* the own absolute id */
int armci_msg_nproc(void);      /* how many processes there are */
void armci_msg_abort(int code); /* ends the job */
double armci_timer(void);       /* seconds, since some time in the past */

/* ---- messages ---- */

/* Messages of len bytes with a tag, as MPI_Send and MPI_Recv. buflen is the room that there is; msglen gets
 * the length of what came, and may be NULL. */
void armci_msg_snd(int tag, void *buffer, int len, int to);
void armci_msg_rcv(int tag, void *buffer, int buflen, int *msglen, int from);
int armci_msg_rcvany(int tag, void *buffer, int buflen, int *msglen); /* from anyone; returns from whom */

/* ---- collectives ---- */

/* All are here, or all of a group; one-sided operations may still be under way. */
void armci_msg_barrier(void);
void armci_msg_group_barrier(ARMCI_Group *group);

/* From the root to all that take part. */
void armci_msg_brdcst(void *buffer, int len, int root);
void armci_msg_bcast(void *buffer, int len, int root);
void armci_msg_bcast_scope(int scope, void *buffer, int len, int root);
void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group);

/* The place of this process in a binary tree; -1 where there is none. */
void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right);

/* Each brings its own entry of an array with one for each process, and gets those of all. */
void armci_exchange_address(void *ptr_ar[], int n);
void armci_exchange_address_grp(void *ptr_arr[], int n, ARMCI_Group *group);

/* ---- reductions ---- */

/* x[i] becomes x[i] of all taken together, for all. By the beginning of op:
 *      +  *  max  min
 *      absmax  absmin       of the magnitudes
 *      land &&  lor ||      of what is not 0, gives 0 or 1
 *      or  bor |  band &    of bits, not of floating point numbers */
void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type);
void armci_msg_igop(int *x, int n, char *op);
void armci_msg_lgop(long *x, int n, char *op);
void armci_msg_llgop(long long *x, int n, char *op);
void armci_msg_fgop(float *x, int n, char *op);
void armci_msg_dgop(double *x, int n, char *op);

/* The same of the members of a group. */
void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group);
void armci_msg_group_igop(int *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_lgop(long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_llgop(long long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_fgop(float *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_dgop(double *x, int n, char *op, ARMCI_Group *group);

/* Only the first process of the scope gets the result; x of the others is used up. */
void armci_msg_reduce(void *x, int n, char *op, int type);
void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type);

/* x is n bytes that begin with a value of the type. All get the x with the least ("min") or greatest ("max") value,
 * that of the lowest process if there are several. Who does not contribute only gets; if none does, nothing
 * changes. */
void armci_msg_sel(void *x, int n, char *op, int type, int contribute);
void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute);

/* ---- inside the own node ---- */

void armci_msg_clus_brdcst(void *buf, int len); /* from its first process */

/* Reductions as armci_msg_igop and its kin. */
void armci_msg_clus_igop(int *x, int n, char *op);
void armci_msg_clus_fgop(float *x, int n, char *op);
void armci_msg_clus_lgop(long *x, int n, char *op);
void armci_msg_clus_llgop(long long *x, int n, char *op);
void armci_msg_clus_dgop(double *x, int n, char *op);

/* From the member grp_master of a group to the grp_clus_nproc - 1 that follow it. */
void armci_grp_clus_brdcst(void *buf, int len, int grp_master, int grp_clus_nproc, ARMCI_Group *mastergroup);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
