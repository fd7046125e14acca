/* comms.c: notification through other kinds of communicators, and by collective calls that make and free objects.
 * The tests use only calls whose result depends on an argument of the other rank, or which MPI defines as a barrier: a
 * split whose groups follow the other rank's key, a merge whose order follows the other rank's argument, MPI_Win_free. */
#include "pass.h"

#include <dlfcn.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI's */
#endif

static MPI_Comm comm, self, made;
static MPI_Win brief;
static uint64_t *brief_part;

static void close_comm(void) {
    MPI_Comm_free(&comm);
}

/* ---- messages on a copy ---- */

static void open_copy(void) {
    MPI_Comm_dup(litmus_comm, &comm);
}

static void tell_by_comm(uint64_t news) {
    MPI_Send(&news, 1, MPI_UINT64_T, READER, TAG_NEWS, comm);
}

static void hear_by_comm(uint64_t news) {
    uint64_t v;
    MPI_Recv(&v, 1, MPI_UINT64_T, WRITER, TAG_NEWS, comm, MPI_STATUS_IGNORE);
    pass_expect(v, news);
}

PASS(dup_recv, .open = open_copy, .tell = tell_by_comm, .hear = hear_by_comm, .close = close_comm);

/* ---- between two groups of one: the other is rank 0 of its group ---- */

static void open_inter(void) {
    MPI_Comm_split(litmus_comm, litmus_rank, 0, &self);
    MPI_Intercomm_create(self, 0, litmus_comm, 1 - litmus_rank, TAG_MORE, &comm);
}

static void close_inter(void) {
    close_comm();
    MPI_Comm_free(&self);
}

static void tell_by_inter(uint64_t news) {
    MPI_Send(&news, 1, MPI_UINT64_T, 0, TAG_NEWS, comm);
}

static void hear_by_inter(uint64_t news) {
    uint64_t v;
    MPI_Recv(&v, 1, MPI_UINT64_T, 0, TAG_NEWS, comm, MPI_STATUS_IGNORE);
    pass_expect(v, news);
}

static void meet_inter_barrier(uint64_t news) {
    MPI_Barrier(comm);
}

static void meet_inter_bcast(uint64_t news) {
    uint64_t v = news;
    MPI_Bcast(&v, 1, MPI_UINT64_T, litmus_rank == WRITER ? MPI_ROOT : 0, comm);
    pass_expect(v, news);
}

static void meet_inter_allreduce(uint64_t news) {
    uint64_t theirs = 0;
    MPI_Allreduce(&news, &theirs, 1, MPI_UINT64_T, MPI_MAX, comm);
    pass_expect(theirs, news);
}

PASS(inter_recv, .open = open_inter, .tell = tell_by_inter, .hear = hear_by_inter, .close = close_inter);
PASS(inter_barrier, .open = open_inter, .tell = meet_inter_barrier, .hear = meet_inter_barrier,
     .close = close_inter);
PASS(inter_bcast, .open = open_inter, .tell = meet_inter_bcast, .hear = meet_inter_bcast,
     .close = close_inter);
PASS(inter_allreduce, .open = open_inter, .tell = meet_inter_allreduce, .hear = meet_inter_allreduce,
     .close = close_inter);

/* ---- made and freed together ---- */

static void free_made(void) {
    MPI_Comm_free(&made);
}

/* The writer's key decides which rank is first. */
static void hear_comm_split(uint64_t news) {
    int rank, key = litmus_rank == WRITER ? (news & 1 ? 2 : 0) : 1;
    MPI_Comm_split(litmus_comm, 0, key, &made);
    MPI_Comm_rank(made, &rank);
    if (litmus_rank == READER)
        pass_expect((uint64_t)rank, !(news & 1));
}

static void tell_comm_split(uint64_t news) {
    hear_comm_split(news);
    free_made();
}

PASS(comm_split, .tell = tell_comm_split, .hear = hear_comm_split, .finish = free_made);

static void hear_intercomm_merge(uint64_t news) {
    int rank, high = litmus_rank == WRITER ? news & 1 : !(news & 1);
    MPI_Intercomm_merge(comm, high, &made);
    MPI_Comm_rank(made, &rank);
    pass_expect((uint64_t)rank, (uint64_t)high);
}

static void tell_intercomm_merge(uint64_t news) {
    hear_intercomm_merge(news);
    free_made();
}

PASS(intercomm_merge, .open = open_inter, .tell = tell_intercomm_merge, .hear = hear_intercomm_merge,
     .finish = free_made, .close = close_inter);

/* One window per run. After it is freed, each rank makes the one of the next run: the writer in tell, the reader in
 * finish. */
static void open_brief(void) {
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, litmus_comm, &brief_part, &brief);
}

static void hear_win_free(uint64_t news) {
    MPI_Win_free(&brief);
}

static void tell_win_free(uint64_t news) {
    hear_win_free(news);
    open_brief();
}

static void close_brief(void) {
    MPI_Win_free(&brief);
}

PASS(win_free, .open = open_brief, .tell = tell_win_free, .hear = hear_win_free, .finish = open_brief,
     .close = close_brief);

/* ---- by a call outside the standard ---- */

#ifdef MPIX_ERR_PROC_FAILED /* then MPIX_Comm_agree exists as well */
/* The agreed value is 0 in half of the runs. It is a result, not a flag that says whether a message has arrived. */
static void meet_agree(uint64_t news) {
    int flag = litmus_rank == WRITER ? (int)(news & 1) : 1;
    MPIX_Comm_agree(litmus_comm, &flag);
    pass_expect((uint64_t)flag, news & 1);
}
#else
static void meet_agree(uint64_t news) {
}
#endif

/* In most MPIs that declare MPIX_Comm_agree, the call ends the program; the one of agree.c works. */
static void open_agree(void) {
    if (!dlsym(RTLD_DEFAULT, "litmus_agree"))
        litmus_skip("no MPIX_Comm_agree that works; test_extensions.sh has one");
}

PASS(comm_agree, .open = open_agree, .tell = meet_agree, .hear = meet_agree);
