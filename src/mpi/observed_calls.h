/* observed_calls.h: the calls that the report counts by target, source or destination, and those that may be light.
 *
 * Each macro is the second element of a list: COUNT_CALL(name) that of COUNTED_name, and so on, or nothing where it is not defined. The
 * arguments are named as in calls.def.
 *
 *   COUNT_CALL     notes a call that succeeded. Gets count themselves (rma_get_note_asked).
 *   NOTE_TICKS     notes the `ticks` that a timed call stands for
 *   IS_LIGHT       whether the call may be light: see call_time.h */
#ifndef HEARTH_MPI_OBSERVED_CALLS_H
#define HEARTH_MPI_OBSERVED_CALLS_H

#include "mpi/windows/caching/target.h"

#define COUNTED_PUT      , rma_target_count(win, target, ACCESS_PUT, tcount, ttype)
#define COUNTED_SEND     , targets_count_message(comm, dest, count, type)
#define COUNTED_EXCHANGE , targets_count_message(comm, dest, scount, stype)
#define COUNTED_ATOMIC(count, type)                                                                          \
    , rma_target_count(win, target, op == MPI_NO_OP ? ACCESS_GET : ACCESS_PUT, count, type)
#define TIMED_TARGET  , rma_target_ticks(win, target, ticks)
#define TIMED_SEND    , targets_note_ticks(comm, dest, ticks)
#define TIMED_RECEIVE , targets_note_ticks(comm, source, ticks)

#define COUNTED_Compare_and_swap    , rma_target_count(win, target, ACCESS_PUT, 1, type)
#define TIMED_Compare_and_swap      TIMED_TARGET
#define COUNTED_Fetch_and_op        COUNTED_ATOMIC(1, type)
#define TIMED_Fetch_and_op          TIMED_TARGET
#define COUNTED_Get_accumulate      COUNTED_ATOMIC(tcount, ttype)
#define TIMED_Get_accumulate        TIMED_TARGET
#define COUNTED_Get_accumulate_c    COUNTED_ATOMIC(tcount, ttype)
#define TIMED_Get_accumulate_c      TIMED_TARGET
#define COUNTED_Rget_accumulate     COUNTED_ATOMIC(tcount, ttype)
#define TIMED_Rget_accumulate       TIMED_TARGET
#define COUNTED_Rget_accumulate_c   COUNTED_ATOMIC(tcount, ttype)
#define TIMED_Rget_accumulate_c     TIMED_TARGET
#define TIMED_Get                   TIMED_TARGET
#define TIMED_Get_c                 TIMED_TARGET
#define TIMED_Rget                  TIMED_TARGET
#define TIMED_Rget_c                TIMED_TARGET
#define COUNTED_Put                 COUNTED_PUT
#define TIMED_Put                   TIMED_TARGET
#define COUNTED_Put_c               COUNTED_PUT
#define TIMED_Put_c                 TIMED_TARGET
#define COUNTED_Rput                COUNTED_PUT
#define TIMED_Rput                  TIMED_TARGET
#define COUNTED_Rput_c              COUNTED_PUT
#define TIMED_Rput_c                TIMED_TARGET
#define COUNTED_Accumulate          COUNTED_PUT
#define TIMED_Accumulate            TIMED_TARGET
#define COUNTED_Accumulate_c        COUNTED_PUT
#define TIMED_Accumulate_c          TIMED_TARGET
#define COUNTED_Raccumulate         COUNTED_PUT
#define TIMED_Raccumulate           TIMED_TARGET
#define COUNTED_Raccumulate_c       COUNTED_PUT
#define TIMED_Raccumulate_c         TIMED_TARGET
#define TIMED_Win_flush             TIMED_TARGET
#define TIMED_Win_flush_local       TIMED_TARGET
#define TIMED_Win_lock              TIMED_TARGET
#define TIMED_Win_unlock            TIMED_TARGET
#define COUNTED_Send                COUNTED_SEND
#define TIMED_Send                  TIMED_SEND
#define COUNTED_Send_c              COUNTED_SEND
#define TIMED_Send_c                TIMED_SEND
#define COUNTED_Bsend               COUNTED_SEND
#define TIMED_Bsend                 TIMED_SEND
#define COUNTED_Bsend_c             COUNTED_SEND
#define TIMED_Bsend_c               TIMED_SEND
#define COUNTED_Ssend               COUNTED_SEND
#define TIMED_Ssend                 TIMED_SEND
#define COUNTED_Ssend_c             COUNTED_SEND
#define TIMED_Ssend_c               TIMED_SEND
#define COUNTED_Rsend               COUNTED_SEND
#define TIMED_Rsend                 TIMED_SEND
#define COUNTED_Rsend_c             COUNTED_SEND
#define TIMED_Rsend_c               TIMED_SEND
#define COUNTED_Isend               COUNTED_SEND
#define TIMED_Isend                 TIMED_SEND
#define COUNTED_Isend_c             COUNTED_SEND
#define TIMED_Isend_c               TIMED_SEND
#define COUNTED_Ibsend              COUNTED_SEND
#define TIMED_Ibsend                TIMED_SEND
#define COUNTED_Ibsend_c            COUNTED_SEND
#define TIMED_Ibsend_c              TIMED_SEND
#define COUNTED_Issend              COUNTED_SEND
#define TIMED_Issend                TIMED_SEND
#define COUNTED_Issend_c            COUNTED_SEND
#define TIMED_Issend_c              TIMED_SEND
#define COUNTED_Irsend              COUNTED_SEND
#define TIMED_Irsend                TIMED_SEND
#define COUNTED_Irsend_c            COUNTED_SEND
#define TIMED_Irsend_c              TIMED_SEND
#define COUNTED_Sendrecv_replace    COUNTED_SEND
#define TIMED_Sendrecv_replace      TIMED_SEND
#define COUNTED_Sendrecv_replace_c  COUNTED_SEND
#define TIMED_Sendrecv_replace_c    TIMED_SEND
#define COUNTED_Isendrecv_replace   COUNTED_SEND
#define TIMED_Isendrecv_replace     TIMED_SEND
#define COUNTED_Isendrecv_replace_c COUNTED_SEND
#define TIMED_Isendrecv_replace_c   TIMED_SEND
#define COUNTED_Sendrecv            COUNTED_EXCHANGE
#define TIMED_Sendrecv              TIMED_SEND
#define COUNTED_Sendrecv_c          COUNTED_EXCHANGE
#define TIMED_Sendrecv_c            TIMED_SEND
#define COUNTED_Isendrecv           COUNTED_EXCHANGE
#define TIMED_Isendrecv             TIMED_SEND
#define COUNTED_Isendrecv_c         COUNTED_EXCHANGE
#define TIMED_Isendrecv_c           TIMED_SEND
#define TIMED_Recv                  TIMED_RECEIVE
#define TIMED_Recv_c                TIMED_RECEIVE

#define LIGHT_Get             , 1
#define LIGHT_Put             , 1
#define LIGHT_Accumulate      , 1
#define LIGHT_Win_flush       , 1
#define LIGHT_Win_flush_local , 1
#define LIGHT_Win_flush_all   , 1
#define LIGHT_Win_lock        , 1
#define LIGHT_Win_unlock      , 1
#define LIGHT_Send            , 1
#define LIGHT_Isend           , 1
#define LIGHT_Recv            , 1
#define LIGHT_Irecv           , 1
#define LIGHT_Wait            , 1
#define LIGHT_Waitall         , 1
#define LIGHT_Test            , 1
#define LIGHT_Testall         , 1
#define LIGHT_Iprobe          , 1

#define PICK_SECOND(first, second, ...) second
#define PICK(...)                       PICK_SECOND(__VA_ARGS__)
#define COUNT_CALL(name)                PICK(COUNTED_##name, (void)0, )
#define NOTE_TICKS(name)                PICK(TIMED_##name, (void)0, )
#define IS_LIGHT(name)                  PICK(LIGHT_##name, 0, )

#endif
