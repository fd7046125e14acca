/* collectives.c: notification by a collective that carries the writer's word to the reader: the call cannot return
 * there before the writer has entered it, which is after the write. The writer is rank 0, the reader rank 1; roots
 * and directions are chosen so that the word flows from the writer to the reader. */
#include "pass.h"

static MPI_Comm graph; /* an edge from the writer to the reader */

static const int ones[] = {1, 1}, places[] = {0, 1};

/* Checks the word that came from the writer. */
static void expect_news(uint64_t got, uint64_t news) {
    if (litmus_rank == READER)
        pass_expect(got, news);
}

/* Defines a function that is both tell and hear. */
#define PREBARRIER(name)                                                                                     \
    static void meet_##name(uint64_t news);                                                                  \
    PASS(name, .tell = meet_##name, .hear = meet_##name);                                                    \
    static void meet_##name(uint64_t news)

PREBARRIER(barrier) {
    MPI_Barrier(litmus_comm);
}

PREBARRIER(bcast) {
    uint64_t v = litmus_rank == WRITER ? news : 0;
    MPI_Bcast(&v, 1, MPI_UINT64_T, WRITER, litmus_comm);
    expect_news(v, news);
}

PREBARRIER(reduce) {
    uint64_t sum = 0;
    MPI_Reduce(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, READER, litmus_comm);
    expect_news(sum, 2 * news);
}

PREBARRIER(allreduce) {
    uint64_t sum = 0;
    MPI_Allreduce(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, litmus_comm);
    expect_news(sum, 2 * news);
}

PREBARRIER(gather) {
    uint64_t all[2] = {0};
    MPI_Gather(&news, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, READER, litmus_comm);
    expect_news(all[WRITER], news);
}

PREBARRIER(gatherv) {
    uint64_t all[2] = {0};
    MPI_Gatherv(&news, 1, MPI_UINT64_T, all, ones, places, MPI_UINT64_T, READER, litmus_comm);
    expect_news(all[WRITER], news);
}

PREBARRIER(scatter) {
    uint64_t all[2] = {news, news}, v = 0;
    MPI_Scatter(all, 1, MPI_UINT64_T, &v, 1, MPI_UINT64_T, WRITER, litmus_comm);
    expect_news(v, news);
}

PREBARRIER(scatterv) {
    uint64_t all[2] = {news, news}, v = 0;
    MPI_Scatterv(all, ones, places, MPI_UINT64_T, &v, 1, MPI_UINT64_T, WRITER, litmus_comm);
    expect_news(v, news);
}

PREBARRIER(allgather) {
    uint64_t all[2] = {0};
    MPI_Allgather(&news, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, litmus_comm);
    expect_news(all[WRITER], news);
}

PREBARRIER(allgatherv) {
    uint64_t all[2] = {0};
    MPI_Allgatherv(&news, 1, MPI_UINT64_T, all, ones, places, MPI_UINT64_T, litmus_comm);
    expect_news(all[WRITER], news);
}

PREBARRIER(alltoall) {
    uint64_t from[2] = {news, news}, to[2] = {0};
    MPI_Alltoall(from, 1, MPI_UINT64_T, to, 1, MPI_UINT64_T, litmus_comm);
    expect_news(to[WRITER], news);
}

PREBARRIER(alltoallv) {
    uint64_t from[2] = {news, news}, to[2] = {0};
    MPI_Alltoallv(from, ones, places, MPI_UINT64_T, to, ones, places, MPI_UINT64_T, litmus_comm);
    expect_news(to[WRITER], news);
}

PREBARRIER(scan) {
    uint64_t sum = 0;
    MPI_Scan(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, litmus_comm);
    expect_news(sum, 2 * news);
}

PREBARRIER(exscan) {
    uint64_t sum = 0;
    MPI_Exscan(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, litmus_comm);
    expect_news(sum, news);
}

PREBARRIER(reduce_scatter) {
    uint64_t from[2] = {news, news}, sum = 0;
    MPI_Reduce_scatter(from, &sum, ones, MPI_UINT64_T, MPI_SUM, litmus_comm);
    expect_news(sum, 2 * news);
}

PREBARRIER(reduce_scatter_block) {
    uint64_t from[2] = {news, news}, sum = 0;
    MPI_Reduce_scatter_block(from, &sum, 1, MPI_UINT64_T, MPI_SUM, litmus_comm);
    expect_news(sum, 2 * news);
}

/* ---- neighbours ---- */

static void open_graph(void) {
    const int writer = WRITER, reader = READER, weight = 1;
    int in = litmus_rank == READER, out = litmus_rank == WRITER;
    MPI_Dist_graph_create_adjacent(litmus_comm, in, &writer, &weight, out, &reader, &weight, MPI_INFO_NULL, 0,
                                   &graph);
}

static void close_graph(void) {
    MPI_Comm_free(&graph);
}

static void meet_neighbor_allgather(uint64_t news) {
    uint64_t v = 0;
    MPI_Neighbor_allgather(&news, 1, MPI_UINT64_T, &v, 1, MPI_UINT64_T, graph);
    expect_news(v, news);
}

static void meet_neighbor_alltoall(uint64_t news) {
    uint64_t v = 0;
    MPI_Neighbor_alltoall(&news, 1, MPI_UINT64_T, &v, 1, MPI_UINT64_T, graph);
    expect_news(v, news);
}

PASS(neighbor_allgather, .open = open_graph, .tell = meet_neighbor_allgather, .hear = meet_neighbor_allgather,
     .close = close_graph);
PASS(neighbor_alltoall, .open = open_graph, .tell = meet_neighbor_alltoall, .hear = meet_neighbor_alltoall,
     .close = close_graph);

/* ---- non-blocking: the notification is the completion ---- */

static void complete(MPI_Request *request) {
    uint64_t patience = 0;
    int done = 0;
    if (litmus_roll(2)) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    for (; !done; litmus_wait(&patience, "MPI_Test of a collective"))
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

PREBARRIER(ibarrier) {
    MPI_Request request;
    MPI_Ibarrier(litmus_comm, &request);
    complete(&request);
}

PREBARRIER(ibcast) {
    uint64_t v = litmus_rank == WRITER ? news : 0;
    MPI_Request request;
    MPI_Ibcast(&v, 1, MPI_UINT64_T, WRITER, litmus_comm, &request);
    complete(&request);
    expect_news(v, news);
}

PREBARRIER(ireduce) {
    uint64_t sum = 0;
    MPI_Request request;
    MPI_Ireduce(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, READER, litmus_comm, &request);
    complete(&request);
    expect_news(sum, 2 * news);
}

PREBARRIER(iallreduce) {
    uint64_t sum = 0;
    MPI_Request request;
    MPI_Iallreduce(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, litmus_comm, &request);
    complete(&request);
    expect_news(sum, 2 * news);
}

PREBARRIER(igather) {
    uint64_t all[2] = {0};
    MPI_Request request;
    MPI_Igather(&news, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, READER, litmus_comm, &request);
    complete(&request);
    expect_news(all[WRITER], news);
}

PREBARRIER(ialltoall) {
    uint64_t from[2] = {news, news}, to[2] = {0};
    MPI_Request request;
    MPI_Ialltoall(from, 1, MPI_UINT64_T, to, 1, MPI_UINT64_T, litmus_comm, &request);
    complete(&request);
    expect_news(to[WRITER], news);
}

PREBARRIER(iscan) {
    uint64_t sum = 0;
    MPI_Request request;
    MPI_Iscan(&news, &sum, 1, MPI_UINT64_T, MPI_SUM, litmus_comm, &request);
    complete(&request);
    expect_news(sum, 2 * news);
}

static void meet_ineighbor_allgather(uint64_t news) {
    uint64_t v = 0;
    MPI_Request request;
    MPI_Ineighbor_allgather(&news, 1, MPI_UINT64_T, &v, 1, MPI_UINT64_T, graph, &request);
    complete(&request);
    expect_news(v, news);
}

PASS(ineighbor_allgather, .open = open_graph, .tell = meet_ineighbor_allgather,
     .hear = meet_ineighbor_allgather, .close = close_graph);
