/* armcix.h: ARMCI-MPI's extensions to ARMCI. */
#ifndef _ARMCIX_H_
#define _ARMCIX_H_

#include <stdint.h>

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Create groups as MPI_Comm_split and MPI_Comm_dup create communicators. Collective over the parent. Return MPI's
 * error code. */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group);
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group);

/* The communicator of the world group. It remains the library's. */
void ARMCIX_Get_world_comm(MPI_Comm *comm);

/* A set of mutexes. There may be any number of sets. */
struct armcix_mutex_hdl_s {
    int my_count;
    int max_count;
    ARMCI_Group grp;
    MPI_Win *windows;
    uint8_t **bases;
};
typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;

/* Create a set, of which this process owns count mutexes, and destroy it. Collective over the group; count may differ
 * between members. Return NULL and nonzero, respectively, on failure. */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup);
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/* Lock, try to lock and unlock a mutex of the member with group rank proc. */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc); /* 0: acquired */
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/* Makes progress on this process's operations. Not required: a helper thread serves the other nodes. */
void ARMCIX_Progress(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
