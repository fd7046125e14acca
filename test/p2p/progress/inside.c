/* inside.c: tests that a rank with a posted receive or a pending send makes progress for its peer while it waits in
 * another MPI call. Otherwise the peer never reaches the call in which the rank waits for it. */
#include "message.h"

#include <stdlib.h>
#include <unistd.h>

enum { LARGEST = 2 << 20 };

static const size_t sizes[] = {1, 4096, 100000, LARGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static struct window window;
static struct flag name;
static MPI_File file;
static unsigned char *buffer;

/* ---- calls to wait in: all ranks call each of them, and none returns before all have called it ---- */

static void in_barrier(void) {
    barrier();
}

static void in_allreduce(void) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(sum, test_size);
}

static void in_allgather(void) {
    int *all = malloc((size_t)test_size * sizeof *all);
    MPI_Allgather(&test_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    expect_eq(all[test_size - 1], test_size - 1);
    free(all);
}

static void in_alltoall(void) {
    int *out = calloc((size_t)test_size, sizeof *out), *in = malloc((size_t)test_size * sizeof *in);
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    free(out);
    free(in);
}

static void in_fence(void) {
    MPI_Win_fence(0, window.win);
}

static void in_dup(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void in_split(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &comm);
    MPI_Comm_free(&comm);
}

static void in_cart_create(void) {
    MPI_Comm comm;
    int zero = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &zero, 1, &comm);
    MPI_Comm_free(&comm);
}

static void in_create_group(void) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static void in_intercomm(void) {
    MPI_Comm half, inter, both;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, test_rank % 2 ? 0 : 1, 6, &inter);
    MPI_Intercomm_merge(inter, test_rank % 2, &both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void in_bcast(void) { /* each rank in turn is the root that all others wait for */
    for (int root = 0; root < test_size; root++) {
        int word = root;
        MPI_Bcast(&word, 1, MPI_INT, root, MPI_COMM_WORLD);
    }
}

static void in_scan(void) {
    int out = 1, in = 0;
    MPI_Scan(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(in, test_rank + 1);
}

static void in_window_allocate(void) {
    MPI_Win win;
    void *base;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_free(&win);
}

static void in_wait_for_ibarrier(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_window_create_and_free(void) {
    struct window w = make_window(4096, NULL);
    free_window(&w);
}

static void in_file(void) {
    int word = test_rank;
    MPI_File_write_at_all(file, (MPI_Offset)sizeof word * test_rank, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
    barrier(); /* the call itself need not wait for all ranks */
}

static void in_file_open_and_close(void) {
    MPI_File other;
    MPI_File_open(MPI_COMM_WORLD, name.path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &other);
    MPI_File_close(&other);
}

static void in_sendrecv(void) { /* with the other rank of the pair */
    int other = test_rank ^ 1, out = test_rank, in = -1;
    if (other < test_size)
        MPI_Sendrecv(&out, 1, MPI_INT, other, 99, &in, 1, MPI_INT, other, 99, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void in_probe(void) {
    int other = test_rank ^ 1, word = test_rank;
    MPI_Request request;
    if (other >= test_size)
        return;
    MPI_Isend(&word, 1, MPI_INT, other, 98, MPI_COMM_WORLD, &request);
    MPI_Probe(other, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, other, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- the two sides ---- */

typedef void place(void);

/* The odd rank of a pair has posted its receive and waits in the call. The even rank comes later, is in MPI_Ssend
 * until the message is received, and then makes the call too. */
static void receiver_sits(place *sit, size_t bytes, int serial) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    if (test_rank % 2 == 1) {
        memset(buffer, 0, bytes);
        MPI_Irecv(buffer, (int)bytes, MPI_BYTE, test_rank - 1, 1, MPI_COMM_WORLD, &request);
    } else if (test_rank + 1 < test_size) {
        sleep_ms(2);
        fill_pattern(buffer, bytes, test_rank, 0, serial);
        MPI_Ssend(buffer, (int)bytes, MPI_BYTE, test_rank + 1, 1, MPI_COMM_WORLD);
    }
    sit();
    if (test_rank % 2 == 1) {
        MPI_Wait(&request, &status);
        expect_status(&status, test_rank - 1, 1, bytes);
        expect_pattern(buffer, bytes, test_rank - 1, 0, serial);
    }
    barrier();
}

/* The even rank has started a send and waits in the call. The odd rank comes later and receives before it makes the
 * call. */
static void sender_sits(place *sit, size_t bytes, int serial) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (test_rank % 2 == 0 && test_rank + 1 < test_size) {
        fill_pattern(buffer, bytes, test_rank, 0, serial);
        MPI_Isend(buffer, (int)bytes, MPI_BYTE, test_rank + 1, 2, MPI_COMM_WORLD, &request);
    } else if (test_rank % 2 == 1) {
        sleep_ms(2);
        receive_pattern(bytes, test_rank - 1, 2, serial, MPI_COMM_WORLD);
    }
    sit();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    barrier();
}

static void run(place *sit) {
    buffer = aligned_bytes(LARGEST);
    for (int s = 0; s < SIZES; s++) {
        receiver_sits(sit, sizes[s], s);
        sender_sits(sit, sizes[s], s);
    }
    free(buffer);
}

/* A large or synchronous message from another node must be answered by Hearth. While the rank is in a call that has no
 * non-blocking equivalent, Hearth cannot make progress: see doc/matching.md. */
#define UNSERVED "between nodes a rank in a lock or start answers when it returns"
static bool between_nodes(void) {
    MPI_Comm node; /* MPICH without local shared memory makes each rank a node */
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size < test_size || strcmp(test_config(), "host") == 0 || strcmp(test_config(), "link") == 0;
}

CASE(barrier_) {
    run(in_barrier);
}

CASE(allreduce) {
    run(in_allreduce);
}

CASE(allgather) {
    run(in_allgather);
}

CASE(alltoall) {
    run(in_alltoall);
}

CASE(wait_for_a_collective) {
    run(in_wait_for_ibarrier);
}

CASE(comm_dup) {
    run(in_dup);
}

CASE(comm_split) {
    run(in_split);
}

CASE(cart_create) {
    run(in_cart_create);
}

CASE(create_group) {
    run(in_create_group);
}

CASE(intercomm) {
    run(in_intercomm);
}

CASE(bcast) {
    run(in_bcast);
}

CASE(scan) {
    run(in_scan);
}

CASE(win_allocate) {
    run(in_window_allocate);
}

CASE(sendrecv) {
    run(in_sendrecv);
}

CASE(probe) {
    run(in_probe);
}

CASE(win_fence) {
    window = make_window(4096, NULL);
    MPI_Win_fence(0, window.win);
    run(in_fence);
    free_window(&window);
}

CASE(win_create_and_free) {
    run(in_window_create_and_free);
}

static void wait_in_window(void) {
    MPI_Win_wait(window.win);
}

static void test_window(void) {
    for (int flag = 0; !flag;)
        MPI_Win_test(window.win, &flag);
}

/* One rank waits in MPI_Win_wait, or repeats MPI_Win_test, until the other has put data and completed its epoch. */
static void (*await_puts)(void);
static void in_win_wait(void) {
    int other = test_rank ^ 1, word = 7;
    MPI_Group all, group;
    if (other >= test_size)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &group);
    if (test_rank % 2 == 0) {
        MPI_Win_start(group, 0, window.win);
        MPI_Put(&word, 1, MPI_INT, other, 64, 1, MPI_INT, window.win);
        MPI_Win_complete(window.win);
    } else {
        MPI_Win_post(group, 0, window.win);
        await_puts();
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void receiver_awaits_puts(void (*how)(void)) {
    await_puts = how;
    window = make_window(4096, NULL);
    buffer = aligned_bytes(LARGEST);
    for (int s = 0; s < SIZES; s++)
        receiver_sits(in_win_wait, sizes[s], s);
    free(buffer);
    free_window(&window);
}

CASE(win_wait) {
    receiver_awaits_puts(wait_in_window);
}

CASE(win_test) {
    receiver_awaits_puts(test_window);
}

/* The reverse: it waits for a post, which comes only when its message is received. */
static void in_win_start(void) {
    int other = test_rank ^ 1, word = 7;
    MPI_Group all, group;
    if (other >= test_size)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &group);
    if (test_rank % 2 == 1) {
        MPI_Win_start(group, 0, window.win);
        MPI_Put(&word, 1, MPI_INT, other, 64, 1, MPI_INT, window.win);
        MPI_Win_complete(window.win);
    } else {
        MPI_Win_post(group, 0, window.win);
        MPI_Win_wait(window.win);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

CASE(win_start) {
    SKIP_IF(between_nodes(), UNSERVED);
    window = make_window(4096, NULL);
    buffer = aligned_bytes(LARGEST);
    for (int s = 0; s < SIZES; s++)
        receiver_sits(in_win_start, sizes[s], s);
    free(buffer);
    free_window(&window);
}

static void put_locked(int target) {
    int word = test_rank;
    MPI_Put(&word, 1, MPI_INT, target, 64, 1, MPI_INT, window.win);
    MPI_Win_flush(target, window.win);
}

/* Rank 0 has locked a window and unlocks it only when rank 1, which waits for the lock, has received its message. */
CASE(win_lock) {
    SKIP_IF(between_nodes(), UNSERVED);
    window = make_window(4096, NULL);
    buffer = aligned_bytes(LARGEST);
    for (int s = 0; s < SIZES; s++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (test_rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
            put_locked(0);
        }
        if (test_rank == 1)
            MPI_Irecv(buffer, (int)sizes[s], MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        barrier();
        if (test_rank == 0) {
            sleep_ms(2);
            fill_pattern(buffer, sizes[s], 0, 0, s);
            MPI_Ssend(buffer, (int)sizes[s], MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Win_unlock(0, window.win);
        } else if (test_rank == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
            put_locked(0);
            MPI_Win_unlock(0, window.win);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect_pattern(buffer, sizes[s], 0, 0, s);
        }
        barrier();
    }
    free(buffer);
    free_window(&window);
}

CASE(files) {
    name = make_flag();
    MPI_File_open(MPI_COMM_WORLD, name.path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    run(in_file);
    MPI_File_close(&file);
    run(in_file_open_and_close);
    remove_flag(&name);
}

/* An unlock must complete a get from a rank that only makes progress for messages. */
CASE(large_send_against_a_lock) {
    window = make_window(4096, NULL);
    buffer = aligned_bytes(LARGEST);
    for (int s = 0; s < SIZES; s++) {
        MPI_Request request = MPI_REQUEST_NULL;
        unsigned char got[64];
        unsigned char *in = aligned_bytes(LARGEST);
        fill_pattern(buffer, sizes[s], test_rank, 0, s);
        MPI_Irecv(in, (int)sizes[s], MPI_BYTE, previous(), 3, MPI_COMM_WORLD, &request);
        MPI_Win_lock(MPI_LOCK_SHARED, peer(), 0, window.win);
        MPI_Get(got, 64, MPI_BYTE, peer(), 64, 64, MPI_BYTE, window.win);
        MPI_Win_unlock(peer(), window.win);
        expect_pattern(got, 64, peer(), 64, 0);
        if (test_rank % 2)
            sleep_ms(2);
        MPI_Send(buffer, (int)sizes[s], MPI_BYTE, peer(), 3, MPI_COMM_WORLD);
        barrier();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_pattern(in, sizes[s], previous(), 0, s);
        free(in);
    }
    free(buffer);
    free_window(&window);
}

/* The calls are on a communicator whose messages MPI itself carries: both sides send and receive there. */
static MPI_Comm foreign;

static void in_foreign_recv(void) {
    int word = 0, other = test_rank ^ 1;
    if (other >= test_size)
        return;
    if (test_rank % 2 == 0)
        MPI_Send(&word, 1, MPI_INT, other, 97, foreign);
    else
        MPI_Recv(&word, 1, MPI_INT, other, 97, foreign, MPI_STATUS_IGNORE);
}

static void in_foreign_ssend(void) {
    int word = 0, other = test_rank ^ 1;
    if (other >= test_size)
        return;
    if (test_rank % 2 == 1)
        MPI_Ssend(&word, 1, MPI_INT, other, 97, foreign);
    else
        MPI_Recv(&word, 1, MPI_INT, other, 97, foreign, MPI_STATUS_IGNORE);
}

static void in_foreign_probe(void) {
    MPI_Status status;
    if (test_rank % 2 == 1)
        MPI_Probe(test_rank ^ 1, 97, foreign, &status);
    in_foreign_recv();
}

static void in_foreign_mprobe(void) {
    MPI_Message message;
    int word;
    if (test_rank % 2 == 0) {
        in_foreign_recv();
        return;
    }
    MPI_Mprobe(test_rank ^ 1, 97, foreign, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void in_foreign_sendrecv(void) {
    int out = test_rank, in = -1, other = test_rank ^ 1;
    if (other >= test_size)
        return;
    MPI_Sendrecv(&out, 1, MPI_INT, other, 97, &in, 1, MPI_INT, other, 97, foreign, MPI_STATUS_IGNORE);
    expect_eq(in, other);
}

/* Three of four integers are exchanged. */
static void in_foreign_sendrecv_replace(void) {
    int words[4] = {test_rank, test_rank + 10, -1, test_rank + 20}, other = test_rank ^ 1;
    int places[2] = {0, 3}, counts[2] = {2, 1};
    MPI_Datatype type;
    MPI_Status status;
    if (other >= test_size)
        return;
    MPI_Type_indexed(2, counts, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv_replace(words, 1, type, other, 97, other, 97, foreign, &status);
    expect_eq(words[0], other);
    expect_eq(words[1], other + 10);
    expect_eq(words[2], -1);
    expect_eq(words[3], other + 20);
    expect_eq(count_of(&status, type), 1);
    MPI_Type_free(&type);
}

static void in_foreign_barrier(void) {
    MPI_Barrier(foreign);
}

CASE(foreign_communicator) {
    static place *const places[] = {in_foreign_recv,   in_foreign_ssend,    in_foreign_probe,
                                    in_foreign_mprobe, in_foreign_sendrecv, in_foreign_sendrecv_replace,
                                    in_foreign_barrier};
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &foreign, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    buffer = aligned_bytes(LARGEST);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int s = 0; s < SIZES; s++)
            receiver_sits(places[p], sizes[s], s);
    free(buffer);
    MPI_Comm_free(&foreign);
}

/* Rank 1 is in MPI_Mrecv of a large message, whose sender computes until rank 2 has finished its own send to rank 1. */
CASE(foreign_mrecv) {
    SKIP_IF(test_size < 3, "needs three ranks");
    struct flag taken = make_flag();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &foreign, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    buffer = aligned_bytes(LARGEST);
    int word = test_rank;
    barrier();
    if (test_rank == 0) {
        fill_pattern(buffer, LARGEST, 0, 0, 1);
        MPI_Isend(buffer, LARGEST, MPI_BYTE, 1, 3, foreign, &request);
        expect(wait_for_flag(&taken, 15));
    } else if (test_rank == 1) {
        MPI_Message message;
        MPI_Irecv(&word, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &request);
        MPI_Mprobe(0, 3, foreign, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(buffer, LARGEST, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        expect_pattern(buffer, LARGEST, 0, 0, 1);
    } else if (test_rank == 2) {
        sleep_ms(100); /* rank 1 is in the call by now */
        MPI_Ssend(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        raise_flag(&taken);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(word, test_rank == 1 ? 2 : test_rank);
    remove_flag(&taken);
    free(buffer);
    MPI_Comm_free(&foreign);
}

/* The odd rank polls its window by atomics and flushes until the even rank has written there. */
static void in_flushes(void) {
    int one = 1, none = 0, seen = 0, other = test_rank ^ 1;
    if (other >= test_size)
        return;
    if (test_rank % 2 == 0) {
        MPI_Accumulate(&one, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_REPLACE, window.win);
        MPI_Win_flush(other, window.win);
        return;
    }
    while (seen != 1) {
        MPI_Fetch_and_op(&none, &seen, MPI_INT, test_rank, 0, MPI_NO_OP, window.win);
        MPI_Win_flush(test_rank, window.win);
    }
    MPI_Fetch_and_op(&none, &seen, MPI_INT, test_rank, 0, MPI_REPLACE, window.win);
    MPI_Win_flush(test_rank, window.win);
}

CASE(flushes) {
    window = make_window(4096, NULL);
    buffer = aligned_bytes(LARGEST);
    int none = 0, was;
    MPI_Win_lock_all(0, window.win);
    MPI_Fetch_and_op(&none, &was, MPI_INT, test_rank, 0, MPI_REPLACE, window.win);
    MPI_Win_flush(test_rank, window.win);
    barrier();
    for (int s = 0; s < SIZES; s++)
        receiver_sits(in_flushes, sizes[s], s);
    MPI_Win_unlock_all(window.win);
    free(buffer);
    free_window(&window);
}
