/* armcix.h: what ARMCI-MPI adds to ARMCI. */
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

/* Groups made as MPI_Comm_split and MPI_Comm_dup make communicators. Collective over the parent. Not 0 if MPI
 * could not. */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group);
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group);

/* Sets of mutexes, as many as wanted. */
struct armcix_mutex_hdl_s {
    int my_count;
    int max_count;
    ARMCI_Group grp;
    MPI_Win *windows;
    uint8_t **bases;
};
typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;

/* Makes count mutexes of this process, and frees the set; collective over the group, count may differ. NULL,
 * or not 0, if that was not possible. */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *pgroup);
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/* A mutex of the member proc of the group. */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc); /* 0 if it is now locked */
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/* Sees to what has arrived. Not needed: a thread of its own does so. */
void ARMCIX_Progress(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
