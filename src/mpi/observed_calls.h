/* observed_calls.h: the calls that the report counts by target, source or destination.
 *
 * OBSERVE(name) is the second element of OBSERVED_name, or nothing where that is not defined: it notes a call that succeeded
 * and stands for `ticks`, with the arguments as calls.def names them. */
#ifndef HEARTH_MPI_OBSERVED_CALLS_H
#define HEARTH_MPI_OBSERVED_CALLS_H

#include "mpi/rma/record/record_targets.h"

#define OBSERVED_GET      , rma_record_target(win, target, ACCESS_GET, tcount, ttype, ticks)
#define OBSERVED_PUT      , rma_record_target(win, target, ACCESS_PUT, tcount, ttype, ticks)
#define OBSERVED_EPOCH    , rma_record_target(win, target, ACCESS_SYNC, 0, MPI_BYTE, ticks)
#define OBSERVED_SEND     , targets_note_message(comm, dest, ACCESS_MESSAGE, count, type, ticks)
#define OBSERVED_EXCHANGE , targets_note_message(comm, dest, ACCESS_MESSAGE, scount, stype, ticks)
#define OBSERVED_RECEIVE  , targets_note_message(comm, source, ACCESS_SYNC, 0, MPI_BYTE, ticks)
#define OBSERVED_ATOMIC(count, type)                                                                         \
    , rma_record_target(win, target, op == MPI_NO_OP ? ACCESS_GET : ACCESS_PUT, count, type, ticks)
#define OBSERVED_Compare_and_swap          , rma_record_target(win, target, ACCESS_PUT, 1, type, ticks)
#define OBSERVED_Fetch_and_op              OBSERVED_ATOMIC(1, type)
#define OBSERVED_Get_accumulate            OBSERVED_ATOMIC(tcount, ttype)
#define OBSERVED_Get_accumulate_c          OBSERVED_ATOMIC(tcount, ttype)
#define OBSERVED_Rget_accumulate           OBSERVED_ATOMIC(tcount, ttype)
#define OBSERVED_Rget_accumulate_c         OBSERVED_ATOMIC(tcount, ttype)
#define OBSERVED_Get                       OBSERVED_GET
#define OBSERVED_Get_c                     OBSERVED_GET
#define OBSERVED_Rget                      OBSERVED_GET
#define OBSERVED_Rget_c                    OBSERVED_GET
#define OBSERVED_Put                       OBSERVED_PUT
#define OBSERVED_Put_c                     OBSERVED_PUT
#define OBSERVED_Rput                      OBSERVED_PUT
#define OBSERVED_Rput_c                    OBSERVED_PUT
#define OBSERVED_Accumulate                OBSERVED_PUT
#define OBSERVED_Accumulate_c              OBSERVED_PUT
#define OBSERVED_Raccumulate               OBSERVED_PUT
#define OBSERVED_Raccumulate_c             OBSERVED_PUT
#define OBSERVED_Win_flush                 OBSERVED_EPOCH
#define OBSERVED_Win_flush_local           OBSERVED_EPOCH
#define OBSERVED_Win_lock                  OBSERVED_EPOCH
#define OBSERVED_Win_unlock                OBSERVED_EPOCH
#define OBSERVED_Send                      OBSERVED_SEND
#define OBSERVED_Send_c                    OBSERVED_SEND
#define OBSERVED_Bsend                     OBSERVED_SEND
#define OBSERVED_Bsend_c                   OBSERVED_SEND
#define OBSERVED_Ssend                     OBSERVED_SEND
#define OBSERVED_Ssend_c                   OBSERVED_SEND
#define OBSERVED_Rsend                     OBSERVED_SEND
#define OBSERVED_Rsend_c                   OBSERVED_SEND
#define OBSERVED_Isend                     OBSERVED_SEND
#define OBSERVED_Isend_c                   OBSERVED_SEND
#define OBSERVED_Ibsend                    OBSERVED_SEND
#define OBSERVED_Ibsend_c                  OBSERVED_SEND
#define OBSERVED_Issend                    OBSERVED_SEND
#define OBSERVED_Issend_c                  OBSERVED_SEND
#define OBSERVED_Irsend                    OBSERVED_SEND
#define OBSERVED_Irsend_c                  OBSERVED_SEND
#define OBSERVED_Sendrecv_replace          OBSERVED_SEND
#define OBSERVED_Sendrecv_replace_c        OBSERVED_SEND
#define OBSERVED_Isendrecv_replace         OBSERVED_SEND
#define OBSERVED_Isendrecv_replace_c       OBSERVED_SEND
#define OBSERVED_Sendrecv                  OBSERVED_EXCHANGE
#define OBSERVED_Sendrecv_c                OBSERVED_EXCHANGE
#define OBSERVED_Isendrecv                 OBSERVED_EXCHANGE
#define OBSERVED_Isendrecv_c               OBSERVED_EXCHANGE
#define OBSERVED_Recv                      OBSERVED_RECEIVE
#define OBSERVED_Recv_c                    OBSERVED_RECEIVE
#define OBSERVE_SECOND(first, second, ...) second
#define OBSERVE_PICK(...)                  OBSERVE_SECOND(__VA_ARGS__)
#define OBSERVE(name)                      OBSERVE_PICK(OBSERVED_##name, (void)ticks, )

#endif
