/* waits.c: tests every call in which MPI may wait. Rank 1 has posted a receive and waits for rank 0 in the call; rank
 * 0 is in MPI_Ssend to rank 1, and makes the call only after it. The tests cover all calls that doc/matching.md lists
 * with a pre-barrier, a non-blocking equivalent or a loop of tests; lint_waits compares the two. */
#include "message.h"

#include "mpi/host/standard.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 100000, MOST = 64 };

static _Atomic int *entered; /* in memory shared by both ranks: the last call that rank 1 has entered */
static int serial;
static MPI_Comm where;  /* communicator of the calls */
static MPI_Comm other;  /* a communicator that is freed */
static MPI_Comm halves; /* of the even ranks, or of the odd ranks */
static MPI_Comm inter;  /* inter-communicator of even and odd ranks */
static MPI_Comm grid, ring;
static MPI_Win window;
static MPI_File file;
static struct flag name;
static MPI_Info info;
static unsigned char *buffer;
static int in[MOST], out[MOST], one[MOST], places[MOST];
static MPI_Datatype types[MOST];

typedef void place(void);

static void sit(place *call, size_t bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    serial++;
    if (test_rank == 1) {
        memset(buffer, 0, bytes);
        MPI_Irecv(buffer, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        atomic_store(entered, serial);
    } else if (test_rank == 0) {
        fill_pattern(buffer, bytes, 0, 0, serial);
        while (atomic_load(entered) != serial)
            sched_yield();
        MPI_Ssend(buffer, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    }
    call();
    if (test_rank != 1)
        return;
    MPI_Wait(&request, &status);
    expect_status(&status, 0, 1, bytes);
    expect_pattern(buffer, bytes, 0, 0, serial);
}

struct call {
    const char *name;
    place *make, *before, *after;
};

/* SIT(call, statement): the statement makes the call. */
#define SIT(call, statement)                                                                                 \
    static void sit_##call(void) {                                                                           \
        statement;                                                                                           \
    }

static void run(const struct call calls[], size_t count) {
    for (size_t i = 0; i < count; i++)
        for (int large = 0; large < 2; large++) {
            if (calls[i].before)
                calls[i].before();
            sit(calls[i].make, large ? LARGE : 40);
            if (calls[i].after)
                calls[i].after();
        }
}
#define RUN(calls) run(calls, sizeof(calls) / sizeof *(calls))

static void map_memory(const char *path) {
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    if (fd < 0 || ftruncate(fd, 4096)) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    entered = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static void begin(void) {
    name = make_flag();
    map_memory(name.path);
    barrier();
    serial = atomic_load(entered);
    buffer = aligned_bytes(LARGE);
    MPI_Info_create(&info);
    for (int i = 0; i < MOST; i++) {
        one[i] = 1;
        places[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    where = MPI_COMM_WORLD;
    barrier();
}

static void end(void) {
    MPI_Info_free(&info);
    free(buffer);
    munmap((void *)entered, 4096);
    remove_flag(&name);
}

/* ---- collectives ---- */

SIT(Barrier, MPI_Barrier(where))
SIT(Bcast, MPI_Bcast(in, 1, MPI_INT, 0, where))
SIT(Gather, MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 1, where))
SIT(Gatherv, MPI_Gatherv(out, 1, MPI_BYTE, in, one, places, MPI_BYTE, 1, where))
SIT(Scatter, MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, where))
SIT(Scatterv, MPI_Scatterv(out, one, places, MPI_BYTE, in, 1, MPI_BYTE, 0, where))
SIT(Allgather, MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, where))
SIT(Allgatherv, MPI_Allgatherv(out, 1, MPI_BYTE, in, one, places, MPI_BYTE, where))
SIT(Alltoall, MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, where))
SIT(Alltoallv, MPI_Alltoallv(out, one, places, MPI_BYTE, in, one, places, MPI_BYTE, where))
SIT(Alltoallw, MPI_Alltoallw(out, one, places, types, in, one, places, types, where))
SIT(Reduce, MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 1, where))
SIT(Allreduce, MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, where))
SIT(Reduce_scatter, MPI_Reduce_scatter(out, in, one, MPI_INT, MPI_SUM, where))
SIT(Reduce_scatter_block, MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, where))
SIT(Scan, MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, where))
SIT(Exscan, MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, where))

static const struct call collectives[] = {
    {"Gatherv", sit_Gatherv, 0, 0},     {"Barrier", sit_Barrier, 0, 0},
    {"Bcast", sit_Bcast, 0, 0},         {"Gather", sit_Gather, 0, 0},
    {"Scatter", sit_Scatter, 0, 0},     {"Scatterv", sit_Scatterv, 0, 0},
    {"Allgather", sit_Allgather, 0, 0}, {"Allgatherv", sit_Allgatherv, 0, 0},
    {"Alltoall", sit_Alltoall, 0, 0},   {"Alltoallv", sit_Alltoallv, 0, 0},
    {"Alltoallw", sit_Alltoallw, 0, 0}, {"Reduce", sit_Reduce, 0, 0},
    {"Allreduce", sit_Allreduce, 0, 0}, {"Reduce_scatter", sit_Reduce_scatter, 0, 0},
    {"Scan", sit_Scan, 0, 0},           {"Reduce_scatter_block", sit_Reduce_scatter_block, 0, 0},
    {"Exscan", sit_Exscan, 0, 0},
};

static const MPI_Aint spaced[] = {0, 8};
SIT(Neighbor_allgather, MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring))
SIT(Neighbor_allgatherv, MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, one, places, MPI_INT, ring))
SIT(Neighbor_alltoall, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring))
SIT(Neighbor_alltoallv, MPI_Neighbor_alltoallv(out, one, places, MPI_INT, in, one, places, MPI_INT, ring))
SIT(Neighbor_alltoallw, MPI_Neighbor_alltoallw(out, one, spaced, types, in, one, spaced, types, ring))

static const struct call neighbours[] = {
    {"Neighbor_allgather", sit_Neighbor_allgather, 0, 0},
    {"Neighbor_allgatherv", sit_Neighbor_allgatherv, 0, 0},
    {"Neighbor_alltoall", sit_Neighbor_alltoall, 0, 0},
    {"Neighbor_alltoallv", sit_Neighbor_alltoallv, 0, 0},
    {"Neighbor_alltoallw", sit_Neighbor_alltoallw, 0, 0},
};

CASE(collectives) {
    int periodic = 1;
    MPI_Request request;
    begin();
    RUN(collectives);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &ring);
    RUN(neighbours);
    MPI_Comm_free(&ring);
    MPI_Comm_idup(MPI_COMM_WORLD, &where, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    RUN(collectives);
    MPI_Comm_free(&where);
    end();
}

/* ---- communicators ---- */

static MPI_Comm made;

static void free_made(void) {
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
}

static void make_other(void) {
    MPI_Comm_dup(where, &other);
}

static MPI_Group group_of(MPI_Comm comm) {
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    return group;
}

static void create(void) {
    MPI_Group group = group_of(where);
    MPI_Comm_create(where, group, &made);
    MPI_Group_free(&group);
}

static void create_group(void) {
    MPI_Group group = group_of(MPI_COMM_WORLD);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made);
    MPI_Group_free(&group);
}

static void graph_create(void) {
    int index[MOST], edges[MOST];
    for (int i = 0; i < test_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % test_size;
    }
    MPI_Graph_create(where, test_size, index, edges, 0, &made);
}

SIT(Comm_dup, MPI_Comm_dup(where, &made))
SIT(Comm_dup_with_info, MPI_Comm_dup_with_info(where, info, &made))
SIT(Comm_split, MPI_Comm_split(where, 0, 0, &made))
SIT(Comm_split_type, MPI_Comm_split_type(where, MPI_COMM_TYPE_SHARED, 0, info, &made))
SIT(Comm_create, create())
SIT(Comm_create_group, create_group())
SIT(Cart_create, MPI_Cart_create(where, 1, &test_size, one, 0, &made))
SIT(Graph_create, graph_create())
SIT(Dist_graph_create, MPI_Dist_graph_create(where, 1, &test_rank, one, in, one, info, 0, &made))
SIT(Dist_graph_create_adjacent,
    MPI_Dist_graph_create_adjacent(where, test_rank == 0, in, one, 1, in, one, info, 0, &made))
SIT(Comm_set_info, MPI_Comm_set_info(where, info); MPI_Barrier(where))
SIT(Comm_disconnect, MPI_Comm_disconnect(&other))

static const struct call makers[] = {
    {"Comm_dup", sit_Comm_dup, 0, free_made},
    {"Comm_dup_with_info", sit_Comm_dup_with_info, 0, free_made},
    {"Comm_split", sit_Comm_split, 0, free_made},
    {"Comm_split_type", sit_Comm_split_type, 0, free_made},
    {"Comm_create", sit_Comm_create, 0, free_made},
    {"Comm_create_group", sit_Comm_create_group, 0, free_made},
    {"Cart_create", sit_Cart_create, 0, free_made},
    {"Graph_create", sit_Graph_create, 0, free_made},
    {"Dist_graph_create_adjacent", sit_Dist_graph_create_adjacent, 0, free_made},
    {"Comm_set_info", sit_Comm_set_info, 0, 0},
    {"Comm_disconnect", sit_Comm_disconnect, make_other, 0},
};

/* All edges lead to rank 0, one from each rank. */
static const struct call spread[] = {{"Dist_graph_create", sit_Dist_graph_create, 0, free_made}};

static const int keep[2] = {1, 0};
SIT(Cart_sub, MPI_Cart_sub(grid, keep, &made))
SIT(Intercomm_create, MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, test_rank % 2 ? 0 : 1, 6, &made))
SIT(Intercomm_merge, MPI_Intercomm_merge(inter, test_rank % 2, &made))

static const struct call topologies[] = {
    {"Cart_sub", sit_Cart_sub, 0, free_made},
    {"Intercomm_create", sit_Intercomm_create, 0, free_made},
    {"Intercomm_merge", sit_Intercomm_merge, 0, free_made},
};

#if HEARTH_MPI_4_0
static void create_from_group(void) {
    MPI_Group group = group_of(MPI_COMM_WORLD);
    MPI_Comm_create_from_group(group, "waits", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Group_free(&group);
}

static void create_from_groups(void) {
    MPI_Group mine = group_of(halves), there;
    MPI_Comm_remote_group(inter, &there);
    MPI_Intercomm_create_from_groups(mine, 0, there, 0, "waits", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Group_free(&mine);
    MPI_Group_free(&there);
}

SIT(Comm_create_from_group, create_from_group())
SIT(Intercomm_create_from_groups, create_from_groups())

static const struct call from_groups[] = {
    {"Comm_create_from_group", sit_Comm_create_from_group, 0, free_made},
    {"Intercomm_create_from_groups", sit_Intercomm_create_from_groups, 0, free_made},
};
#endif

CASE(communicators) {
    int sizes[2] = {test_size, 1};
    MPI_Request request;
    begin();
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &halves);
    MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, test_rank % 2 ? 0 : 1, 6, &inter);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, one, 0, &grid);
    RUN(makers);
    RUN(spread);
    RUN(topologies);
#if HEARTH_MPI_4_0
    RUN(from_groups);
#endif
    MPI_Comm_idup(MPI_COMM_WORLD, &where, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    RUN(makers);
    MPI_Comm_free(&where);
    MPI_Comm_idup(halves, &other, &request); /* the odd ranks use this copy, whose messages MPI carries */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (test_rank % 2) {
        MPI_Comm_free(&halves);
        halves = other;
    } else {
        MPI_Comm_free(&other);
    }
    RUN(topologies);
    where = inter;
    sit(sit_Comm_dup, LARGE);
    free_made();
    MPI_Comm_free(&grid);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&halves);
    end();
}

/* ---- windows ---- */

static unsigned char memory[64] __attribute__((aligned(64)));
static MPI_Win other_window;

static void free_window_made(void) {
    MPI_Win_free(&other_window);
}

static void make_window_to_free(void) {
    MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, where, &other_window);
}

static void wait_for_put(void) {
    MPI_Group all = group_of(where), group;
    int there = test_rank ^ 1;
    if (there < 2) {
        MPI_Group_incl(all, 1, &there, &group);
        if (test_rank == 1) {
            MPI_Win_post(group, 0, window);
            MPI_Win_wait(window);
        } else {
            MPI_Win_start(group, 0, window);
            MPI_Win_complete(window);
        }
        MPI_Group_free(&group);
    }
    MPI_Group_free(&all);
}

static void *base;
SIT(Win_create, MPI_Win_create(memory, 64, 1, info, where, &other_window))
SIT(Win_allocate, MPI_Win_allocate(64, 1, info, where, &base, &other_window))
SIT(Win_allocate_shared, MPI_Win_allocate_shared(64, 1, info, where, &base, &other_window))
SIT(Win_create_dynamic, MPI_Win_create_dynamic(info, where, &other_window))
SIT(Win_free, MPI_Win_free(&other_window))
SIT(Win_set_info, MPI_Win_set_info(window, info); MPI_Barrier(where))
SIT(Win_fence, MPI_Win_fence(0, window))
SIT(Win_wait, wait_for_put())

static const struct call windows[] = {
    {"Win_create", sit_Win_create, 0, free_window_made},
    {"Win_allocate", sit_Win_allocate, 0, free_window_made},
    {"Win_create_dynamic", sit_Win_create_dynamic, 0, free_window_made},
    {"Win_free", sit_Win_free, make_window_to_free, 0},
    {"Win_set_info", sit_Win_set_info, 0, 0},
    {"Win_fence", sit_Win_fence, 0, 0},
    {"Win_wait", sit_Win_wait, 0, 0},
};

static const struct call shared[] = {
    {"Win_allocate_shared", sit_Win_allocate_shared, 0, free_window_made},
};

CASE(windows) {
    MPI_Request request;
    begin();
    for (int foreign = 0; foreign < 2; foreign++) {
        if (foreign) {
            MPI_Comm_idup(MPI_COMM_WORLD, &where, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, where, &window);
        RUN(windows);
        if (!over_pt2pt() && test_shared_windows())
            RUN(shared);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&where);
    end();
}

/* ---- files ---- */

static MPI_Status status;
static char path[80];

static void open_file(void) {
    MPI_File_open(where, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
}

static void close_file(void) {
    MPI_File_close(&file);
}

static void set_view(void) {
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

static MPI_Offset mine(void) {
    return (MPI_Offset)test_rank * 4;
}

/* Not all of these calls wait in every MPI, so a barrier follows. */
#define THEN                                                                                                 \
    ;                                                                                                        \
    MPI_Barrier(where)
SIT(File_open, open_file())
SIT(File_close, close_file() THEN)
SIT(File_set_view, set_view() THEN)
SIT(File_set_size, MPI_File_set_size(file, 4096) THEN)
SIT(File_preallocate, MPI_File_preallocate(file, 4096) THEN)
SIT(File_set_info, MPI_File_set_info(file, info) THEN)
SIT(File_set_atomicity, MPI_File_set_atomicity(file, 0) THEN)
SIT(File_sync, MPI_File_sync(file) THEN)
SIT(File_write_all, MPI_File_write_all(file, out, 1, MPI_INT, &status) THEN)
SIT(File_read_all, MPI_File_read_all(file, in, 1, MPI_INT, &status) THEN)
SIT(File_write_at_all, MPI_File_write_at_all(file, mine(), out, 1, MPI_INT, &status) THEN)
SIT(File_read_at_all, MPI_File_read_at_all(file, mine(), in, 1, MPI_INT, &status) THEN)
SIT(File_write_all_begin, MPI_File_write_all_begin(file, out, 1, MPI_INT);
    MPI_File_write_all_end(file, out, &status) THEN)
SIT(File_read_all_begin, MPI_File_read_all_begin(file, in, 1, MPI_INT);
    MPI_File_read_all_end(file, in, &status) THEN)
SIT(File_write_at_all_begin, MPI_File_write_at_all_begin(file, mine(), out, 1, MPI_INT);
    MPI_File_write_at_all_end(file, out, &status) THEN)
SIT(File_read_at_all_begin, MPI_File_read_at_all_begin(file, mine(), in, 1, MPI_INT);
    MPI_File_read_at_all_end(file, in, &status) THEN)

SIT(File_seek_shared, MPI_File_seek_shared(file, 0, MPI_SEEK_SET) THEN)
SIT(File_write_ordered, MPI_File_write_ordered(file, out, 1, MPI_INT, &status) THEN)
SIT(File_read_ordered, MPI_File_read_ordered(file, in, 1, MPI_INT, &status) THEN)
SIT(File_write_ordered_begin, MPI_File_write_ordered_begin(file, out, 1, MPI_INT);
    MPI_File_write_ordered_end(file, out, &status) THEN)
SIT(File_read_ordered_begin, MPI_File_read_ordered_begin(file, in, 1, MPI_INT);
    MPI_File_read_ordered_end(file, in, &status) THEN)

static const struct call opening[] = {
    {"File_open", sit_File_open, 0, close_file},
    {"File_close", sit_File_close, open_file, 0},
};

static const struct call files[] = {
    {"File_set_view", sit_File_set_view, 0, 0},
    {"File_set_size", sit_File_set_size, 0, 0},
    {"File_set_info", sit_File_set_info, 0, 0},
    {"File_set_atomicity", sit_File_set_atomicity, 0, 0},
    {"File_sync", sit_File_sync, 0, 0},
    {"File_write_all", sit_File_write_all, 0, 0},
    {"File_read_all", sit_File_read_all, 0, 0},
    {"File_write_at_all", sit_File_write_at_all, 0, 0},
    {"File_read_at_all", sit_File_read_at_all, 0, 0},
    {"File_write_all_begin", sit_File_write_all_begin, 0, 0},
    {"File_read_all_begin", sit_File_read_all_begin, 0, 0},
    {"File_write_at_all_begin", sit_File_write_at_all_begin, 0, 0},
    {"File_read_at_all_begin", sit_File_read_at_all_begin, 0, 0},
    {"File_seek_shared", sit_File_seek_shared, 0, 0},
    {"File_write_ordered", sit_File_write_ordered, 0, 0},
    {"File_read_ordered", sit_File_read_ordered, 0, 0},
    {"File_write_ordered_begin", sit_File_write_ordered_begin, 0, 0},
    {"File_read_ordered_begin", sit_File_read_ordered_begin, 0, 0},
};

static const struct call preallocating[] = {{"File_preallocate", sit_File_preallocate, 0, 0}};

CASE(files) {
    MPI_Request request;
    begin();
    snprintf(path, sizeof path, "%s.file", name.path);
    RUN(opening);
    open_file();
    RUN(files);
    if (!test_open_mpi()) /* after it Open MPI 4.1 sometimes receives the message of an earlier MPI_Bcast */
        RUN(preallocating);
    close_file();
    MPI_Comm_idup(MPI_COMM_WORLD, &where, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    RUN(opening);
    open_file();
    sit(sit_File_set_view, LARGE);
    close_file();
    MPI_Comm_free(&where);
    end();
}

/* ---- requests of MPI itself ---- */

static MPI_Request pending[2];

static void start_two(void) {
    MPI_Ibarrier(MPI_COMM_WORLD, &pending[0]);
    MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &pending[1]);
}

static void wait_for_each(int call(int, MPI_Request *, int *, MPI_Status *)) {
    int index;
    start_two();
    for (int i = 0; i < 2; i++)
        call(2, pending, &index, MPI_STATUS_IGNORE);
}

static void wait_for_some(void) {
    int indices[2], count;
    start_two();
    for (int left = 2; left; left -= count)
        MPI_Waitsome(2, pending, &count, indices, MPI_STATUSES_IGNORE);
}

SIT(Wait, start_two(); MPI_Wait(&pending[0], MPI_STATUS_IGNORE); MPI_Wait(&pending[1], MPI_STATUS_IGNORE))
SIT(Waitall, start_two(); MPI_Waitall(2, pending, MPI_STATUSES_IGNORE))
SIT(Waitany, wait_for_each(MPI_Waitany))
SIT(Waitsome, wait_for_some())

static const struct call waits[] = {
    {"Wait", sit_Wait, 0, 0},
    {"Waitall", sit_Waitall, 0, 0},
    {"Waitany", sit_Waitany, 0, 0},
    {"Waitsome", sit_Waitsome, 0, 0},
};

CASE(requests) {
    begin();
    RUN(waits);
    end();
}
