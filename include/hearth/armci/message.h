/* message.h: ARMCI's messages, collectives and reductions; part of armci.h.
 *
 * None of these calls waits for one-sided operations. Processes and roots are named by absolute ids, in groups too
 * (except in armci_grp_clus_brdcst).
 *
 * A scope selects the participants: all processes (or all members of the group), those on the caller's node, or the
 * first process of each node. In the last case the other processes return at once. The nodes are those that
 * armci_domain_id reports. */
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

int armci_msg_me(void);         /* the caller's absolute id */
int armci_msg_nproc(void);      /* number of processes */
void armci_msg_abort(int code); /* ends the job */
double armci_timer(void);       /* seconds since an arbitrary time in the past */

/* ---- messages ---- */

/* Send and receive a message of len bytes with a tag, as MPI_Send and MPI_Recv. buflen is the size of the buffer.
 * *msglen receives the length of the message; msglen may be NULL. */
void armci_msg_snd(int tag, void *buffer, int len, int to);
void armci_msg_rcv(int tag, void *buffer, int buflen, int *msglen, int from);
int armci_msg_rcvany(int tag, void *buffer, int buflen, int *msglen); /* from any sender, which it returns */

/* ---- collectives ---- */

/* Barriers of all processes, and of a group. One-sided operations may still be in flight. */
void armci_msg_barrier(void);
void armci_msg_group_barrier(ARMCI_Group *group);

/* Broadcasts from the root to all participants. */
void armci_msg_brdcst(void *buffer, int len, int root);
void armci_msg_bcast(void *buffer, int len, int root);
void armci_msg_bcast_scope(int scope, void *buffer, int len, int root);
void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group);

/* Returns the caller's neighbours in a binary tree of the scope: absolute ids, -1 where there is none. */
void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right);

/* All-gather of addresses: each process sets its own entry of the array, and receives the entries of all. n must be the
 * number of processes or members. */
void armci_exchange_address(void *ptr_ar[], int n);
void armci_exchange_address_grp(void *ptr_arr[], int n, ARMCI_Group *group);

/* ---- reductions ---- */

/* Reduce x[0] to x[n - 1] element by element over all participants; all of them receive the result in x. op begins
 * with one of
 *      +  *  max  min
 *      absmax  absmin       greatest and least magnitude
 *      land &&  lor ||      logical; the result is 0 or 1
 *      or  bor |  band &    bitwise; integers only */
void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type);
void armci_msg_igop(int *x, int n, char *op);
void armci_msg_lgop(long *x, int n, char *op);
void armci_msg_llgop(long long *x, int n, char *op);
void armci_msg_fgop(float *x, int n, char *op);
void armci_msg_dgop(double *x, int n, char *op);

/* The same for the members of a group. */
void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group);
void armci_msg_group_igop(int *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_lgop(long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_llgop(long long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_fgop(float *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_dgop(double *x, int n, char *op, ARMCI_Group *group);

/* Only the first process of the scope receives the result; x of the others is undefined afterwards. */
void armci_msg_reduce(void *x, int n, char *op, int type);
void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type);

/* Select one structure. x has n bytes and begins with a value of the type. All participants receive the x with the
 * least ("min") or greatest ("max") value; among equal values, that of the lowest rank. A process whose contribute is 0
 * only receives. If no process contributes, nothing changes. */
void armci_msg_sel(void *x, int n, char *op, int type, int contribute);
void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute);

/* ---- collectives inside the caller's node ---- */

void armci_msg_clus_brdcst(void *buf, int len); /* from the node's first process */

/* Reductions over the processes of the node, as armci_msg_igop and related calls. */
void armci_msg_clus_igop(int *x, int n, char *op);
void armci_msg_clus_fgop(float *x, int n, char *op);
void armci_msg_clus_lgop(long *x, int n, char *op);
void armci_msg_clus_llgop(long long *x, int n, char *op);
void armci_msg_clus_dgop(double *x, int n, char *op);

/* Broadcast from the member with group rank grp_master to the next grp_clus_nproc - 1 members. The others return at
 * once. */
void armci_grp_clus_brdcst(void *buf, int len, int grp_master, int grp_clus_nproc, ARMCI_Group *mastergroup);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
